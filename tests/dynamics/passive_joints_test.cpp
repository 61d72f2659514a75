// Damping and dry friction of joints' coordinates.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/joint_geometry.h"
#include "engine/model_validation.h"
#include "tests/support/close.h"
#include "tests/support/joint_scenes.h"

namespace {

using namespace abut;
using test::BodyOnJoint;
using test::joint_config;
using test::run_steps;
using test::TestScene;

JointKind any_coordinate() { return GENERATE(JointKind::hinge, JointKind::slider); }

}  // namespace

TEST_CASE("Joint damping: a rate decays exponentially, to first order in the step",
          "[dynamics][joints][value]") {
  const JointKind kind = any_coordinate();
  const bool is_tree = GENERATE(true, false);
  const double start = 3.0, time = 1.0, decay = 2.0;  // [rad/s or m/s, s, 1/s]
  BodyOnJoint wheel(kind, is_tree, start);
  wheel.joint().damping = decay * wheel.inertia;
  const auto error_at = [&](double h) {
    const int steps = static_cast<int>(std::lround(time / h));
    const double ratio = wheel.rate(run_steps(wheel.scene, joint_config(h), steps)) / start;
    CAPTURE(static_cast<int>(kind), is_tree, h, ratio);
    CHECK(test::close(ratio, std::pow(1.0 + decay * h, -steps), 1e-6, 0));  // as an implicit step has it
    return std::log(ratio) + decay * time;
  };
  const double coarse = error_at(4e-3), fine = error_at(2e-3);
  CHECK(test::close(coarse, 0.5 * decay * decay * time * 4e-3, 0.01, 0));
  CHECK(test::close(coarse / fine, 2.0, 0.01, 0));
}

TEST_CASE("Joint damping: never adds energy, however large it or the step is",
          "[dynamics][joints][property]") {
  const double damping = GENERATE(1e-3, 1.0, 1e3, 1e9), h = GENERATE(1e-3, 2e-2);
  TestScene scene = test::arm_of_hinges(3);
  scene.model.gravity.setZero();
  const double rates[] = {2.0, -1.0, 3.0};  // of bars about y [rad/s]
  double v_z = 0.0;
  for (int b = 0; b < 3; ++b) {
    scene.model.joints[static_cast<std::size_t>(b)].damping = damping;
    scene.V_WB(b)[1] = rates[b];
    scene.V_WB(b)[5] = v_z - 0.1 * rates[b];
    v_z -= 0.2 * rates[b];
  }
  const double start = mechanical_energy(scene.model, scene.state);
  double before = start, largest_gain = 0.0;
  (void)run_steps(scene, joint_config(h), 200, [&](const State& state) {
    const double energy = mechanical_energy(scene.model, state);
    largest_gain = std::max(largest_gain, energy - before);
    before = energy;
  });
  CAPTURE(damping, h, start, largest_gain, before);
  CHECK(largest_gain <= 1e-3 * start);
  CHECK(before < start);
  if (damping >= 1e3) CHECK(before < 1e-3 * start);
}

TEST_CASE("Joint friction: a coordinate rests under a load below it, and slides under one above",
          "[dynamics][joints][value]") {
  const JointKind kind = any_coordinate();
  const bool is_tree = GENERATE(true, false);
  BodyOnJoint body(kind, is_tree, 0.0);
  const StepConfig config = joint_config(2e-3);
  const double friction = 0.7, radius = kind == JointKind::hinge ? 0.5 * body.scene.body(0).size : 1.0,
               stiction_speed = config.stiction_factor * config.acceleration_scale * config.h / radius;
  body.joint().friction = friction;
  CAPTURE(static_cast<int>(kind), is_tree);

  body.load() = 0.9 * friction;
  double before = 0.0, creep = 0.0;
  (void)run_steps(body.scene, config, 500, [&](const State& state) {
    const double q = joint_coordinate(body.scene.model, 0, state);
    creep = (q - before) / config.h;
    before = q;
  });
  CHECK(test::close(creep, stiction_speed * 0.9 / std::sqrt(1.0 - 0.81), 1e-3, 0));

  body.load() = 1.1 * friction;
  const double half = body.rate(run_steps(body.scene, config, 250)),
               full = body.rate(run_steps(body.scene, config, 500));
  CHECK(test::close((full - half) / 0.5, 0.1 * friction / body.inertia, 1e-3, 0));
}

TEST_CASE("Joint friction: stops a coordinate when it has taken its momentum", "[dynamics][joints][value]") {
  const JointKind kind = any_coordinate();
  const double friction = 0.7, start = 20.0;
  BodyOnJoint body(kind, true, start);
  body.joint().friction = friction;
  const double h = 2e-3, time = start * body.inertia / friction;
  double stopped = 0.0;
  const State end =
      run_steps(body.scene, joint_config(h), static_cast<int>(1.5 * time / h), [&](const State& state) {
        if (body.rate(state) > 0.01 * start) stopped = state.time;
      });
  CAPTURE(static_cast<int>(kind), stopped, time);
  CHECK(test::close(stopped, 0.99 * time, 1e-3, 2.0 * h));
  CHECK(std::abs(body.rate(end)) < 1e-9);
}

TEST_CASE("Joints: motors, damping and springs act for as long as a substep where steps are divided",
          "[dynamics][joints][property]") {
  BodyOnJoint body(JointKind::slider, true, 0.0);
  body.joint().motor = {MotorKind::velocity, 1e6, 0.0, k_infinity, 3.0};  // 3 N
  const bool is_damped = GENERATE(false, true);
  body.joint().damping = is_damped ? 40.0 : 0.0;
  body.joint().spring_stiffness = is_damped ? 30.0 : 0.0;
  const int floor = body.scene.add(make_half_space(), test::pose_at({0, 0, -1.0}));
  body.scene.add(test::sphere_of_mass(0.05, 1.0), test::pose_at({3.0, 0, -0.949}),
                 test::moving_at({0, 0, -2.0}));
  body.scene.set_friction(0.0);
  StepConfig config = joint_config(2e-3);
  config.law = ContactLaw::penalty;
  config.adaptive_substeps = true;
  config.penetration_growth = 1e-5;
  const State divided = run_steps(body.scene, config, 20);
  body.scene.X_WB(floor).p.z() = -10.0;  // nothing touches: no step is divided
  const State undivided = run_steps(body.scene, config, 20);
  CAPTURE(is_damped);
  CHECK((divided.X_WB[2].p - undivided.X_WB[2].p).norm() > 1e-3);
  CHECK(test::close(body.rate(divided), body.rate(undivided), is_damped ? 0.05 : 1e-6, 0));
  if (!is_damped) CHECK(test::close(body.rate(divided), 3.0 / body.inertia * 0.04, 1e-6, 0));
}

TEST_CASE("Joint friction: an arm stays up that its friction can hold", "[dynamics][joints][property]") {
  TestScene scene = test::arm_of_hinges(3);
  for (Joint& joint : scene.model.joints) joint.friction = 10.0;  // the load of the first is 4.4 N m
  const State end = run_steps(scene, joint_config(2e-3), 500);
  const double sunk = scene.state.X_WB[2].p.z() - end.X_WB[2].p.z();
  CAPTURE(sunk);
  CHECK(sunk > 0.0);
  CHECK(sunk < 5e-3);
  for (Joint& joint : scene.model.joints) joint.friction = 0.1;
  CHECK(run_steps(scene, joint_config(2e-3), 200).X_WB[2].p.z() < -0.2);
}

TEST_CASE("Joint damping and friction: gradients agree with differences", "[dynamics][joints][derivative]") {
  const int version = GENERATE(0, 1, 2);
  CAPTURE(version);
  TestScene scene = test::row_of_joints(version == 1 ? 0.4 : 0.0);
  for (int j = 0; j < 4; ++j) {
    scene.model.joints[static_cast<std::size_t>(j)].damping = 0.1 + 0.1 * j;
    scene.model.joints[static_cast<std::size_t>(j)].friction = 0.2 + 0.1 * j;
  }
  StepConfig config = joint_config(version == 2 ? 1e-3 : 2e-3);
  if (version == 2) config.law = ContactLaw::penalty;
  test::check_joint_gradients(scene, config, {"joint damping", "joint friction"});
}

TEST_CASE("validate: damping and friction are finite, not negative, and of hinges and sliders only",
          "[dynamics][value]") {
  BodyOnJoint body(JointKind::hinge, true, 0.0);
  Joint& joint = body.joint();
  joint.damping = -1.0;
  CHECK_THROWS_WITH(validate(body.scene.model),
                    Catch::Contains("joint 'joint 0': damping = -1, allowed: >= 0"));
  joint.damping = 0.0;
  joint.friction = k_infinity;
  CHECK_THROWS_WITH(validate(body.scene.model), Catch::Contains("joint 'joint 0': friction = inf, allowed"));
  joint.friction = 0.5;
  CHECK_NOTHROW(validate(body.scene.model));
  joint.kind = JointKind::ball;
  CHECK_THROWS_WITH(validate(body.scene.model), Catch::Contains("only a hinge or a slider"));
}
