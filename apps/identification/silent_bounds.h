/// Bounds at which motions do not depend on an unknown, though they do inside: a restitution of 0 has no impacts.
#pragma once

#include <optional>
#include <vector>

#include <Eigen/Core>

#include "apps/identification/motion_fit.h"

namespace abut {

/// The number a tenth of its range inside of the bound at or beside which a variable lies; none elsewhere.
[[nodiscard]] std::optional<double> inside_of_bound(const UnknownSpace& unknowns, const Variable& variable,
                                                    const Eigen::VectorXd& x);

/// A point beside x, where what depends on nothing at its bound is moved inside.
struct InsideBounds {
  Eigen::VectorXd x;
  std::vector<const Variable*> moved;
};

/// Moves the variables of x that lie at or beside a bound, where motions do not depend on them, a tenth of their
/// range inside, where motions do. Derivatives are computed only where a variable lies at a bound.
[[nodiscard]] InsideBounds inside_silent_bounds(const MotionFit& fit, const Eigen::VectorXd& x);

}  // namespace abut
