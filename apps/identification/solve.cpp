#include "apps/identification/solve.h"

#include <glog/logging.h>

#include "apps/identification/solvers.h"

namespace abut {
namespace {

/// Once for the program, as searches run side by side. What Ceres logs as errors, a solution tells its caller.
void silence_ceres() {
  [[maybe_unused]] static const bool is_done = [] {
    FLAGS_minloglevel = google::GLOG_FATAL;
    return true;
  }();
}

}  // namespace

Solution::Status status_of(ceres::TerminationType type) {
  switch (type) {
    case ceres::CONVERGENCE:
      return Solution::Status::converged;
    case ceres::NO_CONVERGENCE:
      return Solution::Status::max_iterations;
    case ceres::USER_SUCCESS:
      return Solution::Status::stopped;
    default:
      return Solution::Status::failed;
  }
}

ceres::CallbackReturnType Progress::operator()(const ceres::IterationSummary& summary) {
  Iteration iteration;
  iteration.number = summary.iteration;
  iteration.cost = summary.cost;
  iteration.step = summary.step_norm;
  iteration.seconds = stopwatch_.seconds();
  complete(summary, iteration);
  iterations_.push_back(iteration);
  const bool go_on = !options_.progress || options_.progress(iteration);
  return go_on ? ceres::SOLVER_CONTINUE : ceres::SOLVER_TERMINATE_SUCCESSFULLY;
}

const char* to_string(Solution::Status status) {
  switch (status) {
    case Solution::Status::converged:
      return "converged";
    case Solution::Status::max_iterations:
      return "max_iterations";
    case Solution::Status::stopped:
      return "stopped";
    case Solution::Status::failed:
      return "failed";
  }
  return "unknown";
}

Solution solve(const MotionFit& fit, const Eigen::VectorXd& guess, const SolveOptions& options) {
  silence_ceres();
  const Stopwatch stopwatch;
  Solution solution = options.method == SearchMethod::least_squares ? solve_least_squares(fit, guess, options)
                                                                    : solve_by_gradient(fit, guess, options);
  solution.seconds = stopwatch.seconds();
  return solution;
}

}  // namespace abut
