#include "engine/joint.h"

#include <cmath>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/model.h"
#include "engine/parameters.h"

namespace abut {
namespace {

void validate_motor(const Motor& motor, const std::string& owner) {
  if (motor.kind == MotorKind::none) return;
  const auto check = [&](bool is_right, const char* what, double value, const char* allowed) {
    require(is_right, fmt::format("{}: motor {} = {}, allowed: {}", owner, what, value, allowed));
  };
  const auto is_damping = [](double value) { return value >= 0.0 && std::isfinite(value); };
  check(range_of(ParameterKind::motor_target).contains(motor.target), "target", motor.target, "finite");
  check(range_of(ParameterKind::motor_limit).contains(motor.limit), "limit", motor.limit, "> 0");
  require(motor.lowest < motor.highest,
          fmt::format("{}: command limits {} and {}: the first is not below the second", owner, motor.lowest,
                      motor.highest));
  switch (motor.kind) {
    case MotorKind::none:
    case MotorKind::force:
      return;
    case MotorKind::velocity:
      check(range_of(ParameterKind::motor_damping).contains(motor.damping), "damping", motor.damping, "> 0");
      return;
    case MotorKind::position:
      check(range_of(ParameterKind::motor_stiffness).contains(motor.stiffness), "stiffness", motor.stiffness,
            "> 0, finite");
      check(is_damping(motor.damping), "damping", motor.damping, ">= 0, finite");
      return;
    case MotorKind::affine:
      check(is_damping(motor.stiffness), "stiffness", motor.stiffness, ">= 0, finite");
      check(is_damping(motor.damping), "damping", motor.damping, ">= 0, finite");
      check(std::isfinite(motor.gain), "gain", motor.gain, "finite");
      check(std::isfinite(motor.bias), "bias", motor.bias, "finite");
      return;
  }
}

/// Numbers of the coordinate that only joints with one have.
void validate_coordinate(const Joint& joint) {
  const auto check = [&](ParameterKind kind) {
    const JointParameter& parameter = *joint_parameter(kind);
    const double value = parameter.of_joint(for_reading(joint));
    require(value == 0.0 || has_coordinate(joint.kind),
            fmt::format("joint '{}': {} = {}, but only a hinge or a slider can have any", joint.name,
                        parameter.key, value));
  };
  for (const ParameterKind kind :
       {ParameterKind::joint_damping, ParameterKind::joint_friction, ParameterKind::joint_armature,
        ParameterKind::joint_spring_stiffness, ParameterKind::joint_spring_position})
    check(kind);
  const bool has_limits = std::isfinite(joint.lower) || std::isfinite(joint.upper);
  require(has_coordinate(joint.kind) || !has_limits,
          fmt::format("joint '{}': only a hinge or a slider can have limits", joint.name));
  require(has_coordinate(joint.kind) || joint.motor.kind == MotorKind::none,
          fmt::format("joint '{}': only a hinge or a slider can have a motor", joint.name));
}

}  // namespace

void validate(const CoordinateForces& forces, const std::string& owner) {
  require(forces.lower < forces.upper,
          fmt::format("{}: lower = {} is not below upper = {}", owner, forces.lower, forces.upper));
  const auto check = [&](ParameterKind kind, double value) {
    const ParameterInfo& parameter = parameter_info(kind);
    require(parameter.range.contains(value),
            fmt::format("{}: {} = {}, allowed: {}", owner, parameter.key, value, parameter.range.text()));
  };
  check(ParameterKind::joint_damping, forces.damping);
  check(ParameterKind::joint_friction, forces.friction);
  check(ParameterKind::joint_spring_stiffness, forces.spring_stiffness);
  check(ParameterKind::joint_spring_position, forces.spring_position);
  validate_motor(forces.motor, owner);
}

void validate(const Joint& joint, const Model& model) {
  const auto fail_unless = [&](bool is_right, const std::string& what) {
    require(is_right, fmt::format("joint '{}': {}", joint.name, what));
  };
  fail_unless(joint.body_A >= -1 && joint.body_A < model.body_count() && joint.body_B >= 0 &&
                  joint.body_B < model.body_count(),
              fmt::format("bodies {} and {} of {}", joint.body_A, joint.body_B, model.body_count()));
  fail_unless(joint.body_A != joint.body_B, "a body cannot be joined to itself");
  const auto never_moves = [&](int body) {
    return body < 0 || model.bodies[static_cast<std::size_t>(body)].fixed;
  };
  fail_unless(!never_moves(joint.body_A) || !never_moves(joint.body_B),
              "it joins two things of infinite mass");
  for (const Pose<double>* X : {&joint.X_AJ, &joint.X_BJ}) {
    fail_unless(X->p.allFinite() && std::abs(X->q.norm() - 1.0) < 1e-6, "a frame is no pose");
  }
  if (joint.kind == JointKind::distance) {
    fail_unless(range_of(ParameterKind::joint_length).contains(joint.length),
                fmt::format("length = {}, allowed: > 0, finite", joint.length));
  }
  fail_unless(range_of(ParameterKind::joint_stiffness).contains(joint.stiffness),
              fmt::format("stiffness = {}, allowed: > 0", joint.stiffness));
  fail_unless(range_of(ParameterKind::joint_angular_stiffness).contains(joint.angular_stiffness),
              fmt::format("angular stiffness = {}, allowed: > 0", joint.angular_stiffness));
  fail_unless(std::isfinite(joint.dissipation_time),
              fmt::format("dissipation time = {}, allowed: finite", joint.dissipation_time));
  fail_unless(range_of(ParameterKind::joint_armature).contains(joint.armature),
              fmt::format("armature = {}, allowed: {}", joint.armature,
                          range_of(ParameterKind::joint_armature).text()));
  validate_coordinate(joint);
  validate(static_cast<const CoordinateForces&>(joint), fmt::format("joint '{}'", joint.name));
}

}  // namespace abut
