#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "dynamics/gradient_check/gradient_check.h"
#include "dynamics/rollout/rollout.h"
#include "engine/joint_geometry.h"
#include "engine/scene_io.h"
#include "tests/support/close.h"
#include "tests/support/joint_scenes.h"
#include "tests/support/no_alloc.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::along_x;
using test::along_y;
using test::joint_config;
using test::run_steps;
using test::TestScene;

constexpr double k_g = 9.81, k_pi = std::numbers::pi;

/// Adds a joint whose two frames are one at the scene's state; returns its number.
int join(TestScene& scene, JointKind kind, int body_A, int body_B, const Pose<double>& X_WJ) {
  (void)test::add_joint(scene, kind, body_A, body_B, X_WJ);
  return static_cast<int>(scene.model.joints.size()) - 1;
}

Joint& joint_of(TestScene& scene, int j) { return scene.model.joints[static_cast<std::size_t>(j)]; }

struct Drift {
  double position = 0, rotation = 0;
  void add(const Model& model, const State& state) {
    for (const Joint& joint : model.joints) {
      const JointError error = joint_error(joint, state);
      position = std::max(position, error.position);
      rotation = std::max(rotation, error.rotation);
    }
  }
};

/// Bars of 0.2 m and 0.5 kg on hinges about y (or balls) in a row from the origin, `angle` below the
/// horizontal; the last one may be heavier.
TestScene chain(int links, JointKind kind, double angle, double last_mass = 0.5) {
  TestScene scene;
  const Vec3<double> along(std::cos(angle), 0.0, -std::sin(angle));
  for (int i = 0; i < links; ++i) {
    Body bar = test::box_of_mass({0.1, 0.01, 0.01}, i + 1 == links ? last_mass : 0.5, 1);
    const int b = scene.add(bar, test::pose_at((0.1 + 0.2 * i) * along, {0, angle, 0}));
    join(scene, kind, i == 0 ? -1 : b - 1, b, along_y(0.2 * i * along));
  }
  return scene;
}

/// 4 sqrt(L/g) K(sin(amplitude/2)), K by the arithmetic-geometric mean.
double pendulum_period(double length, double amplitude) {
  double a = 1.0, b = std::cos(0.5 * amplitude);
  for (int i = 0; i < 20; ++i) {
    const double mean = 0.5 * (a + b);
    b = std::sqrt(a * b);
    a = mean;
  }
  return 2.0 * k_pi * std::sqrt(length / k_g) / a;
}

}  // namespace

TEST_CASE("Joints: a hinged bar swings with the period of a pendulum, at any amplitude",
          "[dynamics][joints][property]") {
  const auto [amplitude, h, tolerance] =
      GENERATE(std::array{0.1, 1e-3, 1e-5}, std::array{0.1, 4e-3, 1e-4}, std::array{1.0, 1e-3, 1e-4},
               std::array{1.0, 4e-3, 1e-3}, std::array{2.5, 1e-3, 1e-3});
  TestScene scene = chain(1, JointKind::hinge, 0.5 * k_pi - amplitude);
  const Body& bar = scene.body(0);
  const double length = (bar.inertia(1, 1) + bar.mass * 0.01) / (bar.mass * 0.1);
  const double period = pendulum_period(length, amplitude);
  std::vector<double> crossings;
  double before = -1.0;
  Drift drift;
  run_steps(scene, joint_config(h), static_cast<int>(4.2 * period / h), [&, h = h](const State& state) {
    const double x = -state.X_WB[0].p.x();
    if (before < 0.0 && x >= 0.0) crossings.push_back(state.time - h * x / (x - before));
    before = x;
    drift.add(scene.model, state);
  });
  REQUIRE(crossings.size() >= 4);
  const double found = (crossings.back() - crossings.front()) / static_cast<double>(crossings.size() - 1);
  CAPTURE(amplitude, h, period, found, found / period - 1.0, drift.position, drift.rotation);
  CHECK(test::close(found, period, tolerance, 0));
}

TEST_CASE("Joints: a pendulum keeps its energy over 10000 steps", "[dynamics][joints][property]") {
  const int links = GENERATE(1, 2);
  TestScene scene = chain(links, JointKind::hinge, 0.0);
  const double start = mechanical_energy(scene.model, scene.state), scale = links * 0.5 * k_g * 0.1 * links;
  double least = 0.0, most = 0.0;
  Drift drift;
  run_steps(scene, joint_config(1e-3), 10000, [&](const State& state) {
    const double change = (mechanical_energy(scene.model, state) - start) / scale;
    least = std::min(least, change);
    most = std::max(most, change);
    drift.add(scene.model, state);
  });
  CAPTURE(links, least, most, drift.position, drift.rotation);
  CHECK(least > -0.01);
  CHECK(most < 0.01);
  CHECK(drift.position < 2e-4);
}

TEST_CASE("Joints: a chain of ten holds together, light or with a load of 10000 times its links",
          "[dynamics][joints][property]") {
  const JointKind kind = GENERATE(JointKind::ball, JointKind::hinge);
  // A heavy load makes the links vibrate like strings, at up to about 2 sqrt(T/(m l)) = 1400 rad/s, which a
  // step has to resolve: joints hold in the directions of its start.
  const auto [load, h, hanging, swinging] =
      GENERATE(std::array{0.5, 2e-3, 1e-5, 5e-3}, std::array{5000.0, 2.5e-4, 1e-4, 5e-3});
  const bool hangs = GENERATE(true, false);
  TestScene scene = chain(10, kind, hangs ? 0.5 * k_pi : 0.3, load);
  Drift drift;
  run_steps(scene, joint_config(h), static_cast<int>(1.0 / h),
            [&](const State& state) { drift.add(scene.model, state); });
  CAPTURE(static_cast<int>(kind), load, hangs, drift.position, drift.rotation);
  CHECK(drift.position < (hangs ? hanging : swinging));
}

TEST_CASE("Joints: free bodies keep their momentum and angular momentum", "[dynamics][joints][property]") {
  TestScene scene;
  scene.model.gravity.setZero();
  Random random(3);
  for (int i = 0; i < 6; ++i)
    scene.add(test::box_of_mass({0.1, 0.06, 0.04}, 0.5 + i, 1), test::pose_at({0.3 * i, 0, 0}),
              test::random_vector<6>(random));
  const JointKind kinds[] = {JointKind::fixed, JointKind::ball, JointKind::hinge, JointKind::slider,
                             JointKind::distance};
  for (int i = 0; i < 5; ++i) join(scene, kinds[i], i, i + 1, along_y({0.3 * i + 0.15, 0, 0}));
  joint_of(scene, 4).X_AJ.p.y() -= 0.1;
  joint_of(scene, 4).length = 0.1;
  joint_of(scene, 2).motor = {MotorKind::velocity, 1.0, 0.0, k_infinity, 0.5};
  joint_of(scene, 3).motor = {MotorKind::position, 0.1, 50.0, 2.0, 10.0};
  const auto momentum = [&](const State& state) {
    Vec6<double> sum = Vec6<double>::Zero();
    for (int b = 0; b < scene.model.body_count(); ++b) {
      const auto i = static_cast<std::size_t>(b);
      const Mat3<double> R = state.X_WB[i].rotation();
      const Vec3<double> p = scene.body(b).mass * state.V_WB[i].tail<3>();
      sum += stack<double>(
          R * scene.body(b).inertia * (R.transpose() * state.V_WB[i].head<3>()) + state.X_WB[i].p.cross(p),
          p);
    }
    return sum;
  };
  const Vec6<double> start = momentum(scene.state);
  const State end = run_steps(scene, joint_config(2e-3), 300);
  CHECK((end.X_WB[0].p - scene.state.X_WB[0].p).norm() > 0.05);
  CHECK(test::close(momentum(end), start, 0, 1e-10 * start.norm()));
}

TEST_CASE("Joints: a slider keeps its axis, and its travel its stops", "[dynamics][joints][property]") {
  TestScene scene;
  scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 1));
  const int j = join(scene, JointKind::slider, -1, 0, test::pose_at({0, 0, 0}, {0, 0.5, 0}));
  joint_of(scene, j).lower = -0.2;
  scene.body(0).external_wrench << 0.3, 0.2, 0.1, 0, 5, 0;
  Drift drift;
  double least = 0.0;
  const State end = run_steps(scene, joint_config(2e-3), 1000, [&](const State& state) {
    drift.add(scene.model, state);
    least = std::min(least, joint_coordinate(scene.model, 0, state));
  });
  CAPTURE(drift.position, drift.rotation, least);
  CHECK(drift.position < 1e-5);
  CHECK(drift.rotation < 1e-4);
  CHECK(least > -0.201);
  CHECK(test::close(joint_coordinate(scene.model, j, end), -0.2, 5e-3, 0));
}

TEST_CASE("Joints: a hinge stops at its limits", "[dynamics][joints][property]") {
  TestScene scene = chain(1, JointKind::hinge, 0.0);
  joint_of(scene, 0).upper = 0.8;  // it falls to +
  double most = 0.0;
  const State end = run_steps(scene, joint_config(2e-3), 1000, [&](const State& state) {
    most = std::max(most, joint_coordinate(scene.model, 0, state));
  });
  CAPTURE(most);
  CHECK(most < 0.81);
  CHECK(test::close(joint_coordinate(scene.model, 0, end), 0.8, 5e-3, 0));
}

TEST_CASE("Joints: a rod keeps its length while it turns and swings", "[dynamics][joints][property]") {
  TestScene scene;
  scene.add(test::sphere_of_mass(0.05, 1.0), test::pose_at({1.0, 0, 0}), test::moving_at({0, 2.0, 0}));
  const int j = join(scene, JointKind::distance, -1, 0, test::pose_at({1.0, 0, 0}));
  joint_of(scene, j).X_AJ.p.setZero();
  joint_of(scene, j).length = 1.0;
  Drift drift;
  run_steps(scene, joint_config(1e-3), 5000, [&](const State& state) { drift.add(scene.model, state); });
  CAPTURE(drift.position);
  CHECK(drift.position < 1e-4);
}

TEST_CASE("Joints: a velocity motor reaches its speed, and no sooner than its torque allows",
          "[dynamics][joints][value]") {
  TestScene scene;
  scene.model.gravity.setZero();
  scene.add(test::box_of_mass({0.1, 0.1, 0.1}, 2.0, 1));
  const int j = join(scene, JointKind::hinge, -1, 0, test::pose_at({0, 0, 0}));
  const double torque = 0.1, speed = 3.0, I = scene.body(0).inertia(2, 2);
  joint_of(scene, j).motor = {MotorKind::velocity, speed, 0.0, k_infinity, torque};
  double largest = 0.0, before = 0.0, time_to_half = 0.0;
  const State end = run_steps(scene, joint_config(2e-3), 600, [&](const State& state) {
    const double w = state.V_WB[0][2];
    largest = std::max(largest, I * (w - before) / 2e-3);
    if (before < 0.5 * speed && w >= 0.5 * speed) time_to_half = state.time;
    before = w;
  });
  CAPTURE(largest, time_to_half, I);
  CHECK(largest <= torque * (1.0 + 1e-9));
  CHECK(largest > 0.99 * torque);
  CHECK(test::close(time_to_half, 0.5 * speed * I / torque, 0.02, 2e-3));
  CHECK(test::close(end.V_WB[0][2], speed, 1e-6, 0));

  joint_of(scene, j).motor.limit = k_infinity;
  const State at_once = run_steps(scene, joint_config(2e-3), 1);
  CHECK(test::close(at_once.V_WB[0][2], speed, 1e-3, 0));
}

TEST_CASE("Joints: a servo settles where its spring carries the load", "[dynamics][joints][value]") {
  TestScene scene = chain(1, JointKind::hinge, 0.0);
  const double k = 20.0;
  joint_of(scene, 0).motor = {MotorKind::position, -0.5, k, 1.0};
  const State end = run_steps(scene, joint_config(2e-3), 2000);
  const double q = joint_coordinate(scene.model, 0, end);
  CAPTURE(q);
  CHECK(test::close(k * (-0.5 - q), -0.5 * k_g * 0.1 * std::cos(q), 1e-8, 0));
}

TEST_CASE("Joints: bodies that a joint ties together do not touch, unless it says so",
          "[dynamics][joints][value]") {
  TestScene scene;
  for (int i = 0; i < 2; ++i)
    scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 1), test::pose_at({0.08 * i, 0, 0}));
  const int j = join(scene, JointKind::hinge, 1, 0, test::pose_at({0, 0, 0}));
  StepScratch scratch;
  State next;
  const StepConfig config = joint_config(2e-3);
  CHECK(Stepper(scene.model, config).step(scene.state, {}, next, scratch).contacts == 0);
  joint_of(scene, j).collide = true;
  CHECK(Stepper(scene.model, config).step(scene.state, {}, next, scratch).contacts > 0);
}

TEST_CASE("Joints: a step with joints and motors allocates nothing once its scratch has grown",
          "[dynamics][joints][property]") {
  if (!test::k_counts_allocations) return;
  TestScene scene = chain(4, JointKind::hinge, 0.2);
  joint_of(scene, 1).motor = {MotorKind::position, 0.4, 5.0, 0.5, 2.0};
  joint_of(scene, 2).upper = 0.1;
  StepConfig config = joint_config(2e-3);
  config.law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty);
  const Stepper stepper(scene.model, config);
  StepScratch scratch;
  State state = scene.state, next = state;
  const auto advance_by = [&](int steps) {
    for (int k = 0; k < steps; ++k) {
      (void)stepper.step(state, {}, next, scratch);
      std::swap(state, next);
    }
  };
  advance_by(20);
  const test::NoAlloc guard;
  advance_by(50);
  CHECK(guard.allocations() == 0);
}

TEST_CASE("Joints: the penalty law holds them, too", "[dynamics][joints][property]") {
  TestScene scene = chain(3, JointKind::hinge, 0.0);
  StepConfig config = joint_config(1e-3);
  config.law = ContactLaw::penalty;
  const State by_penalty = run_steps(scene, config, 500);
  config.law = ContactLaw::smooth_coulomb;
  const State by_default = run_steps(scene, config, 500);
  for (std::size_t b = 0; b < 3; ++b) {  // nothing touches: the laws are one
    CHECK(test::close(by_penalty.X_WB[b].p, by_default.X_WB[b].p, 0, 1e-7));
    CHECK(test::close(by_penalty.V_WB[b], by_default.V_WB[b], 0, 1e-6));
  }
}

TEST_CASE("Joints: what happens to one mechanism changes no bit of another", "[dynamics][joints][property]") {
  const TestScene one = chain(3, JointKind::hinge, 0.2);
  TestScene both = one;
  const TestScene other = chain(2, JointKind::ball, 0.9);
  for (int b = 0; b < 2; ++b)
    both.add(other.model.bodies[static_cast<std::size_t>(b)],
             test::pose_at({0, 5.0, 0}) * other.state.X_WB[static_cast<std::size_t>(b)]);
  join(both, JointKind::ball, -1, 3, test::pose_at({0, 5, 0}));
  join(both, JointKind::ball, 3, 4, test::pose_at({0.2 * std::cos(0.9), 5, -0.2 * std::sin(0.9)}));
  const StepConfig config = joint_config(2e-3);
  const Stepper alone(one.model, config), together(both.model, config);
  const Trajectory part = rollout(alone, one.state, 60), whole = rollout(together, both.state, 60);
  REQUIRE(part.ok());
  REQUIRE(whole.ok());
  const auto loss = [](int k, const State&, StateTangent& bar) {
    if (k != 60) return;
    for (std::size_t b = 0; b < 3; ++b) bar.pose[b].tail<3>().setOnes();
  };
  const Gradient of_part = adjoint(alone, part, loss), of_whole = adjoint(together, whole, loss);
  for (std::size_t b = 0; b < 3; ++b) {
    CHECK(part.states[60].X_WB[b].p == whole.states[60].X_WB[b].p);
    CHECK(part.states[60].V_WB[b] == whole.states[60].V_WB[b]);
    CHECK(of_part.initial.pose[b] == of_whole.initial.pose[b]);
    CHECK(of_part.model.bodies[b].mass == of_whole.model.bodies[b].mass);
    CHECK(of_part.model.joints[b].X_BJ == of_whole.model.joints[b].X_BJ);
  }
  CHECK(of_whole.model.joints[3].X_AJ.isZero(0.0));
}

TEST_CASE("Joints: the gripper of the assets lifts its box by friction", "[dynamics][joints][property]") {
  const Scene scene = read_scene(std::string(ABUT_SOURCE_DIR) + "/assets/scenes/gripper.toml");
  const Stepper stepper(scene.model, scene.config.step);
  State end;
  const StepReport report = simulate(stepper, scene.initial, scene.config.steps, {}, end);
  REQUIRE(report.status == StepStatus::ok);
  Drift drift;
  drift.add(scene.model, end);
  const Vec3<double> box = end.X_WB[1].p, hand = end.X_WB[3].p;
  CAPTURE(box.transpose(), hand.transpose(), drift.position, drift.rotation);
  CHECK(box.z() > 0.12);
  CHECK(std::abs(box.x() - hand.x()) < 0.01);
  CHECK(test::close(hand.x(), 0.1 * end.time, 0.02, 0));
  CHECK(drift.position < 1e-4);
}

TEST_CASE("Joints: gradients of 100 steps agree with differences", "[dynamics][joints][derivative]") {
  const bool with_contact = GENERATE(false, true);
  const ContactLaw law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty);
  TestScene scene;
  if (with_contact) scene = test::floor_scene(0.5);
  const int first = scene.model.body_count();
  const double z = with_contact ? 0.05 : 1.0;
  for (int i = 0; i < 6; ++i)
    scene.add(test::box_of_mass({0.08, 0.06, 0.05}, 0.5 + 0.2 * i, 1), test::pose_at({0.25 * i, 0, z}),
              test::moving_at({0, 0.1 * i, 0}));
  const JointKind kinds[] = {JointKind::hinge, JointKind::ball, JointKind::slider, JointKind::fixed,
                             JointKind::distance};
  for (int i = 0; i < 5; ++i) {
    const int j = join(scene, kinds[i], first + i, first + i + 1, along_y({0.25 * i + 0.12, 0.01, z}));
    joint_of(scene, j).dissipation_time = 0.005;
  }
  joint_of(scene, 0).motor = {MotorKind::velocity, 1.0, 0.0, 2.0, 1.0};
  joint_of(scene, 0).upper = 0.05;
  joint_of(scene, 1).stiffness = 5e4;
  joint_of(scene, 2).motor = {MotorKind::position, 0.1, 50.0, 4.0, 3.0};
  joint_of(scene, 3).angular_stiffness = 50.0;
  joint_of(scene, 4).X_AJ.p.x() -= 0.05;
  joint_of(scene, 4).length = 0.05;
  StepConfig config = joint_config(law == ContactLaw::penalty ? 1e-3 : 2e-3);
  config.law = law;
  GradientCheckConfig check;
  check.samples = 60;
  check.seed = 2;
  const GradientCheck result = check_gradient(scene.model, config, scene.state, check);
  REQUIRE(result.failed_step == -1);
  for (const GradientSample& s : result.samples) {
    if (s.unresolved || s.at_bound) continue;
    CAPTURE(with_contact, static_cast<int>(law), s.group, s.adjoint, s.difference, s.self_disagreement);
    CHECK(s.relative_error < 1e-4);
  }
  CAPTURE(with_contact, static_cast<int>(law), result.summary.p99_relative_error, result.summary.unresolved);
  CHECK(result.summary.median_relative_error < 1e-7);
}

// Bodies of infinite mass that move ------------------------------------------------------------------------

TEST_CASE("Fixed bodies: a moving plate takes along what lies on it", "[dynamics][joints][property]") {
  TestScene scene;
  Body plate = test::box_of_mass({1.0, 1.0, 0.05}, 1.0, 1);
  plate.fixed = true;
  scene.add(plate, test::pose_at({0, 0, -0.05}), test::moving_at({0.5, 0, 0}));
  scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 2), test::pose_at({0, 0, 0.05}));
  scene.set_friction(0.3);
  double time_to_half = 0.0, before = 0.0;
  const State end = run_steps(scene, joint_config(2e-3), 300, [&](const State& state) {
    const double v = state.V_WB[1][3];
    if (before < 0.25 && v >= 0.25) time_to_half = state.time;
    before = v;
  });
  CHECK(test::close(end.X_WB[0].p.x(), 0.5 * 0.6, 1e-12, 0));
  CHECK(end.V_WB[0] == scene.state.V_WB[0]);
  CHECK(test::close(time_to_half, 0.25 / (0.3 * k_g), 0.03, 2e-3));  // mu g all the way
  CHECK(test::close(end.V_WB[1][3], 0.5, 1e-3, 0));
}

TEST_CASE("Fixed bodies: a turning plate carries a box in a circle", "[dynamics][joints][property]") {
  TestScene scene;
  Body plate = test::box_of_mass({1.0, 1.0, 0.05}, 1.0, 1);
  plate.fixed = true;
  Vec6<double> spin = Vec6<double>::Zero();
  spin[2] = 1.5;
  scene.add(plate, test::pose_at({0, 0, -0.05}), spin);
  Vec6<double> V = spin;
  V[4] = 1.5 * 0.4;
  scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 2), test::pose_at({0.4, 0, 0.05}), V);
  scene.set_friction(0.5);  // mu g = 4.9 > w^2 r = 0.9 m/s^2
  const State end = run_steps(scene, joint_config(2e-3), 1000);
  const Vec3<double> p = end.X_WB[1].p;
  CAPTURE(p.transpose());
  CHECK(test::close(p.head<2>().norm(), 0.4, 0.02, 0));
  const double angle = 1.5 * 2.0 - 2.0 * k_pi;
  CHECK(std::abs(std::remainder(std::atan2(p.y(), p.x()) - angle, 2.0 * k_pi)) < 0.05);
}

TEST_CASE("Fixed bodies: a shaken floor goes to and fro, and takes a box along while friction can",
          "[dynamics][joints][property]") {
  TestScene scene = test::floor_scene();
  scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 2), test::pose_at({0, 0, 0.05}));
  const double a = 0.02, f = 2.0, rate = 2.0 * k_pi * f;  // at most rate^2 a = 3.2 m/s^2; it starts at rest
  Oscillation& shaking = scene.body(0).oscillation;
  shaking.amplitude = {a, 0, 0};
  shaking.frequency = f;
  shaking.phase = -0.5 * k_pi;
  scene.V_WB(0) = shaking.twist(0.0);
  const bool sticks = GENERATE(true, false);
  scene.set_friction(sticks ? 0.8 : 0.1);
  double floor_most = 0.0, slip = 0.0, fastest = 0.0;
  const State end = run_steps(scene, joint_config(1e-3), 2000, [&](const State& state) {
    floor_most =
        std::max(floor_most, std::abs(state.X_WB[0].p.x() - a * (1.0 - std::cos(rate * state.time))));
    slip = std::max(slip, std::abs(state.X_WB[1].p.x() - state.X_WB[0].p.x()));
    fastest = std::max(fastest, std::abs(state.V_WB[1][3]));
  });
  CAPTURE(sticks, floor_most, slip, fastest);
  CHECK(floor_most < 1e-12);
  CHECK(test::close(end.V_WB[0], shaking.twist(2.0), 0, 1e-12));
  if (sticks) {
    CHECK(slip < 1e-3);
    CHECK(fastest > 0.95 * a * rate);
  } else {
    CHECK(slip > 5e-3);
    CHECK(fastest < 0.9 * a * rate);
  }
}

TEST_CASE("Fixed bodies: they are where their oscillation says, however few steps a period has",
          "[dynamics][joints][value]") {
  const double steps_a_period = GENERATE(20.0, 4.0, 2.0, 1.0, 0.3);
  CAPTURE(steps_a_period);
  TestScene scene = test::floor_scene();
  const double h = 2e-3;
  Oscillation& shaking = scene.body(0).oscillation;
  shaking = {{0.01, 0.0, 0.02}, Vec3<double>::Zero(), 1.0 / (steps_a_period * h), 0.7};
  Vec6<double> steady = Vec6<double>::Zero();
  steady[4] = 0.25;
  scene.V_WB(0) = shaking.twist(0.0) + steady;
  double farthest = 0.0;
  (void)run_steps(scene, joint_config(h), 500, [&](const State& state) {
    const double rate = 2.0 * k_pi * shaking.frequency;
    const Vec3<double> expected =
        shaking.amplitude * (std::sin(rate * state.time + shaking.phase) - std::sin(shaking.phase)) +
        Vec3<double>(0.0, 0.25 * state.time, 0.0);
    farthest = std::max(farthest, (state.X_WB[0].p - expected).norm());
  });
  CHECK(farthest < 1e-12);
}

TEST_CASE("Fixed bodies: what they do has gradients by their twist and pose",
          "[dynamics][joints][derivative]") {
  const ContactLaw law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::penalty);
  TestScene scene = test::floor_scene(0.4);
  Vec6<double> V;
  V << 0.1, 0.05, 0.3, 0.4, 0.1, 0.05;
  scene.V_WB(0) = V;
  scene.body(0).oscillation = {{0.01, 0.02, 0.001}, {0.01, 0, 0.05}, 3.0, 0.3};
  scene.add(test::box_of_mass({0.06, 0.05, 0.04}, 1.0, 1), test::pose_at({0.1, 0, 0.04}));
  scene.add(test::box_of_mass({0.06, 0.05, 0.04}, 1.0, 1), test::pose_at({0.1, 0.3, 0.14}));
  join(scene, JointKind::hinge, 0, 2, along_x({0.1, 0.4, 0.14}));
  joint_of(scene, 0).motor = {MotorKind::position, 0.3, 5.0, 0.5, 2.0};
  scene.set_friction(0.4);
  StepConfig config = joint_config(law == ContactLaw::penalty ? 1e-3 : 2e-3);
  config.law = law;
  const Stepper stepper(scene.model, config);
  GradientCheckConfig check;
  check.samples = 48;
  const GradientCheck result = check_gradient(scene.model, config, scene.state, check);
  REQUIRE(result.failed_step == -1);
  bool has_twist = false;
  for (const GradientSample& s : result.samples) {
    has_twist = has_twist || s.group == "initial twist";
    if (s.unresolved || s.at_bound) continue;
    CAPTURE(static_cast<int>(law), s.group, s.adjoint, s.difference, s.self_disagreement);
    CHECK(s.relative_error < 1e-4);
  }
  CAPTURE(static_cast<int>(law), result.summary.p99_relative_error, result.summary.unresolved);
  CHECK(has_twist);
  CHECK(result.summary.median_relative_error < 1e-7);
}
