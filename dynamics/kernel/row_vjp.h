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

/// The way back of w.sum J^T gamma(J v) for the rows of one pair, gamma that of coupled friction.
struct PairImpulseBar {
  double V[6], W[6];                  ///< relative twists of v and w, about the pair's centre
  double turning[3];                  ///< BlockPair::turning
  double turn_A[2][3], turn_B[2][3];  ///< angular velocities of A and B in v and w, 0 if fixed
  double friction = 0;                ///< mu
  double friction_bar = 0;            ///< written: dL/d mu
  double impulse[3] = {};             ///< written: sum of the impulses on B [N s]
};

/// dL/d(what the rows of a pair share).
struct PairLawBar {
  double compliance = 0, dissipation_time = 0;
};

}  // namespace abut
