#include "dynamics/solver/convex_newton.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace abut {

bool minimise(MomentumBalance& balance, RowLaw law, double tolerance, int max_iterations, GrowableVector& v,
              ContactSolution& solution) {
  NewtonMemory& memory = balance.memory();
  const NewtonConstants& constants = balance.constants();
  double previous = std::numeric_limits<double>::infinity();
  balance.evaluate(v, law);
  for (int iteration = 0;; ++iteration) {
    const double residual = balance.residual();
    const bool is_solved = residual <= tolerance || (iteration > constants.least_iterations &&
                                                     balance.is_rounding(residual, previous, v, law));
    if (is_solved || iteration == max_iterations || !std::isfinite(residual)) {
      solution.residual = std::isfinite(residual) ? std::max(solution.residual, residual) : residual;
      return is_solved;
    }
    previous = residual;
    if (!balance.factorize(v, law, memory.hessian)) return false;
    ++solution.factorizations;
    memory.direction = -memory.gradient;
    memory.hessian.solve_in_place(memory.direction);
    // A full step if that brings the slope down: the usual case, and what it takes to know is what the next
    // iteration starts with.
    const double slope_at_0 = std::abs(memory.gradient.dot(memory.direction));
    memory.trial = v + memory.direction;
    balance.evaluate(memory.trial, law);
    if (!(memory.gradient.dot(memory.direction) <= constants.full_step_slope * slope_at_0)) {
      balance.set_direction(v, memory.direction);
      memory.trial = v + balance.root_along(0.0, 1.0, slope_at_0, law) * memory.direction;
      balance.evaluate(memory.trial, law);
    }
    v.swap(memory.trial);
    ++solution.iterations;
  }
}

}  // namespace abut
