/// A plane that cuts through bodies and shows their signed distance function.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/picture/colours.h"
#include "engine/model.h"
#include "engine/pose.h"

namespace abut {

class ContactDetector;

/// A square in the world, `size` wide.
struct SlicePlane {
  Vec3<double> centre = Vec3<double>::Zero();  ///< [m]
  Vec3<double> right = Vec3<double>::UnitX();  ///< of unit length
  Vec3<double> up = Vec3<double>::UnitZ();     ///< of unit length, across `right`
  double size = 1.0;                           ///< [m]

  [[nodiscard]] Vec3<double> normal() const { return right.cross(up); }
  /// u, v in [-1, 1].
  [[nodiscard]] Vec3<double> point(double u, double v) const {
    return centre + 0.5 * size * (u * right + v * up);
  }
};

/// Of a signed distance in a slice, in bands: white where it is zero, blue inside and orange outside.
[[nodiscard]] Colour slice_colour(double bands);

struct SlicePicture {
  SlicePlane plane;
  int resolution = 0;                ///< pixels along each side
  std::vector<std::uint8_t> pixels;  ///< RGBA, rows from below (v = -1)
  std::vector<float> distances;      ///< phi at each pixel [m], 1e30 where there is nothing
  struct Arrow {
    Vec3<double> from, to;  ///< [m]; along the gradient of phi, within the plane
  };
  std::vector<Arrow> arrows;
};

/// phi of the body, or with body = -1 the least of all bodies: blue inside, orange outside, lines of equal
/// distance at `band` [m], a dark line where it is zero.
///
/// @param arrows  along each side of the plane; 0 is none
[[nodiscard]] SlicePicture slice_picture(const ContactDetector& detector, std::span<const Pose<double>> X_WB,
                                         int body, const SlicePlane& plane, int resolution, int arrows,
                                         double band);

}  // namespace abut
