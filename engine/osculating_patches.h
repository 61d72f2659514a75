/// Osculating patches: normal and curvature of a closed mesh's smooth surface at its vertices.
///
/// At a vertex the surface has, over the tangent plane of its normal n and the principal directions e_1, e_2, the height
///   z + z^2/(2 a) = -(k_1 u^2 + k_2 v^2)/2 + third order,
/// which is exact on the ellipsoid with the principal curvatures k_i and the semi-axis a along n. All are fitted to the
/// vertices around, two edges far (osculating jets: Cazals and Pouget, 2005); third derivatives are fitted with them and
/// dropped.
#pragma once

#include <vector>

#include "engine/mesh.h"
#include "engine/types.h"

namespace abut {

struct OsculatingPatch {
  /// Whether the vertex is on a smooth, convex, curved part of the surface: its own ellipsoid meets the tangent planes of
  /// its neighbours.
  bool is_round = false;
  Vec3<double> normal = Vec3<double>::Zero();     ///< outwards
  Vec3<double> direction = Vec3<double>::Zero();  ///< e_1
  Vec2<double> radii =
      Vec2<double>::Zero();  ///< 1/k_1 and 1/k_2 [m]; 0 in the second place: it is straight along e_2
  Vec2<double> cell = Vec2<double>::Zero();  ///< the extents of the vertex' edges along e_1 and e_2 [m]
};

/// The patch of each vertex of a closed mesh.
///
/// @param area_vectors  (3, n): outwards, of each vertex
[[nodiscard]] std::vector<OsculatingPatch> osculating_patches(const TriangleMesh& mesh,
                                                              const Points& area_vectors);

}  // namespace abut
