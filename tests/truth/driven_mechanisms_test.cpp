// Mechanisms that motors drive by commands: the arm goes where its torques are known to lead, the four-bar linkage
// where its lengths say.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "dynamics/rollout/rollout.h"
#include "dynamics/trees/tree_dynamics.h"
#include "engine/control.h"
#include "engine/joint_geometry.h"
#include "tests/support/joint_scenes.h"
#include "tests/support/mechanisms.h"

namespace {

using namespace abut;
using test::TestScene;

constexpr double k_pi = std::numbers::pi;

/// A motion of an arm's joints from rest: q = a (t - sin(2 pi t)/(2 pi)) of each.
struct SmoothMotion {
  VecX<double> amplitude;
  [[nodiscard]] VecX<double> q(double t) const {
    return (t - std::sin(2.0 * k_pi * t) / (2.0 * k_pi)) * amplitude;
  }
  [[nodiscard]] VecX<double> u(double t) const { return (1.0 - std::cos(2.0 * k_pi * t)) * amplitude; }
  [[nodiscard]] VecX<double> a(double t) const { return 2.0 * k_pi * std::sin(2.0 * k_pi * t) * amplitude; }
};

/// How far the arm of seven hinges is from a motion after one second under the torques that inverse dynamics finds for
/// it at the middles of steps of h seconds [rad].
double miss_of_arm(const SmoothMotion& motion, double h) {
  const test::TreeCase arm("arm7", test::arm7());
  Model model = arm.mechanism.model;
  for (Joint& joint : model.joints) joint.motor.kind = MotorKind::force;
  const int steps = static_cast<int>(std::lround(1.0 / h));
  Controls controls(at(steps), zero_control(model));
  TreeKinematics<double> kinematics;
  NewtonEulerPass<double> pass;
  for (int k = 0; k < steps; ++k) {
    const double middle = (k + 0.5) * h;
    tree_kinematics(arm.trees, arm.parameters, motion.q(middle), kinematics);
    const VecX<double> torque = inverse_dynamics<double>(arm.trees, arm.parameters, kinematics,
                                                         motion.u(middle), motion.a(middle), {}, pass);
    controls[at(k)].commands.assign(torque.begin(), torque.end());
  }
  State start = state_at_rest(model.body_count()), end;
  start.X_WB = arm.mechanism.X_WB;
  StepConfig config;
  config.h = h;
  REQUIRE(simulate(Stepper(model, config), start, steps, controls, end).status == StepStatus::ok);
  double miss = 0.0;
  for (int j = 0; j < 7; ++j)
    miss = std::max(miss, std::abs(joint_coordinate(model, j, end) - motion.q(1.0)[j]));
  return miss;
}

/// The angle of the rocker of a four-bar linkage of ground d, crank a, coupler b, rocker c, in the branch whose pins
/// lie above the ground: from the circles about both pins.
double rocker_angle(double crank, double a, double b, double c, double d) {
  const double x = a * std::cos(crank) - d, y = a * std::sin(crank), r = std::hypot(x, y);
  return std::atan2(y, x) - std::acos((c * c + r * r - b * b) / (2.0 * c * r));
}

}  // namespace

TEST_CASE("driven mechanisms: torques of inverse dynamics lead an arm along its motion, to second order",
          "[truth][joints][value]") {
  const SmoothMotion motion{(VecX<double>(7) << 0.24, -0.15, 0.18, 0.21, -0.3, 0.12, 0.36).finished()};
  const double coarse = miss_of_arm(motion, 2e-3), fine = miss_of_arm(motion, 1e-3);
  CAPTURE(coarse, fine);
  CHECK(coarse < 3e-4);
  CHECK(fine < 0.26 * coarse);
}

TEST_CASE(
    "driven mechanisms: a four-bar linkage whose crank turns evenly moves its rocker as its lengths say",
    "[truth][joints][value]") {
  constexpr double k_crank = 0.1, k_coupler = 0.3, k_rocker = 0.25, k_ground = 0.3, k_rate = 2.0 * k_pi;
  const double rocker = rocker_angle(0.0, k_crank, k_coupler, k_rocker, k_ground);
  const auto in_plane = [](double x, double z, double angle) {  // x to z is a turn about -y
    return test::pose_at({x, 0.0, z}, {0.0, -angle, 0.0});
  };
  TestScene scene;
  const Vec3<double> pin_C(k_ground + k_rocker * std::cos(rocker), 0.0, k_rocker * std::sin(rocker));
  const double coupler = std::atan2(pin_C.z(), pin_C.x() - k_crank);
  const auto bar = [&](double length, const Vec3<double>& from, double angle) {
    const Vec3<double> middle = from + 0.5 * length * Vec3<double>(std::cos(angle), 0.0, std::sin(angle));
    return scene.add(test::box_of_mass({0.5 * length, 0.01, 0.01}, length, 1),
                     in_plane(middle.x(), middle.z(), angle));
  };
  const int a = bar(k_crank, {0, 0, 0}, 0.0), b = bar(k_coupler, {k_crank, 0, 0}, coupler),
            c = bar(k_rocker, {k_ground, 0, 0}, rocker);
  test::add_joint(scene, JointKind::hinge, -1, a, test::along_y({0, 0, 0})).motor = {MotorKind::velocity,
                                                                                     -k_rate};
  test::add_joint(scene, JointKind::hinge, a, b, test::along_y({k_crank, 0, 0}));
  test::add_joint(scene, JointKind::hinge, -1, c, test::along_y({k_ground, 0, 0}));
  test::add_joint(scene, JointKind::hinge, b, c, test::along_y(pin_C));
  double largest = 0.0, turned = 0.0;
  test::run_steps(scene, test::joint_config(1e-3), 2000, [&](const State& state) {
    turned = -joint_coordinate(scene.model, 0, state);
    const double expected = rocker_angle(turned, k_crank, k_coupler, k_rocker, k_ground),
                 is = rocker - joint_coordinate(scene.model, 2, state);
    largest = std::max(largest, std::abs(std::remainder(is - expected, 2.0 * k_pi)));
  });
  CHECK(test::close(turned, 2.0 * k_rate, 1e-2, 0));
  CHECK(largest < 1e-4);
}

TEST_CASE("hinges: a small body far from its axis stops at its limit, and dry friction holds it",
          "[truth][value]") {
  // A ball of 5 cm and 1 kg at the end of 0.3 m, let go in the horizontal: 2.9 N m.
  TestScene scene;
  const int ball = scene.add(test::sphere_of_mass(0.025, 1.0), test::pose_at({0.3, 0.0, 1.0}));
  Joint& joint = test::add_joint(scene, JointKind::hinge, -1, ball, test::along_y({0.0, 0.0, 1.0}));
  const auto run = [&](const auto& look) {
    double q = 0.0;
    test::run_steps(scene, test::joint_config(2e-3), 1000, [&](const State& state) {
      q = joint_coordinate(scene.model, 0, state);
      look(q, joint_rate(joint, state));
    });
    return q;
  };
  joint.upper = 0.6;
  double fastest = 0.0, rebound = 0.0, highest = 0.0;
  const double stopped = run([&](double q, double u) {
    fastest = std::max(fastest, u);
    rebound = std::max(rebound, -u);
    highest = std::max(highest, q);
  });
  CHECK(fastest > 5.9);
  CHECK(rebound < 0.01);
  CHECK(highest < 0.6 + 1e-4);
  CHECK(stopped == Approx(0.6).margin(1e-4));

  joint.upper = std::numeric_limits<double>::infinity();
  joint.friction = 5.0;
  CHECK(std::abs(run([](double, double) {})) < 2e-3);  // after two seconds
  joint.friction = 2.5;
  CHECK(run([](double, double) {}) > 0.1);
}
