/// The phases of three steps with impacts: when pairs of bodies close, and where and how fast these are then.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dynamics/rollout/rollout.h"
#include "dynamics/step/step_memory.h"
#include "tests/benchmarks/dynamics_tables/tables.h"
#include "tests/benchmarks/support/gnuplot.h"
#include "tests/benchmarks/support/table.h"
#include "tests/support/scenes.h"

namespace abut::tables {
namespace {

using namespace abut::test;

constexpr double k_step = 1e-2;     // [s]
constexpr double k_radius = 0.05;   // [m]
constexpr int k_most_steps = 1000;  // until the first impact

/// Balls on a line, and the step in which the first of them is hit.
struct PhaseScene {
  const char* title;
  const char* position;  ///< that is drawn
  TestScene scene;
  int axis;      ///< of the line
  double first;  ///< position of the first ball's centre when balls have no radius [m]
};

/// A phase of a step. Only balls are listed, in the order of their bodies.
struct Phase {
  double time = 0.0;                 ///< of its beginning [s]
  std::vector<double> displacement;  ///< from the start of the step to there [m]
  std::vector<double> velocity;      ///< [m/s]
  std::string closing;               ///< pairs, by the numbers of balls; 0: the floor
};

struct PhasedStep {
  std::vector<double> start;  ///< positions, as of balls without radius [m]
  std::vector<Phase> phases;

  [[nodiscard]] double position(std::size_t ball, double time) const {
    const auto next =
        std::find_if(phases.begin(), phases.end(), [&](const Phase& phase) { return phase.time > time; });
    const Phase& phase = *std::prev(next);
    return start[ball] + phase.displacement[ball] + (time - phase.time) * phase.velocity[ball];
  }
};

Body ball_of(double mass, double restitution) {
  Body body = sphere_of_mass(k_radius, mass);
  body.material.restitution = restitution;
  return body;
}

/// A ball falls on one of the same mass that rests on the floor.
PhaseScene struck_ball() {
  constexpr double k_restitution = 0.5, k_gap = 0.109, k_settled = 3.0 * k_radius;
  PhaseScene out{"a ball falls on one that rests", "height", floor_scene(0.0), 2, k_radius};
  out.scene.body(0).material.restitution = k_restitution;
  out.scene.add(ball_of(1.0, k_restitution), pose_at({0, 0, k_radius}));
  out.scene.add(ball_of(1.0, k_restitution), pose_at({0, 0, k_settled + k_gap}));
  return out;
}

/// A light ball falls to the floor above a heavy one.
PhaseScene light_over_heavy() {
  constexpr double k_restitution = 0.9, k_height = 0.093, k_gap = 0.006, k_light = 0.3;
  PhaseScene out{"a light ball falls above a heavy one", "height", floor_scene(0.0), 2, k_radius};
  out.scene.body(0).material.restitution = k_restitution;
  out.scene.add(ball_of(1.0, k_restitution), pose_at({0, 0, k_radius + k_height}));
  out.scene.add(ball_of(k_light, k_restitution), pose_at({0, 0, 3.0 * k_radius + k_height + k_gap}));
  return out;
}

/// An elastic ball hits two that are at rest, 3 mm apart.
PhaseScene cradle() {
  constexpr double k_speed = 1.0, k_approach = 2e-3, k_gap = 3e-3;
  PhaseScene out{"three elastic balls in a row", "position", {}, 0, 0.0};
  out.scene.model.gravity.setZero();
  out.scene.add(ball_of(1.0, 1.0), pose_at({0, 0, 0}), moving_at({k_speed, 0, 0}));
  out.scene.add(ball_of(1.0, 1.0), pose_at({2.0 * k_radius + k_approach, 0, 0}));
  out.scene.add(ball_of(1.0, 1.0), pose_at({4.0 * k_radius + k_approach + k_gap, 0, 0}));
  out.scene.set_friction(0.0);
  return out;
}

/// The first step with impacts. Throws std::runtime_error if there is none, a step fails, or the phases do not
/// end where the step does.
PhasedStep phased_step(const PhaseScene& of) {
  StepConfig config;
  config.h = k_step;
  const Stepper stepper(of.scene.model, config);
  StepScratch scratch;
  State state = of.scene.state, next;
  StepReport report;
  for (int k = 0; k < k_most_steps && report.impacts == 0; ++k) {
    if (k > 0) state = next;
    report = stepper.step(state, {}, next, scratch);
    if (report.status != StepStatus::ok) throw std::runtime_error(to_string(report.status));
  }
  if (report.impacts == 0) throw std::runtime_error("no impacts");
  const StepMemory& memory = scratch.memory();
  std::vector<Eigen::Index> indices;  // of the velocities of balls
  std::vector<int> numbers;           // of bodies: 0 of the floor
  PhasedStep out;
  for (int b = 0; b < of.scene.model.body_count(); ++b) {
    const bool is_ball = !of.scene.model.bodies[static_cast<std::size_t>(b)].fixed;
    if (is_ball) {
      const auto ball = static_cast<double>(indices.size());
      out.start.push_back(state.X_WB[static_cast<std::size_t>(b)].p[of.axis] - of.first -
                          2.0 * k_radius * ball);
      indices.push_back(6 * memory.solved.mass.slot(b) + 3 + of.axis);
    }
    numbers.push_back(is_ball ? static_cast<int>(indices.size()) : 0);
  }
  for (std::size_t e = 0; e < memory.phases.event_count; ++e) {
    const PhaseEvent& event = memory.phases.events[e];
    if (event.is_look) continue;
    Phase& phase = out.phases.emplace_back();
    phase.time = event.time;
    for (const Eigen::Index i : indices) {
      phase.displacement.push_back(event.way[i]);
      phase.velocity.push_back(event.solution.velocity[i]);
    }
    for (const int p : event.closing) {
      const PhasePair& pair = memory.phases.pairs[static_cast<std::size_t>(p)];
      phase.closing += fmt::format("{}{} and {}", phase.closing.empty() ? "" : ", ",
                                   numbers[static_cast<std::size_t>(pair.body_A)],
                                   numbers[static_cast<std::size_t>(pair.body_B)]);
    }
  }
  for (std::size_t ball = 0; ball < indices.size(); ++ball) {
    constexpr double k_rounding = 1e-12;
    const auto b = static_cast<std::size_t>(
        std::find(numbers.begin(), numbers.end(), static_cast<int>(ball) + 1) - numbers.begin());
    const double end = next.X_WB[b].p[of.axis] - of.first - 2.0 * k_radius * static_cast<double>(ball);
    if (!(std::abs(end - out.position(ball, k_step)) < k_rounding))
      throw std::runtime_error("the phases do not end where the step does");
  }
  return out;
}

void draw(const std::vector<PhaseScene>& scenes, const std::vector<PhasedStep>& steps,
          const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::vector<std::string> columns{"time [ms]"};
  std::set<double> times{0.0, k_step};  // positions are linear between these
  for (std::size_t s = 0; s < scenes.size(); ++s) {
    for (std::size_t ball = 0; ball < steps[s].start.size(); ++ball)
      columns.push_back(fmt::format("{}: {} of ball {} [mm]", scenes[s].title, scenes[s].position, ball + 1));
    for (const Phase& phase : steps[s].phases) times.insert(phase.time);
  }
  benchmarks::Table table(columns);
  for (const double time : times) {
    std::vector<double> row{1e3 * time};
    for (const PhasedStep& step : steps) {
      for (std::size_t ball = 0; ball < step.start.size(); ++ball)
        row.push_back(1e3 * step.position(ball, time));
    }
    table.add_row(row);
  }
  table.write(folder / "impact_phases.tsv");
  std::string script = benchmarks::png_header("impact_phases.png", 1000, 380);
  script += fmt::format(R"(
set multiplot layout 1,{}
set xrange [0:{:g}]
set xtics 2
set xlabel 'time in the step [ms]'
)",
                        scenes.size(), 1e3 * k_step);
  int column = 2;
  for (std::size_t s = 0; s < scenes.size(); ++s) {
    script += fmt::format("set title '{}'\nset ylabel '{} without radii [mm]'\nunset arrow\n",
                          scenes[s].title, scenes[s].position);
    for (const Phase& phase : steps[s].phases) {
      if (phase.closing.empty()) continue;
      script += fmt::format(
          "set arrow from {0:.9g}, graph 0 to {0:.9g}, graph 1 nohead back lc rgb '#999999' lw 1.2 dt 2\n",
          1e3 * phase.time);
    }
    const bool has_floor = scenes[s].axis == 2;
    script += fmt::format("set key top {} opaque Left reverse\nset yrange [{}:*]\nplot ",
                          has_floor ? "center" : "left", has_floor ? "-1" : "*");
    if (has_floor) script += "0 with filledcurves y=-1 lc rgb '#DDDDDD' notitle, ";
    for (std::size_t ball = 0; ball < steps[s].start.size(); ++ball) {
      script += fmt::format("{}'impact_phases.tsv' using 1:{} with lines ls {} title 'ball {}'",
                            ball == 0 ? "" : ", ", column++, ball + 1, ball + 1);
    }
    script += "\n";
  }
  benchmarks::run_gnuplot(script + "unset multiplot\n", folder);
}

}  // namespace

void print_impact_phases(const Options& options) {
  std::vector<PhaseScene> scenes;
  scenes.push_back(struck_ball());
  scenes.push_back(light_over_heavy());
  scenes.push_back(cradle());
  std::vector<PhasedStep> steps;
  fmt::print("\nPhases of a step of {:g} ms. Body 0 is the floor.\n\n", 1e3 * k_step);
  print_header({"scene", "begins at [ms]", "closing", "velocities in it [m/s]"});
  for (const PhaseScene& scene : scenes) {
    steps.push_back(phased_step(scene));
    for (const Phase& phase : steps.back().phases) {
      std::string velocities;
      for (const double v : phase.velocity)
        velocities += fmt::format("{}{:.4f}", velocities.empty() ? "" : ", ", v + 0.0);
      print_row({scene.title, fmt::format("{:.4f}", 1e3 * phase.time),
                 phase.closing.empty() ? "-" : phase.closing, velocities});
    }
  }
  if (!options.folder.empty()) draw(scenes, steps, options.folder);
}

}  // namespace abut::tables
