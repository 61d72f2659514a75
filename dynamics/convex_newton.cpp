#include "dynamics/convex_newton.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace abut {

bool minimise(MomentumBalance& balance, RowLaw law, double tolerance, int max_iterations, Eigen::VectorXd& v,
              ContactSolution& solution) {
  SolverScratch& scratch = balance.scratch();
  double previous = std::numeric_limits<double>::infinity();
  balance.evaluate(v, law);
  for (int iteration = 0;; ++iteration) {
    const double residual = balance.residual();
    const bool stalled = iteration > 3 && is_rounding(residual, previous);
    if (residual <= tolerance || stalled || iteration == max_iterations || !std::isfinite(residual)) {
      solution.residual = std::isfinite(residual) ? std::max(solution.residual, residual) : residual;
      return residual <= tolerance || stalled;
    }
    previous = residual;
    if (!balance.factorize(v, law)) return false;
    ++solution.factorizations;
    scratch.direction = -scratch.gradient;
    scratch.hessian.solve_in_place(scratch.direction);
    // A full step if that brings the slope down: the usual case, and what it takes to know is what the next
    // iteration starts with.
    const double slope_at_0 = std::abs(scratch.gradient.dot(scratch.direction));
    scratch.trial = v + scratch.direction;
    balance.evaluate(scratch.trial, law);
    if (!(scratch.gradient.dot(scratch.direction) <= 0.5 * slope_at_0)) {
      balance.set_direction(v, scratch.direction);
      scratch.trial = v + balance.root_along(0.0, 1.0, slope_at_0, law) * scratch.direction;
      balance.evaluate(scratch.trial, law);
    }
    v.swap(scratch.trial);
    ++solution.iterations;
  }
}

}  // namespace abut
