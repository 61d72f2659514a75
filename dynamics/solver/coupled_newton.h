/// Newton's method for the smooth Coulomb law, whose friction is bounded by mu times the normal impulse at
/// the same velocity: F(v) = 0 (momentum_balance.h), which is the gradient of no potential.
///
/// From the state alone, the velocity at the start of the step or v*, in this order:
///   0. Where the start is far from the solution, as of impacts: full steps by the tangents of
///      contact_laws/dual_tangent.h.
///   1. Steps of A = dF/dv, by block LU, or of A with the bounds held fixed where those do not lead down;
///      along them a search for F(v + a d).d = 0.
///   2. Where the residual does not fall: a convex problem with the bounds of the best iterate, and on from
///      there.
///   3. The same with a friction that sets in at v_s 10^5, down to v_s in factors of 3 or less.
///   4. Fixed pseudo-random starts.
/// Each of these searches may take max_iterations, but for the stages of 3 before the last: those are cut
/// short, as a finer stage follows. A search gives up sooner where its residual makes no progress
/// (newton_constants.h).
/// Friction does no work on u, so that there is a solution. A solution with det A < 0 lies on the way back
/// between two folds, and is taken only if 3 and 4 find no other.
#pragma once

#include "dynamics/solver/momentum_balance.h"

namespace abut {

struct CoupledNewtonMemory {
  NewtonMemory newton;
  BlockLu jacobian;
  GrowableVector best;      ///< iterate of least residual
  GrowableVector reached;   ///< velocities of the last stage of graduated friction
  GrowableVector other;     ///< a search from elsewhere
  GrowableVector negative;  ///< a solution of negative determinant
};

/// Solves a problem whose laws are set in `rows`, to `tolerance` or as far as rounding lets it: `residual` of
/// the solution is above the tolerance then. Leaves in `rows` what evaluate() found at the answer, in `v`;
/// fills in iterations, residual, path and has_negative_determinant of the solution. False if nothing
/// converged: v is the iterate of least residual then.
[[nodiscard]] bool solve_coupled(const ContactProblem& problem, const smooth_coulomb::Settings& settings,
                                 double speed_scale, double tolerance, int max_iterations, RowBlocks& rows,
                                 CoupledNewtonMemory& memory, GrowableVector& v, ContactSolution& solution,
                                 const NewtonConstants& constants = k_newton_constants);

}  // namespace abut
