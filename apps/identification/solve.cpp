#include "apps/identification/solve.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <glog/logging.h>

#include <spdlog/fmt/fmt.h>

#include "apps/identification/silent_bounds.h"
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

namespace {

std::string names_of(const UnknownSpace& unknowns, const std::vector<const Variable*>& variables) {
  std::string names;
  for (const Variable* variable : variables)
    names += (names.empty() ? "" : ", ") + unknowns.name(variable->tangent_begin);
  return names;
}

Solution solve_once(const MotionFit& fit, const Eigen::VectorXd& guess, const SolveOptions& options) {
  return options.method == SearchMethod::least_squares ? solve_least_squares(fit, guess, options)
                                                       : solve_by_gradient(fit, guess, options);
}

/// Goes on from inside the bounds at which a search has ended, if motions do not depend on the unknowns
/// there.
void look_inside_bounds(const MotionFit& fit, const SolveOptions& options, Solution& solution) {
  if (solution.status != Solution::Status::converged) return;
  const InsideBounds inside = inside_silent_bounds(fit, solution.x);
  if (inside.moved.empty()) return;
  Solution again = solve_once(fit, inside.x, options);
  const std::string names = names_of(fit.unknowns(), inside.moved);
  std::vector<std::string> notes = std::move(solution.notes);
  const bool is_better = again.status != Solution::Status::failed && again.cost < solution.cost;
  notes.push_back(
      fmt::format("{}: a search ended at or beside the bound, where the motions do not depend on it; a "
                  "search from inside {}",
                  names, is_better ? "found a lower loss" : "found no lower loss"));
  again.initial_cost = solution.initial_cost;
  again.evaluations += solution.evaluations;
  again.jacobians += solution.jacobians;
  again.iterations.insert(again.iterations.begin(), solution.iterations.begin(), solution.iterations.end());
  if (!is_better) {
    again.x = solution.x;
    again.cost = solution.cost;
    again.message = solution.message;
    if (again.status != Solution::Status::stopped) again.status = solution.status;
  }
  solution = std::move(again);
  solution.notes = std::move(notes);
}

}  // namespace

Solution solve(const MotionFit& fit, const Eigen::VectorXd& guess, const SolveOptions& options) {
  silence_ceres();
  const Stopwatch stopwatch;
  const InsideBounds start = inside_silent_bounds(fit, guess);
  Solution solution = solve_once(fit, start.x, options);
  if (!start.moved.empty()) {
    solution.notes.push_back(
        fmt::format("{}: the motions do not depend on it at or beside the bound, where the search was to "
                    "begin; it began a "
                    "tenth of the range inside",
                    names_of(fit.unknowns(), start.moved)));
  }
  look_inside_bounds(fit, options, solution);
  solution.seconds = stopwatch.seconds();
  return solution;
}

}  // namespace abut
