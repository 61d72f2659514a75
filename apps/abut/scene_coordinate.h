/// Coordinates of bodies by their names, such as "z:ball": what `abut gradient` differentiates.
#pragma once

#include <string>

#include "dynamics/rollout/loss.h"
#include "engine/scene_io.h"

namespace abut {

/// A number of a state.
///
/// | name                        | unit  | what it is                                                    |
/// | --------------------------- | ----- | ------------------------------------------------------------- |
/// | x:BODY, y:BODY, z:BODY      | m     | position of the origin of the body's asset, as in a scene     |
/// | roll:BODY, pitch:, yaw:     | rad   | R = Rz(yaw) Ry(pitch) Rx(roll)                                |
/// | vx:BODY, vy:BODY, vz:BODY   | m/s   | velocity of the centre of mass                                |
/// | wx:BODY, wy:BODY, wz:BODY   | rad/s | angular velocity, in the world                                |
/// | distance:BODY:BODY          | m     | between the origins of two assets                             |
struct SceneCoordinate {
  enum class Kind { position, angle, velocity, angular_velocity, distance };
  std::string name, unit;
  Kind kind = Kind::position;
  int index = 0;                 ///< x, y, z, or roll, pitch, yaw
  int body_A = -1, body_B = -1;  ///< body_B of a distance alone
};

/// Throws std::invalid_argument naming what is unknown, and what there is.
[[nodiscard]] SceneCoordinate find_coordinate(const Model& model, const std::string& name);

/// Why the coordinate has no derivative at a state, roll, pitch and yaw at a pitch of +-90 degrees; empty: it has.
[[nodiscard]] std::string why_not_differentiable(const Model& model, const SceneCoordinate& coordinate,
                                                 const State& state);

/// The coordinate after `steps` steps.
[[nodiscard]] RolloutLoss coordinate_loss(const Model& model, const SceneCoordinate& coordinate, int steps);

}  // namespace abut
