/// A signed distance function fitted to a mesh: repair, distance grid, primitives.
#pragma once

#include <optional>

#include "collision/fitting/convex_decomposition.h"
#include "collision/fitting/distance_grid.h"
#include "collision/fitting/marching_primitives.h"
#include "collision/fitting/mesh_repair.h"
#include "collision/fitting/primitive_replacement.h"
#include "collision/fitting/shape_growth.h"
#include "collision/fitting/union_refinement.h"
#include "collision/fitting/wall_thickness.h"
#include "engine/mesh.h"
#include "engine/model.h"

namespace abut {

/// What the shape is made of.
///   automatic      superquadrics, the hull, or convex polyhedra, mixed with other kinds: whichever has the
///                  highest merit(), the occupancy IoU less 0.0005 times the cost of a query, of those within
///                  the tolerance. Superquadrics and polyhedra that are about spheres, capsules, boxes or
///                  cylinders become that where it is worth it (take_cheaper_kinds). Convex polyhedra are
///                  tried, by themselves and in place of superquadrics (take_polyhedra), where at least 30 %
///                  of the surface is flat (flat_share)
///   superquadrics  added and subtracted
///   convex         a union of convex polyhedra (convex_decomposition.h)
///   hull           one convex polyhedron (hull_shape)
///   point_cloud    one oriented point cloud (point_cloud_shape)
enum class FitMethod { automatic, superquadrics, convex, hull, point_cloud };

struct MeshFitOptions {
  FitMethod method = FitMethod::automatic;
  /// Spacings of the distance grid along the longest side of the mesh, >= 8; default: 80, or up to 160 where
  /// walls or gaps are thin (resolution_for).
  std::optional<int> resolution;
  int max_primitives = 30;  ///< superquadrics or convex polyhedra, >= 1
  /// Mean distance of the mesh from the zero set, relative to its size, > 0: superquadrics or convex
  /// polyhedra without which the fit is still as close are left out.
  std::optional<double> tolerance;
  /// That the body will have [m], > 0; default: default_union_smoothing() of what is fitted.
  std::optional<double> union_smoothing;
  int threads = 0;  ///< 0: as many as the machine has; changes no result
  MeshingProgress progress = {};
};

/// A shape, and how its primitives were found.
struct FittedUnion {
  Shape shape;  ///< in the frame of the mesh, with its union smoothing
  MarchingPrimitivesReport marching;
  UnionRefinementReport refinement;
  ShapeGrowthReport growth;
  ReplacementReport cheaper_kinds, polyhedra;  ///< that took the place of others
  ConvexDecompositionReport decomposition;
};

struct FittedMesh : FittedUnion {
  FitMethod method = FitMethod::superquadrics;  ///< that it began with, not `automatic`
  RepairedMesh repaired;
  GridResolution resolution;
  DistanceGrid grid;
  double mean_distance = 0.0;  ///< |d| on the surface of the mesh: what the tolerance bounds [m]
};

/// Fits a shape to a mesh, whose coordinates are in metres: a smooth union of superquadrics and of
/// what takes their place, or of convex polyhedra, or one primitive.
///
/// The result depends on the mesh and the options alone. Throws std::invalid_argument for options out of
/// range, for what repair_mesh() refuses, and for a solid too thin for the grid to have a point inside.
[[nodiscard]] FittedMesh fit_mesh(const TriangleMesh& mesh, const MeshFitOptions& options = {});

}  // namespace abut
