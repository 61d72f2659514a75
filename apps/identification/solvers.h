/// The two ways to search from one guess that solve() chooses from.
#pragma once

#include <vector>

#include <ceres/iteration_callback.h>
#include <ceres/types.h>

#include "apps/abut/stopwatch.h"
#include "apps/identification/solve.h"

namespace abut {

/// Of SearchMethod::least_squares.
[[nodiscard]] Solution solve_least_squares(const MotionFit& fit, const Eigen::VectorXd& guess,
                                           const SolveOptions& options);

/// Of SearchMethod::gradient.
[[nodiscard]] Solution solve_by_gradient(const MotionFit& fit, const Eigen::VectorXd& guess,
                                         const SolveOptions& options);

[[nodiscard]] Solution::Status status_of(ceres::TerminationType type);

/// Keeps iterations, passes them on, and passes back what the user says to them. All must outlive it.
class Progress : public ceres::IterationCallback {
 public:
  Progress(const SolveOptions& options, std::vector<Iteration>& iterations)
      : options_(options), iterations_(iterations) {}
  ceres::CallbackReturnType operator()(const ceres::IterationSummary& summary) final;

 protected:
  /// What one way to search alone knows: gradient, contacts, x.
  virtual void complete(const ceres::IterationSummary& summary, Iteration& iteration) = 0;

 private:
  const SolveOptions& options_;
  std::vector<Iteration>& iterations_;
  Stopwatch stopwatch_;
};

}  // namespace abut
