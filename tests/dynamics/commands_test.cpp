/// Motors that are told what to do step by step.
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include <catch2/catch.hpp>

#include "dynamics/rollout/closed_loop.h"
#include "dynamics/rollout/loss.h"
#include "engine/control.h"
#include "engine/joint_geometry.h"
#include "tests/support/joint_scenes.h"
#include "tests/support/random_robots.h"
#include "tests/support/samples.h"

namespace abut {
namespace {

using test::BodyOnJoint;
using test::TestScene;

/// The same commands in every step.
Controls held_commands(int steps, const std::vector<double>& commands) {
  Controls controls(static_cast<std::size_t>(steps));
  for (Control& control : controls) control.commands = commands;
  return controls;
}

/// An arm of hinges with a motor in each, of the kinds in turn.
TestScene driven_arm(int links) {
  TestScene scene = test::arm_of_hinges(links, 0.3);
  int i = 0;
  for (Joint& joint : scene.model.joints) {
    switch (i++ % 3) {
      case 0:
        joint.motor = {MotorKind::force, 0.5, 0.0, k_infinity, 20.0};
        break;
      case 1:
        joint.motor = {MotorKind::position, 0.1, 30.0, 0.5, 15.0};
        break;
      default:
        joint.motor = {MotorKind::velocity, 0.2, 0.0, 0.8, 10.0};
    }
  }
  return scene;
}

/// The torques that hold an arm of hinges about y against gravity in the pose that it has.
std::vector<double> holding_torques(const TestScene& scene) {
  const Model& model = scene.model;
  std::vector<double> torques;
  for (const Joint& joint : model.joints) {
    const Vec3<double> p = joint_frames(joint, scene.state).X_WJA.p;
    double torque = 0.0;
    for (int b = joint.body_B; b < model.body_count(); ++b)
      torque -= model.bodies[at(b)].mass * 9.81 * (scene.state.X_WB[at(b)].p.x() - p.x());
    torques.push_back(torque);
  }
  return torques;
}

}  // namespace

TEST_CASE("Commands: a force motor gives its torque or force, and what its limit leaves of it",
          "[dynamics][joints][value]") {
  for (const JointKind kind : {JointKind::hinge, JointKind::slider}) {
    for (const bool is_tree : {true, false}) {
      for (const double limit : {k_infinity, 0.3}) {
        CAPTURE(kind, is_tree, limit);
        BodyOnJoint body(kind, is_tree, 0.0);
        constexpr double k_force = 0.2;
        body.joint().motor = {MotorKind::force, 0.5 * k_force, 0.0, k_infinity, limit};
        const StepConfig config = test::joint_config(2e-3);
        constexpr int k_steps = 100;
        const State end = test::run_steps(
            body.scene, config, k_steps, [](const State&) {}, held_commands(k_steps, {0.5 * k_force}));
        const double force = std::isinf(limit) ? k_force : k_force / std::hypot(1.0, k_force / limit);
        CHECK(body.rate(end) ==
              Approx(force / body.inertia * k_steps * config.h).epsilon(is_tree ? 1e-12 : 1e-6));
      }
    }
  }
}

TEST_CASE("Commands: a command and the same change of the target are one, of every kind of motor",
          "[dynamics][joints][property]") {
  Random random(5);
  for (const bool is_tree : {true, false}) {
    TestScene scene = driven_arm(6);
    if (!is_tree) {
      for (Joint& joint : scene.model.joints) joint.stiffness = joint.angular_stiffness = 1e6;
    }
    const StepConfig config = test::joint_config(2e-3);
    for (int step = 0; step < 20; ++step) {
      const Controls controls = test::random_commands(scene.model, 1, 0.5, random);
      const State commanded = test::run_steps(
          scene, config, 1, [](const State&) {}, controls);
      TestScene changed = scene;
      for (std::size_t j = 0; j < changed.model.joints.size(); ++j)
        changed.model.joints[j].motor.target += controls[0].commands[j];
      const State expected = test::run_steps(changed, config, 1);
      CHECK(state_hash(commanded) == state_hash(expected));
      scene.state = commanded;
    }
  }
}

TEST_CASE("Commands: an arm under the torques that balance gravity stays where it is, for 10 s",
          "[dynamics][joints][value]") {
  TestScene scene = test::arm_of_hinges(3, 0.4);
  for (Joint& joint : scene.model.joints) joint.motor.kind = MotorKind::force;
  constexpr int k_steps = 5000;
  double farthest = 0.0, fastest = 0.0;
  test::run_steps(
      scene, test::joint_config(2e-3), k_steps,
      [&](const State& state) {
        for (int j = 0; j < 3; ++j) {
          farthest = std::max(farthest, std::abs(joint_coordinate(scene.model, j, state)));
          fastest = std::max(fastest, std::abs(joint_rate(scene.model.joints[at(j)], state)));
        }
      },
      held_commands(k_steps, holding_torques(scene)));
  CHECK(farthest < 1e-9);
  CHECK(fastest < 1e-9);
}

TEST_CASE("Commands: reported rates are those of the coordinates, at rest at a stop and in motion",
          "[dynamics][joints][property]") {
  SECTION("a link pressed against its stop") {
    BodyOnJoint link(JointKind::hinge, true, 0.0);
    link.joint().motor = {MotorKind::force, 5.0};
    link.joint().upper = 0.0;
    const State end = test::run_steps(link.scene, test::joint_config(2e-3), 1000);
    const State next = [&] {
      link.scene.state = end;
      return test::run_steps(link.scene, test::joint_config(2e-3), 1);
    }();
    CHECK(std::abs(link.rate(next)) < 1e-9);
    CHECK(std::abs(joint_coordinate(link.scene.model, 0, next)) < 1e-4);
  }
  SECTION("an arm under random torques") {
    TestScene scene = test::arm_of_hinges(4);
    for (Joint& joint : scene.model.joints) joint.motor.kind = MotorKind::force;
    Random random(2);
    const StepConfig config = test::joint_config(2e-3);
    State before = scene.state;
    double largest = 0.0;
    test::run_steps(
        scene, config, 300,
        [&](const State& state) {
          for (int j = 0; j < 4; ++j) {
            const double difference =
                (joint_coordinate(scene.model, j, state) - joint_coordinate(scene.model, j, before)) /
                config.h;
            largest = std::max(largest, std::abs(difference - joint_rate(scene.model.joints[at(j)], state)));
          }
          before = state;
        },
        test::random_commands(scene.model, 300, 2.0, random));
    CHECK(largest < 1e-9);
  }
}

TEST_CASE("Commands: a servo with damping of 10 I/h follows what it is told without a tremble",
          "[dynamics][joints][value]") {
  BodyOnJoint body(JointKind::hinge, true, 0.0);
  const StepConfig config = test::joint_config(2e-3);
  const double damping = 10.0 * body.inertia / config.h;
  body.joint().motor = {MotorKind::position, 0.0, 20.0 * damping, damping};
  constexpr int k_steps = 1000;
  Controls controls = held_commands(k_steps, {0.0});
  for (std::size_t k = 0; k < k_steps; ++k)
    controls[k].commands[0] =
        k < k_steps / 2 ? 0.5 * (1.0 - std::cos(std::numbers::pi * k / (k_steps / 2))) : 1.0;
  double fastest = 0.0, largest = 0.0;
  const State end = test::run_steps(
      body.scene, config, k_steps,
      [&](const State& state) {
        fastest = std::max(fastest, std::abs(body.rate(state)));
        largest = std::max(largest, joint_coordinate(body.scene.model, 0, state));
      },
      controls);
  CHECK(fastest < 1.1 * 0.5 * std::numbers::pi);  // that of what it is told
  CHECK(largest < 1.0 + 1e-9);
  CHECK(std::abs(joint_coordinate(body.scene.model, 0, end) - 1.0) < 1e-6);
}

TEST_CASE("Commands: gradients by them agree with differences, and sum up to that by the target",
          "[dynamics][joints][derivative]") {
  for (const double restitution : {0.0, 0.4}) {
    TestScene scene = test::row_of_joints(restitution);
    scene.model.joints[0].motor = {MotorKind::force, 0.1, 0.0, k_infinity, 2.0};
    scene.model.joints[1].motor = {MotorKind::position, 0.01, 200.0, 2.0, 20.0};
    scene.model.joints[2].motor = {MotorKind::force, -0.2};
    scene.model.joints[3].motor = {MotorKind::velocity, 0.1, 0.0, 10.0, 5.0};
    const StepConfig config = test::joint_config(2e-3);
    test::check_joint_gradients(scene, config, {"commands", "motor target", "motor limit"});

    const Stepper stepper(scene.model, config);
    Random random(1);
    const Controls controls = test::random_commands(scene.model, 60, 0.05, random);
    const Trajectory trajectory = rollout(stepper, scene.state, 60, controls);
    REQUIRE(trajectory.ok());
    const StateTangent end_bar = test::random_tangent(random, scene.model.body_count());
    const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
      if (k == 60) bar = end_bar;
    });
    for (std::size_t m = 0; m < 4; ++m) {
      double sum = 0.0;
      for (const Control& control : gradient.controls) sum += control.commands[m];
      CHECK(test::close(sum, gradient.model.joints[m].motor.target, 1e-11, 1e-13));
    }
    RolloutDirection direction;
    direction.initial.set_zero(scene.model.body_count());
    direction.controls = test::random_commands(scene.model, 60, 1.0, random);
    double backward = 0.0;
    for (std::size_t k = 0; k < 60; ++k) {
      for (std::size_t m = 0; m < 4; ++m)
        backward += gradient.controls[k].commands[m] * direction.controls[k].commands[m];
    }
    const double forward = test::inner_product(rollout_jvp(stepper, trajectory, direction).back(), end_bar);
    CHECK(forward == Approx(backward).epsilon(1e-9));
  }
}

TEST_CASE("Commands: a policy gives them, and has a gradient through the loop",
          "[dynamics][joints][derivative]") {
  const TestScene scene = driven_arm(3);
  const Stepper stepper(scene.model, test::joint_config(2e-3));
  const Policy policy = make_policy([](int, const auto& x, const auto& p, auto& u) {
    u.command(0) = -p[0] * x.velocity(1).z();
    u.command(2) = p[1] * x.position(2).x();
  });
  const RolloutLoss loss =
      final_loss(50, [](const auto& x) { return x.position(2).z() + x.velocity(0).x(); });
  const std::vector<double> gains{0.7, -0.4};
  const auto value = [&](const std::vector<double>& p) {
    return value_of(loss, closed_loop_rollout(stepper, scene.state, 50, policy, p));
  };
  const LossAndPolicyGradient exact =
      closed_loop_value_and_gradient(stepper, scene.state, 50, policy, gains, loss);
  REQUIRE(exact.ok());
  REQUIRE(exact.trajectory.controls[10].commands[0] != 0.0);
  for (std::size_t i = 0; i < 2; ++i) {
    constexpr double k_step = 1e-4;
    std::vector<double> up = gains, down = gains;
    up[i] += k_step;
    down[i] -= k_step;
    CHECK(exact.gradient.parameters[i] == Approx((value(up) - value(down)) / (2.0 * k_step)).epsilon(1e-6));
  }
}

TEST_CASE("Commands: as many as motors, or none", "[dynamics][joints][value]") {
  const TestScene scene = driven_arm(2);
  const Stepper stepper(scene.model, test::joint_config(2e-3));
  CHECK_THROWS_WITH(rollout(stepper, scene.state, 2, held_commands(2, {1.0})),
                    Catch::Contains("control of step 0: 1 commands for 2 motors"));
  CHECK_NOTHROW(rollout(stepper, scene.state, 2, {Control{}, held_commands(1, {0.1, 0.2})[0]}));
  CHECK_THROWS_WITH(
      rollout(stepper, scene.state, 1, held_commands(1, {0.1, std::nan("")})),
      Catch::Contains("control of step 0: command of 'joint 1' = nan, allowed: any finite number"));
}

TEST_CASE("Commands: gradients of random robots by all their inputs agree with differences",
          "[dynamics][joints][derivative][nightly]") {
  int resolved = 0, within = 0;
  for (const std::uint64_t seed : test::seeds(60)) {
    const TestScene scene = test::random_robot(static_cast<int>(seed));
    Random random(seed);
    GradientCheckConfig check;
    check.samples = 32;
    check.controls = test::random_commands(scene.model, check.steps, 0.5, random);
    const GradientCheck result = check_gradient(scene.model, test::joint_config(2e-3), scene.state, check);
    CAPTURE(seed, result.failed_step);
    REQUIRE(result.failed_step == -1);
    for (const GradientSample& sample : result.samples) {
      if (sample.unresolved || sample.at_bound) continue;
      CAPTURE(sample.group, sample.adjoint, sample.difference, sample.self_disagreement);
      CHECK(sample.relative_error < 1e-3);
      ++resolved;
      within += sample.relative_error < 1e-4;
    }
  }
  CHECK(resolved > 300);
  CHECK(within >= 0.99 * resolved);
}

TEST_CASE("Commands: random robots under random commands do not fail in 2000 steps",
          "[dynamics][joints][property][nightly]") {
  for (const std::uint64_t seed : test::seeds(100)) {
    const TestScene scene = test::random_robot(static_cast<int>(seed));
    Random random(seed);
    CAPTURE(seed);
    test::run_steps(
        scene, test::joint_config(2e-3), 2000, [](const State&) {},
        test::random_commands(scene.model, 2000, 0.5, random));
  }
}

}  // namespace abut
