/// Couplings and actuators: derivatives, forces, and what a wrong one gets.
#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "dynamics/parameters/scene_parameter.h"
#include "dynamics/start_warnings.h"
#include "dynamics/step/joint_force.h"
#include "engine/control.h"
#include "engine/coupling.h"
#include "engine/joint_geometry.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/joint_scenes.h"
#include "tests/support/random_robots.h"

namespace abut {
namespace {

using test::BodyOnJoint;
using test::TestScene;

Coupling& add_coupling(Model& model, const char* name, std::vector<CouplingTerm> terms) {
  Coupling& coupling = model.couplings.emplace_back();
  coupling.name = name;
  coupling.terms = std::move(terms);
  return coupling;
}

/// Joints of trees (0 and 1) and of rows (2 and 3), coupled in every way.
TestScene coupled_row(double restitution) {
  TestScene scene = test::row_of_joints(restitution);
  Model& model = scene.model;
  Coupling& held = add_coupling(model, "held", {{0, {1.0}}, {2, {-0.7, 0.3}}});
  held.gear = 1.3;
  held.held_at = 0.002;
  held.stiffness = 80.0;
  held.dissipation_time = 0.004;
  Coupling& tendon = add_coupling(model, "tendon", {{1, {1.0, 2.0}}, {3, {0.5}}, {0, {0.1}}});
  tendon.lower = -0.02;
  tendon.upper = 0.03;
  tendon.damping = 2.0;
  tendon.friction = 0.4;
  tendon.spring_stiffness = 30.0;
  tendon.spring_position = 0.01;
  tendon.dissipation_time = 0.006;
  tendon.motor = {MotorKind::position, 0.01, 100.0, 1.0, 15.0};
  Coupling& affine = add_coupling(model, "affine", {{0, {1.0}}, {1, {5.0}}});
  affine.gear = 2.0;
  affine.motor = {MotorKind::affine, 0.1, 0.3, 0.05, 3.0};
  affine.motor.gain = 0.8;
  affine.motor.bias = 0.05;
  Coupling& force = add_coupling(model, "force", {{0, {1.0}}, {1, {-2.0}}});
  force.gear = -1.5;
  force.motor = {MotorKind::force, 0.2, 0.0, k_infinity, 1.5};
  Coupling& other = add_coupling(model, "other force", {{3, {2.0}}});
  other.motor = {MotorKind::affine, 0.2, 0.0, 0.0, 1.5};
  other.motor.gain = -2.0;
  other.motor.bias = 0.1;
  model.joints[1].motor = {MotorKind::velocity, 0.1, 0.0, 10.0, 5.0};
  return scene;
}

}  // namespace

TEST_CASE("CouplingTerm: a polynomial and its derivatives", "[engine][derivative]") {
  const CouplingTerm term{0, {0.3, -1.2, 0.7, 0.1}};
  for (const double q : {-1.3, 0.0, 0.4, 2.0}) {
    CAPTURE(q);
    const auto at = [&](double x) { return term.at(x); };
    CHECK(at(q).value == Approx(0.3 * q - 1.2 * q * q + 0.7 * q * q * q + 0.1 * q * q * q * q).margin(1e-15));
    CHECK(at(q).slope ==
          Approx(test::fd_derivative([&](double x) { return at(x).value; }, q, 1e-5)).epsilon(1e-8));
    CHECK(at(q).curvature ==
          Approx(test::fd_derivative([&](double x) { return at(x).slope; }, q, 1e-5)).epsilon(1e-8));
  }
}

TEST_CASE("Couplings: gradients by all their numbers agree with differences, forwards and backwards",
          "[dynamics][joints][derivative]") {
  for (const double restitution : {0.0, 0.4}) {
    CAPTURE(restitution);
    const TestScene scene = coupled_row(restitution);
    const StepConfig config = test::joint_config(2e-3);
    test::check_joint_gradients(
        scene, config,
        {"commands", "coupling gear", "coupling held at", "coupling stiffness", "coupling dissipation time",
         "coupling lower", "coupling upper", "coupling damping", "coupling friction",
         "coupling spring stiffness", "coupling spring position", "coupling motor target",
         "coupling motor stiffness", "coupling motor damping", "coupling motor limit", "coupling motor gain",
         "coupling motor bias"});

    const Stepper stepper(scene.model, config);
    Random random(1);
    const Controls controls = test::random_commands(scene.model, 60, 0.05, random);
    const Trajectory trajectory = rollout(stepper, scene.state, 60, controls);
    REQUIRE(trajectory.ok());
    const StateTangent end_bar = test::random_tangent(random, scene.model.body_count());
    const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
      if (k == 60) bar = end_bar;
    });
    const std::vector<MotorPlace> motors = motors_of(scene.model);
    REQUIRE(motors.size() == 5);
    for (std::size_t m = 0; m < motors.size(); ++m) {
      double sum = 0.0;
      for (const Control& control : gradient.controls) sum += control.commands[m];
      const JointGradient& bar = motors[m].joint >= 0 ? gradient.model.joints[at(motors[m].joint)]
                                                      : gradient.model.couplings[at(motors[m].coupling)];
      CHECK(test::close(sum, bar.motor.target, 1e-11, 1e-13));
    }
    RolloutDirection direction;
    direction.initial.set_zero(scene.model.body_count());
    direction.controls = test::random_commands(scene.model, 60, 1.0, random);
    double backward = 0.0;
    for (std::size_t k = 0; k < 60; ++k) {
      for (std::size_t m = 0; m < motors.size(); ++m)
        backward += gradient.controls[k].commands[m] * direction.controls[k].commands[m];
    }
    const double forward = test::inner_product(rollout_jvp(stepper, trajectory, direction).back(), end_bar);
    CHECK(forward == Approx(backward).epsilon(1e-9));
  }
}

TEST_CASE("Couplings: one of a single joint is that joint, to rounding", "[dynamics][joints][property]") {
  for (const JointKind kind : {JointKind::hinge, JointKind::slider}) {
    for (const bool is_tree : {true, false}) {
      CAPTURE(kind, is_tree);
      BodyOnJoint of_joint(kind, is_tree, 0.7), of_coupling(kind, is_tree, 0.7);
      CoordinateForces forces;
      forces.lower = -0.1;
      forces.upper = 0.05;
      forces.damping = 0.3;
      forces.friction = 0.2;
      forces.motor = {MotorKind::position, 0.2, 40.0, 1.0, 6.0};
      static_cast<CoordinateForces&>(of_joint.joint()) = forces;
      static_cast<CoordinateForces&>(add_coupling(of_coupling.scene.model, "same", {{0, {1.0}}})) = forces;
      const StepConfig config = test::joint_config(2e-3);
      const State a = test::run_steps(of_joint.scene, config, 100),
                  b = test::run_steps(of_coupling.scene, config, 100);
      CHECK(test::close(a.V_WB[0], b.V_WB[0], 1e-12, 1e-13));
      CHECK(test::close(joint_coordinate(of_joint.scene.model, 0, a),
                        joint_coordinate(of_coupling.scene.model, 0, b), 1e-12, 1e-13));
    }
  }
}

TEST_CASE("Couplings: forces of joints contain those of couplings", "[dynamics][joints][value]") {
  for (const bool is_tree : {true, false}) {
    for (const JointKind kind : {JointKind::hinge, JointKind::slider}) {
      CAPTURE(is_tree, kind);
      BodyOnJoint body(kind, is_tree, 0.0);
      Coupling& actuator = add_coupling(body.scene.model, "drive", {{0, {1.0}}});
      actuator.gear = 3.0;
      actuator.motor = {MotorKind::position, 0.3, 2.0, 0.0};
      body.load() = 0.5;
      const Stepper stepper(body.scene.model, test::joint_config(1e-3));
      StepScratch scratch;
      StepRecord record;
      State next;
      (void)stepper.step(body.scene.state, {}, next, scratch, &record);
      std::vector<JointForce> forces;
      stepper.joint_forces(body.scene.state, {}, record, scratch, forces);
      const Vec3<double>& along = kind == JointKind::hinge ? forces[0].torque_B_W : forces[0].force_B_W;
      const double acceleration = body.rate(next) / 1e-3;
      CHECK(along.x() == Approx(body.inertia * acceleration - 0.5).epsilon(1e-6));
      CHECK(std::abs(along.x()) > 0.1);
    }
  }
}

TEST_CASE("Motors: what they gave is told, whole steps and divided ones alike", "[dynamics][joints][value]") {
  for (const bool is_tree : {true, false}) {
    for (const bool is_divided : {false, true}) {
      CAPTURE(is_tree, is_divided);
      BodyOnJoint body(JointKind::hinge, is_tree, 0.5);
      body.joint().motor = {MotorKind::position, 0.2, 3.0, 0.1, 0.4};
      Coupling& geared = add_coupling(body.scene.model, "geared", {{0, {1.0}}});
      geared.gear = 2.0;
      geared.motor = {MotorKind::velocity, 1.0, 0.0, 0.05};
      Coupling& force = add_coupling(body.scene.model, "force", {{0, {1.0}}});
      force.gear = -3.0;
      force.motor = {MotorKind::force, 0.02, 0.0, k_infinity, 0.05};
      StepConfig config = test::joint_config(1e-3);
      config.adaptive_substeps = is_divided;
      State before = body.scene.state;
      test::run_steps(body.scene, config, 200, [&](const State& state) {
        REQUIRE(state.motor_forces.size() == 3);
        const double q = joint_coordinate(body.scene.model, 0, state),
                     u = (q - joint_coordinate(body.scene.model, 0, before)) / 1e-3;
        const auto limited = [](double f, double limit) { return f / std::hypot(1.0, f / limit); };
        const double servo = state.motor_forces[0], speed = state.motor_forces[1],
                     given = state.motor_forces[2];
        CHECK(servo == Approx(limited(3.0 * (0.2 - q) - 0.1 * u, 0.4)).margin(1e-6));
        CHECK(speed == Approx(0.05 * (1.0 - 2.0 * u)).margin(1e-6));
        CHECK(given == Approx(limited(0.02, 0.05)).epsilon(1e-12));
        const double change =
            (joint_rate(body.scene.model.joints[0], state) - joint_rate(body.scene.model.joints[0], before)) /
            1e-3;
        CHECK(body.inertia * change == Approx(servo + 2.0 * speed - 3.0 * given).margin(1e-6));
        before = state;
      });
    }
  }
}

TEST_CASE("Couplings: one that starts where it is not held, or beyond its limits, is named",
          "[dynamics][joints][value]") {
  TestScene scene = test::arm_of_hinges(2);
  Coupling& coupling = add_coupling(scene.model, "gears", {{0, {1.0}}, {1, {1.0}}});
  coupling.held_at = 0.5;
  coupling.upper = -0.3;
  coupling.lower = -1.0;
  const StartWarnings warnings =
      find_start_warnings(Stepper(scene.model, test::joint_config(2e-3)), scene.state);
  REQUIRE(warnings.joints.size() == 2);
  CHECK(warnings.joints[0].kind == JointStartWarning::Kind::uncoupled);
  CHECK(warnings.joints[0].value == Approx(0.5));
  CHECK_THAT(warning_text(scene.model, warnings.joints[0]),
             Catch::StartsWith("coupling 'gears' starts 0.5 rad from where it is held"));
  CHECK(warnings.joints[1].kind == JointStartWarning::Kind::outside);
  CHECK(warnings.joints[1].value == Approx(0.3));

  // Rates that it forbids, and others.
  scene.model.couplings.front().held_at = 0.0;
  scene.model.couplings.front().upper = 1.0;
  for (const double second : {-2.0, 1.0}) {
    set_joint_rate(scene.model, 0, 2.0, scene.state);
    set_joint_rate(scene.model, 1, second, scene.state);
    const StartWarnings of_rates =
        find_start_warnings(Stepper(scene.model, test::joint_config(2e-3)), scene.state);
    REQUIRE(of_rates.joints.size() == (second == 1.0 ? 1 : 0));
    if (of_rates.joints.empty()) continue;
    CHECK(of_rates.joints[0].kind == JointStartWarning::Kind::uncoupling);
    CHECK(of_rates.joints[0].value == Approx(3.0));
  }
}

TEST_CASE("Couplings: random robots keep their gradients", "[dynamics][joints][derivative]") {
  for (int seed = 0; seed < 12; ++seed) {
    CAPTURE(seed);
    TestScene scene = test::random_robot(seed);
    Random random(static_cast<std::uint64_t>(seed));
    test::add_random_couplings(scene.model, random);
    GradientCheckConfig check;
    check.samples = 40;
    check.steps = 20;
    const GradientCheck result = check_gradient(scene.model, test::joint_config(2e-3), scene.state, check);
    REQUIRE(result.failed_step == -1);
    for (const GradientSample& s : result.samples) {
      if (s.unresolved || s.at_bound) continue;
      CAPTURE(s.group, s.adjoint, s.difference, s.self_disagreement);
      CHECK(s.relative_error < std::max(1e-4, 3.0 * s.self_disagreement));
    }
  }
}

}  // namespace abut
