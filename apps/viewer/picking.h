/// What lies under the mouse.
#pragma once

#include <optional>
#include <span>

#include "apps/picture/body_surfaces.h"
#include "apps/picture/camera.h"
#include "apps/viewer/visibility.h"
#include "engine/model.h"

namespace abut::viewer {

struct BodyHit {
  int body = -1;
  double distance = 0;                          ///< along the ray [m]
  Vec3<double> point_W = Vec3<double>::Zero();  ///< [m]
};

/// The first body that a ray meets of those that are shown: its mesh, the surface of its SDF where it has
/// none, or a half-space.
[[nodiscard]] std::optional<BodyHit> pick_body(const Model& model, std::span<const Pose<double>> X_WB,
                                               BodySurfaces& surfaces, const Ray& ray,
                                               const Visibility& visibility = {});

}  // namespace abut::viewer
