/// The camera of a picture: it turns around a point.
#pragma once

#include <optional>
#include <span>

#include "engine/model.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

/// A half-line in the world.
struct Ray {
  Vec3<double> origin = Vec3<double>::Zero();
  Vec3<double> direction = Vec3<double>::UnitX();  ///< of unit length
};

/// A camera at a distance from the point it turns around. The world is z up.
struct OrbitCamera {
  Vec3<double> target = Vec3<double>::Zero();  ///< [m]
  double distance = 1.0;                       ///< from the target [m], > 0
  double azimuth = 0.9;                        ///< of the camera seen from the target, about z from x [rad]
  double elevation = 0.35;                     ///< above the horizon [rad], within +-pi/2
  double vertical_angle = 0.7;                 ///< of view [rad]
  /// Parallel rays, so that equal lengths look equal: as large as a pinhole camera shows what is at the
  /// target, and from so far behind that nothing near the target is cut off.
  bool orthographic = false;

  [[nodiscard]] Vec3<double> position() const;
  [[nodiscard]] Vec3<double> forward() const;  ///< into the picture
  [[nodiscard]] Vec3<double> right() const;
  [[nodiscard]] Vec3<double> up() const;  ///< of the picture

  /// Column vectors in, OpenGL's clip space out: x, y, z in [-w, w]. The planes in front and behind follow
  /// from `distance`.
  [[nodiscard]] Mat4<double> view() const;
  [[nodiscard]] Mat4<double> projection(double aspect) const;

  /// The ray through a place in the picture: x in [-1, 1] to the right, y in [-1, 1] upwards.
  [[nodiscard]] Ray ray(double x, double y, double aspect) const;
  /// Where a point appears, (x, y) as above and its depth along forward() [m]; depth <= 0 is behind the
  /// camera, where (x, y) is (0, 0).
  [[nodiscard]] Vec3<double> project(const Vec3<double>& p_W, double aspect) const;
  /// Size of a pixel at a depth, which matters to pinhole cameras alone [m].
  [[nodiscard]] double pixel_size(double depth, int height_pixels) const;

  /// Drags, in fractions of the picture's height; to the right and upwards are positive.
  void turn(double dx, double dy);
  void pan(double dx, double dy);
  /// > 0 goes nearer; 1 is one notch of a wheel.
  void zoom(double notches);

  /// Moves the target so that the camera is at a place, from where it looks as before.
  void stand_at(const Vec3<double>& p_W) { target += p_W - position(); }
  /// Looks around from where the camera is: to the right and upwards, by drags as above.
  void look(double dx, double dy);
};

/// A camera in whose picture all bodies but half-spaces are, looking as `like` does, at their middle or at
/// `target`.
///
/// @param others_W  (3, n) each: points of what else is to be in the picture, such as visual meshes [m]
[[nodiscard]] OrbitCamera camera_around(const Model& model, std::span<const Pose<double>> X_WB, double aspect,
                                        const OrbitCamera& like = {},
                                        const std::optional<Vec3<double>>& target = std::nullopt,
                                        std::span<const Points> others_W = {});

/// Corners of a box around each body but half-spaces (3, 8 n) [m].
[[nodiscard]] Points box_corners_W(const Model& model, std::span<const Pose<double>> X_WB);

/// `like` at `from`, looking at `to`, which is another point.
[[nodiscard]] OrbitCamera camera_between(const Vec3<double>& from, const Vec3<double>& to,
                                         OrbitCamera like = {});

}  // namespace abut
