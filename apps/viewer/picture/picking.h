/// What lies under the mouse.
#pragma once

#include <optional>
#include <span>

#include "apps/viewer/picture/camera.h"
#include "engine/model.h"

namespace abut::viewer {

struct BodyHit {
  int body = -1;
  double distance = 0;                          ///< along the ray [m]
  Vec3<double> point_W = Vec3<double>::Zero();  ///< [m]
};

/// The first mesh that a ray meets; half-spaces, which have none, where they are nearer than all meshes.
[[nodiscard]] std::optional<BodyHit> pick_body(const Model& model, std::span<const Pose<double>> X_WB,
                                               const Ray& ray);

}  // namespace abut::viewer
