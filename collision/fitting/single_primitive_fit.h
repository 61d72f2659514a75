/// Shapes of one primitive that takes a mesh as it is: its convex hull, or points on it.
#pragma once

#include <cstddef>

#include "engine/mesh.h"
#include "engine/model.h"

namespace abut {

/// One convex polyhedron around the vertices of a mesh [m]. Facets of the hull are merged, those that differ
/// least first, until there are at most `max_planes`; the more are merged, the more the hull grows.
/// Throws std::invalid_argument for vertices (nearly) in one plane.
[[nodiscard]] Shape hull_shape(const TriangleMesh& mesh, std::size_t max_planes = 64);

/// One oriented point cloud of `points` points, >= 4, spread over a closed mesh [m] by area.
[[nodiscard]] Shape point_cloud_shape(const TriangleMesh& mesh, std::size_t points = 1000);

}  // namespace abut
