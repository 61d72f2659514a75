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
/// The first two are implicit in time, and f becomes f/sqrt(1 + (f/limit)^2).
enum class MotorKind { none, velocity, position, force };

struct Motor {
  MotorKind kind = MotorKind::none;
  double target = 0.0;     ///< [rad/s or m/s], [rad or m], or [N m or N]
  double stiffness = 0.0;  ///< of a position servo [N m/rad or N/m], > 0
  double damping =
      std::numeric_limits<double>::infinity();  ///< [N m s/rad or N s/m], finite of a servo; none of a force
  double limit = std::numeric_limits<double>::infinity();  ///< [N m or N], > 0
};

struct Joint {
  std::string name;
  JointKind kind = JointKind::fixed;
  int body_A = -1;  ///< -1: the world
  int body_B = -1;
  Pose<double> X_AJ, X_BJ;
  double length = 0.0;                                                 ///< of a distance joint [m], > 0
  double stiffness = std::numeric_limits<double>::infinity();          ///< against displacement [N/m], > 0
  double angular_stiffness = std::numeric_limits<double>::infinity();  ///< against rotation [N m/rad], > 0
  double dissipation_time = -1.0;  ///< tau_j [s]: errors decay over it; negative: one time step
  /// The coordinate stays between these, lower < upper.
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
  // What acts on the coordinate of a hinge or slider; all finite:
  double damping = 0.0;   ///< viscous [N m s/rad or N s/m], >= 0
  double friction = 0.0;  ///< the most that dry friction resists [N m or N], >= 0
  double armature = 0.0;  ///< inertia of its drive [kg m^2 or kg], >= 0
  double spring_stiffness = 0.0, spring_position = 0.0;  ///< [N m/rad or N/m], >= 0; at rest there [rad or m]
  Motor motor;
  bool collide = false;  ///< whether its two bodies touch
};

/// Unit of the target of a joint's motor, and of its commands.
[[nodiscard]] constexpr const char* target_unit(JointKind joint, MotorKind motor) {
  const bool turns = joint == JointKind::hinge;
  if (motor == MotorKind::force) return turns ? "N m" : "N";
  if (motor == MotorKind::velocity) return turns ? "rad/s" : "m/s";
  return turns ? "rad" : "m";
}

struct Model;

/// Throws std::invalid_argument naming the joint, what is wrong with it and the value.
void validate(const Joint& joint, const Model& model);

}  // namespace abut
