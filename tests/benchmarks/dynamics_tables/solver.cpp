/// How the solver of the default law gets to its answers.
#include <algorithm>
#include <array>
#include <string>

#include <spdlog/fmt/fmt.h>

#include "dynamics/rollout/rollout.h"
#include "tests/benchmarks/dynamics_tables/tables.h"
#include "tests/support/jointed_scenes.h"

namespace abut::tables {

void print_solver(const Options& options) {
  fmt::print(
      "\n{} random scenes of 2 to 10 bodies with joints, {} steps each, half of them with restitution.\n\n",
      options.scenes, options.steps);
  std::array<long, 5> paths{};
  long steps = 0, iterations = 0, negative = 0;
  int most = 0, failed = 0;
  std::string seeds;
  const double begin = processor_time();
  for (int seed = 1; seed <= options.scenes; ++seed) {
    const test::TestScene scene = test::random_jointed_scene(seed);
    const Stepper stepper(scene.model, {});
    State end;
    const StepReport last = simulate(stepper, scene.state, options.steps, {}, end,
                                     [&](int, const State&, const StepReport& report) {
                                       ++steps;
                                       ++paths[static_cast<std::size_t>(report.path)];
                                       iterations += report.iterations;
                                       most = std::max(most, report.iterations);
                                       negative += report.has_negative_determinant;
                                       return true;
                                     });
    if (last.status == StepStatus::ok) continue;
    ++failed;
    seeds += fmt::format("{}{} ({} in step {})", seeds.empty() ? "" : ", ", seed, to_string(last.status),
                         last.step);
  }
  const double seconds = processor_time() - begin;
  print_header({"steps", "solved directly", "with convex passes", "with graduated friction",
                "from another start", "unsolved", "negative determinant", "iterations a step, most",
                "us a step"});
  print_row({fmt::format("{}", steps), fmt::format("{}", paths[0]), fmt::format("{}", paths[1]),
             fmt::format("{}", paths[2]), fmt::format("{}", paths[3]), fmt::format("{}", paths[4]),
             fmt::format("{}", negative),
             fmt::format("{:.2f}, {}", static_cast<double>(iterations) / static_cast<double>(steps), most),
             fmt::format("{:.1f}", 1e6 * seconds / static_cast<double>(steps))});
  fmt::print("\nScenes that failed: {}{}\n", failed, seeds.empty() ? "" : ": " + seeds);
}

}  // namespace abut::tables
