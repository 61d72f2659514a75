#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dynamics/rollout/rollout.h"
#include "dynamics/step/step_memory.h"
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

/// A box of columns, rows and layers.
struct Layout {
  std::string name;
  int columns = 1, rows = 1, layers = 1;
};

/// Balls of 0.1 m, 0.15 m apart from centre to centre: in free flight, or those of one layer at rest on a
/// floor.
TestScene balls_apart(const Layout& layout, bool at_rest) {
  TestScene scene;
  if (at_rest) scene = floor_scene();
  const Body ball = sphere_of_mass(0.05, 1.0);
  for (int k = 0; k < layout.layers; ++k) {
    for (int j = 0; j < layout.rows; ++j) {
      for (int i = 0; i < layout.columns; ++i)
        scene.add(ball, pose_at({0.15 * i, 0.15 * j, 0.15 * k + (at_rest ? 0.05 : 0.0)}));
    }
  }
  return scene;
}

/// Balls in about a cube above a floor, each off its place by up to 4 mm.
TestScene dropped_balls(int count) {
  TestScene scene = floor_scene();
  const Body ball = sphere_of_mass(0.05, 1.0);
  const int side = static_cast<int>(std::ceil(std::cbrt(count)));
  Random random(1);
  for (int i = 0; i < count; ++i) {
    const Vec3<double> place(0.11 * (i % side), 0.11 * (i / side % side), 0.06 + 0.11 * (i / side / side)),
        off(random.uniform(-0.004, 0.004), random.uniform(-0.004, 0.004), 0.0);
    scene.add(ball, pose_at(place + off));
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

/// Memory of this process [KiB], from the kernel: "VmRSS", or "VmHWM" for the most so far.
long memory_of_process(const std::string& key) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != key + ":") continue;
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

void print_layouts(const Options&) {
  const std::vector<Layout> layouts{{"line along x", 4000, 1, 1},
                                    {"line along y", 1, 4000, 1},
                                    {"line along z", 1, 1, 4000},
                                    {"plane", 80, 50, 1},
                                    {"cube", 20, 20, 10}};
  fmt::print("\n4,000 balls that lie apart, one thread.\n\n");
  print_header({"layout", "in free flight [ms]", "steps/s", "at rest on a floor [ms]", "steps/s"});
  for (const Layout& layout : layouts) {
    const double flying = step_milliseconds(balls_apart(layout, false));
    std::vector<std::string> row{layout.name, fmt::format("{:.2f}", flying),
                                 fmt::format("{:.0f}", 1e3 / flying), "-", "-"};
    if (layout.layers == 1) {
      const double resting = step_milliseconds(balls_apart(layout, true));
      row[3] = fmt::format("{:.2f}", resting);
      row[4] = fmt::format("{:.0f}", 1e3 / resting);
    }
    print_row(row);
    std::fflush(stdout);
  }
  fmt::print("\nBalls apart; the memory is that of the process, most of it their meshes.\n\n");
  print_header({"balls", "layout", "step [ms]", "by n log2 n [ns]", "memory [MiB]"});
  const auto print_size = [](const std::string& name, const Layout& layout, bool at_rest) {
    const int count = layout.columns * layout.rows * layout.layers;
    const double step = step_milliseconds(balls_apart(layout, at_rest));
    print_row({fmt::format("{}", count), name, fmt::format("{:.2f}", step),
               fmt::format("{:.1f}", 1e6 * step / (count * std::log2(count))),
               fmt::format("{:.0f}", static_cast<double>(memory_of_process("VmHWM")) / 1024.0)});
    std::fflush(stdout);
  };
  print_size("at rest on a floor", {"", 100, 100, 1}, true);
  for (const int side : {10, 22, 46}) print_size("cube in free flight", {"", side, side, side}, false);
}

void print_heap(const Options& options) {
  const TestScene scene = dropped_balls(options.bodies);
  const Stepper stepper(scene.model, {});
  StepScratch scratch;
  State state = scene.state, next;
  fmt::print("\n{} balls dropped on a floor.\n\n", options.bodies);
  print_header({"step", "contacts", "islands", "memory [KiB]", "at most so far [KiB]"});
  for (int k = 1; k <= options.steps; ++k) {
    const StepReport report = stepper.step(state, {}, next, scratch);
    std::swap(state, next);
    if (k != 2 && k % 200 != 0) continue;
    print_row({fmt::format("{}", k), fmt::format("{}", report.contacts),
               fmt::format("{}", scratch.memory().solver.islands.size()),
               fmt::format("{}", memory_of_process("VmRSS")), fmt::format("{}", memory_of_process("VmHWM"))});
    std::fflush(stdout);
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
    if (k == 2 * k_between_resets) before = memory_of_process("VmRSS");
    ++outcomes[to_string(stepper.step(state, {}, next, scratch).status)];
    std::swap(state, next);
  }
  print_header({"resident memory after two rounds [KiB]", "at the end [KiB]", "steps ok"});
  print_row({fmt::format("{}", before), fmt::format("{}", memory_of_process("VmRSS")),
             fmt::format("{}", outcomes["ok"])});
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
