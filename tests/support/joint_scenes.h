/// Scenes with joints.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "dynamics/gradient_check/gradient_check.h"
#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "dynamics/rollout/rollout_jvp.h"
#include "tests/support/close.h"
#include "tests/support/scenes.h"

namespace abut::test {

inline StepConfig joint_config(double h) {
  StepConfig config;
  config.h = h;
  config.acceleration_scale = 9.81;
  config.contact.edge_edge = false;
  return config;
}

/// Adds a joint whose two frames are one at the scene's state.
inline Joint& add_joint(TestScene& scene, JointKind kind, int body_A, int body_B, const Pose<double>& X_WJ) {
  Joint& joint = scene.model.joints.emplace_back();
  joint.name = "joint " + std::to_string(scene.model.joints.size() - 1);
  joint.kind = kind;
  joint.body_A = body_A;
  joint.body_B = body_B;
  joint.X_AJ = body_A < 0 ? X_WJ : scene.X_WB(body_A).inverse() * X_WJ;
  joint.X_BJ = scene.X_WB(body_B).inverse() * X_WJ;
  return joint;
}

/// A frame at p whose z axis is y of the world, or x.
inline Pose<double> along_y(const Vec3<double>& p) { return pose_at(p, {-0.5 * std::numbers::pi, 0, 0}); }
inline Pose<double> along_x(const Vec3<double>& p) { return pose_at(p, {0, 0.5 * std::numbers::pi, 0}); }

/// A body on one joint with the world, about or along x, without gravity.
struct BodyOnJoint {
  TestScene scene;
  Eigen::Index velocity;  ///< index of its rate among its six velocities
  double inertia;         ///< [kg m^2 or kg]

  /// @param is_tree  else the joint is a stiff spring, and a row
  BodyOnJoint(JointKind kind, bool is_tree, double rate) : velocity(kind == JointKind::hinge ? 0 : 3) {
    scene.model.gravity.setZero();
    Vec6<double> V = Vec6<double>::Zero();
    V[velocity] = rate;
    scene.add(box_of_mass({0.05, 0.1, 0.1}, 2.0, 1), Pose<double>(), V);
    inertia = kind == JointKind::hinge ? scene.body(0).inertia(0, 0) : scene.body(0).mass;
    Joint& joint = add_joint(scene, kind, -1, 0, along_x(Vec3<double>::Zero()));
    if (!is_tree) joint.stiffness = joint.angular_stiffness = 1e6;
  }

  [[nodiscard]] Joint& joint() { return scene.model.joints[0]; }
  [[nodiscard]] double& load() { return scene.body(0).external_wrench[velocity]; }
  [[nodiscard]] double rate(const State& state) const { return state.V_WB[0][velocity]; }
};

/// Bars of 0.2 m and 0.5 kg in a row on hinges about y, from the origin, `angle` below the horizontal.
inline TestScene arm_of_hinges(int links, double angle = 0.0) {
  TestScene scene;
  const Vec3<double> along(std::cos(angle), 0.0, -std::sin(angle));
  for (int i = 0; i < links; ++i) {
    const int b =
        scene.add(box_of_mass({0.1, 0.02, 0.02}, 0.5, 1), pose_at((0.1 + 0.2 * i) * along, {0, angle, 0}));
    add_joint(scene, JointKind::hinge, b - 1, b, along_y(0.2 * i * along));
  }
  return scene;
}

/// Runs, and calls see(state) after each step. A step that fails ends the test.
template <typename See>
State run_steps(const TestScene& scene, const StepConfig& config, int steps, const See& see,
                const Controls& controls = {}) {
  const Stepper stepper(scene.model, config);
  State end;
  const StepReport report =
      simulate(stepper, scene.state, steps, controls, end, [&](int, const State& state, const StepReport&) {
        see(state);
        return true;
      });
  REQUIRE(report.status == StepStatus::ok);
  return end;
}
inline State run_steps(const TestScene& scene, const StepConfig& config, int steps) {
  return run_steps(scene, config, steps, [](const State&) {});
}

/// Bodies in a row over a floor that hinges and sliders along y tie together, the last two by rows.
///
/// @param restitution  0: they rest on the floor; else they fall on it
inline TestScene row_of_joints(double restitution) {
  const bool bounces = restitution > 0.0;
  TestScene scene = floor_scene(0.5);
  for (int i = 0; i < 5; ++i) {
    const int b = scene.add(box_of_mass({0.08, 0.06, 0.05}, 0.5 + 0.2 * i, 1), pose_at({0.25 * i, 0, 0.055}),
                            moving_at({0, 0.1 * i, bounces ? -0.5 : 0.0}));
    scene.body(b).material.restitution = restitution;
  }
  for (int i = 0; i < 4; ++i) {
    const JointKind kind = i % 2 == 0 ? JointKind::hinge : JointKind::slider;
    Joint& joint = add_joint(scene, kind, i + 1, i + 2, along_y({0.25 * i + 0.12, 0.01, 0.05}));
    joint.dissipation_time = 0.005;
    if (i >= 2) joint.stiffness = joint.angular_stiffness = 5e4;
  }
  return scene;
}

/// Checks the adjoint of 100 steps with differences, in the groups of inputs named among others, and its product with
/// a direction of the initial state with the JVP.
inline void check_joint_gradients(const TestScene& scene, const StepConfig& config,
                                  const std::vector<std::string>& groups) {
  GradientCheckConfig check;
  check.samples = 60;
  const GradientCheck result = check_gradient(scene.model, config, scene.state, check);
  REQUIRE(result.failed_step == -1);
  std::set<std::string> checked;
  for (const GradientSample& s : result.samples) {
    if (s.unresolved || s.at_bound) continue;
    checked.insert(s.group);
    CAPTURE(s.group, s.adjoint, s.difference, s.self_disagreement);
    CHECK(s.relative_error < 1e-4);
  }
  for (const std::string& group : groups) {
    CAPTURE(group);
    CHECK(checked.count(group) == 1);
  }
  CAPTURE(result.summary.p99_relative_error, result.summary.unresolved);
  // Differences through impacts have fewer digits.
  const auto& bodies = scene.model.bodies;
  const bool bounces = std::any_of(bodies.begin(), bodies.end(),
                                   [](const Body& body) { return body.material.restitution > 0.0; });
  CHECK(result.summary.median_relative_error < (bounces ? 1e-5 : 1e-7));

  const Stepper stepper(scene.model, config);
  const Trajectory trajectory = rollout(stepper, scene.state, 50);
  REQUIRE(trajectory.ok());
  Random random(5);
  RolloutDirection direction;
  direction.initial = random_tangent(random, scene.model.body_count());
  const StateTangent weight = random_tangent(random, scene.model.body_count());
  const double forward = inner_product(weight, rollout_jvp(stepper, trajectory, direction).back());
  const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
    if (k == trajectory.step_count()) bar = weight;
  });
  const double backward = inner_product(gradient.initial, direction.initial);
  CAPTURE(forward, backward);
  CHECK(close(forward, backward, 1e-8, 0));
}

}  // namespace abut::test
