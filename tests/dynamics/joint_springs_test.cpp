// Springs of joints' coordinates.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/joint_geometry.h"
#include "tests/support/close.h"
#include "tests/support/joint_scenes.h"

namespace {

using namespace abut;
using test::BodyOnJoint;
using test::joint_config;
using test::run_steps;
using test::TestScene;

}  // namespace

TEST_CASE("Joint springs: a body swings at its frequency for 1000 periods, and does not slow down",
          "[dynamics][joints][property]") {
  const JointKind kind = GENERATE(JointKind::hinge, JointKind::slider);
  const double frequency = 5.0, h = 4e-3, rate = 2.0 * std::numbers::pi * frequency, start = 0.3;
  BodyOnJoint body(kind, true, 0.0);
  body.joint().spring_stiffness = body.inertia * rate * rate;
  body.joint().spring_position = -start;
  double largest_late = 0.0, first = 0.0, last = 0.0, before = start;
  int crossings = 0;
  const double duration = 1000.0 / frequency;
  (void)run_steps(body.scene, joint_config(h), static_cast<int>(duration / h), [&](const State& state) {
    const double e = joint_coordinate(body.scene.model, 0, state) + start;
    if (state.time > 0.99 * duration) largest_late = std::max(largest_late, std::abs(e));
    if (before < 0.0 && e >= 0.0) {
      last = state.time - h * e / (e - before);
      if (crossings++ == 0) first = last;
    }
    before = e;
  });
  const double found = (crossings - 1) / (last - first);
  // tan^2(w h/2) = h^2 k/(4 I): the trapezoidal rule's
  const double discrete = 2.0 * std::atan(0.5 * rate * h) / h / (2.0 * std::numbers::pi);
  CAPTURE(static_cast<int>(kind), crossings, found, discrete, largest_late);
  CHECK(test::close(found, discrete, 1e-6, 0));
  CHECK(test::close(found, frequency, 2e-3, 0));
  CHECK(test::close(largest_late, start, 1e-2, 0));
}

namespace {

/// A ball of 1 kg and 3 cm radius on a hinge about y, 0.3 m away: its coordinate is 250 times as slow as the ball by
/// itself would make it.
TestScene ball_on_lever(double gravity) {
  TestScene scene;
  scene.model.gravity.z() = -gravity;
  scene.add(test::sphere_of_mass(0.03, 1.0), test::pose_at({0.3, 0, 1}));
  test::add_joint(scene, JointKind::hinge, -1, 0, test::along_y({0, 0, 1}));
  return scene;
}

}  // namespace

TEST_CASE("Joint springs: hang as deep as their stiffness says where a small body is far from the axis",
          "[dynamics][joints][value]") {
  const double h = GENERATE(2e-3, 1e-2), k = 30.0;
  TestScene scene = ball_on_lever(9.81);
  scene.model.joints[0].spring_stiffness = k;
  scene.model.joints[0].damping = 2.0;
  const State end = run_steps(scene, joint_config(h), static_cast<int>(10.0 / h));
  const double q = joint_coordinate(scene.model, 0, end), torque = 9.81 * 0.3 * std::cos(q);
  CAPTURE(h, q, torque / q);
  const double w = 1.0 / (0.3 * 0.3 + 0.4 * 0.03 * 0.03);
  CHECK(test::close(torque / q, k / (1.0 + 0.25 * h * h * k * w), 1e-6, 0));
  CHECK(test::close(torque / q, k, 1e-2, 0));
}

TEST_CASE("Joint stops and rigid motors: hold a small body far from the axis", "[dynamics][joints][value]") {
  SECTION("a motor without slip, for 5 s") {
    TestScene scene = ball_on_lever(9.81);
    scene.model.joints[0].motor.kind = MotorKind::velocity;
    const State end = run_steps(scene, joint_config(2e-3), 2500);
    CHECK(std::abs(joint_coordinate(scene.model, 0, end)) < 1e-4);
  }
  SECTION("a stop that a stiff servo pushes against") {
    TestScene scene = ball_on_lever(0.0);
    scene.model.joints[0].motor = {MotorKind::position, 1.0, 1e4, 0.0};
    scene.model.joints[0].upper = 0.5;
    const State end = run_steps(scene, joint_config(2e-3), 1000);
    CHECK(test::close(joint_coordinate(scene.model, 0, end), 0.5, 1e-3, 0));
  }
}

TEST_CASE("Joint springs: energy stays bounded, however stiff they are", "[dynamics][joints][property]") {
  const double stiffness = GENERATE(1.0, 1e3, 1e6, 1e12);
  TestScene scene = test::arm_of_hinges(4);
  scene.model.gravity.setZero();
  for (Joint& joint : scene.model.joints) {
    joint.spring_stiffness = stiffness;
    joint.spring_position = 0.01;
  }
  double fastest = 0.0;
  (void)run_steps(scene, joint_config(2e-3), 3000, [&](const State& state) {
    for (const Vec6<double>& V : state.V_WB) fastest = std::max(fastest, V.head<3>().norm());
  });
  CAPTURE(stiffness, fastest);
  CHECK(fastest > 0.0);
  CHECK(fastest < 200.0);  // each joint moves by 0.02 rad in a step at most: 10 rad/s, of four
}

TEST_CASE("Joint springs: a pendulum with one keeps its energy", "[dynamics][joints][property]") {
  TestScene scene = test::arm_of_hinges(2);
  for (Joint& joint : scene.model.joints) {
    joint.spring_stiffness = 2.0;
    joint.spring_position = 0.5;
    joint.armature = 0.003;
  }
  const double start = mechanical_energy(scene.model, scene.state);
  double largest = 0.0;
  (void)run_steps(scene, joint_config(1e-3), 10000, [&](const State& state) {
    largest = std::max(largest, std::abs(mechanical_energy(scene.model, state) - start));
  });
  CAPTURE(start, largest);
  CHECK(largest < 0.01 * 2 * 0.5 * 9.81 * 0.2);
}

TEST_CASE("Joint springs: hold a load where their force does, and settle with damping",
          "[dynamics][joints][value]") {
  const bool is_tree = GENERATE(true, false);
  BodyOnJoint body(GENERATE(JointKind::hinge, JointKind::slider), is_tree, 0.0);
  body.joint().spring_stiffness = 40.0;
  body.joint().spring_position = 0.1;
  body.joint().damping = 2.0 * std::sqrt(40.0 * body.inertia);
  body.load() = 3.0;
  const State end = run_steps(body.scene, joint_config(2e-3), 3000);
  const double w = 1.0 / body.inertia, softening = 1.0 + 0.25 * 4e-6 * 40.0 * w;  // h^2 k w/4
  CHECK(test::close(joint_coordinate(body.scene.model, 0, end), 0.1 + 3.0 * softening / 40.0, 1e-6, 0));
}

TEST_CASE("Joint springs: gradients agree with differences", "[dynamics][joints][derivative]") {
  const int version = GENERATE(0, 1, 2);
  CAPTURE(version);
  TestScene scene = test::row_of_joints(version == 1 ? 0.4 : 0.0);
  double next = 3.0;
  for (Joint& joint : scene.model.joints) {
    joint.spring_stiffness = joint.kind == JointKind::hinge ? next : 20.0 * next;
    joint.spring_position = joint.kind == JointKind::hinge ? 0.3 : 0.02;
    joint.damping = 0.05;
    next += 1.0;
  }
  StepConfig config = joint_config(version == 2 ? 1e-3 : 2e-3);
  if (version == 2) config.law = ContactLaw::penalty;
  test::check_joint_gradients(scene, config, {"joint spring stiffness", "joint spring position"});
}
