#include "accuracy_table.h"

#include <array>

namespace abut::accuracy {

std::span<const AccuracyTable> accuracy_tables() {
  static constexpr std::array list{
      AccuracyTable{"vertex_sdf", "vertices at a signed distance function",
                    "Points outside, at a gap along the normal of a random point of the mesh, against the "
                    "nearest point of the mesh. Lengths by the size, angles in degrees.",
                    measure_vertex_sdf},
      AccuracyTable{"edge_edge", "distance and normal of two edges",
                    "Edges of length 0.5 to 1 that cross at 30 to 150 degrees, their surfaces' normals wrong "
                    "by 12 degrees, against a refined grid. Lengths by the size, angles in degrees.",
                    measure_edge_edge},
      AccuracyTable{"vertex_face", "distance of a vertex and a face",
                    "Triangles with corners at 0.4 to 0.6 from their middle, vertices at random and at a "
                    "gap, against the "
                    "nearest point of the triangle. Lengths by 1.",
                    measure_vertex_face},
      AccuracyTable{"convex", "convex primitives",
                    "Points whose projection to the polyhedron is known, by what they project to. Lengths by "
                    "the size, angles in degrees.",
                    measure_convex},
      AccuracyTable{"edge_normals", "constant normals of edges, from the signed distance or from the faces",
                    "Edges of armadillos that touch along a direction between the normals of their faces. "
                    "Angles in degrees.",
                    measure_edge_normals},
      AccuracyTable{"derivative_differences", "derivatives of edge contacts against central differences",
                    "All pairs of the 18 deepest edges of two armadillos in random colliding poses, by the "
                    "six components of the pose of B. Lengths by the size.",
                    measure_derivative_differences},
      AccuracyTable{
          "paths", "changes of edge contacts along paths, against their own derivatives",
          "Straight paths through contact, all pairs of the 18 edges that are deepest in the middle.",
          measure_paths},
      AccuracyTable{"single_precision", "float against double",
                    "Manifolds of two armadillos in random colliding poses. Lengths by the size.",
                    measure_single_precision},
      AccuracyTable{"force", "forces of edge contacts: derivatives, and jumps where the selection changes",
                    "F = sum of activity psi n, psi = (sqrt(d^2 + tau^2) - d)/2, of two armadillos. Lengths "
                    "by the size.",
                    measure_force},
      AccuracyTable{"vertex_depth", "distances inside a body, by distance mode",
                    "Points below the surface of the armadillo, against the nearest point of the surface.",
                    measure_vertex_depth},
  };
  return list;
}

const AccuracyTable* find_accuracy_table(std::string_view name) {
  for (const AccuracyTable& table : accuracy_tables()) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

}  // namespace abut::accuracy
