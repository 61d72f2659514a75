/// Closed, outward oriented meshes of simple shapes about the origin. All throw std::invalid_argument for a
/// size that is not positive and finite, or a count that is too small.
#pragma once

#include "engine/mesh.h"

namespace abut {

/// A box cut into `subdivisions` squares along each edge: 6 n^2 + 2 vertices, n = 4 -> 98. For even n the
/// mesh has the three mirror planes of the box, so its vertex areas put no corner before another.
[[nodiscard]] TriangleMesh box_mesh(const Vec3<double>& half_extents, int subdivisions = 4);

/// An icosahedron whose triangles are cut in four `subdivisions` times, on the sphere: 10 4^n + 2 vertices.
[[nodiscard]] TriangleMesh sphere_mesh(double radius, int subdivisions = 3);

/// A capsule about the z axis: `segments` meridians, and segments/4 rings on each half sphere.
[[nodiscard]] TriangleMesh capsule_mesh(double radius, double half_length, int segments = 24);

}  // namespace abut
