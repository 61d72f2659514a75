#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dynamics/rollout/rollout.h"
#include "dynamics/step/step_memory.h"
#include "engine/scene_io.h"
#include "tests/benchmarks/dynamics_tables/tables.h"
#include "tests/support/scenes.h"

namespace abut::tables {
namespace {

using namespace abut::test;

/// What became of a scene.
struct Run {
  StepStatus status = StepStatus::ok;
  double largest_penetration = 0, last_penetration = 0;  ///< at the starts of steps [m]
  double largest_speed = 0;                              ///< of the last body's centre of mass [m/s]
  double energy_created = 0;   ///< largest rise of the mechanical energy above its lowest value before [J]
  double mean_iterations = 0;  ///< Newton iterations of a step
  int peak_contacts = 0, peak_rows = 0;  ///< that touch; that are left of them after a reduction
  double milliseconds = 0;               ///< of processor time, a step
};

Run run(const TestScene& scene, const StepConfig& config, int steps) {
  const Stepper stepper(scene.model, config);
  StepScratch scratch;
  State state = scene.state, next;
  Run result;
  double lowest = mechanical_energy(scene.model, state);
  const double start = processor_time();
  int done = 0;
  for (; done < steps; ++done) {
    const StepReport report = stepper.step(state, {}, next, scratch);
    result.status = report.status;
    if (report.status != StepStatus::ok) break;
    result.last_penetration = report.max_penetration;
    result.largest_penetration = std::max(result.largest_penetration, report.max_penetration);
    result.mean_iterations += report.iterations;
    int members = 0;
    scratch.memory().solved.rows.each_member([&](const ContactRow&) { ++members; });
    result.peak_contacts = std::max(result.peak_contacts, members);
    result.peak_rows = std::max(result.peak_rows, static_cast<int>(scratch.memory().solved.rows.rows.size()));
    result.largest_speed = std::max(result.largest_speed, next.V_WB.back().tail<3>().norm());
    const double energy = mechanical_energy(scene.model, next);
    result.energy_created = std::max(result.energy_created, energy - lowest);
    lowest = std::min(lowest, energy);
    std::swap(state, next);
  }
  result.milliseconds = 1e3 * (processor_time() - start) / std::max(1, done);
  result.mean_iterations /= std::max(1, done);
  return result;
}

const std::vector<std::string> k_columns{
    "penetration, largest [mm]", "at the end [mm]", "speed, largest [m/s]", "energy created [J]",
    "iterations a step",         "contacts, peak",  "rows, peak",           "ms a step"};

void print(std::vector<std::string> row, const Run& result) {
  if (result.status != StepStatus::ok) {
    row.emplace_back(to_string(result.status));
  } else {
    for (const auto& cell :
         {fmt::format("{:.2f}", 1e3 * result.largest_penetration),
          fmt::format("{:.3f}", 1e3 * result.last_penetration), fmt::format("{:.3f}", result.largest_speed),
          fmt::format("{:.4f}", result.energy_created), fmt::format("{:.1f}", result.mean_iterations),
          fmt::format("{}", result.peak_contacts), fmt::format("{}", result.peak_rows),
          fmt::format("{:.2f}", result.milliseconds)})
      row.push_back(cell);
  }
  print_row(row);
}

void print_columns(std::vector<std::string> first) {
  first.insert(first.end(), k_columns.begin(), k_columns.end());
  print_header(first);
}

/// The cow of the assets, stuck on her pole 4 cm deep, at rest.
TestScene spot_on_pole() {
  Scene file = read_scene(ABUT_SOURCE_DIR "/assets/scenes/spot_on_pole.toml");
  TestScene scene{std::move(file.model), std::move(file.initial)};
  const Stepper stepper(scene.model, {});
  StepScratch scratch;
  ContactManifold manifold;
  const auto depth = [&] {
    stepper.contacts(scene.state, scratch, manifold);
    double deepest = 0.0;
    for (const Contact& contact : manifold.contacts) deepest = std::max(deepest, -contact.signed_distance);
    return deepest;
  };
  while (depth() < 0.04) scene.X_WB(2).p.z() -= 2.5e-4;
  scene.V_WB(2).setZero();
  return scene;
}

struct Length {
  std::string name;
  double h;
  int steps;
};
const Length k_long{"20 steps of 1/30 s", 1.0 / 30.0, 20}, k_short{"20 steps of 2 ms", 2e-3, 20},
    k_hundred{"120 steps of 1/30 s", 1.0 / 30.0, 120}, k_fine{"800 steps of 0.05 ms", 5e-5, 800};

StepConfig config_of(const Length& length) {
  StepConfig config;
  config.h = length.h;
  return config;
}

void print_clustering() {
  fmt::print("\nClustering: spot_on_pole.\n\n");
  print_columns({"steps", "`reduction`"});
  const TestScene scene = spot_on_pole();
  for (const Length& length : {k_long, k_short}) {
    for (const auto& [name, reduction] :
         {std::pair{"none", Reduction::none}, std::pair{"blend", Reduction::blend},
          std::pair{"cluster", Reduction::cluster}}) {
      StepConfig config = config_of(length);
      config.contact.reduction = reduction;
      print({length.name, name}, run(scene, config, length.steps));
    }
  }
}

/// A cube of 20 cm and 1 kg that lies 4 cm deep in the floor.
TestScene sunken_cube() {
  TestScene scene = floor_scene();
  scene.add(box_of_mass(Vec3<double>::Constant(0.1), 1.0), pose_at({0.0, 0.0, 0.06}));
  return scene;
}

void print_push_out() {
  fmt::print("\nPush-out: a cube 4 cm deep in the floor.\n\n");
  print_columns({"steps", "C", "`push_out_factor`"});
  const TestScene scene = sunken_cube();
  for (const Length& length : {k_hundred, k_short}) {
    for (const double factor : {50.0, 0.5}) {
      for (const double C : {0.01, 0.2, 0.5, 0.999}) {
        StepConfig config = config_of(length);
        config.dissipation_steps = 1.0 / C - 1.0;  // C = h/(h + tau_d)
        config.push_out_factor = factor;
        print({length.name, fmt::format("{}", C), fmt::format("{}", factor)},
              run(scene, config, length.steps));
      }
    }
  }
}

/// The same cube, of stiffness 20 kN/m and little dissipation, that hits the floor at 2 m/s with a corner.
TestScene soft_cube() {
  TestScene scene = floor_scene();
  scene.add(box_of_mass(Vec3<double>::Constant(0.1), 1.0), pose_at({0.0, 0.0, 0.16}, {0.4, 0.3, 0.0}),
            moving_at({0.3, 0.0, -2.0}));
  for (Body& body : scene.model.bodies) {
    body.material.stiffness = 4e4;  // two springs in series
    body.material.dissipation_time = 1e-3;
  }
  return scene;
}

void print_substeps() {
  fmt::print("\nAdaptive steps and damping.\n\n");
  print_columns({"scene", "steps", "`adaptive_substeps`", "`linear_damping`"});
  const std::vector<std::pair<std::string, TestScene>> scenes{
      {"spot_on_pole", spot_on_pole()}, {"cube", sunken_cube()}, {"soft cube", soft_cube()}};
  for (const auto& [name, scene] : scenes) {
    for (const Length& length : {k_long, k_short, k_fine}) {
      for (const bool adaptive : {false, true}) {
        for (const double damping : {0.0, 0.5}) {
          TestScene damped = scene;
          damped.model.bodies.back().linear_damping = damping;
          StepConfig config = config_of(length);
          config.adaptive_substeps = adaptive;
          print({name, length.name, adaptive ? "true" : "false", fmt::format("{}", damping)},
                run(damped, config, length.steps));
        }
      }
    }
  }
}

}  // namespace

void print_enhancements(const Options&) {
  print_clustering();
  print_push_out();
  print_substeps();
}

}  // namespace abut::tables
