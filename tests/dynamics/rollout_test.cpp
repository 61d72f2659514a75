#include <stdexcept>

#include <catch2/catch.hpp>

#include "dynamics/rollout.h"
#include "dynamics/simulator.h"
#include "tests/support/close.h"
#include "tests/support/scenes.h"

using namespace abut;
using namespace abut::test;

namespace {

LossGradient final_weights(int steps, const StateTangent& weights, double factor) {
  return [=](int k, const State&, StateTangent& bar) {
    if (k != steps) return;
    for (std::size_t b = 0; b < bar.pose.size(); ++b) {
      bar.pose[b] += factor * weights.pose[b];
      bar.twist[b] += factor * weights.twist[b];
    }
  };
}

StateTangent random_weights(Random& random, int bodies) {
  StateTangent weights(bodies);
  for (std::size_t b = 1; b < weights.pose.size(); ++b) {
    for (int i = 0; i < 6; ++i) {
      weights.pose[b][i] = random.normal();
      weights.twist[b][i] = random.normal();
    }
  }
  return weights;
}

}  // namespace

TEST_CASE("rollout: ends in the same bits every time, recorded or not", "[dynamics][determinism]") {
  const ContactLaw law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty);
  Random random(3);
  for (int trial = 0; trial < 5; ++trial) {
    const TestScene scene = random_contact_scene(random);
    StepConfig config;
    config.h = 5e-4;
    config.law = law;
    const Simulator simulator(scene.model, config), again(scene.model, config);
    const Trajectory first = simulator.rollout(scene.state, 100);
    REQUIRE(first.ok());
    State end;
    (void)simulate(again.stepper(), scene.state, 100, {}, end);
    const std::uint64_t hash = state_hash(first.states.back());
    CHECK(hash == state_hash(simulator.rollout(scene.state, 100).states.back()));
    CHECK(hash == state_hash(end));
    CHECK(hash != state_hash(first.states[99]));
    end.V_WB[1][0] = std::nextafter(end.V_WB[1][0], 1e9);
    CHECK(hash != state_hash(end));
  }
}

TEST_CASE("adjoint: is linear in the loss and the same every time", "[dynamics][derivative]") {
  Random random(4);
  const TestScene scene = random_contact_scene(random);
  const Simulator simulator(scene.model, {});
  const int steps = 30;
  const Trajectory trajectory = simulator.rollout(scene.state, steps);
  REQUIRE(trajectory.ok());
  const StateTangent weights = random_weights(random, scene.model.body_count());
  const Gradient once = simulator.gradient(trajectory, final_weights(steps, weights, 1.0));
  const Gradient same = simulator.gradient(trajectory, final_weights(steps, weights, 1.0));
  const Gradient twice = simulator.gradient(trajectory, final_weights(steps, weights, 2.0));
  const Gradient none = simulator.gradient(trajectory, final_weights(steps, weights, 0.0));
  for (std::size_t b = 0; b < scene.model.bodies.size(); ++b) {
    CHECK(once.initial.pose[b] == same.initial.pose[b]);
    CHECK(close(twice.initial.pose[b], Vec6<double>(2.0 * once.initial.pose[b]), 1e-12, 1e-14));
    CHECK(none.initial.pose[b].isZero(0.0));
    CHECK(close(twice.model.bodies[b].mass, 2.0 * once.model.bodies[b].mass, 1e-12, 1e-14));
  }
  CHECK(once.initial.twist[1].norm() > 0.0);
  CHECK(once.adjoint_norm.size() == static_cast<std::size_t>(steps) + 1);
  // dL/d(constant wrench) is the sum over the steps of dL/d(wrench of that step).
  Vec6<double> sum = Vec6<double>::Zero();
  for (const auto& control : once.controls) sum += control[1];
  CHECK(close(sum, once.model.bodies[1].external_wrench, 1e-12, 1e-14));
}

TEST_CASE("adjoint: without contact, gradients are those of the free fall", "[dynamics][value]") {
  TestScene scene = floor_scene();
  scene.add(sphere_of_mass(0.1, 2.0), pose_at({0.0, 0.0, 5.0}), moving_at({1.0, 0.0, 0.0}));
  const Simulator simulator(scene.model, {});
  const int steps = 50;
  const double h = simulator.stepper().config().h;
  StateTangent height(2);
  height.pose[1][5] = 1.0;
  const Gradient gradient = simulator.gradient(simulator.rollout(scene.state, steps), final_weights(steps, height, 1.0));
  CHECK(close(gradient.initial.pose[1][5], 1.0, 1e-14, 0.0));
  CHECK(close(gradient.initial.twist[1][5], steps * h, 1e-13, 0.0));
  CHECK(close(gradient.model.gravity.z(), 0.5 * h * h * steps * (steps + 1), 1e-13, 0.0));
  CHECK(close(gradient.controls[10][1][5], h * h * (steps - 10) / 2.0, 1e-13, 0.0));
  CHECK(gradient.model.bodies[1].friction == 0.0);
}

TEST_CASE("adjoint: refuses a rollout with a step that failed, and says which", "[dynamics][value]") {
  TestScene scene = stack_scene(2, 0.1, 1.0);
  StepConfig config;
  config.max_iterations = 1;
  config.tolerance = 1e-14;
  scene.V_WB(2) = moving_at({1.0, 0.5, -2.0});
  const Simulator simulator(scene.model, config);
  const Trajectory trajectory = simulator.rollout(scene.state, 20);
  REQUIRE_FALSE(trajectory.ok());
  CHECK(trajectory.failure.status == StepStatus::not_converged);
  CHECK(trajectory.failure.body >= 0);
  CHECK_THROWS_WITH(simulator.gradient(trajectory, final_weights(20, StateTangent(3), 1.0)),
                    Catch::Contains("step " + std::to_string(trajectory.failed_step)) && Catch::Contains("not_converged"));
}

TEST_CASE("rollout: a state that is not finite is a status that names the body", "[dynamics][value]") {
  TestScene scene = stack_scene(2, 0.1, 1.0);
  scene.V_WB(2)[3] = std::nan("");
  const Simulator simulator(scene.model, {});
  const Trajectory trajectory = simulator.rollout(scene.state, 20);
  CHECK(trajectory.failed_step == 0);
  CHECK(trajectory.failure.status == StepStatus::non_finite);
  CHECK(trajectory.failure.body == 2);
}

TEST_CASE("rollout: controls of the wrong number are an error", "[dynamics][value]") {
  const TestScene scene = stack_scene(2, 0.1, 1.0);
  const Simulator simulator(scene.model, {});
  CHECK_THROWS_AS(simulator.rollout(scene.state, 0), std::invalid_argument);
  CHECK_THROWS_AS(simulator.rollout(scene.state, 3, Controls(2)), std::invalid_argument);
  CHECK_THROWS_AS(simulator.rollout(scene.state, 1, Controls(1, Control(2, Vec6<double>::Zero()))), std::invalid_argument);
  CHECK_THROWS_AS(simulator.rollout(State{}, 1), std::invalid_argument);
}

TEST_CASE("Simulator: a contact point off its body's surface is an error", "[dynamics][value]") {
  TestScene scene = floor_scene();
  const int i = scene.add(superquadric_of_mass({0.1, 0.1, 0.1}, 0.5, 0.5, 1.0));
  scene.body(i).contact_points.col(7) *= 1.05;
  CHECK_THROWS_WITH(Simulator(scene.model, StepConfig{}), Catch::Contains("contact point 7"));
}
