/// The rows of a contact problem as the lanes of the velocity solver see them.
#pragma once

#include <span>
#include <vector>

#include "dynamics/rows/contact_rows.h"

namespace abut {

inline constexpr int k_row_lanes = 8;

/// Eight rows of one pair, a lane each. Lanes behind the pair's last row are copies of it with weight 0: they
/// push nothing.
struct alignas(64) RowBlock {
  using Lanes = double[k_row_lanes];
  Lanes n[3];          ///< normal_AB_W
  Lanes r[3];          ///< contact point relative to the pair's centre [m]
  Lanes distance;      ///< [m]
  Lanes weight;        ///< Gamma
  Lanes inverse_mass;  ///< 1/m_A + 1/m_B [1/kg]
  Lanes target;        ///< v_hat [m/s]
  Lanes scale;         ///< Gamma/R [kg]
  Lanes width;         ///< tau_v [m/s]
  Lanes ratio;         ///< R_t/R_n, cone laws alone
  Lanes bound;         ///< of friction [N s]
  Lanes impulse;       ///< gamma_n where it was evaluated last [N s]
  Lanes slope;         ///< and its derivative by u_n [kg]
  Lanes tangent;  ///< x where the tangent of the normal law is taken (contact_laws/dual_tangent.h), and ...
  Lanes direction[3];  ///< ... p of friction, of RowLaw::dual alone
};

/// A pair of bodies, its rows' arms all about one *centre*: that of its body A if this moves, else of B.
struct BlockPair {
  int slot_A = -1, slot_B = -1;
  int begin = 0, end = 0;  ///< blocks
  double friction = 0, compliance = 0, dissipation_time = 0;
  Vec3<double> shift = Vec3<double>::Zero();  ///< from B's centre of mass to A's [m]
  /// Part of the relative twist that the law does not see: what its target velocity takes over from the
  /// start.
  Vec6<double> carried = Vec6<double>::Zero();
  Vec6<double> drift = Vec6<double>::Zero();    ///< what bodies of infinite mass add to the relative twist
  Vec3<double> turning = Vec3<double>::Zero();  ///< b; rows have its part along their surfaces [m/s]

  [[nodiscard]] bool both_move() const { return slot_A >= 0 && slot_B >= 0; }
};

struct RowBlocks {
  std::vector<RowBlock> blocks;
  std::vector<BlockPair> pairs;

  void assign(const ContactRows& rows);

  /// Friction is bounded by mu times the normal impulses that are there.
  void set_bounds();

  /// Block and lane of a row, for those that one by one are different.
  struct Place {
    RowBlock& block;
    int lane;
  };
  [[nodiscard]] Place place(const RowPair& pair, std::size_t pair_index, int row) {
    const int i = row - pair.begin;
    return {blocks[at(pairs[pair_index].begin + i / k_row_lanes)], i % k_row_lanes};
  }

  [[nodiscard]] std::span<RowBlock> of(const BlockPair& pair) {
    return std::span(blocks).subspan(static_cast<std::size_t>(pair.begin),
                                     static_cast<std::size_t>(pair.end - pair.begin));
  }
  [[nodiscard]] std::span<const RowBlock> of(const BlockPair& pair) const {
    return std::span(blocks).subspan(static_cast<std::size_t>(pair.begin),
                                     static_cast<std::size_t>(pair.end - pair.begin));
  }
};

/// What a change of the velocities of the moving bodies adds to relative_twist().
[[nodiscard]] inline Vec6<double> relative_twist_change(const BlockPair& pair, const GrowableVector& v) {
  Vec6<double> V = Vec6<double>::Zero();
  if (pair.slot_B >= 0) {
    V = v.segment<6>(6 * pair.slot_B);
    V.tail<3>() += V.head<3>().cross(pair.shift).eval();
  }
  if (pair.slot_A >= 0) V -= v.segment<6>(6 * pair.slot_A);
  return V;
}

/// Twist [w; v] of B relative to A at the pair's centre, so that u = v + w x r.
[[nodiscard]] inline Vec6<double> relative_twist(const BlockPair& pair, const GrowableVector& v) {
  return relative_twist_change(pair, v) + pair.drift;
}

/// out += J^T impulses, given as their wrench [torque; force] on B about the pair's centre.
inline void add_wrench(const BlockPair& pair, const Vec6<double>& wrench, GrowableVector& out) {
  if (pair.slot_B >= 0) {
    out.segment<6>(6 * pair.slot_B) += wrench;
    out.segment<3>(6 * pair.slot_B) += pair.shift.cross(wrench.tail<3>());
  }
  if (pair.slot_A >= 0) out.segment<6>(6 * pair.slot_A) -= wrench;
}

}  // namespace abut
