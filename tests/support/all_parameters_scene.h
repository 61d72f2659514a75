/// A scene whose motion depends on every parameter of engine/parameters.h, for checks of their derivatives.
#pragma once

#include <cmath>
#include <string>

#include "engine/parameters.h"
#include "engine/scene.h"
#include "tests/support/scenes.h"

namespace abut::test {

inline Joint servo_hinge(int body_B, const Vec3<double>& p_W, double side) {
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
///
/// @param tolerance  of the solver
inline Scene all_parameters_scene(double tolerance) {
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
  held.damping = 0.05;
  held.friction = 0.1;
  held.armature = 1e-3;
  held.spring_stiffness = 2.0;
  held.spring_position = 0.1;
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
  Coupling tied;
  tied.name = "tied";
  tied.terms = {{2, {1.0, 0.3}}};
  tied.gear = 1.2;
  tied.held_at = 0.1;
  tied.stiffness = 3.0;
  tied.dissipation_time = 0.01;
  tied.lower = -0.2;
  tied.upper = 0.2;
  tied.damping = 0.04;
  tied.friction = 0.05;
  tied.spring_stiffness = 1.0;
  tied.spring_position = 0.2;
  tied.motor = {MotorKind::position, 0.1, 2.0, 0.1, 0.5};
  made.model.couplings.push_back(tied);
  Coupling drive;
  drive.name = "drive";
  drive.is_actuator = true;
  drive.on = 0;
  drive.terms = tied.terms;
  drive.gear = -0.8;
  drive.motor = {MotorKind::affine, 0.3, 0.5, 0.05, 0.4};
  drive.motor.gain = 0.7;
  drive.motor.bias = 0.05;
  made.model.couplings.push_back(drive);

  Scene scene;
  scene.name = "all parameters";
  scene.model = made.model;
  scene.initial = made.state;
  scene.config.step.acceleration_scale = 9.81;
  scene.config.step.tolerance = tolerance;
  return scene;
}

/// How far a number is moved for differences: a tenth of itself, or as far as contacts and limits stay as
/// they are.
inline double step_of_parameter(ParameterKind kind, double value) {
  switch (kind) {
    case ParameterKind::position:
    case ParameterKind::center_of_mass:
    case ParameterKind::primitive_position:
    case ParameterKind::shape:
      return 1e-4;
    case ParameterKind::rotation_vector:
    case ParameterKind::primitive_rotation_vector:
    case ParameterKind::joint_coordinate:
      return 1e-3;
    case ParameterKind::stiffness:
      return 0.3 * value;
    default:
      return value == 0.0 ? 0.1 : 0.1 * std::abs(value);
  }
}

}  // namespace abut::test
