/// The camera of the picture that is being drawn, as shaders take it.
#pragma once

#include "apps/picture/camera.h"
#include "engine/pose.h"

namespace abut {

struct SceneView {
  SceneView(const OrbitCamera& of, int width_pixels, int height_pixels)
      : camera(of),
        width(width_pixels),
        height(height_pixels),
        view(of.view()),
        projection(of.projection(static_cast<double>(width_pixels) / height_pixels)),
        up(view.topLeftCorner<3, 3>() * Vec3<double>::UnitZ()) {}

  OrbitCamera camera;
  int width, height;  ///< [pixels]
  Mat4<double> view, projection;
  Vec3<double> up;  ///< of the world, seen by the camera
};

[[nodiscard]] inline Mat4<double> matrix_of(const Pose<double>& X) {
  Mat4<double> matrix = Mat4<double>::Identity();
  matrix.topLeftCorner<3, 3>() = X.rotation();
  matrix.topRightCorner<3, 1>() = X.p;
  return matrix;
}

}  // namespace abut
