#include "collision/fitting/fit_mesh.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "collision/fitting/cavity_filling.h"
#include "collision/fitting/exact_kinds.h"
#include "collision/fitting/fit_quality.h"
#include "collision/fitting/shape_growth.h"
#include "collision/fitting/shape_on_grid.h"
#include "collision/fitting/single_primitive_fit.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/body_builder.h"
#include "engine/check.h"
#include "engine/primitive_check.h"

namespace abut {
namespace {

constexpr std::size_t k_judged_points = 5000;
constexpr double k_least_flat_share = 0.3;  // of the surface, for convex polyhedra to be tried
constexpr double k_least_cavities = 0.05;   // of the inside: larger ones are cut out of a fit without them
constexpr double k_settled_early = 5e-4;    // relative decrease of the cost with which a refinement ends
constexpr double k_most_smoothing = 0.1;    // of the size: bulges are as large, times ln 2
constexpr double k_least_size = 1e-6, k_largest_size = 1e6;  // [m]: lengths of parts stay in their range

/// Of points from the zero set, by the signed distance function [m].
double mean_distance(const Shape& shape, const Points& points) {
  const ShapeSdf sdf(shape);
  double sum = 0.0;
  for (Eigen::Index i = 0; i < points.cols(); ++i) sum += std::abs(sdf.distance<double>(points.col(i)));
  return sum / static_cast<double>(std::max<Eigen::Index>(points.cols(), 1));
}

/// The smoothing that a shape has in the end [m]: what is asked for, or no more than the default of a shape
/// without a mesh.
double bounded_smoothing(const Shape& shape, double size, const MeshFitOptions& options) {
  if (options.union_smoothing) return *options.union_smoothing;
  return std::min(shape.union_smoothing, default_union_smoothing(shape, size));
}

/// Whether a shape, smoothed as it will be in the end, is as close to points as the tolerance asks for.
bool is_within_tolerance(Shape shape, const Points& points, double size, const MeshFitOptions& options) {
  shape.union_smoothing = bounded_smoothing(shape, size, options);
  return mean_distance(shape, points) <= *options.tolerance * size;
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
  growth.refinement.settled = k_settled_early;
  result.growth = grow_shape(result.shape, grid, growth);
  return result;
}

/// The IoU, less what each superquadric has to be worth.
double merit(const FittedUnion& fitted) {
  return fitted.growth.iou_after -
         ShapeGrowthOptions().least_gain * static_cast<double>(fitted.shape.primitives.size());
}

/// The same of convex polyhedra, of which eight planes cost about as much as a superquadric.
double merit(const Shape& polyhedra, const DistanceGrid& grid, int threads) {
  constexpr double k_planes = 8.0;
  const double iou =
      occupancy_iou(grid, distances_on_grid(ShapeSdf(polyhedra), grid, grid.grid.cell_size, threads));
  std::size_t planes = 0;
  for (const Primitive& p : polyhedra.primitives) planes += p.values.size();
  return iou - ShapeGrowthOptions().least_gain * static_cast<double>(planes) / k_planes;
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

/// Convex polyhedra, as few as the tolerance allows.
FittedUnion fit_convex(const RepairedMesh& repaired, const DistanceGrid& grid, const Points& surface,
                       double union_smoothing, const MeshFitOptions& options) {
  const double size = repaired.report.size;
  const auto shape_of = [&](std::vector<Primitive> parts) {
    Shape shape;
    shape.primitives = std::move(parts);
    shape.union_smoothing = union_smoothing;
    shape.union_smoothing = bounded_smoothing(shape, size, options);
    // Where two parts meet the union rises by tau ln 2, and their edges are lower by tau_c ln 2 or a little
    // more: no groove is left.
    if (shape.primitives.size() > 1) {
      for (Primitive& part : shape.primitives)
        part.parameters[0] =
            std::max(std::min(part.parameters[0], 0.5 * shape.union_smoothing), k_least_length);
    }
    return shape;
  };
  ConvexDecompositionOptions decomposition;
  decomposition.max_parts = options.max_primitives;
  decomposition.threads = options.threads;
  decomposition.progress = options.progress;
  if (options.tolerance)
    decomposition.is_good_enough = [&](const std::vector<Primitive>& parts) {
      return is_within_tolerance(shape_of(parts), surface, size, options);
    };
  ConvexDecomposition found = decompose(repaired.mesh, grid, decomposition);
  FittedUnion result;
  result.shape = shape_of(std::move(found.parts));
  result.decomposition = found.report;
  return result;
}

/// Leaves out superquadrics as long as the tolerance allows it.
void thin_out(const MeshFitOptions& options, const Points& surface, FittedMesh& result) {
  UnionRefinementOptions thinning = refinement_of(options);
  thinning.rounds = 0;
  thinning.is_good_enough = [&](const Shape& shape) {
    return is_within_tolerance(shape, surface, result.repaired.report.size, options);
  };
  result.refinement.thinned_out = refine_union(result.shape, result.grid, thinning).thinned_out;
}

/// Exact kinds in place of superquadrics, if the tolerance allows it.
void replace_by_exact_kinds(const MeshFitOptions& options, const Points& surface, FittedMesh& result) {
  ExactKindsOptions exact;
  exact.refinement = refinement_of(options);
  if (options.tolerance)
    exact.is_good_enough = [&](const Shape& shape) {
      return is_within_tolerance(shape, surface, result.repaired.report.size, options);
    };
  result.exact_kinds = take_exact_kinds(result.shape, result.grid, exact);
}

/// Superquadrics that were fitted with more smoothing than they will have, refined with that.
void bound_smoothing(const MeshFitOptions& options, FittedMesh& result) {
  Shape& shape = result.shape;
  const double bound = bounded_smoothing(shape, result.repaired.report.size, options);
  if (bound >= shape.union_smoothing) return;
  shape.union_smoothing = bound;
  UnionRefinementOptions refinement = refinement_of(options);
  refinement.rounds = 1;  // none is left out
  refinement.settled = k_settled_early;
  (void)refine_union(shape, result.grid, refinement);
}

/// The last refinement, against more points: rounds of growth follow those that they see too closely.
void refine_finally(const MeshFitOptions& options, const Points& surface, FittedMesh& result) {
  UnionRefinementOptions refinement = refinement_of(options);
  refinement.rounds = 1;
  refinement.max_samples = 40000;
  refinement.settled = k_settled_early;
  Shape refined = result.shape;
  (void)refine_union(refined, result.grid, refinement);
  if (!options.tolerance || is_within_tolerance(refined, surface, result.repaired.report.size, options))
    result.shape = std::move(refined);
}

/// Superquadrics, the hull or convex polyhedra, whichever have the highest merit; these first where they are
/// equal. Returns what it is.
FitMethod fit_best(const RepairedMesh& repaired, const DistanceGrid& grid, const Points& surface,
                   double union_smoothing, const MeshFitOptions& options, FittedUnion& best) {
  FitMethod method = FitMethod::superquadrics;
  best = fit_superquadrics(grid, union_smoothing, options);
  double highest = best.shape.primitives.empty() ? -k_infinity : merit(best);
  const auto offer = [&](FitMethod other, FittedUnion fitted) {
    if (fitted.shape.primitives.empty()) return;
    const double value = merit(fitted.shape, grid, options.threads);
    if (!(value > highest)) return;
    highest = value;
    method = other;
    best = std::move(fitted);
  };
  if (const std::optional<Shape> hull = hull_if_any(repaired.mesh)) {
    FittedUnion fitted;
    fitted.shape = *hull;
    offer(FitMethod::hull, std::move(fitted));
  }
  if (flat_share(repaired.mesh, grid) >= k_least_flat_share)
    offer(FitMethod::convex, fit_convex(repaired, grid, surface, union_smoothing, options));
  return method;
}

}  // namespace

FittedMesh fit_mesh(const TriangleMesh& mesh, const MeshFitOptions& options) {
  require(options.resolution >= 8, fmt::format("resolution is {}, allowed: >= 8", options.resolution));
  require(!options.tolerance || (*options.tolerance > 0.0 && std::isfinite(*options.tolerance)),
          "the tolerance must be > 0");
  const auto require_moderate_smoothing = [&](double size) {
    if (!options.union_smoothing) return;
    const double most = k_most_smoothing * size;
    require(*options.union_smoothing > 0.0 && *options.union_smoothing <= most,
            fmt::format("the smoothing of the union is {:.4g} m, allowed: up to {} of the size, {:.4g} m",
                        *options.union_smoothing, k_most_smoothing, most));
  };
  FittedMesh result;
  const auto report_mesh = [&](int done) {
    if (options.progress) options.progress("meshes", done, 1);
  };
  report_mesh(0);
  result.repaired = repair_mesh(mesh, {.threads = options.threads});
  report_mesh(1);
  const double size = result.repaired.report.size;
  require(
      size >= 0.999999 * k_least_size && size <= 1.000001 * k_largest_size,
      fmt::format("the mesh has a size of {:.4g} m, allowed: {:g} to {:g} m; is it in another unit (--unit, "
                  "--scale, --size)?",
                  size, k_least_size, k_largest_size));
  require_moderate_smoothing(size);

  constexpr double k_fill = 0.8;  // of the side of the grid
  const int points = 1 + static_cast<int>(options.resolution / k_fill + 0.5);
  DistanceGridOptions distances;
  distances.threads = options.threads;
  distances.progress = options.progress;
  result.grid = signed_distance_grid(result.repaired,
                                     padded_grid(result.repaired.bvh.bounds(), points, k_fill), distances);

  const double smoothing =
      options.union_smoothing.value_or(k_union_smoothing_per_size * result.repaired.report.size);
  const Points surface = surface_samples(result.repaired.surface(), k_judged_points).points;
  FittedUnion& fitted = result;
  result.method = options.method;
  switch (options.method) {
    case FitMethod::superquadrics:
      fitted = fit_superquadrics(result.grid, smoothing, options);
      break;
    case FitMethod::convex:
      fitted = fit_convex(result.repaired, result.grid, surface, smoothing, options);
      break;
    case FitMethod::hull:
      fitted.shape = hull_shape(result.repaired.mesh);
      break;
    case FitMethod::point_cloud:
      fitted.shape = point_cloud_shape(result.repaired.surface());
      break;
    case FitMethod::automatic:
      result.method = fit_best(result.repaired, result.grid, surface, smoothing, options, fitted);
      break;
  }
  if (result.shape.union_smoothing == 0.0) result.shape.union_smoothing = smoothing;
  require(!result.shape.primitives.empty(),
          fmt::format("nothing fits into the mesh: it is thinner than the distance grid can resolve "
                      "({:.3g} m); try a higher resolution",
                      result.grid.grid.cell_size));
  if (result.method == FitMethod::superquadrics) {
    bound_smoothing(options, result);
    if (options.tolerance) thin_out(options, surface, result);
    if (options.method == FitMethod::automatic) replace_by_exact_kinds(options, surface, result);
    refine_finally(options, surface, result);
    result.shape.union_smoothing = bounded_smoothing(result.shape, result.repaired.report.size, options);
  }
  result.mean_distance = mean_distance(result.shape, surface);
  return result;
}

}  // namespace abut
