/// What ties two bodies together, and what drives them along the freedom that is left.
///
/// A joint has a frame on each body: JA on body A (or the world), JB on body B. Their relative pose is
/// X_JA_JB = (X_WA X_AJ)^-1 X_WB X_BJ, with position d in JA:
///
/// | kind     | held                                   | left free: its coordinate                        |
/// | -------- | -------------------------------------- | ------------------------------------------------ |
/// | fixed    | position and rotation                  |                                                  |
/// | ball     | position                               | all rotation                                     |
/// | hinge    | position, and z of JB along z of JA    | rotation about z: angle [rad], turns counted     |
/// | slider   | rotation, and d_x = d_y = 0            | d_z: travel [m]                                  |
/// | distance | \|d\| = length                         | all else                                         |
#pragma once

#include <limits>
#include <string>

#include "engine/pose.h"

namespace abut {

enum class JointKind { fixed, ball, hinge, slider, distance };

/// Whether one coordinate is left, which a motor can drive and limits can bound.
[[nodiscard]] constexpr bool has_coordinate(JointKind kind) {
  return kind == JointKind::hinge || kind == JointKind::slider;
}

/// How a motor drives a coordinate q: no load can bring its torque or force beyond `limit`.
///   velocity  f = damping (target - dq/dt);  infinite damping: dq/dt = target, as rigidly as joints hold
///   position  f = stiffness (target - q) - damping dq/dt
///   force     f = target
///   affine    f = gain target + bias - stiffness q - damping dq/dt
/// Those with stiffness or damping are implicit in time, and f becomes f/sqrt(1 + (f/limit)^2).
enum class MotorKind { none, velocity, position, force, affine };

struct Motor {
  MotorKind kind = MotorKind::none;
  double target = 0.0;  ///< [rad/s or m/s], [rad or m], or [N m or N]; in units of its own of an affine motor
  double stiffness = 0.0;  ///< of a position servo [N m/rad or N/m], > 0; of an affine motor, >= 0
  double damping =
      std::numeric_limits<double>::infinity();  ///< [N m s/rad or N s/m], finite of a servo; none of a force
  double limit = std::numeric_limits<double>::infinity();  ///< [N m or N], > 0
  double gain = 1.0, bias = 0.0;  ///< of an affine motor [N m or N per unit of its target; N m or N]
  /// Target and command together stay between these: lowest < highest.
  double lowest = -std::numeric_limits<double>::infinity(), highest = std::numeric_limits<double>::infinity();
};

/// Whether a motor gives a force that the motion does not change.
[[nodiscard]] constexpr bool is_force(const Motor& motor) {
  return motor.kind == MotorKind::force ||
         (motor.kind == MotorKind::affine && motor.stiffness == 0.0 && motor.damping == 0.0);
}

/// What acts on a coordinate q, of a joint or of a coupling (coupling.h).
struct CoordinateForces {
  /// It stays between these, lower < upper.
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
  // All finite:
  double damping = 0.0;   ///< viscous [N m s/rad or N s/m], >= 0
  double friction = 0.0;  ///< the most that dry friction resists [N m or N], >= 0
  double spring_stiffness = 0.0, spring_position = 0.0;  ///< [N m/rad or N/m], >= 0; at rest there [rad or m]
  Motor motor;
};

/// Hinges and sliders have a coordinate, on which forces act.
struct Joint : CoordinateForces {
  std::string name;
  JointKind kind = JointKind::fixed;
  int body_A = -1;  ///< -1: the world
  int body_B = -1;
  Pose<double> X_AJ, X_BJ;
  double length = 0.0;                                                 ///< of a distance joint [m], > 0
  double stiffness = std::numeric_limits<double>::infinity();          ///< against displacement [N/m], > 0
  double angular_stiffness = std::numeric_limits<double>::infinity();  ///< against rotation [N m/rad], > 0
  double dissipation_time = -1.0;  ///< tau_j [s]: errors decay over it; negative: one time step
  double armature = 0.0;           ///< of the coordinate: inertia of its drive [kg m^2 or kg], >= 0, finite
  bool collide = false;            ///< whether its two bodies touch
};

/// Unit of the target of a motor, and of its commands.
///
/// @param turns  its coordinate is an angle, not a travel
[[nodiscard]] constexpr const char* target_unit(bool turns, MotorKind motor) {
  if (motor == MotorKind::affine) return "";
  if (motor == MotorKind::force) return turns ? "N m" : "N";
  if (motor == MotorKind::velocity) return turns ? "rad/s" : "m/s";
  return turns ? "rad" : "m";
}

/// Throws std::invalid_argument, beginning with `owner`, unless every number may be what it is.
void validate(const CoordinateForces& forces, const std::string& owner);

struct Model;

/// Throws std::invalid_argument naming the joint, what is wrong with it and the value.
void validate(const Joint& joint, const Model& model);

}  // namespace abut
