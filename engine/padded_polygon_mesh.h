/// Closed, outward oriented mesh of a padded polygon.
#pragma once

#include <span>

#include "engine/mesh.h"
#include "engine/types.h"

namespace abut {

/// All vertices are on the surface: at each corner those of a part of a ball, whose arcs are cut into pieces
/// of at most 180/segments degrees. The flat faces have no vertices but the corners.
///
/// @param corners   of a convex polygon in the plane z = 0, anticlockwise [m]
/// @param radius    [m], > 0
/// @param segments  of the half circle across an edge, even
/// Throws std::invalid_argument for what is no convex polygon, a radius that is not positive and finite, or
/// segments that are odd or not in [2, 1000].
[[nodiscard]] TriangleMesh padded_polygon_mesh(std::span<const Vec2<double>> corners, double radius,
                                               int segments = 8);

}  // namespace abut
