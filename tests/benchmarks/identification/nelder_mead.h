/// Nelder and Mead's simplex: the baseline that needs no derivatives.
#pragma once

#include <functional>

#include <Eigen/Core>

namespace abut {

struct NelderMeadResult {
  Eigen::VectorXd x;
  double value = 0;
  int evaluations = 0;
  bool reached = false;  ///< the target
};

/// Minimises f from the simplex of x and x + steps[i] along each axis until a value <= target is found, or so
/// many evaluations were made. Coefficients depend on the dimension.
/// @see  Gao, Han (2012), "Implementing the Nelder-Mead simplex algorithm with adaptive parameters".
[[nodiscard]] NelderMeadResult nelder_mead(const std::function<double(const Eigen::VectorXd&)>& f,
                                           const Eigen::VectorXd& x, const Eigen::VectorXd& steps,
                                           double target, int max_evaluations);

}  // namespace abut
