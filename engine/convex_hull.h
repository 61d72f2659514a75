/// Convex hulls of points, and the corners of the solid between planes.
#pragma once

#include <span>
#include <vector>

#include "engine/types.h"

namespace abut {

/// The half-spaces normal.x <= offset whose intersection is the hull.
struct ConvexHull {
  Points vertices;              ///< (3, n) those of the given points that are corners, in their order [m]
  Points normals;               ///< (3, f) outward unit normals of the facets
  std::vector<double> offsets;  ///< (f) [m]
  /// The surface as triangles of vertices, counter-clockwise seen from outside. Coplanar ones are not merged,
  /// and some may have no area.
  std::vector<Eigen::Vector3i> triangles;
};

/// The convex hull of points (3, n) [m].
///
/// Facets with normals within `merge_angle` [rad] of a larger one's become one with it, its normal the mean
/// weighted by area and its offset such that all points stay inside. A small angle merges the coplanar
/// triangles of a mesh; a large one simplifies the hull, which then grows.
/// Throws std::invalid_argument if the points are fewer than four, not finite, or (nearly) in one plane.
[[nodiscard]] ConvexHull convex_hull(const Points& points, double merge_angle = 1e-4);

/// The corners (3, n) [m] of the solid of all x with normals.col(i).x <= offsets[i]; it contains the origin.
/// Throws std::invalid_argument if an offset is not > 0, or the solid is unbounded.
[[nodiscard]] Points polyhedron_vertices(const Points& normals, std::span<const double> offsets);

}  // namespace abut
