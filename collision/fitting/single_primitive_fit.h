/// Shapes of one primitive that takes a mesh as it is: its convex hull, or points on it.
#pragma once

#include <cstddef>

#include "engine/mesh.h"
#include "engine/model.h"

namespace abut {

/// One convex polyhedron around the vertices of a mesh [m]: the planes of their hull, or, if these are more,
/// as many support planes with normals of facets that are spread out as far as can be.
///
/// @param max_planes  >= 4
/// Throws std::invalid_argument for vertices (nearly) in one plane, or if so few planes enclose nothing.
[[nodiscard]] Shape hull_shape(const TriangleMesh& mesh, std::size_t max_planes = 64);

/// The points (3, n) that are farthest in one of the directions of sphere_mesh(1, subdivisions), in their
/// order, if there are more than `most`; else all: the corners of their hull, or as many as matter.
[[nodiscard]] Points extreme_points(const Points& points, int most = 1000, int subdivisions = 3);

/// One oriented point cloud of `points` points, >= 4, spread over a closed mesh [m] by area.
[[nodiscard]] Shape point_cloud_shape(const TriangleMesh& mesh, std::size_t points = 1000);

}  // namespace abut
