/// What the way back through the velocity solver sums up over rows, eight at a time.
#pragma once

#include <array>
#include <vector>

#include "dynamics/kernel/row_blocks.h"

namespace abut {

/// dL/d of eight rows, and of what their laws are made of.
struct alignas(64) RowBarBlock {
  using Lanes = RowBlock::Lanes;
  Lanes is_smooth;  ///< 1, or 0: a row that others differentiate
  Lanes n[3], r_A[3], r_B[3], drift[3];
  Lanes target, scale;  ///< of the normal law: v_hat, c
  Lanes distance, weight, inverse_mass;
};

/// A pass of the smooth Coulomb law on its way back, for one pair. Velocities are those of the pass, of the
/// pass before, and w = H^-1 dL/d(velocities of the pass).
struct RowPassBar {
  double V[6], V_before[6], W[6];     ///< relative twists, about the pair's centre
  double turn_A[3][3], turn_B[3][3];  ///< angular velocities of A and B in each of these, 0 if fixed
  double friction = 0;                ///< mu
  bool has_friction = false;
  double reaction[6] = {};  ///< written: dL/d(V_before) is J^T of these impulses' wrench on B
  double friction_bar = 0;  ///< written: dL/d mu
};

/// dL/d(what the rows of a pair share).
struct PairLawBar {
  double compliance = 0, dissipation_time = 0, h = 0;
};

}  // namespace abut
