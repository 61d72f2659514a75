/// Convex polyhedra of few planes for the hulls of a decomposition.
#pragma once

#include <vector>

#include "collision/fitting/convex_pieces.h"
#include "collision/fitting/grid_rows.h"

namespace abut {

struct PlaneReduction {
  std::size_t max_planes = 32;  ///< >= 4
  double least_gain = 1.0;      ///< that a plane must be worth [spacings^3], > 0
};

/// A solid, a box around it and a point in it.
struct BoxedSolid {
  HalfSpaces solid;
  Eigen::AlignedBox3d box;
  Vec3<double> inside = Vec3<double>::Zero();
};

/// Of the facets of a hull, the ones that cut most off a box around it: points outside of the mesh count as
/// in GridRows::excess(), points inside a tenth. Planes are added until none is worth its price and the solid
/// is bounded by a box little larger than the hull.
[[nodiscard]] BoxedSolid reduced(const PieceHull& hull, const GridRows& rows, const PlaneReduction& options);

/// Moves planes of solids that cover a mesh together. Those around its surface move inwards, as long as more
/// of what they cut off is outside of the mesh than inside and in no other solid; those beyond which there is
/// nothing but inside of the mesh outwards, by 0.4 of a spacing, so that solids overlap.
void settle_planes(std::vector<BoxedSolid>& solids, const GridRows& rows);

}  // namespace abut
