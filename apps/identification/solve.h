/// The unknowns that explain measured motions best: one search from one guess.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "apps/identification/motion_fit.h"

namespace abut {

struct Iteration {
  int number = 0;
  double cost = 0;          ///< half the sum of what residuals count
  double gradient = 0;      ///< largest component of its gradient, in units of x
  double step = 0;          ///< length of the last step, in units of x
  bool accepted = true;     ///< whether that step was taken
  double contacts = 0;      ///< of a time step, on average
  double seconds = 0;       ///< since the start of the search
  double trust_region = 0;  ///< radius after it; 0 where there is none
  Eigen::VectorXd x;
};

/// How the least is looked for.
///   least_squares  Levenberg and Marquardt's method on the residuals (ceres::Solver)
///   gradient       limited-memory BFGS on the loss and its adjoint gradient (ceres::GradientProblem);
///                  bounds are kept by a change of variables
enum class SearchMethod { least_squares, gradient };

struct SolveOptions {
  SearchMethod method = SearchMethod::least_squares;
  int max_iterations = 50;
  double tolerance = 1e-8;    ///< relative change of cost or unknowns that is none
  RobustLoss loss;            ///< of measurements
  double trust_region = 1.0;  ///< initial radius
  /// Called after every iteration; false stops there, with the best so far.
  std::function<bool(const Iteration&)> progress;
};

struct Solution {
  enum class Status { converged, max_iterations, stopped, failed } status = Status::failed;
  std::string message;  ///< of the optimiser, or why it failed
  Eigen::VectorXd x;    ///< the best found
  double initial_cost = 0, cost = 0;
  std::vector<Iteration> iterations;
  int evaluations = 0, jacobians = 0;  ///< of all motions; of these with derivatives
  double seconds = 0;
  std::vector<std::string> notes;  ///< sentences about unknowns at bounds where nothing depends on them
};
[[nodiscard]] const char* to_string(Solution::Status status);

/// A trial whose motions cannot be simulated is a step too far; a guess whose cannot is a failure.
///
/// At a bound the derivative by an unknown may be 0 though it is not beside the bound, because the model is
/// another one there: a restitution of 0 has no impacts. A search that begins at such a bound begins a tenth
/// of the range inside instead, and one that ends there is repeated once from inside; the lower loss counts.
[[nodiscard]] Solution solve(const MotionFit& fit, const Eigen::VectorXd& guess, const SolveOptions& options);

}  // namespace abut
