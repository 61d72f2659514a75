/// The edges of a closed triangle mesh.
#pragma once

#include <vector>

#include "engine/mesh.h"

namespace abut {

struct MeshEdge {
  int start = -1, end = -1;  ///< vertices, start < end
  double area = 0.0;         ///< one third of the area of its two triangles [m^2]; these sum to the surface
};

/// Every edge of the mesh once, in ascending order of (start, end), but for those of length 0.
[[nodiscard]] std::vector<MeshEdge> mesh_edges(const TriangleMesh& mesh);

}  // namespace abut
