/// Padded cores made of points or half-spaces, at set-up.
///
/// @see  proximity_qp_core.h
#pragma once

#include <span>
#include <stdexcept>
#include <string>

#include "collision/convex/proximity_qp_core.h"
#include "engine/types.h"

namespace abut {

/// A core of any dimension and number of constraints.
struct CoreConstraints {
  int dim = 0;
  Vec3<double> centre = Vec3<double>::Zero();  ///< strictly inside [m]
  Mat3<double> axes = Mat3<double>::Zero();    ///< its first dim columns are Q
  Points normals;                              ///< (3, k) the first dim rows are a_i [1/m]
  double size = 0;                             ///< [m]
};

/// The segment from start to end [m].
/// Throws std::invalid_argument if they are not finite or the same.
[[nodiscard]] CoreConstraints segment_core(const Vec3<double>& start, const Vec3<double>& end);

/// The convex hull of points [m] that lie in a plane, up to 1e-9 of their extent; their order does not
/// matter. The centre is that of its area. Throws std::invalid_argument if they are fewer than three, not
/// finite, not in a plane, or (nearly) collinear.
[[nodiscard]] CoreConstraints polygon_core(std::span<const Vec3<double>> vertices);

/// The convex hull of points (3, n) [m]; coplanar facets are one constraint. The centre is the mean of its
/// corners.
/// Throws std::invalid_argument if the points are fewer than four, not finite, or (nearly) in one plane.
[[nodiscard]] CoreConstraints polytope_core(const Points& vertices);

/// The solid of all x with normals.col(i).x <= offsets[i] [m], which contains the origin, its centre.
/// Throws std::invalid_argument if an offset is not > 0, the sizes differ, or the solid is unbounded.
[[nodiscard]] CoreConstraints polytope_core(const Points& normals, std::span<const double> offsets);

/// The core as a type of fixed size, for kernels; spare constraints are 0.
///
/// @param padding  [m], >= 0
/// Throws std::invalid_argument if its dimension is another, it has more constraints, or the padding is < 0.
template <int dim, int constraints>
[[nodiscard]] PaddedCore<double, dim, constraints> padded(const CoreConstraints& core, double padding) {
  if (core.dim != dim)
    throw std::invalid_argument("a core of dimension " + std::to_string(core.dim) + ", expected " +
                                std::to_string(dim));
  if (core.normals.cols() > constraints)
    throw std::invalid_argument("a core has " + std::to_string(core.normals.cols()) +
                                " constraints, at most " + std::to_string(constraints) +
                                " are possible here");
  if (!(padding >= 0.0) || padding == k_infinity)
    throw std::invalid_argument("padding must be finite and not negative");
  PaddedCore<double, dim, constraints> r{};
  r.centre = core.centre;
  r.size = core.size;
  r.padding = padding;
  for (int k = 0; k < dim; ++k) {
    r.axes[k] = core.axes.col(k);
    for (int i = 0; i < core.normals.cols(); ++i) r.normals[i][k] = core.normals(k, i);
  }
  return r;
}

/// The same numbers in each lane of a pack, in another precision, or as constants of a forward-mode number.
template <typename S, int dim, int constraints>
[[nodiscard]] PaddedCore<S, dim, constraints> cast(const PaddedCore<double, dim, constraints>& core) {
  PaddedCore<S, dim, constraints> r;
  r.size = S(core.size);
  r.padding = S(core.padding);
  for (int i = 0; i < 3; ++i) {
    r.centre[i] = S(core.centre[i]);
    for (int k = 0; k < dim; ++k) r.axes[k][i] = S(core.axes[k][i]);
  }
  for (int i = 0; i < constraints; ++i) {
    for (int k = 0; k < dim; ++k) r.normals[i][k] = S(core.normals[i][k]);
  }
  return r;
}

}  // namespace abut
