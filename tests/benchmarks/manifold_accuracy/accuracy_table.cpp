#include "accuracy_table.h"
#include "engine/random.h"

#include <array>

namespace abut::accuracy {

std::span<const AccuracyTable> accuracy_tables() {
  static constexpr std::array list{
      AccuracyTable{"vertex_sdf", "vertices at a signed distance function",
                    "Points outside, at a gap along the normal of a random point of the mesh, against the "
                    "nearest point of the mesh. Lengths by the size, angles in degrees.",
                    measure_vertex_sdf},
      AccuracyTable{"edge_edge", "contacts of two edges",
                    "Edges of random dihedral angles whose lines cross at a clearance, against the exact "
                    "contact. Lengths by the size, angles in degrees.",
                    measure_edge_edge},
      AccuracyTable{
          "crossings", "edge contacts of convex bodies whose edges cross",
          "Random bodies and orientations, 0.1 % of the size deep in each other, where two edges are "
          "the closest features. Lengths by the size, angles in degrees.",
          measure_crossings},
      AccuracyTable{"convex", "convex primitives",
                    "Points whose projection to the polyhedron is known, by what they project to. Lengths by "
                    "the size, angles in degrees.",
                    measure_convex},
      AccuracyTable{
          "derivative_differences", "derivatives of contacts against central differences",
          "Two armadillos in random colliding poses: columns of blocks by the motion of B, and the VJP "
          "of the detector by both poses. Lengths by the size.",
          measure_derivative_differences},
      AccuracyTable{
          "paths", "finite-difference Lipschitz constants along paths",
          "Straight paths through contact, at steps of h = 1e-4 and its halves. Lengths by the size.",
          measure_paths},
      AccuracyTable{"single_precision", "float against double",
                    "Manifolds of two armadillos in random colliding poses. Lengths by the size.",
                    measure_single_precision},
      AccuracyTable{"force", "forces of edge contacts: derivatives, and jumps where contacts come and go",
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
