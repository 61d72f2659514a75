/// The two ways to search from one guess that solve() chooses from.
#pragma once

#include <ceres/types.h>

#include "apps/identification/solve.h"

namespace abut {

/// Of SearchMethod::least_squares.
[[nodiscard]] Solution solve_least_squares(const MotionFit& fit, const Eigen::VectorXd& guess,
                                           const SolveOptions& options);

/// Of SearchMethod::gradient.
[[nodiscard]] Solution solve_by_gradient(const MotionFit& fit, const Eigen::VectorXd& guess,
                                         const SolveOptions& options);

[[nodiscard]] Solution::Status status_of(ceres::TerminationType type);

}  // namespace abut
