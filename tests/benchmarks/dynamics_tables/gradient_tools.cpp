#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dynamics/rollout/gradient_bundle.h"
#include "tests/benchmarks/dynamics_tables/tables.h"
#include "tests/support/scenes.h"

namespace abut::tables {
namespace {

using namespace abut::test;

std::string number(double value) { return fmt::format("{:.3g}", value == 0.0 ? 0.0 : value); }

std::string with_error(double value, double error) { return fmt::format("{:.4f} ± {:.4f}", value, error); }

}  // namespace

void print_from_distance(const Options&) {
  constexpr double k_radius = 0.05, k_gap = 0.01;
  constexpr int k_steps = 200;
  TestScene scene;  // a ball flies past another one that is at rest
  scene.model.gravity.setZero();
  scene.add(sphere_of_mass(k_radius, 1.0), pose_at({-0.2, 2.0 * k_radius + k_gap, 0.0}),
            moving_at({1.0, 0.0, 0.0}));
  scene.add(sphere_of_mass(k_radius, 1.0));
  const StepConfig config;
  const Stepper stepper(scene.model, config);
  const Trajectory trajectory = rollout(stepper, scene.state, k_steps);
  const auto place_across = [](int k, const State&, StateTangent& bar) {
    if (k == k_steps) bar.pose[1][4] += 1.0;
  };
  const auto row_of = [&](const std::string& name, const Gradient& gradient) {
    print_row({name, number(gradient.initial.pose[0][4]), number(gradient.initial.twist[0][4])});
  };
  fmt::print(
      "\nWhere the second ball ends, across the path, by where the first one starts and by its "
      "velocity.\n\n");
  print_header({"backward pass", "by position [-]", "by velocity [s]"});
  row_of("exact", adjoint(stepper, trajectory, place_across));
  for (const double distance : {0.005, 0.01, 0.02, 0.05}) {
    const Stepper soft(scene.model, contacts_from_distance(scene.model, config, distance));
    row_of(fmt::format("from {:g} cm", 1e2 * distance),
           adjoint(stepper, trajectory, place_across, {.backward = &soft}));
  }
}

void print_bundle(const Options&) {
  constexpr double k_radius = 0.05, k_fall = 0.1, k_restitution = 0.8;
  constexpr int k_steps = 100;
  TestScene scene = floor_scene();
  scene.add(sphere_of_mass(k_radius, 1.0), pose_at({0.0, 0.0, k_radius + k_fall}));
  for (Body& body : scene.model.bodies) body.material.restitution = k_restitution;
  const Stepper stepper(scene.model, {});
  const RolloutLoss height{[](int k, const State& state) { return k == k_steps ? state.X_WB[1].p.z() : 0.0; },
                           [](int k, const State&, StateTangent& bar) {
                             if (k == k_steps) bar.pose[1][5] += 1.0;
                           }};
  const Gradient exact = adjoint(stepper, rollout(stepper, scene.state, k_steps), height.gradient);
  const GradientBundle bundle = gradient_bundle(stepper, scene.state, k_steps, {}, height,
                                                {.samples = 400, .translation = 1e-2, .velocity = 1e-2});
  fmt::print("\nHeight after {} steps by initial height and velocity, 400 samples.\n\n", k_steps);
  print_header({"estimate", "by height [-]", "by velocity [s]"});
  print_row({"adjoint, without samples", fmt::format("{:.4f}", exact.initial.pose[1][5]),
             fmt::format("{:.4f}", exact.initial.twist[1][5])});
  for (const auto& [name, of] :
       std::vector<std::pair<std::string, const BundleEstimate*>>{{"first order", &bundle.first_order},
                                                                  {"zeroth order", &bundle.zeroth_order},
                                                                  {"combined", &bundle.combined}}) {
    print_row({name, with_error(of->mean.pose[1][5], of->standard_error.pose[1][5]),
               with_error(of->mean.twist[1][5], of->standard_error.twist[1][5])});
  }
}

}  // namespace abut::tables
