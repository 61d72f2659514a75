#include "engine/padded_polygon.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <string>

#include "engine/check.h"
#include "engine/scalar.h"

namespace abut {
namespace {

double cross2(const Vec2<double>& a, const Vec2<double>& b) { return a.x() * b.y() - a.y() * b.x(); }

}  // namespace

std::vector<Vec2<double>> polygon_corners(const Primitive& primitive) {
  std::vector<Vec2<double>> corners;
  for (std::size_t i = 0; i + 1 < primitive.values.size(); i += 2)
    corners.emplace_back(primitive.values[i], primitive.values[i + 1]);
  return corners;
}

void require_convex_polygon(std::span<const Vec2<double>> corners) {
  const std::size_t n = corners.size();
  require(n >= 3, "a padded polygon has " + std::to_string(n) + " corners, allowed: 3 or more");
  double turns = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const Vec2<double> before = corners[i] - corners[(i + n - 1) % n],
                       after = corners[(i + 1) % n] - corners[i];
    require(before.allFinite() && after.allFinite(), "corners of a padded polygon must be finite");
    require(cross2(before, after) > 0.0, "corner " + std::to_string(i) +
                                             " of a padded polygon does not turn to the left, allowed: the "
                                             "corners of a convex polygon, anticlockwise");
    turns += std::atan2(cross2(before, after), before.dot(after));
  }
  require(turns < 3.0 * std::numbers::pi, "edges of a padded polygon cross each other");
}

void require_wide_polygon(std::span<const Vec2<double>> corners) {
  require_convex_polygon(corners);
  constexpr double k_least_width = 1e-5;  // of its length: below, what is across it drowns in rounding
  double twice_area = 0.0, length = 0.0;
  for (std::size_t i = 1; i < corners.size(); ++i) {
    const Vec2<double> offset = corners[i] - corners[0];
    twice_area += cross2(corners[i - 1] - corners[0], offset);
    length = std::max(length, offset.norm());
  }
  require(
      twice_area > k_least_width * length * length,
      "the corners of a padded polygon lie on a line, allowed: at least 1e-5 as wide as long, or a capsule");
}

MassProperties padded_polygon_mass_properties(std::span<const Vec2<double>> corners, double radius,
                                              double density) {
  using std::numbers::pi;
  require_convex_polygon(corners);
  require(radius > 0.0 && radius < k_infinity, "the padding of a polygon must be > 0 and finite");
  require(density > 0.0 && density < k_infinity, "the density must be > 0 and finite");
  const double r = radius, r2 = r * r;
  const std::size_t n = corners.size();
  double volume = 0.0, square_z = 0.0;
  Vec2<double> first = Vec2<double>::Zero();         // int x dV from the first corner, in the plane
  Eigen::Matrix2d second = Eigen::Matrix2d::Zero();  // int x x^T dV
  const auto add = [&](double part, const Vec2<double>& from, const Vec2<double>& part_first,
                       const Eigen::Matrix2d& part_second) {
    volume += part;
    first += part * from + part_first;
    second += part * from * from.transpose() + from * part_first.transpose() + part_first * from.transpose() +
              part_second;
  };
  for (std::size_t i = 0; i < n; ++i) {
    const Vec2<double> a = corners[i] - corners[0], b = corners[(i + 1) % n] - corners[0],
                       before = corners[i] - corners[(i + n - 1) % n];
    const double slab = r * cross2(a, b);  // 2 r times the area of the triangle
    add(slab, Vec2<double>::Zero(), slab / 3.0 * (a + b),
        slab / 12.0 * (a * a.transpose() + b * b.transpose() + (a + b) * (a + b).transpose()));
    square_z += slab * r2 / 3.0;

    const double length = (b - a).norm();
    const Vec2<double> u = (b - a) / length, e(u.y(), -u.x());
    add(0.5 * pi * r2 * length, 0.5 * (a + b), 2.0 / 3.0 * r * r2 * length * e,
        pi * r2 * length / 8.0 * (r2 * e * e.transpose() + length * length / 3.0 * u * u.transpose()));
    square_z += pi * r2 * r2 * length / 8.0;

    const double alpha = std::atan2(cross2(before, b - a), before.dot(b - a));
    const Vec2<double> e_before = Vec2<double>(before.y(), -before.x()).normalized(),
                       bisector = (e_before + e).normalized(), across(-bisector.y(), bisector.x());
    add(2.0 / 3.0 * alpha * r * r2, a, 0.25 * pi * r2 * r2 * std::sin(0.5 * alpha) * bisector,
        2.0 / 15.0 * r * r2 * r2 *
            ((alpha + std::sin(alpha)) * bisector * bisector.transpose() +
             (alpha - std::sin(alpha)) * across * across.transpose()));
    square_z += 2.0 / 15.0 * alpha * r * r2 * r2;
  }
  const Vec2<double> middle = first / volume;
  Mat3<double> moments = Mat3<double>::Zero();  // about the centre of mass
  moments.topLeftCorner<2, 2>() = second - volume * middle * middle.transpose();
  moments(2, 2) = square_z;
  MassProperties properties;
  properties.volume = volume;
  properties.mass = density * volume;
  properties.center_of_mass = {corners[0].x() + middle.x(), corners[0].y() + middle.y(), 0.0};
  properties.inertia = density * (moments.trace() * Mat3<double>::Identity() - moments);
  return properties;
}

}  // namespace abut
