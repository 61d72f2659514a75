/// A direction in the space of everything a rollout depends on, but for shapes and joints.
#pragma once

#include <vector>

#include "engine/state.h"
#include "engine/types.h"

namespace abut {

/// A change of the parameters of one body. Masses and inertias of fixed bodies do not count.
struct BodyDirection {
  double mass = 0;                              ///< inertia held fixed [kg]
  Mat3<double> inertia = Mat3<double>::Zero();  ///< symmetric, mass held fixed [kg m^2]
  double friction = 0;
  double compliance = 0;        ///< of 1/stiffness [m/N]
  double dissipation_time = 0;  ///< of its resolved value, where the material gives none [s]
  double restitution = 0;
  double linear_damping = 0, angular_damping = 0;       ///< [1/s]
  Vec6<double> external_wrench = Vec6<double>::Zero();  ///< [N m; N]
};

/// Values that pairs override do not change. Smoothing scales that default to |gravity| are held fixed.
struct RolloutDirection {
  StateTangent initial;                             ///< one entry per body
  std::vector<std::vector<Vec6<double>>> controls;  ///< wrenches of each step, one per body; none: all 0
  Vec3<double> gravity = Vec3<double>::Zero();      ///< [m/s^2]
  std::vector<BodyDirection> bodies;                ///< one per body; none: all 0
};

}  // namespace abut
