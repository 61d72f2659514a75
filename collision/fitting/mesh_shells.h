/// Second part of mesh repair: edges, shells, and a consistent orientation of each shell.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/mesh.h"
#include "engine/types.h"

namespace abut {

/// Triangles connected by edges that two of them share.
struct MeshShell {
  int first_triangle = -1;  ///< the lowest
  int triangles = 0;
  int rim_edges = 0;  ///< sides of its triangles that no triangle of the shell lies on the other side of
  double area = 0.0;  ///< [m^2]
  /// Of the closed surface that the shell and a cone over its rim make, with the apex at the middle of the
  /// rim [m^3]; negative if the shell faces inwards.
  double volume = 0.0;
  Eigen::AlignedBox3d box;  ///< [m]
};

/// The connectivity of a mesh, its triangles turned so that those of a shell agree.
struct MeshShells {
  std::vector<MeshShell> shells;  ///< in the order of their lowest triangles
  std::vector<int> shell_of_triangle;
  std::vector<std::uint8_t> turned;  ///< 1 for each triangle that was turned, relative to the input
  int boundary_edges = 0;            ///< with one triangle
  int holes = 0;                     ///< connected sets of boundary edges
  int non_manifold_edges = 0;        ///< with more than two triangles
  int twisted_edges = 0;             ///< where a shell disagrees with itself: it has one side only
};

/// Finds the shells of a mesh without degenerate triangles, and turns triangles (exchanges two corners):
/// those of a shell agree with more than half of its area as it was. Edges of more than two triangles do not
/// connect. Takes O(n), 50 bytes a triangle beside the result.
[[nodiscard]] MeshShells orient_shells(TriangleMesh& mesh);

/// Whether every edge is passed as often one way as the other: then the winding number is whole everywhere.
[[nodiscard]] bool is_balanced(const TriangleMesh& mesh);

}  // namespace abut
