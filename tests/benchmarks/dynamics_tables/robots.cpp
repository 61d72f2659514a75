#include <algorithm>
#include <cmath>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dynamics/gradient_check/gradient_check.h"
#include "dynamics/rollout/rollout.h"
#include "tests/benchmarks/dynamics_tables/tables.h"
#include "tests/support/random_robots.h"

namespace abut::tables {
namespace {

constexpr double k_command = 0.5;

/// How samples of gradients of all robots agree with differences.
struct Agreement {
  int samples = 0, resolved = 0, within = 0, as_differences = 0, wrong = 0;
  std::vector<double> errors;
};

Agreement check_robots(int robots, int steps, double limit) {
  constexpr int k_samples = 32;
  constexpr double k_wrong = 1e-3;
  Agreement all;
  for (int seed = 1; seed <= robots; ++seed) {
    const test::TestScene scene = test::random_robot(seed);
    Random random(static_cast<std::uint64_t>(seed));
    GradientCheckConfig config;
    config.steps = steps;
    config.samples = k_samples;
    config.controls = test::random_commands(scene.model, steps, k_command, random);
    const GradientCheck check = check_gradient(scene.model, test::joint_config(2e-3), scene.state, config);
    for (const GradientSample& sample : check.samples) {
      if (sample.at_bound) continue;
      ++all.samples;
      if (sample.unresolved) continue;
      ++all.resolved;
      all.within += sample.relative_error <= limit;
      all.as_differences += sample.relative_error <= std::max(limit, 3.0 * sample.self_disagreement);
      all.wrong += !(sample.relative_error <= k_wrong);
      all.errors.push_back(sample.relative_error);
    }
  }
  return all;
}

}  // namespace

void print_robots(const Options& options) {
  print_header({"steps", "samples", "resolved", "limit", "within it [%]",
                "within it, or 3 times what differences are off by themselves [%]", "median error",
                "off by more than 1e-3"});
  constexpr std::pair<int, double> k_rows[] = {{1, 1e-6}, {10, 1e-5}, {100, 1e-4}};
  for (const auto& [steps, limit] : k_rows) {
    Agreement all = check_robots(options.scenes, steps, limit);
    const auto middle = all.errors.begin() + static_cast<std::ptrdiff_t>(all.errors.size() / 2);
    std::nth_element(all.errors.begin(), middle, all.errors.end());
    print_row({fmt::format("{}", steps), fmt::format("{}", all.samples), fmt::format("{}", all.resolved),
               fmt::format("{:.0e}", limit), fmt::format("{:.2f}", 100.0 * all.within / all.resolved),
               fmt::format("{:.2f}", 100.0 * all.as_differences / all.resolved),
               fmt::format("{:.1e}", *middle), fmt::format("{}", all.wrong)});
  }
  fmt::print("\n");
  print_header({"robots", "steps of each", "not finite", "other failures"});
  int not_finite = 0, failed = 0;
  constexpr int k_steps = 2000;
  for (int seed = 1; seed <= options.scenes; ++seed) {
    const test::TestScene scene = test::random_robot(seed);
    Random random(static_cast<std::uint64_t>(seed));
    State end;
    const StepReport report = simulate(Stepper(scene.model, test::joint_config(2e-3)), scene.state, k_steps,
                                       test::random_commands(scene.model, k_steps, k_command, random), end);
    not_finite += report.status == StepStatus::non_finite;
    failed += report.status != StepStatus::ok && report.status != StepStatus::non_finite;
  }
  print_row({fmt::format("{}", options.scenes), fmt::format("{}", k_steps), fmt::format("{}", not_finite),
             fmt::format("{}", failed)});
}

}  // namespace abut::tables
