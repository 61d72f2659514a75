/// Hinges that turn more than once: their coordinates count turns, and so do what acts on these.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <catch2/catch.hpp>

#include "engine/joint_geometry.h"
#include "tests/support/joint_scenes.h"

namespace {

using namespace abut;
using test::BodyOnJoint;
using test::joint_config;
using test::run_steps;
using test::TestScene;

double coordinate(const BodyOnJoint& body, const State& state) {
  return joint_coordinate(body.scene.model, 0, state);
}

}  // namespace

TEST_CASE("Joint turns: a wheel counts them, either way, also where a step turns it by more than half a turn",
          "[dynamics][joints][value]") {
  const bool is_tree = GENERATE(true, false);
  const double rate = GENERATE(30.0, -30.0, 400.0, -400.0), h = 1e-2;
  BodyOnJoint wheel(JointKind::hinge, is_tree, rate);
  double largest_jump = 0.0, before = 0.0;
  const State end = run_steps(wheel.scene, joint_config(h), 100, [&](const State& state) {
    largest_jump = std::max(largest_jump, std::abs(coordinate(wheel, state) - before - rate * h));
    before = coordinate(wheel, state);
  });
  CAPTURE(is_tree, rate, coordinate(wheel, end));
  CHECK(largest_jump <= 1e-9 * std::abs(rate));
  CHECK(test::close(coordinate(wheel, end), rate, 1e-9, 0));
}

TEST_CASE("Joint turns: stops hold at any angle, and only there", "[dynamics][joints][value]") {
  const bool is_tree = GENERATE(true, false);
  const double turns = GENERATE(0.4, 0.5, 1.0, 2.75, 10.0);
  const double stop = 2.0 * std::numbers::pi * turns;
  BodyOnJoint wheel(JointKind::hinge, is_tree, 5.0);
  const StepConfig config = joint_config(2e-3);
  const auto steps = [&](double angle) { return static_cast<int>(angle / (5.0 * config.h)); };
  CAPTURE(is_tree, turns);
  SECTION("in its way") {
    wheel.joint().upper = stop;
    wheel.load() = 0.01;  // holds it there
    double most = 0.0;
    const State end = run_steps(wheel.scene, config, steps(stop) + 1000,
                                [&](const State& state) { most = std::max(most, coordinate(wheel, state)); });
    CHECK(most <= stop + 2e-3);
    CHECK(test::close(coordinate(wheel, end), stop, 0, 2e-3));
  }
  SECTION("behind it") {
    wheel.joint().lower = -0.1;
    const State end = run_steps(wheel.scene, config, steps(stop));
    CHECK(test::close(wheel.rate(end), 5.0, 1e-9, 0));
    CHECK(test::close(coordinate(wheel, end), 5.0 * end.time, 1e-9, 0));
  }
}

TEST_CASE("Joint turns: a servo goes to where it is sent, turns away", "[dynamics][joints][value]") {
  const double target = GENERATE(-15.0, 3.5, 10.0);
  BodyOnJoint wheel(JointKind::hinge, GENERATE(true, false), 0.0);
  const double stiffness = 20.0 * wheel.inertia;
  wheel.joint().motor = {MotorKind::position, target, stiffness, 2.0 * std::sqrt(stiffness * wheel.inertia)};
  const State end = run_steps(wheel.scene, joint_config(5e-3), 2000);
  CHECK(test::close(coordinate(wheel, end), target, 1e-6, 0));
}

TEST_CASE("Joint turns: a spring that is wound up by turns gives back its energy",
          "[dynamics][joints][property]") {
  BodyOnJoint wheel(JointKind::hinge, true, 0.0);
  const double turns = 3.0, start = 2.0 * std::numbers::pi * turns, rate = 1.0;  // [rad, rad/s]
  wheel.joint().spring_stiffness = wheel.inertia * rate * rate;
  set_joint_coordinate(wheel.scene.model, 0, start, wheel.scene.state);
  const double stored = 0.5 * wheel.joint().spring_stiffness * start * start;
  CHECK(test::close(mechanical_energy(wheel.scene.model, wheel.scene.state), stored, 1e-12, 0));
  double fastest = 0.0;
  const State end =
      run_steps(wheel.scene, joint_config(1e-3), static_cast<int>(2.0 * std::numbers::pi / rate / 1e-3),
                [&](const State& state) { fastest = std::max(fastest, std::abs(wheel.rate(state))); });
  CHECK(test::close(fastest, start * rate, 1e-5, 0));
  CHECK(test::close(coordinate(wheel, end), start, 1e-4, 0));
}

TEST_CASE("Joint turns: the adjoint of a run into a stop after a turn agrees with differences",
          "[dynamics][joints][derivative]") {
  BodyOnJoint wheel(JointKind::hinge, GENERATE(true, false), 20.0);
  wheel.joint().upper = 8.0;
  wheel.joint().spring_stiffness = 3.0 * wheel.inertia;
  const StepConfig config = joint_config(5e-3);
  const Stepper stepper(wheel.scene.model, config);
  const int steps = 120;
  const auto end_rate = [&](double rate) {
    State start = wheel.scene.state, end;
    start.V_WB[0][wheel.velocity] = rate;
    REQUIRE(simulate(stepper, start, steps, {}, end).status == StepStatus::ok);
    return wheel.rate(end);
  };
  const Trajectory trajectory = rollout(stepper, wheel.scene.state, steps);
  const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
    if (k == steps) bar.twist[0][wheel.velocity] += 1.0;
  });
  const double difference = (end_rate(20.0 + 1e-5) - end_rate(20.0 - 1e-5)) / 2e-5;
  CHECK(std::abs(difference) > 0.1);
  CHECK(test::close(gradient.initial.twist[0][wheel.velocity], difference, 1e-6, 0));
}

TEST_CASE("Joint turns: a hinge that starts at half a turn stays there, whatever rounding says of its pose",
          "[dynamics][joints][property]") {
  const bool is_tree = GENERATE(true, false);
  const double w = GENERATE(0.0, 1e-17, -1e-17, 3e-16, -3e-16);
  const Vec3<double> axis =
      GENERATE(Vec3<double>(1, 0, 0), Vec3<double>(0.6, 0.0, 0.8), Vec3<double>(1, 2, -3).normalized());
  CAPTURE(is_tree, w, axis);
  TestScene scene;
  scene.model.gravity.setZero();
  scene.add(test::box_of_mass({0.1, 0.05, 0.05}, 1.0, 1), test::pose_at({-0.4, 0, 0}));
  Joint& joint = test::add_joint(scene, JointKind::hinge, -1, 0, test::pose_at({0, 0, 0}));
  joint.X_AJ.q = joint.X_BJ.q = Quat<double>::FromTwoVectors(Vec3<double>::UnitZ(), axis);
  if (!is_tree) joint.stiffness = joint.angular_stiffness = 1e6;
  Pose<double>& X_WB = scene.state.X_WB[0];
  X_WB.q = Quat<double>(w, axis.x(), axis.y(), axis.z());
  X_WB.p = X_WB.q * -joint.X_BJ.p;
  start_within_limits(scene.model, scene.state);
  const double pi = std::numbers::pi;
  CHECK(test::close(joint_coordinate(scene.model, 0, scene.state), pi, 1e-14, 0));
  SECTION("within its limits") {
    joint.lower = -2.0;
    joint.upper = 4.0;
  }
  SECTION("with a spring at rest there") {
    joint.spring_stiffness = 5.0;
    joint.spring_position = pi;
  }
  const State end = run_steps(scene, joint_config(2e-3), 20);
  CHECK(test::close(joint_coordinate(scene.model, 0, end), pi, 1e-12, 0));
  CHECK(end.V_WB[0].norm() <= 1e-9);
  CHECK(mechanical_energy(scene.model, end) <= 1e-18);
}
