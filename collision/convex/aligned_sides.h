/// Kinks of patches of flush faces (face_patch.h) whose sides or ends lie in one place: where the centre of
/// the common polygon or segment has other derivatives when the faces move one way than when they move the
/// other.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/types.h"

namespace abut {

using PlanePolygon = std::vector<Vec2<double>>;

template <typename S>
[[nodiscard]] S cross2(const Vec2<S>& a, const Vec2<S>& b) {
  return a[0] * b[1] - a[1] * b[0];
}

/// Whether a side of the common polygon lies on sides of both faces. What moves one of them outwards changes
/// nothing there: the centre c moves by half the mean of all such motions, and by
///   +-1/(2 a) sum over these sides of  integral |v_n| (x - c) ds,
/// v_n the velocity of the side along its normal, on top. Opposite sides may balance this sum for motions
/// along an axis or turns about c, but never for all turns about other points.
///
/// @param tolerance  distance [m] to a side below which a corner lies on it
[[nodiscard]] inline bool has_aligned_side(const PlanePolygon& common, const PlanePolygon& one,
                                           const PlanePolygon& other, double tolerance) {
  const auto is_on_side = [&](const Vec2<double>& a, const Vec2<double>& b, const PlanePolygon& polygon) {
    for (std::size_t i = 0; i < polygon.size(); ++i) {
      const Vec2<double>& start = polygon[i];
      const Vec2<double> side = (polygon[(i + 1) % polygon.size()] - start).normalized();
      const auto is_on = [&](const Vec2<double>& x) {
        return std::abs(cross2<double>(side, x - start)) <= tolerance;
      };
      if (is_on(a) && is_on(b)) return true;
    }
    return false;
  };
  for (std::size_t i = 0; i < common.size(); ++i) {
    const Vec2<double>&a = common[i], &b = common[(i + 1) % common.size()];
    if ((b - a).norm() > tolerance && is_on_side(a, b, one) && is_on_side(a, b, other)) return true;
  }
  return false;
}

/// Of a segment that a face clips: where an end lies on a corner of the face, another side clips it when it
/// moves one way than when it moves the other.
[[nodiscard]] inline bool has_end_at_corner(const PlanePolygon& common, const PlanePolygon& region,
                                            double tolerance) {
  return region.size() > 2 && std::any_of(common.begin(), common.end(), [&](const Vec2<double>& end) {
           return std::any_of(region.begin(), region.end(),
                              [&](const Vec2<double>& x) { return (x - end).norm() <= tolerance; });
         });
}

/// Of a segment: both ends are the subject's own, and the region's limits as well, or neither is.
[[nodiscard]] inline bool has_one_aligned_end(const PlanePolygon& common, const PlanePolygon& subject,
                                              const PlanePolygon& region, double tolerance) {
  int aligned = 0;
  for (const Vec2<double>& end : common) {
    bool is_own = false, is_limit = false;
    for (const Vec2<double>& x : subject) is_own |= (x - end).norm() <= tolerance;
    for (std::size_t i = 0; i < region.size(); ++i) {
      const Vec2<double> side = (region[(i + 1) % region.size()] - region[i]).normalized();
      const Vec2<double> from = end - region[i];
      is_limit |= std::abs(region.size() == 2 ? side.dot(from) : cross2<double>(side, from)) <= tolerance;
    }
    aligned += is_own && is_limit;
  }
  return aligned == 1;
}

}  // namespace abut
