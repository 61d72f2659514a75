// Gears, racks, mimics, tendons and actuators against the mechanics of the machines that they stand for.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "dynamics/rollout/rollout.h"
#include "engine/control.h"
#include "engine/coupling.h"
#include "engine/joint_geometry.h"
#include "tests/support/joint_scenes.h"

namespace {

using namespace abut;
using test::TestScene;

/// Bodies beside each other without gravity, each on its own hinge about x or slider along x.
struct Shafts {
  TestScene scene;
  std::vector<double> inertia;  ///< of each coordinate [kg m^2 or kg]

  /// @param is_tree  else joints are stiff springs
  explicit Shafts(const std::vector<JointKind>& kinds, bool is_tree = true) {
    scene.model.gravity.setZero();
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const double width = 0.1 + 0.05 * static_cast<double>(i);
      const Vec3<double> place(0.0, static_cast<double>(i), 0.0);
      const int b = scene.add(test::box_of_mass({0.05, width, width}, 2.0 + static_cast<double>(i), 1),
                              {Quat<double>::Identity(), place});
      inertia.push_back(kinds[i] == JointKind::hinge ? scene.body(b).inertia(0, 0) : scene.body(b).mass);
      Joint& joint = test::add_joint(scene, kinds[i], -1, b, test::along_x(place));
      if (!is_tree) joint.stiffness = joint.angular_stiffness = 1e7;
    }
  }

  Coupling& add(const std::vector<double>& coefficients) {
    Coupling& coupling = scene.model.couplings.emplace_back();
    coupling.name = "coupling " + std::to_string(scene.model.couplings.size());
    for (std::size_t i = 0; i < coefficients.size(); ++i) {
      if (coefficients[i] != 0.0) coupling.terms.push_back({static_cast<int>(i), {coefficients[i]}});
    }
    return coupling;
  }
  Coupling& add_actuator(int joint, double gear, const Motor& motor) {
    Coupling& actuator = add({});
    actuator.is_actuator = true;
    actuator.terms = {{joint, {1.0}}};
    actuator.gear = gear;
    actuator.motor = motor;
    return actuator;
  }

  [[nodiscard]] State after(double time, double h = 1e-3, const Controls& controls = {}) const {
    StepConfig config;
    config.h = h;
    State end;
    const int steps = static_cast<int>(std::lround(time / h));
    REQUIRE(simulate(Stepper(scene.model, config), scene.state, steps, controls, end).status ==
            StepStatus::ok);
    return end;
  }
  [[nodiscard]] double q(const State& state, int joint) const {
    return joint_coordinate(scene.model, joint, state);
  }
  [[nodiscard]] double rate(const State& state, int joint) const {
    return joint_rate(scene.model.joints[at(joint)], state);
  }
};

}  // namespace

TEST_CASE("couplings: a gear train turns as heavy as its ratio makes it", "[truth][value]") {
  for (const bool is_tree : {true, false}) {
    for (const double ratio : {2.0, -3.0, 0.5}) {
      CAPTURE(is_tree, ratio);
      Shafts shafts({JointKind::hinge, JointKind::hinge}, is_tree);
      shafts.add({1.0, -ratio}).held_at = 0.0;  // q_0 = ratio q_1
      constexpr double k_torque = 0.3;
      shafts.scene.body(0).external_wrench[0] = k_torque;
      const State end = shafts.after(1.0);
      const double expected = k_torque / (shafts.inertia[0] + shafts.inertia[1] / (ratio * ratio));
      if (is_tree) {
        CHECK(shafts.rate(end, 0) == Approx(expected).epsilon(1e-6));
        CHECK(shafts.rate(end, 1) == Approx(expected / ratio).epsilon(1e-6));
      }
      CHECK(shafts.q(end, 0) == Approx(0.5 * expected).epsilon(2e-3));  // by the way that a step is long
      CHECK(std::abs(shafts.q(end, 0) - ratio * shafts.q(end, 1)) < 1e-6 * std::abs(shafts.q(end, 0)));
    }
  }
}

TEST_CASE("couplings: a rack drives its pinion, and a screw its nut, at metres per radian",
          "[truth][value]") {
  Shafts shafts({JointKind::slider, JointKind::hinge});
  constexpr double k_radius = 0.04, k_force = 1.5;
  shafts.add({1.0, -k_radius}).held_at = 0.0;
  shafts.scene.body(0).external_wrench[3] = k_force;
  const State end = shafts.after(1.0);
  const double mass = shafts.inertia[0] + shafts.inertia[1] / (k_radius * k_radius);
  CHECK(shafts.rate(end, 0) == Approx(k_force / mass).epsilon(1e-6));
  CHECK(shafts.q(end, 1) == Approx(shafts.q(end, 0) / k_radius).epsilon(1e-6));
}

TEST_CASE("couplings: a mimic follows a polynomial of what it mimics", "[truth][value]") {
  Shafts shafts({JointKind::hinge, JointKind::hinge});
  Coupling& mimic = shafts.add({1.0, 1.0});
  mimic.terms[1].coefficients = {-0.5, -0.2, 0.1};  // q_0 = 0.3 + 0.5 q_1 + 0.2 q_1^2 - 0.1 q_1^3
  mimic.held_at = 0.3;
  shafts.scene.model.joints[1].motor = {MotorKind::position, 0.0, 500.0, 20.0};
  set_joint_coordinate(shafts.scene.model, 0, 0.3, shafts.scene.state);
  StepConfig config;
  config.h = 2e-3;
  double off = 0.0, widest = 0.0;
  Controls controls(2000);
  for (std::size_t k = 0; k < controls.size(); ++k)
    controls[k].commands = {1.5 * std::sin(2.0 * std::numbers::pi * static_cast<double>(k) / 1000.0)};
  const auto see = [&](const State& state) {
    const double q = shafts.q(state, 1);
    widest = std::max(widest, q);
    off = std::max(off, std::abs(shafts.q(state, 0) - (0.3 + q * (0.5 + q * (0.2 - 0.1 * q)))));
  };
  test::run_steps(shafts.scene, config, 2000, see, controls);
  CHECK(widest > 1.3);
  CHECK(off < 2e-4);
}

TEST_CASE("couplings: a spring between two wheels swings at its frequency", "[truth][value]") {
  Shafts shafts({JointKind::hinge, JointKind::hinge});
  Coupling& tendon = shafts.add({1.0, -2.0});
  tendon.spring_stiffness = 4.0;
  set_joint_coordinate(shafts.scene.model, 0, 0.2, shafts.scene.state);
  // d^2l/dt^2 = -k (1/I_0 + 4/I_1) l,  l = q_0 - 2 q_1
  const double w = std::sqrt(4.0 * (1.0 / shafts.inertia[0] + 4.0 / shafts.inertia[1]));
  const auto length = [&](const State& state) { return shafts.q(state, 0) - 2.0 * shafts.q(state, 1); };
  const double period = 2.0 * std::numbers::pi / w;
  constexpr double k_h = 1e-4;
  CHECK(length(shafts.after(period, k_h)) == Approx(0.2).epsilon(2e-3));
  CHECK(length(shafts.after(0.5 * period, k_h)) == Approx(-0.2).epsilon(2e-3));
  CHECK(std::abs(length(shafts.after(0.25 * period, k_h))) < 2e-3);
  // Nothing turns it as a whole.
  const State end = shafts.after(0.3 * period, k_h);
  CHECK(std::abs(2.0 * shafts.inertia[0] * shafts.rate(end, 0) + shafts.inertia[1] * shafts.rate(end, 1)) <
        1e-9);
}

TEST_CASE("couplings: a tendon stops at its limit, and rests there under a load", "[truth][value]") {
  Shafts shafts({JointKind::hinge, JointKind::hinge});
  Coupling& tendon = shafts.add({1.0, 1.0});
  tendon.upper = 0.5;
  shafts.scene.body(0).external_wrench[0] = 0.02;
  shafts.scene.model.joints[1].lower = -0.3;  // how far the second gives way
  const State end = shafts.after(6.0, 2e-3);
  CHECK(shafts.q(end, 0) + shafts.q(end, 1) == Approx(0.5).margin(1e-3));
  CHECK(shafts.q(end, 1) == Approx(-0.3).margin(1e-3));
  CHECK(std::abs(shafts.rate(end, 0)) < 1e-3);
}

TEST_CASE("couplings: dry friction and damping of one take what a joint's would take", "[truth][value]") {
  for (const double gear : {1.0, 3.0}) {
    for (const bool has_friction : {false, true}) {
      CAPTURE(gear, has_friction);
      Shafts of_coupling({JointKind::hinge}), of_joint({JointKind::hinge});
      Coupling& coupling = of_coupling.add({1.0});
      coupling.gear = gear;
      Joint& joint = of_joint.scene.model.joints[0];
      // f on the coupling's coordinate is gear f on the joint, whose rate is that of the coupling over the gear.
      (has_friction ? coupling.friction : coupling.damping) = 0.02;
      (has_friction ? joint.friction : joint.damping) = has_friction ? gear * 0.02 : gear * gear * 0.02;
      for (Shafts* shafts : {&of_coupling, &of_joint})
        set_joint_rate(shafts->scene.model, 0, 2.0, shafts->scene.state);
      CHECK(of_coupling.rate(of_coupling.after(0.5), 0) ==
            Approx(of_joint.rate(of_joint.after(0.5), 0)).epsilon(1e-6));
    }
  }
}

TEST_CASE("actuators: a geared motor is as strong and as slow as its gear makes it", "[truth][value]") {
  for (const bool is_tree : {true, false}) {
    for (const MotorKind kind : {MotorKind::force, MotorKind::position, MotorKind::velocity}) {
      CAPTURE(is_tree, kind);
      constexpr double k_gear = 4.0;
      Motor motor;
      motor.kind = kind;
      motor.target = 0.4;
      if (kind == MotorKind::position) motor.stiffness = 0.5;
      if (kind != MotorKind::force) motor.damping = 0.05;
      motor.limit = 0.3;
      Shafts geared({JointKind::hinge}, is_tree), direct({JointKind::hinge}, is_tree);
      geared.add_actuator(0, k_gear, motor);
      Motor& same = direct.scene.model.joints[0].motor = motor;
      same.target = kind == MotorKind::force ? k_gear * motor.target : motor.target / k_gear;
      same.stiffness *= k_gear * k_gear;
      same.damping *= k_gear * k_gear;
      same.limit *= k_gear;
      const State a = geared.after(0.2), b = direct.after(0.2);
      CHECK(geared.q(a, 0) == Approx(direct.q(b, 0)).epsilon(1e-7));
      CHECK(geared.rate(a, 0) == Approx(direct.rate(b, 0)).epsilon(1e-7));
      CHECK(std::abs(geared.q(a, 0)) > 1e-3);
    }
  }
}

TEST_CASE("actuators: several on one joint add up, each with its own command", "[truth][value]") {
  Shafts shafts({JointKind::hinge});
  shafts.add_actuator(0, 1.0, {MotorKind::force, 0.0});
  shafts.add_actuator(0, -2.0, {MotorKind::force, 0.0});
  shafts.scene.model.joints[0].motor = {MotorKind::force, 0.1};
  Controls controls(1000);
  for (Control& control : controls) control.commands = {0.2, 0.5, 0.3};  // the joint's own first
  const State end = shafts.after(1.0, 1e-3, controls);
  CHECK(shafts.rate(end, 0) == Approx((0.1 + 0.2 + 0.5 - 2.0 * 0.3) / shafts.inertia[0]).epsilon(1e-9));
}

TEST_CASE(
    "actuators: an affine motor is a servo where its gain is its stiffness, and no servo where it is not",
    "[truth][value]") {
  constexpr double k_stiffness = 3.0, k_damping = 0.4;
  const auto end_of = [&](const Motor& motor) {
    Shafts shafts({JointKind::hinge});
    shafts.scene.model.joints[0].motor = motor;
    return shafts.q(shafts.after(8.0, 2e-3), 0);
  };
  Motor affine{MotorKind::affine, 0.7, k_stiffness, k_damping};
  affine.gain = k_stiffness;
  CHECK(end_of(affine) == Approx(end_of({MotorKind::position, 0.7, k_stiffness, k_damping})).epsilon(1e-10));
  affine.gain = 1.2;
  affine.bias = 0.3;
  CHECK(end_of(affine) == Approx((1.2 * 0.7 + 0.3) / k_stiffness).epsilon(1e-4));
  affine.stiffness = 0.0;  // now it turns on, as fast as damping lets it
  Shafts shafts({JointKind::hinge});
  shafts.scene.model.joints[0].motor = affine;
  CHECK(shafts.rate(shafts.after(8.0, 2e-3), 0) == Approx((1.2 * 0.7 + 0.3) / k_damping).epsilon(1e-4));
  affine.damping = 0.0;  // a torque
  shafts.scene.model.joints[0].motor = affine;
  CHECK(shafts.rate(shafts.after(1.0), 0) == Approx((1.2 * 0.7 + 0.3) / shafts.inertia[0]).epsilon(1e-9));
}

TEST_CASE("actuators: commands beyond their limits count as the limit", "[truth][value]") {
  for (const double command : {-3.0, 0.2, 3.0}) {
    Motor motor{MotorKind::force, 0.1};
    motor.lowest = -0.5;
    motor.highest = 1.0;
    Shafts shafts({JointKind::hinge});
    shafts.add_actuator(0, 1.0, motor);
    Controls controls(100);
    for (Control& control : controls) control.commands = {command};
    const double torque = std::clamp(0.1 + command, -0.5, 1.0);
    CHECK(shafts.rate(shafts.after(0.1, 1e-3, controls), 0) ==
          Approx(0.1 * torque / shafts.inertia[0]).epsilon(1e-9));
  }
}

TEST_CASE("couplings: a differential passes what its two shafts share", "[truth][value]") {
  // The cage turns at the mean of the shafts: q_2 = (q_0 + q_1)/2, and each shaft gets half of its torque.
  Shafts shafts({JointKind::hinge, JointKind::hinge, JointKind::hinge});
  shafts.add({0.5, 0.5, -1.0}).held_at = 0.0;
  constexpr double k_torque = 0.6;
  shafts.scene.body(2).external_wrench[0] = k_torque;
  const State end = shafts.after(0.5);
  const double I_0 = shafts.inertia[0], I_1 = shafts.inertia[1], I_2 = shafts.inertia[2];
  const double share = k_torque / (4.0 + I_2 * (1.0 / I_0 + 1.0 / I_1)) * 2.0;  // of each shaft [N m]
  CHECK(shafts.rate(end, 0) == Approx(0.5 * share / I_0).epsilon(1e-5));
  CHECK(shafts.rate(end, 1) == Approx(0.5 * share / I_1).epsilon(1e-5));
}

TEST_CASE("stops, couplings and motors hold against any torque that a step can take", "[truth][value]") {
  // A wheel of 4e-7 kg m^2: in 2 ms its torque alone would turn it by up to 1.5 rad.
  for (const double torque : {0.01, 0.019, 0.021, 0.05, 0.15}) {
    for (const int what : {0, 1, 2}) {
      CAPTURE(torque, what);
      TestScene scene;
      scene.model.gravity.setZero();
      const int wheel = scene.add(test::sphere_of_mass(0.01, 0.01), Pose<double>());
      Joint& joint = test::add_joint(scene, JointKind::hinge, -1, wheel, test::along_x({0, 0, 0}));
      if (what == 0) joint.upper = 0.0;
      if (what == 1) joint.motor = {MotorKind::velocity, 0.0};
      if (what == 2) {
        Coupling& held = scene.model.couplings.emplace_back();
        held.name = "held";
        held.terms = {{0, {1.0}}};
        held.held_at = 0.0;
      }
      Coupling& drive = scene.model.couplings.emplace_back();
      drive.name = "drive";
      drive.terms = {{0, {1.0}}};
      drive.motor = {MotorKind::force, torque};
      StepConfig config;
      config.h = 2e-3;
      double farthest = 0.0;
      test::run_steps(scene, config, 500, [&](const State& state) {
        farthest = std::max(farthest, std::abs(joint_coordinate(scene.model, 0, state)));
      });
      CHECK(farthest < (what == 1 ? 0.25 : 0.03));  // such a motor creeps, as docs/dynamics.md says
    }
  }
}

TEST_CASE("stops and motors hold however light the link between them and a load", "[truth][value]") {
  for (const double cross : {1e-1, 1e-3, 1e-6, 1e-9}) {
    CAPTURE(cross);
    TestScene scene;
    const int gimbal = scene.add(test::sphere_of_mass(0.01, cross), test::pose_at({0, 0, 1}));
    const int load = scene.add(test::sphere_of_mass(0.05, 1.0), test::pose_at({0.15, 0.1, 0.9}));
    test::add_joint(scene, JointKind::hinge, -1, gimbal, test::along_x({0, 0, 1})).motor = {
        MotorKind::position, 0.3, 50.0, 5.0};
    test::add_joint(scene, JointKind::hinge, gimbal, load, test::along_y({0, 0, 1})).upper = 0.2;
    StepConfig config;
    config.h = 2e-3;
    double farthest = 0.0;
    const State end = test::run_steps(scene, config, 1500, [&](const State& state) {
      farthest = std::max(farthest, joint_coordinate(scene.model, 1, state));
    });
    CHECK(farthest < 0.201);
    // The servo's torque is that of the load about its axis: m g times the way across it.
    const double q = joint_coordinate(scene.model, 0, end), across = end.X_WB[at(load)].p.y();
    CHECK(50.0 * (0.3 - q) == Approx(9.81 * (1.0 * across)).epsilon(2e-2));
  }
}

TEST_CASE("motors and springs push the same way whichever of their bodies is held", "[truth][value]") {
  for (const bool is_A_held : {true, false}) {
    for (const int what : {0, 1, 2, 3}) {
      CAPTURE(is_A_held, what);
      TestScene scene;
      scene.model.gravity.setZero();
      const int wheel = scene.add(test::sphere_of_mass(0.1, 1.0), Pose<double>());
      const int base = scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0, 2, 0}));
      scene.body(base).fixed = true;
      Joint& joint = is_A_held
                         ? test::add_joint(scene, JointKind::hinge, base, wheel, test::along_x({0, 0, 0}))
                         : test::add_joint(scene, JointKind::hinge, wheel, base, test::along_x({0, 0, 0}));
      if (what == 0) joint.motor = {MotorKind::force, 0.1};
      if (what == 1) joint.motor = {MotorKind::position, 0.2, 1.0, 0.01};
      if (what == 2) joint.spring_stiffness = 1.0, joint.spring_position = 0.2;
      if (what == 3) {
        Coupling& drive = scene.model.couplings.emplace_back();
        drive.name = "drive";
        drive.terms = {{0, {1.0}}};
        drive.motor = {MotorKind::force, 0.1};
      }
      StepConfig config;
      config.h = 1e-3;
      const State end = test::run_steps(scene, config, 20);
      CHECK(joint_coordinate(scene.model, 0, end) > 1e-4);
      CHECK(end.V_WB[at(wheel)][0] * (is_A_held ? 1.0 : -1.0) > 0.0);
    }
  }
}
