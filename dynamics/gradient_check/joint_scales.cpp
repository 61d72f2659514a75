#include "dynamics/gradient_check/joint_scales.h"

#include <algorithm>
#include <cmath>

namespace abut {

double JointScales::length(const Joint& joint) const {
  const double of_B = lengths[at(joint.body_B)];
  return joint.body_A < 0 ? of_B : std::min(of_B, lengths[at(joint.body_A)]);
}

double JointScales::coordinate(const Joint& joint) const {
  return joint.kind == JointKind::hinge ? 1.0 : length(joint);
}

double JointScales::coordinate(const Coupling& coupling) const {
  double sum = 0.0;
  for (const CouplingTerm& term : coupling.terms) {
    const double q = coordinate(model.joints[at(term.joint)]);
    sum += std::abs(term.at(q).slope) * q;
  }
  return std::abs(gear_of(model, coupling)) * sum;
}

double JointScales::force(const Joint& joint) const {
  return heaviest * g * (joint.kind == JointKind::hinge ? length(joint) : 1.0);
}

double JointScales::force(const Coupling& coupling) const {
  double most = 0.0;
  for (const CouplingTerm& term : coupling.terms) {
    const Joint& joint = model.joints[at(term.joint)];
    const double slope = std::abs(gear_of(model, coupling) * term.at(coordinate(joint)).slope);
    if (slope > 0.0) most = std::max(most, force(joint) / slope);
  }
  return most;
}

double JointScales::target(const Motor& motor, double of_coordinate, double of_force) const {
  switch (motor.kind) {
    case MotorKind::velocity:
      return of_coordinate / (steps * h);
    case MotorKind::force:
      return of_force;
    case MotorKind::affine: {
      const double gain = motor.gain == 0.0 ? 1.0 : std::abs(motor.gain);
      return (motor.stiffness > 0.0 ? motor.stiffness * of_coordinate : of_force) / gain;
    }
    case MotorKind::none:
    case MotorKind::position:
      break;
  }
  return of_coordinate;
}

double JointScales::target(const MotorPlace& place) const {
  const Motor& motor = motor_at(model, place);
  if (place.joint >= 0) {
    const Joint& joint = model.joints[at(place.joint)];
    return target(motor, coordinate(joint), force(joint));
  }
  const Coupling& coupling = model.couplings[at(place.coupling)];
  return target(motor, coordinate(coupling), force(coupling));
}

double JointScales::number(ParameterKind kind, double value, const CoordinateForces& forces,
                           double of_coordinate, double of_force) const {
  const Motor& motor = forces.motor;
  if (parameter_info(kind).owner == ParameterOwner::motor && motor.kind == MotorKind::none) return 0.0;
  const bool is_affine = motor.kind == MotorKind::affine;
  switch (kind) {
    case ParameterKind::joint_dissipation_time:
      return value > 0.0 ? value : h;
    case ParameterKind::joint_lower:
    case ParameterKind::joint_upper:
      return std::isfinite(value) ? of_coordinate : 0.0;
    case ParameterKind::joint_spring_position:
      return forces.spring_stiffness > 0.0 ? of_coordinate : 0.0;
    case ParameterKind::motor_target:
      return target(motor, of_coordinate, of_force);
    case ParameterKind::motor_stiffness:
    case ParameterKind::motor_damping:
      return is_force(motor) ? 0.0 : value;
    case ParameterKind::motor_gain:
      return is_affine ? std::abs(value) : 0.0;
    case ParameterKind::motor_bias:
      return is_affine ? of_force : 0.0;
    default:
      return value;
  }
}

double JointScales::number(const JointParameter& parameter, const Joint& joint) const {
  if (parameter.of_joint == nullptr) return 0.0;
  if (parameter.kind == ParameterKind::joint_length && joint.kind != JointKind::distance) return 0.0;
  return number(parameter.kind, parameter.of_joint(for_reading(joint)), joint, coordinate(joint),
                force(joint));
}

double JointScales::number(const JointParameter& parameter, const Coupling& coupling) const {
  if (parameter.of_coupling == nullptr) return 0.0;
  const double value = parameter.of_coupling(for_reading(coupling));
  switch (parameter.kind) {
    case ParameterKind::coupling_gear:
      return std::abs(value);
    case ParameterKind::coupling_held_at:
      return coupling.is_held() ? coordinate(coupling) : 0.0;
    case ParameterKind::joint_stiffness:
    case ParameterKind::joint_dissipation_time:
      if (!coupling.is_held()) return 0.0;
      break;
    default:
      break;
  }
  return number(parameter.kind, value, coupling, coordinate(coupling), force(coupling));
}

}  // namespace abut
