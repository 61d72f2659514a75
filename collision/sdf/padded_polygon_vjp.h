/// Reverse mode of the signed distance and normal of a padded polygon with respect to its padding and
/// corners.
#pragma once

#include <cstddef>

#include "collision/sdf/padded_polygon.h"
#include "engine/types.h"

namespace abut {

/// Calls use(i, share of parameter i in dL), parameters as of for_each_parameter_derivative(), given dL/dd
/// and dL/dn at x_B. With the closest point c at the share s of an edge from a to b of direction u and length
/// l, R = x - c and delta = (1 - s) da + s db,
///   dn = -(I - u u^T - n n^T) delta/|R| - u (n.(db - da))/l   along an edge
///   dn = -(I - n n^T) da/|R|                                  at a corner
///   dn = 0                                                    before a face and on the polygon
template <typename Use>
void sample_parameter_vjp(const PaddedPolygonSolid<double>& solid, const Vec3<double>& x_B,
                          double distance_bar, const Vec3<double>& normal_bar, const Use& use) {
  for_each_parameter_derivative<double>(
      solid, x_B, [&](std::size_t k, double derivative) { use(k, distance_bar * derivative); });
  const Vec3<double> x_P = solid.R_BP.transpose() * (x_B - solid.centre),
                     n_bar = solid.R_BP.transpose() * normal_bar;
  const ClosestOnPolygon<double> at = closest_on_polygon<double>(solid, x_P);
  const double length = at.offset.norm();
  if (at.is_face > 0.0 || length == 0.0) return;
  std::size_t nearest = 0;
  double share = 0.0;
  for_each_edge<double>(solid, x_P, [&](std::size_t i, bool is_nearest, const EdgePlace<double>& place) {
    if (!is_nearest) return;
    nearest = i;
    share = place.along / solid.edges[i].length;
  });
  const Vec3<double> n = at.offset / length, u(at.along[0], at.along[1], 0.0);  // u = 0 at a corner
  const Vec3<double> across = (n_bar - n.dot(n_bar) * n - u.dot(n_bar) * u) / length,
                     turn = u.dot(n_bar) / solid.edges[nearest].length * n;
  const std::size_t next = (nearest + 1) % solid.edges.size();
  for (Eigen::Index axis = 0; axis < 2; ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    use(1 + 2 * nearest + k, turn[axis] - (1.0 - share) * across[axis]);
    use(1 + 2 * next + k, -turn[axis] - share * across[axis]);
  }
}

}  // namespace abut
