/// Time, rollouts and error until the loss is within 0.1 % of the least, from the same guess on the same
/// data, on one thread:
///   exact        Levenberg-Marquardt, the Jacobian in the cheapest exact way
///   differences  the same with forward differences
///   simplex      Nelder and Mead's method
///
///     abut_identification_comparison [EXPERIMENT.toml ...]

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/report.h"
#include "apps/abut/stopwatch.h"
#include "apps/identification/experiment_io.h"
#include "apps/identification/motion_fit.h"
#include "apps/identification/solve.h"
#include "tests/benchmarks/identification/nelder_mead.h"

namespace abut {
namespace {

constexpr double k_margin = 1e-3;  // of the least loss
constexpr int k_repetitions = 3;   // the median of which counts; one of those that take long
constexpr double k_long = 5.0;     // [s]
constexpr double k_patience = 60;  // [s] after which a search is given up

struct Run {
  double seconds = 0;
  double rollouts = 0;  // of all motions, those of differences included
  int jacobians = 0;
  double error = 0;  // largest, in per cent of the guess's
  bool reached = false;
};

double error_of(const MotionFit& fit, const Eigen::VectorXd& x) {
  const UnknownSpace& unknowns = fit.unknowns();
  const Eigen::VectorXd truth = unknowns.truth(), first = unknowns.minus(unknowns.initial(), truth),
                        last = unknowns.minus(x, truth);
  double largest = 0.0;
  for (Eigen::Index e = 0; e < first.size(); ++e) {
    if (std::abs(first[e]) > 1e-9) largest = std::max(largest, 100.0 * std::abs(last[e] / first[e]));
  }
  return largest;
}

Run run_levenberg_marquardt(const ExperimentFile& file, JacobianMethod method, double target) {
  MotionFit fit(file.experiment);
  fit.set_method(method);
  SolveOptions options;
  options.max_iterations = 200;
  options.tolerance = 1e-12;
  options.trust_region = file.search.trust_region;
  options.loss = file.search.loss;
  const Stopwatch stopwatch;
  options.progress = [&](const Iteration& iteration) {
    return iteration.cost > target && stopwatch.seconds() < k_patience;
  };
  const Solution solution = solve(fit, fit.unknowns().initial(), options);
  Run run;
  run.seconds = stopwatch.seconds();
  run.jacobians = solution.jacobians;
  run.rollouts = solution.evaluations;
  if (method == JacobianMethod::differences)
    run.rollouts += solution.jacobians * fit.unknowns().tangent_size();
  run.reached = solution.cost <= target;
  run.error = error_of(fit, solution.x);
  return run;
}

Run run_simplex(const ExperimentFile& file, double target) {
  const MotionFit fit(file.experiment);
  const UnknownSpace& unknowns = fit.unknowns();
  const Eigen::VectorXd guess = unknowns.initial();
  Eigen::VectorXd steps(unknowns.tangent_size());
  for (int e = 0; e < unknowns.tangent_size(); ++e) {
    const Variable& variable = unknowns.variable_of(e);
    const double size = variable.kind == Variable::Kind::number ? std::abs(guess[variable.begin]) : 1.0;
    steps[e] = 0.1 * (size > 0.0 ? size : 0.1);
  }
  const Stopwatch stopwatch;
  const auto loss = [&](const Eigen::VectorXd& tangent) {
    Eigen::VectorXd x = unknowns.plus(guess, tangent);
    for (const Variable& variable : unknowns.variables()) {
      if (variable.kind != Variable::Kind::number) continue;
      const auto [lower, upper] = unknowns.bounds(variable);
      x[variable.begin] = std::clamp(x[variable.begin], lower, upper);
    }
    if (stopwatch.seconds() > k_patience) return std::numeric_limits<double>::infinity();
    const MotionFit::Evaluation evaluation = fit.evaluate(x, MotionFit::Want::residuals);
    return evaluation.ok ? fit.cost_of(evaluation.residuals, file.search.loss)
                         : std::numeric_limits<double>::infinity();
  };
  const NelderMeadResult result = nelder_mead(loss, Eigen::VectorXd::Zero(steps.size()), steps, target,
                                              400 * static_cast<int>(steps.size()));
  Run run;
  run.seconds = stopwatch.seconds();
  run.rollouts = result.evaluations;
  run.reached = result.reached;
  run.error = error_of(fit, unknowns.plus(guess, result.x));
  return run;
}

template <typename Make>
Run median_of(const Make& make) {
  std::vector<Run> runs;
  runs.push_back(make());
  for (int i = 1; i < k_repetitions && runs.front().seconds < k_long; ++i) runs.push_back(make());
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.seconds < b.seconds; });
  return runs[runs.size() / 2];
}

void compare(const std::filesystem::path& path, Table& table) {
  const ExperimentFile file = read_experiment(path);
  const MotionFit fit(file.experiment);
  SolveOptions thorough;
  thorough.max_iterations = 300;
  thorough.tolerance = 1e-13;
  thorough.trust_region = file.search.trust_region;
  thorough.loss = file.search.loss;
  const double least = solve(fit, fit.unknowns().initial(), thorough).cost, target = least * (1.0 + k_margin);
  const Run exact = median_of([&] { return run_levenberg_marquardt(file, fit.method(), target); });
  const Run differences =
      median_of([&] { return run_levenberg_marquardt(file, JacobianMethod::differences, target); });
  const Run simplex = run_simplex(file, target);
  const auto add = [&](const std::string& name, const Run& run) {
    table.add({path.stem().string(), fmt::format("{}", fit.unknowns().tangent_size()), name,
               fmt::format("{:.3g}", run.seconds), fmt::format("{:.3g}", run.seconds / exact.seconds),
               fmt::format("{:.0f}", run.rollouts), fmt::format("{}", run.jacobians),
               fmt::format("{:.2g} %", run.error), run.reached ? "yes" : "no"});
  };
  add(fmt::format("exact, {}", to_string(fit.method())), exact);
  add("differences", differences);
  add("simplex", simplex);
}

}  // namespace
}  // namespace abut

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> paths(argv + 1, argv + argc);
  if (paths.empty()) {
    for (const char* name : {"box_friction", "sphere_bounce", "shape_from_motion", "drill_push",
                             "spot_on_pole", "tumbling_box", "tumbling_spot", "shape_from_points"})
      paths.push_back(std::filesystem::path(ABUT_SOURCE_DIR) / "assets/experiments" /
                      (std::string(name) + ".toml"));
  }
  abut::Table table({"experiment", "unknowns", "search", "time [s]", "of exact", "rollouts", "Jacobians",
                     "error left", "target"});
  for (const std::filesystem::path& path : paths) {
    abut::compare(path, table);
    fmt::print(stderr, "{} done\n", path.stem().string());
  }
  fmt::print("{}", table.text(3));
  return 0;
}
