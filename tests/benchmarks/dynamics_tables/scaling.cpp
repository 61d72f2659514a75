#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dynamics/rollout/rollout.h"
#include "tests/benchmarks/dynamics_tables/tables.h"
#include "tests/support/scenes.h"

namespace abut::tables {
namespace {

using namespace abut::test;

/// Spheres and boxes in turn, 0.4 m apart on a floor.
TestScene scattered(int count) {
  TestScene scene = floor_scene();
  const Body box = box_of_mass({0.05, 0.05, 0.05}, 1.0, 1), sphere = sphere_of_mass(0.05, 1.0);
  const int side = static_cast<int>(std::ceil(std::sqrt(count)));
  for (int i = 0; i < count; ++i)
    scene.add(i % 2 == 0 ? box : sphere, pose_at({0.4 * (i % side), 0.4 * (i / side), 0.05}));
  return scene;
}

/// Bars of 0.2 m that hang from the origin, each hinged to the one above.
TestScene hanging_row(int count) {
  TestScene scene;
  const Body bar = box_of_mass({0.01, 0.01, 0.1}, 0.5, 1);
  for (int i = 0; i < count; ++i) {
    const int b = scene.add(bar, pose_at({0.0, 0.0, -0.1 - 0.2 * i}));
    Joint joint;
    joint.name = fmt::format("hinge {}", i);
    joint.kind = JointKind::hinge;
    joint.body_A = i == 0 ? -1 : b - 1;
    joint.body_B = b;
    const Pose<double> X_WJ = pose_at({0.0, 0.0, -0.2 * i}, {-0.5 * std::numbers::pi, 0.0, 0.0});
    joint.X_AJ = i == 0 ? X_WJ : scene.X_WB(b - 1).inverse() * X_WJ;
    joint.X_BJ = scene.X_WB(b).inverse() * X_WJ;
    scene.model.joints.push_back(joint);
  }
  return scene;
}

/// Processor time of a step [ms], after some to settle: the least of a few averages.
double step_milliseconds(const TestScene& scene) {
  const Stepper stepper(scene.model, {});
  StepScratch scratch;
  State state = scene.state, next;
  double least = k_infinity;
  const int steps = std::max(5, 2000 / scene.model.body_count());
  for (int round = 0; round < 6; ++round) {
    const double start = processor_time();
    for (int k = 0; k < steps; ++k) {
      const StepReport report = stepper.step(state, {}, next, scratch);
      if (report.status != StepStatus::ok) return std::nan("");
      std::swap(state, next);
    }
    if (round > 0) least = std::min(least, 1e3 * (processor_time() - start) / steps);
  }
  return least;
}

/// Memory of this process [KiB], from the kernel.
long resident_memory() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != "VmRSS:") continue;
    long value = 0;
    status >> value;
    return value;
  }
  return -1;
}

}  // namespace

void print_scaling(const Options&) {
  fmt::print("\nProcessor time of a step, one thread.\n\n");
  print_header({"bodies", "scattered [ms]", "each [us]", "row of hinges [ms]", "each [us]"});
  for (const int count : {10, 30, 100, 300, 1000}) {
    const double apart = step_milliseconds(scattered(count)), joined = step_milliseconds(hanging_row(count));
    print_row({fmt::format("{}", count), fmt::format("{:.3f}", apart),
               fmt::format("{:.2f}", 1e3 * apart / count), fmt::format("{:.3f}", joined),
               fmt::format("{:.2f}", 1e3 * joined / count)});
  }
}

void print_soak(const Options& options) {
  constexpr int k_between_resets = 200;
  fmt::print("\n{} steps, back to the start after each {}.\n\n", options.steps, k_between_resets);
  Random random(1);
  const TestScene scene = random_contact_scene(random, {.min_bodies = 3, .max_bodies = 3});
  const Stepper stepper(scene.model, {});
  StepScratch scratch;
  State state = scene.state, next;
  long before = 0;
  std::map<std::string, int> outcomes;
  for (int k = 0; k < options.steps; ++k) {
    if (k % k_between_resets == 0) state = scene.state;
    if (k == 2 * k_between_resets) before = resident_memory();
    ++outcomes[to_string(stepper.step(state, {}, next, scratch).status)];
    std::swap(state, next);
  }
  print_header({"resident memory after two rounds [KiB]", "at the end [KiB]", "steps ok"});
  print_row(
      {fmt::format("{}", before), fmt::format("{}", resident_memory()), fmt::format("{}", outcomes["ok"])});
}

void print_random(const Options& options) {
  const RandomSceneOptions sizes{.min_bodies = 2, .max_bodies = 10};
  fmt::print("\n{} random scenes of {} to {} bodies, {} steps each.\n\n", options.scenes, sizes.min_bodies,
             sizes.max_bodies, options.steps);
  print_header({"law", "h [ms]", "ok", "other ends", "scenes with a number that is not finite",
                "largest speed [m/s]"});
  for (const auto& [name, law] : contact_laws()) {
    if (!options.law.empty() && options.law != name) continue;
    StepConfig config;
    config.law = law;
    if (law == ContactLaw::penalty) config.h = 5e-4;  // explicit springs under light bodies
    std::map<std::string, std::vector<int>> seeds;    // by how the rollout ended
    int not_finite = 0;
    double fastest = 0.0;
    for (int seed = 1; seed <= options.scenes; ++seed) {
      Random random(static_cast<std::uint64_t>(seed));
      const TestScene scene = without_ignored(random_contact_scene(random, sizes), law);
      const Stepper stepper(scene.model, config);
      State end;
      bool finite = true;
      const StepReport report = simulate(
          stepper, scene.state, options.steps, {}, end, [&](int, const State& state, const StepReport&) {
            for (std::size_t b = 0; b < state.X_WB.size(); ++b) {
              finite = finite && state.X_WB[b].p.allFinite() && state.X_WB[b].q.coeffs().allFinite() &&
                       state.V_WB[b].allFinite();
              fastest = std::max(fastest, state.V_WB[b].tail<3>().norm());
            }
            return true;
          });
      seeds[to_string(report.status)].push_back(seed);
      if (!finite) not_finite++;
    }
    std::string others;
    for (const auto& [status, list] : seeds) {
      if (status == to_string(StepStatus::ok)) continue;
      others += fmt::format("{}{} {} (seed {})", others.empty() ? "" : "; ", list.size(), status,
                            fmt::join(list, ", "));
    }
    print_row({std::string(name), fmt::format("{:g}", 1e3 * config.h), fmt::format("{}", seeds["ok"].size()),
               others.empty() ? "none" : others, fmt::format("{}", not_finite),
               fmt::format("{:.1f}", fastest)});
    std::fflush(stdout);
  }
}

}  // namespace abut::tables
