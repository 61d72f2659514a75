#include "apps/identification/solve.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <glog/logging.h>

#include <spdlog/fmt/fmt.h>

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

/// Length of the range of a number, 1 where it has no other end.
double range_of(const UnknownSpace& unknowns, const Variable& variable) {
  const auto [lower, upper] = unknowns.bounds(variable);
  return std::isfinite(upper - lower) ? upper - lower : 1.0;
}

/// 1 at or beside the lower bound of a variable, -1 at or beside its upper bound, else 0.
int inward(const UnknownSpace& unknowns, const Variable& variable, const Eigen::VectorXd& x) {
  constexpr double k_beside = 0.01;  // of the range: a restitution of 0.006 has no impacts either
  if (variable.kind != Variable::Kind::number) return 0;
  const auto [lower, upper] = unknowns.bounds(variable);
  const double value = x[variable.begin], near = k_beside * range_of(unknowns, variable);
  return value - lower <= near ? 1 : upper - value <= near ? -1 : 0;
}

/// Whether no residual but a prior depends on a variable, to first order.
bool is_silent(const MotionFit& fit, const Variable& variable, const Eigen::MatrixXd& jacobian) {
  return std::all_of(fit.blocks().begin(), fit.blocks().end(), [&](const ResidualBlock& block) {
    return block.kind == ResidualBlock::Kind::prior ||
           jacobian.block(block.begin, variable.tangent_begin, block.count, variable.tangent_size)
               .isZero(0.0);
  });
}

/// A point beside x, where what depends on nothing at its bound is moved inside.
struct InsideBounds {
  Eigen::VectorXd x;
  std::vector<const Variable*> moved;
};

/// Moves the variables of x at or beside a bound that motions do not depend on there, but do inside.
/// Derivatives are computed only where a variable lies at a bound.
InsideBounds inside_silent_bounds(const MotionFit& fit, const Eigen::VectorXd& x) {
  constexpr double k_share = 0.1;  // of the range
  const UnknownSpace& unknowns = fit.unknowns();
  InsideBounds inside{x, {}};
  std::vector<const Variable*> at_bounds;
  for (const Variable& variable : unknowns.variables()) {
    if (inward(unknowns, variable, x) != 0) at_bounds.push_back(&variable);
  }
  if (at_bounds.empty()) return inside;
  const MotionFit::Evaluation here = fit.evaluate(x, MotionFit::Want::jacobian);
  if (!here.ok) return inside;
  std::vector<const Variable*> silent;
  for (const Variable* variable : at_bounds) {
    if (!is_silent(fit, *variable, here.jacobian)) continue;
    inside.x[variable->begin] += inward(unknowns, *variable, x) * k_share * range_of(unknowns, *variable);
    silent.push_back(variable);
  }
  if (silent.empty()) return inside;
  const MotionFit::Evaluation there = fit.evaluate(inside.x, MotionFit::Want::jacobian);
  for (const Variable* variable : silent) {
    if (there.ok && !is_silent(fit, *variable, there.jacobian)) {
      inside.moved.push_back(variable);
    } else {
      inside.x[variable->begin] = x[variable->begin];
    }
  }
  return inside;
}

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
