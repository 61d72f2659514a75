#include "engine/joint.h"

#include <cmath>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/model.h"
#include "engine/parameters.h"

namespace abut {
namespace {

void validate_motor(const Joint& joint) {
  const Motor& motor = joint.motor;
  if (motor.kind == MotorKind::none) return;
  const auto check = [&](bool is_right, const char* what, double value, const char* allowed) {
    require(is_right,
            fmt::format("joint '{}': motor {} = {}, allowed: {}", joint.name, what, value, allowed));
  };
  require(has_coordinate(joint.kind),
          fmt::format("joint '{}': only a hinge or a slider can have a motor", joint.name));
  check(range_of(ParameterKind::motor_target).contains(motor.target), "target", motor.target, "finite");
  check(range_of(ParameterKind::motor_limit).contains(motor.limit), "limit", motor.limit, "> 0");
  if (motor.kind == MotorKind::force) return;
  if (motor.kind == MotorKind::velocity) {
    check(range_of(ParameterKind::motor_damping).contains(motor.damping), "damping", motor.damping, "> 0");
    return;
  }
  check(range_of(ParameterKind::motor_stiffness).contains(motor.stiffness), "stiffness", motor.stiffness,
        "> 0, finite");
  check(motor.damping >= 0.0 && std::isfinite(motor.damping), "damping", motor.damping, ">= 0, finite");
}

/// Numbers of the coordinate that act without a motor.
void validate_passive(const Joint& joint) {
  const auto check = [&](ParameterKind kind) {
    const JointParameter& parameter = *joint_parameter(kind);
    const double value = parameter.value(for_reading(joint));
    require(parameter.range.contains(value), fmt::format("joint '{}': {} = {}, allowed: {}", joint.name,
                                                         parameter.key, value, parameter.range.text()));
    require(value == 0.0 || has_coordinate(joint.kind),
            fmt::format("joint '{}': {} = {}, but only a hinge or a slider can have any", joint.name,
                        parameter.key, value));
  };
  check(ParameterKind::joint_damping);
  check(ParameterKind::joint_friction);
  check(ParameterKind::joint_armature);
  check(ParameterKind::joint_spring_stiffness);
  check(ParameterKind::joint_spring_position);
}

}  // namespace

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
  const bool has_limits = std::isfinite(joint.lower) || std::isfinite(joint.upper);
  fail_unless(has_coordinate(joint.kind) || !has_limits, "only a hinge or a slider can have limits");
  fail_unless(joint.lower < joint.upper,
              fmt::format("lower = {} is not below upper = {}", joint.lower, joint.upper));
  validate_passive(joint);
  validate_motor(joint);
}

}  // namespace abut
