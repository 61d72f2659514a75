/// The user's hand: a spring between a point of a body and the mouse.
#pragma once

#include "engine/model.h"
#include "engine/pose.h"
#include "engine/state.h"

namespace abut::viewer {

/// Nobody pulls where `body` is -1.
struct Pull {
  int body = -1;
  Vec3<double> point_B = Vec3<double>::Zero();   ///< where the spring holds it [m]
  Vec3<double> target_W = Vec3<double>::Zero();  ///< [m]
};

/// The wrench [torque; force] of the spring at a state:  f = m (w^2 (target - x) - 2 w v)  at the point x
/// with velocity v, w = 8 rad/s, so that a free body comes to rest without swinging, whatever its mass; at
/// most 20 m g' with g' = 9.81 m/s^2.
[[nodiscard]] Vec6<double> pull_wrench(const Model& model, const State& state, const Pull& pull);

}  // namespace abut::viewer
