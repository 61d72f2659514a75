/// Approximate convex decomposition: a union of convex polyhedra for a solid that is not convex.
#pragma once

#include <functional>
#include <vector>

#include "collision/fitting/distance_grid.h"
#include "collision/fitting/mesh_repair.h"
#include "engine/model.h"

namespace abut {

struct ConvexDecompositionOptions {
  int max_parts = 30;        ///< >= 1
  int max_planes = 32;       ///< of a part, >= 4
  double least_gain = 5e-4;  ///< volume, relative to that of the solid, that a part must be worth, >= 0
  /// If it is there, parts are merged and left out in the end, those that matter least first, as long as it
  /// holds of what is left.
  std::function<bool(const std::vector<Primitive>&)> is_good_enough = {};
  int threads = 0;  ///< 0: as many as the machine has; changes no result
  MeshingProgress progress = {};
};

struct ConvexDecompositionReport {
  int pieces = 0;  ///< that the solid was cut into
  int planes = 0;  ///< of all parts in the end
};

struct ConvexDecomposition {
  std::vector<Primitive> parts;  ///< convex polyhedra, in the frame of the mesh [m]
  ConvexDecompositionReport report;
};

/// Cuts the inside of a mesh by planes until the pieces are nearly convex, and covers it by the hulls of as
/// few unions of pieces as are worth it.
///
///   1. The piece whose hull has most outside of the mesh is cut, as long as that is more than a fifth of
///      `least_gain` of the volume and there are fewer than 10 + 2 max_parts pieces. Planes tried are those
///      of flat faces of the mesh, and evenly spaced ones; the best leaves least outside of the mesh in the
///      hulls of the connected pieces that it makes, and among equals halves the volume.
///   2. Two pieces become the hull of both, or one is left out, the cheapest first, as long as what the hulls
///      have outside of the mesh grows by less than `least_gain` for each, or there are too many. Hulls may
///      overlap: of the mesh's own inside they can have any part.
///   3. Of the facets of a hull those are taken that cut most off, each worth an eighth of `least_gain`; they
///      move inwards where that makes points agree with the mesh, and faces within the mesh outwards by 0.4
///      of a spacing, so that parts overlap.
///
/// The result depends on the mesh, the grid and the options alone. It has no parts if the grid has no inside.
/// Throws std::invalid_argument for options out of range.
[[nodiscard]] ConvexDecomposition decompose(const TriangleMesh& mesh, const DistanceGrid& grid,
                                            const ConvexDecompositionOptions& options = {});

/// Makes edges of the convex polyhedra of a union at most half as smooth as the union.
void bound_edges(Shape& shape);

/// Which part of the surface of a mesh is made of flat faces of more than 1.5 % of it, in [0, 1].
[[nodiscard]] double flat_share(const TriangleMesh& mesh, const DistanceGrid& grid);

}  // namespace abut
