/// What the contacts of a pair contribute to the VJPs of a step by its state, once for many losses.
///
/// A loss reaches the contacts of a pair through the multiplier w of the contact problem alone
/// (ContactSolver::multiplier_vjp()), and linearly: through the twist W of B relative to A that w has there,
/// and, as w turns the arms of both bodies, by the sum F of the impulses,
///     dL/d(poses, twists) = J^T W,   dL/d(p_A) += F x w_A,   dL/d(p_B) -= F x w_A,
/// w_A being the angular velocity of A in w, where both move.
#pragma once

#include <Eigen/Core>

#include "dynamics/kernel/row_blocks.h"
#include "engine/state.h"

namespace abut {

struct PairJacobian {
  int body_A = -1, body_B = -1;
  BlockPair pair;                           ///< slots and shift
  Eigen::Matrix<double, 12, 6> by_A, by_B;  ///< pose, then twist of the body, by W
  Vec3<double> impulse;                     ///< F, on B [N s]

  /// Adds to dL/d(state).
  void add_vjp(const GrowableVector& w, StateTangent& state_bar) const {
    const Vec6<double> W = relative_twist_change(pair, w);
    const auto add = [&](int body, const Eigen::Matrix<double, 12, 6>& by) {
      const auto b = static_cast<std::size_t>(body);
      state_bar.pose[b].noalias() += by.topRows<6>() * W;
      state_bar.twist[b].noalias() += by.bottomRows<6>() * W;
    };
    add(body_A, by_A);
    add(body_B, by_B);
    if (!pair.both_move()) return;
    const Vec3<double> by_turn = impulse.cross(w.segment<3>(6 * pair.slot_A));
    state_bar.pose[static_cast<std::size_t>(body_A)].tail<3>() += by_turn;
    state_bar.pose[static_cast<std::size_t>(body_B)].tail<3>() -= by_turn;
  }
};

}  // namespace abut
