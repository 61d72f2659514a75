/// Pictures of a model: every body by sphere tracing its own signed distance function, so what is seen is
/// what collides.
#pragma once

#include <optional>
#include <span>

#include "apps/abut/image.h"
#include "engine/model.h"
#include "engine/pose.h"

namespace abut {

/// A pinhole camera. The picture's upward direction is that of `up`, as far as it is across the view.
struct Camera {
  Vec3<double> from = Vec3<double>(1, 0, 0);  ///< [m]
  Vec3<double> to = Vec3<double>::Zero();     ///< [m]
  Vec3<double> up = Vec3<double>(0, 0, 1);
  double vertical_angle = 0.55;  ///< of view [rad]
};

struct PictureOptions {
  int width = 1280, height = 720;        ///< [pixels]
  std::optional<Vec3<double>> from, to;  ///< camera [m]; default: all bodies but half-spaces are in view
  int threads = 2;                       ///< does not change the picture
};

/// From the front right and above; up is against gravity, or z without it. `from` or `to` may be given.
[[nodiscard]] Camera camera_for(const Model& model, std::span<const Pose<double>> X_WB,
                                const PictureOptions& options);

/// Diffuse light of one lamp with soft shadows, ambient light with occlusion; edges are smoothed. Bodies get
/// the colours of Okabe and Ito (2008), which colour-blind people can tell apart, in order; half-spaces a
/// checkered floor.
[[nodiscard]] Image draw_picture(const Model& model, std::span<const Pose<double>> X_WB,
                                 const PictureOptions& options);

}  // namespace abut
