/// Single triangles: shape, and distance from a point.
#pragma once

#include <numbers>

#include "engine/types.h"

namespace abut {

/// 4 sqrt(3) area/(sum of squared edges): 1 for an equilateral triangle, 0 for one without area.
[[nodiscard]] inline double triangle_quality(const Vec3<double>& a, const Vec3<double>& b,
                                             const Vec3<double>& c) {
  const Vec3<double> ab = b - a, bc = c - b, ca = a - c;
  const double squares = ab.squaredNorm() + bc.squaredNorm() + ca.squaredNorm();
  return squares > 0.0 ? 2.0 * std::numbers::sqrt3 * ab.cross(bc).norm() / squares : 0.0;
}

/// From the point of the triangle (a, b, c) that is nearest to p, to p [m]; by which feature is nearest.
/// @see  Ericson (2005), "Real-time collision detection", sec. 5.1.5.
[[nodiscard]] inline Vec3<double> offset_from_triangle(const Vec3<double>& p, const Vec3<double>& a,
                                                       const Vec3<double>& b, const Vec3<double>& c) {
  const Vec3<double> ab = b - a, ac = c - a, ap = p - a, bp = p - b, cp = p - c;
  const double d1 = ab.dot(ap), d2 = ac.dot(ap), d3 = ab.dot(bp), d4 = ac.dot(bp), d5 = ab.dot(cp),
               d6 = ac.dot(cp);
  if (d1 <= 0.0 && d2 <= 0.0) return ap;
  if (d3 >= 0.0 && d4 <= d3) return bp;
  if (d6 >= 0.0 && d5 <= d6) return cp;
  const double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
  if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) return ap - d1 / (d1 - d3) * ab;
  if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) return ap - d2 / (d2 - d6) * ac;
  if (va <= 0.0 && d4 >= d3 && d5 >= d6) return bp - (d4 - d3) / (d4 - d3 + d5 - d6) * (c - b);
  return ap - (vb * ab + vc * ac) / (va + vb + vc);
}

/// Squared distance [m^2] of p from the triangle (a, b, c).
[[nodiscard]] inline double squared_distance_to_triangle(const Vec3<double>& p, const Vec3<double>& a,
                                                         const Vec3<double>& b, const Vec3<double>& c) {
  return offset_from_triangle(p, a, b, c).squaredNorm();
}

}  // namespace abut
