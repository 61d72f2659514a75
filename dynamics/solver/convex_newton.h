/// Newton's method for laws that are the gradient of a strictly convex potential of velocity,
///     L(v) = 1/2 (v - v*)^T M (v - v*) + sum_c l_c(J_c v) + the potentials of joints,   grad L = F
/// (momentum_balance.h), with a sparse Cholesky factorization and an exact line search.
#pragma once

#include "dynamics/solver/momentum_balance.h"

namespace abut {

/// Minimises from v on, and leaves there what evaluate() found at the answer; adds its iterations to
/// `solution` and raises its residual. Stops at a relative residual of `tolerance`, or where rounding lets it
/// fall no further (MomentumBalance::is_rounding()); false if neither is reached.
[[nodiscard]] bool minimise(MomentumBalance& balance, RowLaw law, double tolerance, int max_iterations,
                            GrowableVector& v, ContactSolution& solution);

}  // namespace abut
