/// Thin walls and narrow gaps of a mesh: widths along rays from its surface, and the grid that resolves them.
#pragma once

#include "collision/fitting/mesh_repair.h"
#include "engine/types.h"

namespace abut {

/// What a ray from a point of a mesh meets first.
struct OppositeSide {
  double distance = k_infinity;  ///< [m]; infinite if there is nothing
  int triangle = -1;             ///< of RepairedMesh::surface(); -1 then
};

/// From a point of the surface along its inward or outward normal, of length 1.
[[nodiscard]] OppositeSide opposite_side(const RepairedMesh& mesh, const Vec3<double>& point,
                                         const Vec3<double>& direction);

/// Cubes of a mesh of the fitted shape (MeshedBodyOptions::resolution), to a spacing of the distance grid.
inline constexpr double k_cubes_per_spacing = 1.6;

/// Spacings of a distance grid along the longest side of a mesh, and what they are for.
struct GridResolution {
  int spacings = 80;
  double width = 0.0;        ///< of the walls or gaps for which these are more than 80 [m]; 0: they are not
  bool is_for_gaps = false;  ///< rather than for walls

  /// Along the longest side of the shape: 128 for 80 spacings.
  [[nodiscard]] int cubes() const { return static_cast<int>(k_cubes_per_spacing * spacings + 0.5); }
};

/// The finest that resolution_for() chooses: memory and time grow with the third power.
inline constexpr GridResolution k_finest_resolution{160};

/// 80 spacings, or as many as thin walls and narrow gaps need, one and a half across each, but no more than
/// 160.
///
/// Rays measure the thickness behind, and the gap in front of, points spread over the surface. It is the
/// width that 2 % of the surface have at most that counts, of walls or of gaps, whichever is less. Points
/// whose opposite side is not parallel to within 20 degrees do not count: edges of wedges, tips of cones and
/// inner corners are thin however fine the grid. Nor do widths of less than the smallest spacing,
/// which would be lost all the same. Depends on the mesh alone.
[[nodiscard]] GridResolution resolution_for(const RepairedMesh& mesh);

}  // namespace abut
