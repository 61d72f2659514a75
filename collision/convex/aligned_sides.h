/// Kinks of patches of flush faces (face_patch.h) whose sides or ends lie in one place: where the centre of
/// the common polygon or segment has other derivatives when the faces move one way than when they move the
/// other.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "engine/types.h"

namespace abut {

using PlanePolygon = std::vector<Vec2<double>>;

template <typename S>
[[nodiscard]] S cross2(const Vec2<S>& a, const Vec2<S>& b) {
  return a[0] * b[1] - a[1] * b[0];
}

/// Where sides of the common polygon lie on sides of both faces, what moves one of them outwards changes
/// nothing: the centre c moves by half the mean of all such motions, and by
///   +-1/(2 a) sum over these sides of  integral |v_n| (x - c) ds,
/// v_n the velocity of the side along its normal, on top. This sum is 0 where opposite sides balance, which
/// they do for turns about c but seldom for turns about another point.
class AlignedSides {
 public:
  /// @param tolerance  distance [m] to a side below which a corner lies on it
  /// @param origins    of both parts, which these turn about
  AlignedSides(const PlanePolygon& common, const PlanePolygon& one, const PlanePolygon& other,
               double tolerance, const std::array<Vec2<double>, 2>& origins)
      : tolerance_(tolerance), turns_about_(origins) {
    const std::size_t count = common.size();
    for (const Vec2<double>& x : common) centre_ += x / static_cast<double>(count);
    for (std::size_t i = 0; i < count; ++i) {
      const Vec2<double>&a = common[i], &b = common[(i + 1) % count];
      extent_ = std::max(extent_, (a - centre_).norm());
      if ((b - a).norm() > tolerance && is_on_side(a, b, one) && is_on_side(a, b, other)) add(a, b);
    }
  }

  /// Whether motions in the plane, along either axis or about an origin, have different derivatives to either
  /// side.
  [[nodiscard]] bool has_kink() const {
    constexpr double k_balanced = 1e-6;
    const double length = extent_ * extent_;
    const auto is_unbalanced = [&](const Vec2<double>& sum, double of) {
      return sum.norm() > k_balanced * of;
    };
    return is_unbalanced(x_, length) || is_unbalanced(y_, length) ||
           is_unbalanced(turns_[0], length * extent_) || is_unbalanced(turns_[1], length * extent_);
  }

 private:
  [[nodiscard]] bool is_on_side(const Vec2<double>& a, const Vec2<double>& b,
                                const PlanePolygon& polygon) const {
    for (std::size_t i = 0; i < polygon.size(); ++i) {
      const Vec2<double>& start = polygon[i];
      const Vec2<double> side = (polygon[(i + 1) % polygon.size()] - start).normalized();
      const auto is_on = [&](const Vec2<double>& x) {
        return std::abs(cross2<double>(side, x - start)) <= tolerance_;
      };
      if (is_on(a) && is_on(b)) return true;
    }
    return false;
  }
  void add(const Vec2<double>& a, const Vec2<double>& b) {
    const double length = (b - a).norm();
    const Vec2<double> along = (b - a) / length, middle = 0.5 * (a + b) - centre_;
    x_ += std::abs(along[1]) * length * middle;
    y_ += std::abs(along[0]) * length * middle;
    // About an origin, v_n = s at the place s along the side from the foot of the origin's perpendicular.
    const auto integral = [](double s) { return 0.5 * s * std::abs(s); };    // of |s|
    const auto moment = [](double s) { return s * s * std::abs(s) / 3.0; };  // of |s| s
    for (std::size_t k = 0; k < 2; ++k) {
      const double from = along.dot(a - turns_about_[k]), to = along.dot(b - turns_about_[k]);
      const Vec2<double> foot = a - centre_ - from * along;
      turns_[k] += (integral(to) - integral(from)) * foot + (moment(to) - moment(from)) * along;
    }
  }

  double tolerance_, extent_ = 0.0;
  Vec2<double> centre_ = Vec2<double>::Zero();
  Vec2<double> x_ = Vec2<double>::Zero(), y_ = Vec2<double>::Zero();
  std::array<Vec2<double>, 2> turns_about_, turns_{Vec2<double>::Zero(), Vec2<double>::Zero()};
};

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
