#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "dynamics/gradient_check/gradient_check.h"
#include "dynamics/gradient_check/gradient_sample.h"
#include "dynamics/parameters/scene_parameter_derivatives.h"
#include "dynamics/rollout/rollout_jvp.h"
#include "dynamics/simulator.h"
#include "tests/support/close.h"
#include "tests/support/scenes.h"

namespace abut::test {
namespace {

constexpr int k_slot_steps = 60;

Joint servo_hinge(int body_B, const Vec3<double>& p_W, double side) {
  Joint joint;
  joint.name = "hinge " + std::to_string(body_B);
  joint.kind = JointKind::hinge;
  joint.body_B = body_B;
  const Quat<double> axis = shortest_rotation(Vec3<double>::UnitZ(), Vec3<double>::UnitY());
  joint.X_AJ = {axis, p_W};
  joint.X_BJ = {axis, {-0.1 * side, 0.0, 0.0}};
  joint.stiffness = 2e4;
  joint.angular_stiffness = 5.0;
  joint.dissipation_time = 0.01;
  joint.lower = -0.06;
  joint.upper = 0.05;
  joint.motor = {MotorKind::position, 0.02 * side, 3.0, 0.2, 0.6};
  return joint;
}

/// Something that feels every parameter there is: a box and a ball that push each other over a floor, arms
/// that fall against both limits of hinges with motors, one that a servo holds, a bob on a distance joint,
/// two balls that bounce off an anvil.
Scene all_parameters_scene() {
  TestScene made = floor_scene();
  made.add(box_of_mass({0.06, 0.05, 0.04}, 0.8), pose_at({0.0, 0.0, 0.0405}, {0.02, 0.01, 0.3}),
           moving_at({0.8, 0.1, 0}));
  made.add(sphere_of_mass(0.05, 0.5), pose_at({0.118, 0.01, 0.0495}, {0.1, -0.2, 0.4}),
           moving_at({-0.6, 0, 0}));
  const Vec3<double> half_arm(0.1, 0.02, 0.02);
  made.add(box_of_mass(half_arm, 0.3), pose_at({1.1, 0.0, 1.0}));
  made.add(box_of_mass(half_arm, 0.4), pose_at({-1.1, 0.0, 1.0}));
  made.add(box_of_mass(half_arm, 0.2), pose_at({0.0, 2.0, 1.0}));
  made.add(sphere_of_mass(0.05, 0.2), pose_at({0.3, -2.0, 1.0}), moving_at({0, 0.5, 0}));
  made.add(box_of_mass({0.5, 0.5, 0.1}, 1.0), pose_at({5.0, 0.0, 1.0}));
  made.body(7).fixed = true;
  made.add(sphere_of_mass(0.05, 0.4), pose_at({4.8, 0.0, 1.151}), moving_at({0.3, 0.1, -1.0}));
  made.add(sphere_of_mass(0.05, 0.3), pose_at({5.2, 0.0, 1.151}), moving_at({-0.2, 0.1, -1.0}));
  const char* names[] = {"floor", "box", "ball", "right", "left", "held", "bob", "anvil", "bouncer", "other"};
  for (int b = 0; b < made.model.body_count(); ++b) {
    Body& body = made.body(b);
    body.name = names[b];
    body.material = {0.3 + 0.05 * b, 3e3 * (1.0 + b), 0.01, b >= 7 ? 0.05 * b : 0.0};
    if (b == 0) continue;
    if (b <= 2) body.p_BA = Vec3<double>(0.03, -0.02, 0.01);
    body.linear_damping = 0.3;
    body.angular_damping = 0.5;
    body.external_wrench << 0.01, 0.02, -0.01, 0.3, 0.2, 0.1;
  }
  made.model.pair_overrides.push_back(
      {.body_A = 1, .body_B = 2, .friction = 0.25, .stiffness = 2e3, .dissipation_time = 0.02});
  made.model.pair_overrides.push_back({.body_A = 7, .body_B = 9, .restitution = 0.6});
  made.model.joints.push_back(servo_hinge(3, {1.0, 0.0, 1.0}, 1.0));
  made.model.joints.push_back(servo_hinge(4, {-1.0, 0.0, 1.0}, -1.0));
  made.model.joints.back().motor = {MotorKind::velocity, 0.5, 0.0, 0.1, 0.4};
  Joint held = servo_hinge(5, {-0.1, 2.0, 1.0}, 1.0);
  held.lower = -k_infinity;
  held.upper = k_infinity;
  held.motor = {MotorKind::position, 0.2, 3.0, 0.1, 0.6};
  made.model.joints.push_back(held);
  Joint rope;
  rope.name = "rope";
  rope.kind = JointKind::distance;
  rope.body_B = 6;
  rope.X_AJ.p = Vec3<double>(0.0, -2.0, 1.0);
  rope.length = 0.3;
  rope.stiffness = 1e3;
  rope.dissipation_time = 0.01;
  made.model.joints.push_back(rope);

  Scene scene;
  scene.name = "all parameters";
  scene.model = made.model;
  scene.initial = made.state;
  scene.config.step.acceleration_scale = 9.81;
  scene.config.step.tolerance = k_gradient_check_tolerance;
  return scene;
}

/// Weights of the state at the end, other ones for each body.
Vec6<double> pose_weight(std::size_t b) {
  const auto c = 0.1 * static_cast<double>(b);
  return (Vec6<double>() << 0.0, 0.0, 0.0, 1.0 - c, c - 0.7, 0.4 + c).finished();
}
Vec6<double> twist_weight(std::size_t b) {
  const auto c = 0.01 * static_cast<double>(b);
  return (Vec6<double>() << 0.02, 0.03 - c, 0.01 + c, 0.2, 0.1 + c, -0.3).finished();
}

double slot_loss(const Scene& scene) {
  const Simulator simulator(scene.model, scene.config.step);
  const Trajectory trajectory = simulator.rollout(scene.initial, k_slot_steps);
  REQUIRE(trajectory.ok());
  const State& end = trajectory.states.back();
  double loss = 0.0;
  for (std::size_t b = 1; b < end.X_WB.size(); ++b)
    loss += pose_weight(b).tail<3>().dot(end.X_WB[b].p) + twist_weight(b).dot(end.V_WB[b]);
  return loss;
}

void add_slot_loss(int k, const State& state, StateTangent& bar) {
  if (k != k_slot_steps) return;
  for (std::size_t b = 1; b < state.X_WB.size(); ++b) {
    bar.pose[b] += pose_weight(b);
    bar.twist[b] += twist_weight(b);
  }
}

/// How far a number is moved for differences: a tenth of itself, or as far as contacts and limits stay as
/// they are.
double step_for(ParameterKind kind, double value) {
  switch (kind) {
    case ParameterKind::position:
    case ParameterKind::center_of_mass:
    case ParameterKind::primitive_position:
    case ParameterKind::shape:
      return 1e-4;
    case ParameterKind::rotation_vector:
    case ParameterKind::primitive_rotation_vector:
      return 1e-3;
    case ParameterKind::stiffness:
      return 0.3 * value;
    default:
      return value == 0.0 ? 0.1 : 0.1 * std::abs(value);
  }
}

/// A number of a scene that is moved, and the derivative of the loss by it.
struct Moved {
  std::string name;
  ParameterKind kind;
  double step = 0, derivative = 0;
  std::function<void(Scene& scene, double change)> move;
};

std::vector<Moved> all_moved(const Scene& scene, const Gradient& gradient) {
  std::vector<Moved> all;
  for (const SceneParameter& parameter : differentiable_parameters(scene)) {
    const double value = value_of(scene, parameter);
    if (parameter.kind == ParameterKind::restitution && value == 0.0) continue;  // at its bound
    all.push_back({parameter.name, parameter.kind, step_for(parameter.kind, value),
                   derivative_by(scene, parameter, gradient),
                   [parameter, value](Scene& moved, double change) {
                     const double there = value + change;
                     set_parameters({parameter}, {&there, 1}, moved);
                   }});
  }
  return all;
}

}  // namespace

TEST_CASE(
    "parameters: the slot of each in a gradient has the derivative that differences through the table have",
    "[dynamics][derivative]") {
  const Scene scene = all_parameters_scene();
  const Simulator simulator(scene.model, scene.config.step);
  const Trajectory trajectory = simulator.rollout(scene.initial, k_slot_steps);
  REQUIRE(trajectory.ok());
  const Gradient gradient = simulator.gradient(trajectory, add_slot_loss);
  const double nominal = slot_loss(scene);
  const std::vector<Moved> all = all_moved(scene, gradient);
  double largest = 0.0;
  for (const Moved& moved : all) largest = std::max(largest, std::abs(moved.step * moved.derivative));
  std::set<ParameterKind> felt;
  for (const Moved& moved : all) {
    GradientSample sample;
    sample.adjoint = moved.step * moved.derivative;
    sample.largest = largest;
    score_by_differences(
        [&](double h) {
          Scene there = scene;
          moved.move(there, h * moved.step);
          return slot_loss(there) - nominal;
        },
        sample);
    CAPTURE(moved.name, sample.adjoint, sample.difference, largest);
    CHECK_FALSE(sample.unresolved);
    CHECK(sample.relative_error < 1e-4);
    if (std::abs(sample.adjoint) > 1e-6 * largest) felt.insert(moved.kind);
  }
  CHECK(felt.count(ParameterKind::shape) == 1);
  for (const ParameterInfo* const parameter : all_parameters()) {
    CAPTURE(parameter->key, static_cast<int>(parameter->kind));
    CHECK(felt.count(parameter->kind) == 1);  // else the scene above needs something that feels it
  }
}

TEST_CASE("parameters: the slot of each in a direction is that of its gradient", "[dynamics][derivative]") {
  const Scene scene = all_parameters_scene();
  const Simulator simulator(scene.model, scene.config.step);
  const Trajectory trajectory = simulator.rollout(scene.initial, k_slot_steps);
  REQUIRE(trajectory.ok());
  const Gradient gradient = simulator.gradient(trajectory, add_slot_loss);
  StateTangent bar(scene.model.body_count());
  add_slot_loss(k_slot_steps, trajectory.states.back(), bar);
  int directions = 0;
  for (const SceneParameter& parameter : differentiable_parameters(scene)) {
    if (!has_direction(parameter)) continue;
    const StateTangents tangents =
        rollout_jvp(simulator.stepper(), trajectory, rollout_direction_of(scene, parameter));
    double along = 0.0;
    for (std::size_t b = 0; b < bar.pose.size(); ++b)
      along += bar.pose[b].dot(tangents.back().pose[b]) + bar.twist[b].dot(tangents.back().twist[b]);
    CAPTURE(parameter.name);
    CHECK(close(along, derivative_by(scene, parameter, gradient), 1e-7, 1e-9));
    ++directions;
  }
  CHECK(directions > 150);
}

TEST_CASE("parameters: each has a name that finds it, and a value that it takes", "[dynamics][value]") {
  const Scene scene = all_parameters_scene();
  int changed = 0;
  for (const SceneParameter& parameter : differentiable_parameters(scene)) {
    CAPTURE(parameter.name);
    const SceneParameter found = find_parameter(scene, parameter.name);
    CHECK(found.name == parameter.name);
    CHECK(is_same(found, parameter));
    CHECK(found.unit == parameter.unit);
    CHECK(component_names(scene, parameter.name) == std::vector<std::string>{parameter.name});
    const double value = value_of(scene, parameter), there = value + 1e-2 * step_for(parameter.kind, value);
    CHECK(parameter.range.contains(value));
    Scene moved = scene;
    set_parameters({parameter}, {&there, 1}, moved);
    CHECK(value_of(moved, parameter) == Approx(there).epsilon(1e-12).margin(1e-12));
    changed += value_of(moved, parameter) != value;
  }
  CHECK(changed > 200);
}

TEST_CASE("parameters: of joints, each has those of its kind and of its motor", "[dynamics][value]") {
  const Scene scene = all_parameters_scene();
  const auto refuses = [&](const std::string& name, const std::string& why) {
    CAPTURE(name);
    CHECK_THROWS_WITH(find_parameter(scene, name), Catch::Contains(name) && Catch::Contains(why));
  };
  refuses("joint.rope.angular_stiffness", "turn freely");
  refuses("joint.rope.upper", "only a hinge or a slider");
  refuses("joint.rope.motor.target", "no motor");
  refuses("joint.hinge 3.length", "only a distance joint");
  refuses("joint.hinge 4.motor.stiffness", "only a position motor");
  refuses("joint.hinge 3.motor.targte", "did you mean 'joint.hinge 3.motor.target'?");
  CHECK(find_parameter(scene, "joint.hinge 3.motor.target").unit == "rad");
  CHECK(find_parameter(scene, "joint.hinge 4.motor.target").unit == "rad/s");
  CHECK(find_parameter(scene, "joint.hinge 4.motor.damping").unit == "N m s/rad");
  CHECK(find_parameter(scene, "joint.hinge 4.lower").unit == "rad");
  CHECK(find_parameter(scene, "joint.rope.length").unit == "m");
  CHECK_FALSE(
      is_same(find_parameter(scene, "joint.hinge 3.lower"), find_parameter(scene, "joint.hinge 4.lower")));
  CHECK_NOTHROW(require_allowed(find_parameter(scene, "joint.hinge 3.motor.damping"), 0.0));
  CHECK_THROWS_WITH(require_allowed(find_parameter(scene, "joint.hinge 4.motor.damping"), 0.0),
                    Catch::Contains("> 0"));

  Scene sliding = scene;
  sliding.model.joints[1].kind = JointKind::slider;
  CHECK(find_parameter(sliding, "joint.hinge 4.motor.target").unit == "m/s");
  CHECK(find_parameter(sliding, "joint.hinge 4.upper").unit == "m");

  Scene moved = scene;
  const double above = 0.07;  // the upper end of the travel is at 0.05
  CHECK_THROWS_WITH(set_parameters({find_parameter(scene, "joint.hinge 3.lower")}, {&above, 1}, moved),
                    Catch::Contains("joint 'hinge 3'") && Catch::Contains("not below upper"));
}

}  // namespace abut::test
