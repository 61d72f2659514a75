/// Laws of the rows of joints' coordinates: motors, and what is written as one, and springs.
#pragma once

#include <algorithm>
#include <cmath>

#include "engine/joint.h"
#include "engine/model_tangent.h"
#include "engine/types.h"

namespace abut {

/// The part of a joint that a row of its coordinate stands for, but for stops.
enum class Drive { motor, damping, friction, armature, spring };

/// A motor with the command added to its target, within their limits.
[[nodiscard]] inline Motor commanded_motor(Motor motor, double command) {
  motor.target = std::clamp(motor.target + command, motor.lowest, motor.highest);
  return motor;
}
/// d(target)/d(target and command) of it: 0 beyond the limits.
[[nodiscard]] inline double command_slope(const Motor& motor, double command) {
  const double sum = motor.target + command;
  return sum >= motor.lowest && sum <= motor.highest ? 1.0 : 0.0;
}

/// Inputs of motors, damping, friction and armature.
struct DriveInputs {
  double h;
  double command;         ///< added to the target of the motor
  double stiction_speed;  ///< v_s [rad/s or m/s]
  double rate_before;     ///< [rad/s or m/s]
};

/// The motor that a drive is, but for springs.
[[nodiscard]] inline Motor motor_of(const CoordinateForces& forces, double armature, Drive drive,
                                    const DriveInputs& inputs) {
  switch (drive) {
    case Drive::damping:
      return {MotorKind::velocity, 0.0, 0.0, forces.damping, k_infinity};
    case Drive::friction:
      return {MotorKind::velocity, 0.0, 0.0, forces.friction / inputs.stiction_speed, forces.friction};
    case Drive::armature:
      return {MotorKind::velocity, inputs.rate_before, 0.0, armature / inputs.h, k_infinity};
    case Drive::motor:
    case Drive::spring:
      break;
  }
  return commanded_motor(forces.motor, inputs.command);
}

/// dL/d of DriveInputs.
struct DriveInputsBar {
  double command = 0, rate_before = 0;
};

/// VJP of motor_of(), of the coordinate whose motor is `motor`.
inline DriveInputsBar motor_of_vjp(const Motor& motor, Drive drive, const DriveInputs& inputs,
                                   const MotorTangent& bar, JointTangent& own_bar) {
  switch (drive) {
    case Drive::motor: {
      const double target_bar = command_slope(motor, inputs.command) * bar.target;
      own_bar.motor.target += target_bar;
      own_bar.motor.stiffness += bar.stiffness;
      own_bar.motor.damping += bar.damping;
      own_bar.motor.limit += bar.limit;
      own_bar.motor.gain += bar.gain;
      own_bar.motor.bias += bar.bias;
      return {target_bar, 0.0};
    }
    case Drive::damping:
      own_bar.damping += bar.damping;
      break;
    case Drive::friction:
      own_bar.friction += bar.damping / inputs.stiction_speed + bar.limit;
      break;
    case Drive::armature:
      own_bar.armature += bar.damping / inputs.h;
      return {0.0, bar.target};
    case Drive::spring:
      break;
  }
  return {};
}

/// v_hat, R and L of a motor, and their derivatives.
struct MotorLaw {
  double target, resistance, limit;
  double target_by_error = 0;
  MotorTangent target_by, resistance_by;

  /// dL/d(motor) from those by v_hat, by R and by the motor's limit.
  [[nodiscard]] MotorTangent vjp(double target_bar, double resistance_bar, double limit_bar) const {
    const auto of = [&](double MotorTangent::*number) {
      return target_bar * target_by.*number + resistance_bar * resistance_by.*number;
    };
    return {of(&MotorTangent::target), of(&MotorTangent::stiffness), of(&MotorTangent::damping), limit_bar,
            of(&MotorTangent::gain),   of(&MotorTangent::bias)};
  }
};

/// The row of a motor; formulas in joint_constraints.h.
///
/// @param error       q - target, of an affine motor q
/// @param near_rigid  c w
[[nodiscard]] inline MotorLaw motor_law(const Motor& motor, double error, double near_rigid, double h) {
  const double d = motor.damping;
  MotorLaw m{};
  m.limit = h * motor.limit;
  if (motor.kind == MotorKind::velocity) {
    m.target = motor.target;
    m.target_by.target = 1.0;
    m.resistance = 1.0 / (h * d) + near_rigid;
    if (std::isfinite(d)) m.resistance_by.damping = -1.0 / (h * d * d);
    return m;
  }
  const bool is_affine = motor.kind == MotorKind::affine;
  const double k = motor.stiffness, sum = k * h + d,
               force = (is_affine ? motor.gain * motor.target + motor.bias : 0.0) - k * error;
  m.target = force / sum;
  m.target_by_error = -k / sum;
  if (is_affine) {
    m.target_by.target = motor.gain / sum;
    m.target_by.gain = motor.target / sum;
    m.target_by.bias = 1.0 / sum;
  } else {
    m.target_by.target = k / sum;
  }
  m.target_by.stiffness = (-error - h * force / sum) / sum;
  m.target_by.damping = -force / (sum * sum);
  m.resistance = 1.0 / (h * sum) + near_rigid;
  m.resistance_by.stiffness = -1.0 / (sum * sum);
  m.resistance_by.damping = -1.0 / (h * sum * sum);
  return m;
}

/// The force or torque of a motor that is_force(), and its derivative by its target.
struct ForceLaw {
  double force, by_target;
};
[[nodiscard]] inline double force_before_limit(const Motor& motor) {
  return motor.kind == MotorKind::affine ? motor.gain * motor.target + motor.bias : motor.target;
}
/// Its force with 1/sqrt(1 + z^2) and z/sqrt(1 + z^2) of its part z of the limit.
struct LimitedForce {
  double force, cosine, sine;
};
[[nodiscard]] inline LimitedForce limited_force(const Motor& motor) {
  const double force = force_before_limit(motor);
  if (std::isinf(motor.limit)) return {force, 1.0, 0.0};
  const double z = force / motor.limit, root = std::hypot(1.0, z);
  return {motor.limit * z / root, 1.0 / root, z / root};
}
[[nodiscard]] inline ForceLaw force_law(const Motor& motor) {
  const LimitedForce of = limited_force(motor);
  const double gain = motor.kind == MotorKind::affine ? motor.gain : 1.0;
  return {of.force, gain * of.cosine * of.cosine * of.cosine};
}
[[nodiscard]] inline MotorTangent force_law_vjp(const Motor& motor, double force_bar) {
  const LimitedForce of = limited_force(motor);
  const double raw_bar = force_bar * of.cosine * of.cosine * of.cosine;
  MotorTangent bar;
  bar.limit = force_bar * of.sine * of.sine * of.sine;
  bar.target = raw_bar;
  if (motor.kind != MotorKind::affine) return bar;
  bar.target = raw_bar * motor.gain;
  bar.gain = raw_bar * motor.target;
  bar.bias = raw_bar;
  return bar;
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
