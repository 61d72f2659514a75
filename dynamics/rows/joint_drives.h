/// Laws of the rows of joints' coordinates: motors, and what is written as one, and springs.
#pragma once

#include <cmath>

#include "engine/joint.h"
#include "engine/model_tangent.h"
#include "engine/types.h"

namespace abut {

/// The part of a joint that a row of its coordinate stands for, but for stops.
enum class Drive { motor, damping, friction, armature, spring };

/// The motor of a joint with the command added to its target.
[[nodiscard]] inline Motor commanded_motor(const Joint& joint, double command) {
  Motor motor = joint.motor;
  motor.target += command;
  return motor;
}

/// Inputs of motors, damping, friction and armature.
struct DriveInputs {
  double h;
  double command;         ///< added to the target of the motor
  double stiction_speed;  ///< v_s [rad/s or m/s]
  double rate_before;     ///< [rad/s or m/s]
};

/// The motor that a drive is, but for springs.
[[nodiscard]] inline Motor motor_of(const Joint& joint, Drive drive, const DriveInputs& inputs) {
  switch (drive) {
    case Drive::damping:
      return {MotorKind::velocity, 0.0, 0.0, joint.damping, k_infinity};
    case Drive::friction:
      return {MotorKind::velocity, 0.0, 0.0, joint.friction / inputs.stiction_speed, joint.friction};
    case Drive::armature:
      return {MotorKind::velocity, inputs.rate_before, 0.0, joint.armature / inputs.h, k_infinity};
    case Drive::motor:
    case Drive::spring:
      break;
  }
  return commanded_motor(joint, inputs.command);
}

/// dL/d of DriveInputs.
struct DriveInputsBar {
  double command = 0, rate_before = 0;
};

/// VJP of motor_of().
inline DriveInputsBar motor_of_vjp(Drive drive, const DriveInputs& inputs, const MotorTangent& bar,
                                   JointGradient& joint_bar) {
  switch (drive) {
    case Drive::motor:
      joint_bar.motor.target += bar.target;
      joint_bar.motor.stiffness += bar.stiffness;
      joint_bar.motor.damping += bar.damping;
      joint_bar.motor.limit += bar.limit;
      return {bar.target, 0.0};
    case Drive::damping:
      joint_bar.damping += bar.damping;
      break;
    case Drive::friction:
      joint_bar.friction += bar.damping / inputs.stiction_speed + bar.limit;
      break;
    case Drive::armature:
      joint_bar.armature += bar.damping / inputs.h;
      return {0.0, bar.target};
    case Drive::spring:
      break;
  }
  return {};
}

/// v_hat, R and L of a motor, and their derivatives.
struct MotorLaw {
  double target, resistance, limit;
  double target_by_error = 0, target_by_stiffness = 0, target_by_damping = 0, target_by_target = 0;
  double resistance_by_stiffness = 0, resistance_by_damping = 0;
};

/// The row of a motor; formulas in joint_constraints.h.
///
/// @param near_rigid  c w
[[nodiscard]] inline MotorLaw motor_law(const Motor& motor, double error, double near_rigid, double h) {
  const double d = motor.damping;
  MotorLaw m{};
  m.limit = h * motor.limit;
  if (motor.kind == MotorKind::velocity) {
    m.target = motor.target;
    m.target_by_target = 1.0;
    m.resistance = 1.0 / (h * d) + near_rigid;
    if (std::isfinite(d)) m.resistance_by_damping = -1.0 / (h * d * d);
    return m;
  }
  const double k = motor.stiffness, sum = k * h + d;
  m.target = -k * error / sum;
  m.target_by_error = -k / sum;
  m.target_by_target = k / sum;
  m.target_by_stiffness = -error * d / (sum * sum);
  m.target_by_damping = error * k / (sum * sum);
  m.resistance = 1.0 / (h * sum) + near_rigid;
  m.resistance_by_stiffness = -1.0 / (sum * sum);
  m.resistance_by_damping = -1.0 / (h * sum * sum);
  return m;
}

/// The force or torque of a motor of the kind `force`, and its derivatives.
struct ForceLaw {
  double force, by_target, by_limit;
};
[[nodiscard]] inline ForceLaw force_law(const Motor& motor) {
  if (std::isinf(motor.limit)) return {motor.target, 1.0, 0.0};
  const double z = motor.target / motor.limit, root = std::hypot(1.0, z), sine = z / root;
  return {motor.limit * sine, 1.0 / (root * root * root), sine * sine * sine};
}

/// The impulse of a spring, and its derivatives.
struct SpringLaw {
  double impulse, by_error, by_stiffness, by_inverse_mass;
};
[[nodiscard]] inline SpringLaw spring_law(double k, double error, double w, double h) {
  const double quarter = 0.25 * h * h, root = 1.0 + quarter * k * w, k_h = h * k / root;
  return {-k_h * error, -k_h, -h * error / (root * root), k_h * error * quarter * k / root};
}

}  // namespace abut
