/// The camera of the picture that is being drawn, as shaders take it.
#pragma once

#include <cmath>

#include "apps/picture/camera.h"
#include "apps/render/gl_objects.h"
#include "engine/pose.h"

namespace abut {

/// To the key light, in W.
inline const Vec3<double> k_to_key_W = Vec3<double>(0.62, -0.10, 0.78).normalized();

struct SceneView {
  SceneView(const OrbitCamera& of, int width_pixels, int height_pixels)
      : camera(of),
        width(width_pixels),
        height(height_pixels),
        view(of.view()),
        projection(of.projection(static_cast<double>(width_pixels) / height_pixels)),
        up(view.topLeftCorner<3, 3>() * Vec3<double>::UnitZ()),
        to_key(view.topLeftCorner<3, 3>() * k_to_key_W) {}

  OrbitCamera camera;
  int width, height;  ///< [pixels]
  Mat4<double> view, projection;
  Vec3<double> up, to_key;  ///< of the world, seen by the camera

  /// Slopes of the rays to the right and the upper border of a camera with perspective.
  [[nodiscard]] Vec2<double> slope() const {
    const double y = std::tan(0.5 * camera.vertical_angle);
    return {y * width / height, y};
  }
  /// Sets what shaders::k_light needs of a program in use.
  void set_light(const Program& program) const {
    program.set("up", up);
    program.set("to_key", to_key);
  }
  /// Sets what shaders::k_places needs of a program in use, but for the texture of depths in unit 0.
  void set_places(const Program& program) const {
    program.set("depths", 0);
    program.set("depth_terms",
                Eigen::Vector4f(projection.block<2, 2>(2, 2).transpose().reshaped().cast<float>()));
    program.set("clip_per_metre", Vec2<double>(projection(0, 0), projection(1, 1)));
  }
};

[[nodiscard]] inline Mat4<double> matrix_of(const Pose<double>& X) {
  Mat4<double> matrix = Mat4<double>::Identity();
  matrix.topLeftCorner<3, 3>() = X.rotation();
  matrix.topRightCorner<3, 1>() = X.p;
  return matrix;
}

}  // namespace abut
