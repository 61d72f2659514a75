#include "dynamics/solver/momentum_balance.h"

#include <cmath>

#include "engine/instruction_set.h"
#include "engine/lie.h"

namespace abut {

MomentumBalance::MomentumBalance(const ContactProblem& problem, const smooth_coulomb::Settings& settings,
                                 double speed_scale, RowBlocks& rows, NewtonMemory& memory)
    : problem_(problem), settings_(settings), rows_(rows), memory_(memory) {
  problem.mass.multiply(problem.v_free, memory.momentum);
  momentum_scale_ =
      std::sqrt(memory.momentum.dot(problem.v_free) + problem.mass.total_mass() * speed_scale * speed_scale);
}

void MomentumBalance::evaluate(const GrowableVector& v, RowLaw law) {
  memory_.momentum = v - problem_.v_free;
  problem_.mass.multiply(memory_.momentum, memory_.gradient);
  for (const BlockPair& pair : rows_.pairs) {
    const Vec6<double> V = relative_twist(pair, v) - pair.carried;
    Vec6<double> wrench;
    chosen_kernels<RowKernels>().sum_impulses(input(pair, law, V), rows_.of(pair), wrench.data());
    add_wrench(pair, -wrench, memory_.gradient);
  }
  problem_.joints.add_gradient(v, memory_.gradient);
}

/// M and the diagonal blocks of pairs; add_pair(k, BA, AB) adds the blocks of the k-th coupling.
template <typename Matrix, typename AddPair>
void MomentumBalance::assemble(const GrowableVector& v, RowLaw law, Matrix& matrix, const AddPair& add_pair) {
  const MassMatrix& mass = problem_.mass;
  memory_.couplings.clear();
  for (const BlockPair& pair : rows_.pairs) {
    if (pair.both_move()) memory_.couplings.push_back({pair.slot_A, pair.slot_B});
  }
  for (const JointGroup& group : problem_.joints.groups) {
    if (group.both_move()) memory_.couplings.push_back({group.slot_A, group.slot_B});
  }
  matrix.reset(mass.slot_count(), memory_.couplings);
  for (int s = 0; s < mass.slot_count(); ++s) {
    matrix.diagonal(s).template topLeftCorner<3, 3>() = mass.inertia_W(s);
    matrix.diagonal(s).template bottomRightCorner<3, 3>().diagonal().setConstant(mass.mass(s));
  }
  std::size_t coupling = 0;
  for (const BlockPair& pair : rows_.pairs) {
    const Vec6<double> V = relative_twist(pair, v) - pair.carried;
    ResistanceSums sums;
    chosen_kernels<RowKernels>().sum_resistances(input(pair, law, V), rows_.of(pair), sums);
    const Eigen::Map<const Mat3<double>> S0(sums.S0), S1(sums.S1), T1(sums.T1), S2(sums.S2);
    // Of J = [-[r], I] about the pair's centre; B's arms are r + shift.
    const auto blocks = [](const Mat3<double>& ww, const Mat3<double>& wv, const Mat3<double>& vw,
                           const Mat3<double>& vv) {
      Mat6<double> block;
      block << ww, wv, vw, vv;
      return block;
    };
    matrix.diagonal(pair.slot_A >= 0 ? pair.slot_A : pair.slot_B) += blocks(S2, S1, -T1, S0);
    if (!pair.both_move()) continue;
    const Mat3<double> shift = skew<double>(pair.shift);
    const Mat3<double> S1_B = S1 + shift * S0, T1_B = T1 + S0 * shift, S2_BA = S2 - shift * T1,
                       S2_AB = S2 - S1 * shift;
    matrix.diagonal(pair.slot_B) += blocks(S2_BA - S1_B * shift, S1_B, -T1_B, S0);
    add_pair(coupling++, blocks(-S2_BA, -S1_B, T1, -S0), blocks(-S2_AB, -S1, T1_B, -S0));
  }
  for (const JointGroup& group : problem_.joints.groups) {
    const JointHessian blocks = problem_.joints.hessian(group, v);
    if (group.slot_A >= 0) matrix.diagonal(group.slot_A) += blocks.AA;
    if (group.slot_B >= 0) matrix.diagonal(group.slot_B) += blocks.BB;
    if (group.both_move()) add_pair(coupling++, blocks.BA, blocks.BA.transpose());
  }
}

bool MomentumBalance::factorize(const GrowableVector& v, RowLaw law, BlockCholesky& H) {
  assemble(v, law, H,
           [&](std::size_t k, const Mat6<double>& BA, const Mat6<double>&) { H.add_coupling(k, BA); });
  return H.factorize();
}

bool MomentumBalance::factorize_coupled(const GrowableVector& v, BlockLu& A) {
  assemble(v, RowLaw::coupled, A,
           [&](std::size_t k, const Mat6<double>& BA, const Mat6<double>& AB) { A.add_coupling(k, BA, AB); });
  return A.factorize();
}

void MomentumBalance::set_direction(const GrowableVector& v, const GrowableVector& direction) {
  line_start_ = &v;
  line_direction_ = &direction;
  problem_.mass.multiply(direction, memory_.mass_direction);
  line_constant_ = memory_.mass_direction.dot(v - problem_.v_free);
  line_linear_ = memory_.mass_direction.dot(direction);
}

LineSums MomentumBalance::along(double a, RowLaw law) {
  LineSums total{line_constant_ + a * line_linear_, line_linear_};
  for (const BlockPair& pair : rows_.pairs) {
    const Vec6<double> V = relative_twist(pair, *line_start_) - pair.carried,
                       dV = relative_twist_change(pair, *line_direction_);
    LineSums sums;
    chosen_kernels<RowKernels>().sum_line(input(pair, law, V), dV.data(), a, rows_.of(pair), sums);
    total.slope += sums.slope;
    total.curvature += sums.curvature;
  }
  problem_.joints.add_line(*line_start_, *line_direction_, a, total.slope, total.curvature);
  return total;
}

double MomentumBalance::root_along(double low, double high, double slope_at_0, RowLaw law) {
  constexpr int k_most = 60;
  constexpr double k_narrow = 1e-13;
  double a = 0.5 * (low + high);
  for (int k = 0; k < k_most && high - low > k_narrow * high; ++k) {
    const LineSums at_a = along(a, law);
    if (std::abs(at_a.slope) <= 0.1 * std::abs(slope_at_0)) break;
    (at_a.slope > 0.0 ? high : low) = a;
    a -= at_a.slope / at_a.curvature;
    if (!(a > low && a < high)) a = 0.5 * (low + high);
  }
  return a;
}

}  // namespace abut
