#include "collision/fitting/fit_mesh.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "collision/fitting/cavity_filling.h"
#include "collision/fitting/fit_quality.h"
#include "collision/fitting/shape_growth.h"
#include "collision/fitting/shape_on_grid.h"
#include "collision/fitting/single_primitive_fit.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/body_builder.h"
#include "engine/check.h"

namespace abut {
namespace {

constexpr std::size_t k_judged_points = 5000;
constexpr double k_least_cavities = 0.05;  // of the inside: larger ones are cut out of a fit without them

/// Of points from the zero set, by the signed distance function [m].
double mean_distance(const Shape& shape, const Points& points) {
  const ShapeSdf sdf(shape);
  double sum = 0.0;
  for (Eigen::Index i = 0; i < points.cols(); ++i) sum += std::abs(sdf.distance<double>(points.col(i)));
  return sum / static_cast<double>(std::max<Eigen::Index>(points.cols(), 1));
}

UnionRefinementOptions refinement_of(const MeshFitOptions& options) {
  UnionRefinementOptions refinement;
  refinement.max_primitives = options.max_primitives;
  refinement.threads = options.threads;
  refinement.progress = options.progress;
  return refinement;
}

/// Superquadrics that fill the inside of a grid `start`, completed against the grid of the mesh.
FittedUnion fit_superquadrics(const DistanceGrid& start, const DistanceGrid& grid, double union_smoothing,
                              const MeshFitOptions& options) {
  MarchingPrimitivesOptions marching;
  marching.max_primitives = options.max_primitives;
  marching.progress = options.progress;
  FittedSuperquadrics found = march_primitives(start, marching);
  FittedUnion result;
  result.shape.union_smoothing = union_smoothing;
  result.shape.primitives = std::move(found.primitives);
  result.marching = found.report;
  if (result.shape.primitives.empty()) return result;
  const UnionRefinementOptions refinement = refinement_of(options);
  result.refinement = refine_union(result.shape, start, refinement);
  ShapeGrowthOptions growth;
  growth.max_primitives = options.max_primitives;
  growth.refinement = refinement;
  result.growth = grow_shape(result.shape, grid, growth);
  return result;
}

/// The IoU, less what each superquadric has to be worth.
double merit(const FittedUnion& fitted) {
  return fitted.growth.iou_after -
         ShapeGrowthOptions().least_gain * static_cast<double>(fitted.shape.primitives.size());
}

/// The same of one convex polyhedron, of which eight planes cost about as much as a superquadric.
double merit(const Shape& hull, const DistanceGrid& grid, int threads) {
  constexpr double k_planes = 8.0;
  const double iou =
      occupancy_iou(grid, distances_on_grid(ShapeSdf(hull), grid, grid.grid.cell_size, threads));
  return iou -
         ShapeGrowthOptions().least_gain * static_cast<double>(hull.primitives[0].values.size()) / k_planes;
}

std::optional<Shape> hull_if_any(const TriangleMesh& mesh) {
  try {
    return hull_shape(mesh);
  } catch (const std::invalid_argument&) {  // too flat
    return std::nullopt;
  }
}

/// Superquadrics from the grid of the mesh, or with its cavities filled and then cut out: the better of both.
FittedUnion fit_superquadrics(const DistanceGrid& grid, double union_smoothing,
                              const MeshFitOptions& options) {
  FittedUnion fitted = fit_superquadrics(grid, grid, union_smoothing, options);
  const FilledGrid filled = fill_cavities(grid, k_least_cavities);
  if (filled.filled > 0) {
    FittedUnion other = fit_superquadrics(filled.grid, grid, union_smoothing, options);
    if (merit(other) > merit(fitted)) fitted = std::move(other);
  }
  return fitted;
}

/// Leaves out superquadrics as long as the tolerance allows it.
void thin_out(const MeshFitOptions& options, const Points& surface, FittedMesh& result) {
  UnionRefinementOptions thinning = refinement_of(options);
  thinning.rounds = 0;
  thinning.is_good_enough = [&](const Shape& shape) {
    return mean_distance(shape, surface) <= *options.tolerance * result.repaired.report.size;
  };
  result.refinement.thinned_out = refine_union(result.shape, result.grid, thinning).thinned_out;
}

}  // namespace

FittedMesh fit_mesh(const TriangleMesh& mesh, const MeshFitOptions& options) {
  require(options.resolution >= 8, fmt::format("resolution is {}, allowed: >= 8", options.resolution));
  require(!options.tolerance || (*options.tolerance > 0.0 && std::isfinite(*options.tolerance)),
          "the tolerance must be > 0");
  FittedMesh result;
  const auto report_mesh = [&](int done) {
    if (options.progress) options.progress("meshes", done, 1);
  };
  report_mesh(0);
  result.repaired = repair_mesh(mesh, {.threads = options.threads});
  report_mesh(1);

  constexpr double k_fill = 0.8;  // of the side of the grid
  const int points = 1 + static_cast<int>(options.resolution / k_fill + 0.5);
  DistanceGridOptions distances;
  distances.threads = options.threads;
  distances.progress = options.progress;
  result.grid = signed_distance_grid(result.repaired,
                                     cube_around(result.repaired.bvh.bounds(), points, k_fill), distances);

  const double smoothing =
      options.union_smoothing.value_or(k_union_smoothing_per_size * result.repaired.report.size);
  FittedUnion& fitted = result;
  result.method = options.method;
  switch (options.method) {
    case FitMethod::superquadrics:
      fitted = fit_superquadrics(result.grid, smoothing, options);
      break;
    case FitMethod::hull:
      fitted.shape = hull_shape(result.repaired.mesh);
      break;
    case FitMethod::point_cloud:
      fitted.shape = point_cloud_shape(result.repaired.mesh);
      break;
    case FitMethod::automatic: {
      fitted = fit_superquadrics(result.grid, smoothing, options);
      const std::optional<Shape> hull = hull_if_any(result.repaired.mesh);
      const bool is_better = hull && (fitted.shape.primitives.empty() ||
                                      merit(*hull, result.grid, options.threads) > merit(fitted));
      if (is_better) {
        fitted = {};
        fitted.shape = *hull;
      }
      result.method = is_better ? FitMethod::hull : FitMethod::superquadrics;
      break;
    }
  }
  result.shape.union_smoothing = smoothing;
  require(!result.shape.primitives.empty(),
          fmt::format("no superquadric fits into the mesh: it is thinner than the distance grid can resolve "
                      "({:.3g} m); try a higher resolution",
                      result.grid.grid.cell_size));
  const Points surface = surface_samples(result.repaired.mesh, k_judged_points).points;
  if (options.tolerance && result.method == FitMethod::superquadrics) thin_out(options, surface, result);
  result.mean_distance = mean_distance(result.shape, surface);
  return result;
}

}  // namespace abut
