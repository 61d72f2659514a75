#include "dynamics/solver/island_solver.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "dynamics/step/step_memory.h"
#include "tests/support/no_alloc.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::TestScene;

/// Boxes on a floor: a stack of two at x, a box in the air, a sphere that rolls.
void add_group(TestScene& scene, double x) {
  scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 2), test::pose_at({x, 0, 0.05}));
  scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 2), test::pose_at({x + 0.01, 0, 0.151}, {0, 0, 0.3}));
  scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 2), test::pose_at({x, 0, 1.0}, {0.3, 0, 0}));
  scene.add(test::sphere_of_mass(0.04, 0.5), test::pose_at({x, 0.3, 0.04}), test::moving_at({0.5, 0, 0}));
}

StepConfig config_of(ContactLaw law) {
  StepConfig config;
  config.law = law;
  config.acceleration_scale = 9.81;
  config.contact.edge_edge = false;
  return config;
}

constexpr int k_island_steps = 60;

void add_loss(const TestScene& scene, int k, int first, const State& state, StateTangent& bar) {
  if (k != k_island_steps) return;
  for (int b = first; b < scene.model.body_count(); ++b) {
    const auto i = static_cast<std::size_t>(b);
    bar.pose[i].tail<3>() += state.X_WB[i].p;
    bar.twist[i].head<3>() += state.V_WB[i].head<3>();
  }
}

}  // namespace

TEST_CASE("IslandSolver: what happens far away changes no bit of motion or gradient",
          "[dynamics][property]") {
  const StepConfig config =
      config_of(GENERATE(ContactLaw::smooth_coulomb, ContactLaw::convex_cone, ContactLaw::impedance));
  TestScene near = test::floor_scene(), both = test::floor_scene();
  add_group(near, 0.0);
  add_group(both, 0.0);
  add_group(both, 5.0);
  const Stepper alone(near.model, config), together(both.model, config);
  const Trajectory part = rollout(alone, near.state, k_island_steps),
                   whole = rollout(together, both.state, k_island_steps);
  REQUIRE(part.ok());
  REQUIRE(whole.ok());
  for (std::size_t k = 0; k < part.states.size(); ++k) {
    for (std::size_t b = 0; b < part.states[k].X_WB.size(); ++b) {
      REQUIRE(part.states[k].X_WB[b].p == whole.states[k].X_WB[b].p);
      REQUIRE(part.states[k].V_WB[b] == whole.states[k].V_WB[b]);
    }
  }
  const Gradient of_part = adjoint(
      alone, part, [&](int k, const State& state, StateTangent& bar) { add_loss(near, k, 1, state, bar); });
  const Gradient of_whole = adjoint(together, whole, [&](int k, const State& state, StateTangent& bar) {
    add_loss(both, k, 1, state, bar);
  });
  for (std::size_t b = 1; b < near.model.bodies.size(); ++b) {
    CAPTURE(b);
    CHECK(of_part.initial.pose[b] == of_whole.initial.pose[b]);
    CHECK(of_part.initial.twist[b] == of_whole.initial.twist[b]);
    CHECK(of_part.model.bodies[b].mass == of_whole.model.bodies[b].mass);
    CHECK(of_part.model.bodies[b].inertia == of_whole.model.bodies[b].inertia);
    CHECK(of_part.model.bodies[b].friction == of_whole.model.bodies[b].friction);
  }
  CHECK(of_part.initial.pose[1].norm() > 0.0);
  CHECK(of_part.model.bodies[4].friction != 0.0);  // the sphere slides before it rolls
}

TEST_CASE("IslandSolver: an island takes the memory of others of its class, whatever their sizes",
          "[dynamics][property]") {
  if (!test::k_counts_allocations) return;
  const StepConfig config =
      config_of(GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty, ContactLaw::convex_cone));
  // Balls that touch in a row, but for a gap, so that there are two islands; and one by itself.
  constexpr int k_balls = 31;
  constexpr double k_radius = 0.05;
  TestScene scene = test::floor_scene();
  for (int i = 0; i < k_balls; ++i) {
    Body ball = test::sphere_of_mass(k_radius, 1.0);
    ball.name += std::to_string(i);
    scene.add(std::move(ball), test::pose_at({2.0 * k_radius * i, 0, k_radius}));
  }
  scene.add(test::sphere_of_mass(k_radius, 1.0), test::pose_at({0, 5, k_radius}));
  scene.set_friction(0.0);  // no size needs a fallback that those before did not: one takes memory of its own
  const auto with_gap_after = [&](int balls) {
    State state = scene.state;
    for (int i = balls; i < k_balls; ++i) state.X_WB[at(1 + i)].p.y() = 1.0;
    return state;
  };
  const Stepper stepper(scene.model, config);
  StepScratch scratch;
  State next = scene.state;
  const auto step_from = [&](const State& state) {
    const StepReport report = stepper.step(state, {}, next, scratch);
    const std::size_t islands = scratch.memory().solver.islands.size();
    return report.status == StepStatus::ok && report.contacts >= k_balls && islands >= 2;
  };
  std::vector<State> states;
  for (int balls = 1; balls <= k_balls; ++balls) states.push_back(with_gap_after(balls));
  bool all_ok = true;
  for (const int largest_of_class : {31, 15, 7, 3, 1}) {
    for (int k = 0; k < 2; ++k) all_ok = step_from(states[at(largest_of_class - 1)]) && all_ok;
  }
  const test::NoAlloc guard;
  for (const State& state : states) all_ok = step_from(state) && all_ok;
  const std::size_t count = guard.allocations();
  CHECK(all_ok);
  CHECK(count == 0);
}
