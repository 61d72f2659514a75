/// Triangle meshes: the surface of a body, closed and oriented outwards.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/types.h"

namespace abut {

/// A triangle mesh. Vertices are stored as a structure of arrays (one row a coordinate).
struct TriangleMesh {
  Points vertices;                         ///< (3, n) positions [m], in the body frame
  std::vector<Eigen::Vector3i> triangles;  ///< vertex indices, counter-clockwise seen from outside

  [[nodiscard]] int vertex_count() const { return static_cast<int>(vertices.cols()); }
  [[nodiscard]] int triangle_count() const { return static_cast<int>(triangles.size()); }
  /// Of a closed mesh: every edge belongs to two triangles.
  [[nodiscard]] int edge_count() const { return triangle_count() * 3 / 2; }
};

/// Throws std::invalid_argument naming `name`, the element and the cause unless the mesh has at least four
/// vertices, finite coordinates, indices in range, no degenerate triangle (repeated index), no vertex without
/// a triangle, and is closed and consistently oriented: every directed edge occurs exactly once and its
/// opposite exactly once. Elements are counted from 0.
void require_closed_surface(const TriangleMesh& mesh, const std::string& name);

/// The longest side of the box along the axes around the mesh [m].
[[nodiscard]] double largest_extent(const TriangleMesh& mesh);

/// One third of the area of the triangles around each vertex [m^2]; sums to the surface area.
[[nodiscard]] std::vector<double> vertex_areas(const TriangleMesh& mesh);

/// (3, n) at each vertex a third of the areas of its triangles, along their outward normals [m^2].
[[nodiscard]] Points vertex_area_vectors(const TriangleMesh& mesh);

}  // namespace abut
