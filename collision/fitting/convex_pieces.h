/// Pieces of a solid cut by planes: their runs on a grid, their part of the mesh, and their convex hull.
///
/// Lengths are in units of the grid's spacing, as in grid_rows.h.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "collision/fitting/grid_rows.h"
#include "engine/mesh.h"
#include "engine/types.h"

namespace abut {

using TriangleCorners = std::array<Vec3<double>, 3>;

/// A convex hull, with facets of nearly one normal merged.
struct PieceHull {
  Points corners{3, 0};
  HalfSpaces solid;
  Eigen::AlignedBox3d box;
  double excess = 0.0;  ///< GridRows::excess()
};

/// The hull of points (3, n); none where they lie (nearly) in one plane.
[[nodiscard]] std::optional<PieceHull> hull_of(const Points& points, const GridRows& rows);
/// The same of those that are farthest in one of 162 directions: for comparisons.
[[nodiscard]] std::optional<PieceHull> rough_hull_of(const Points& points, const GridRows& rows);

/// A connected piece of the inside of a mesh. Its hull is that of its triangles, clipped exactly, and of the
/// ends of its runs.
struct ConvexPiece {
  std::vector<RowRun> runs;
  std::vector<TriangleCorners> triangles;  ///< of the mesh, clipped by the planes that cut the piece out
  double volume = 0.0;
  PieceHull hull;
};

struct CutPlane {
  Vec3<double> normal = Vec3<double>::UnitX();
  double offset = 0.0;
};

/// The connected pieces of a solid as a whole. Triangles further than a spacing from its runs belong to none.
[[nodiscard]] std::vector<ConvexPiece> whole_pieces(std::vector<RowRun> runs,
                                                    const std::vector<TriangleCorners>& triangles,
                                                    const GridRows& rows);

/// The connected pieces on the two sides of a plane; those of next to no volume, or too flat for a hull, are
/// left out.
[[nodiscard]] std::vector<ConvexPiece> cut(const ConvexPiece& piece, const CutPlane& plane,
                                           const GridRows& rows);

/// What a cut would come to, from the runs alone.
struct CutEstimate {
  double excess = 0.0;     ///< of the hulls of the pieces
  double imbalance = 0.0;  ///< |difference of the volumes on the two sides|, relative to their sum
};
/// None where one side has less than 1 % of the volume.
[[nodiscard]] std::optional<CutEstimate> estimate_cut(const ConvexPiece& piece, const CutPlane& plane,
                                                      const GridRows& rows);

/// The triangles of a mesh [m] in the units of a grid, none with an edge longer than one and a half.
[[nodiscard]] std::vector<TriangleCorners> fine_triangles(const TriangleMesh& mesh, const GridRows& rows);

/// A plane that a flat part of a mesh lies in.
struct FacePlane {
  CutPlane plane;
  double area = 0.0;  ///< [spacings^2]
};

/// The planes of the flat parts of a mesh, the largest first; those of less than one four-hundredth of its
/// area are left out. Triangles count as coplanar within 0.3 of a spacing and 2 degrees.
[[nodiscard]] std::vector<FacePlane> face_planes(const TriangleMesh& mesh, const GridRows& rows);

}  // namespace abut
