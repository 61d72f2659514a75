/// A direction in the space of everything a rollout depends on, but for shapes and joints.
#pragma once

#include <vector>

#include "engine/model_tangent.h"
#include "engine/state.h"
#include "engine/types.h"

namespace abut {

/// A change of the parameters of one body.
using BodyDirection = BodyTangent;

/// Values that pairs override do not change. Smoothing scales that default to |gravity| are held fixed.
struct RolloutDirection {
  StateTangent initial;                         ///< one entry per body
  std::vector<Control> controls;                ///< of each step; none: all 0
  Vec3<double> gravity = Vec3<double>::Zero();  ///< [m/s^2]
  std::vector<BodyDirection> bodies;            ///< one per body; none: all 0
};

}  // namespace abut
