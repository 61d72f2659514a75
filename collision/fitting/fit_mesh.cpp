#include "collision/fitting/fit_mesh.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "collision/fitting/cavity_filling.h"
#include "collision/fitting/cutter_extension.h"
#include "collision/fitting/primitive_replacement.h"
#include "collision/fitting/query_cost.h"
#include "collision/fitting/shape_growth.h"
#include "collision/fitting/shape_on_grid.h"
#include "collision/fitting/single_primitive_fit.h"
#include "collision/fitting/surface_samples.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/body_builder.h"
#include "engine/check.h"

namespace abut {
namespace {

constexpr std::size_t k_judged_points = 5000;
constexpr double k_least_flat_share = 0.3;  // of the surface, for convex polyhedra to be tried
constexpr double k_least_cavities = 0.05;   // of the inside: larger ones are cut out of a fit without them
constexpr double k_most_exponent = 1.85;    // in the end: inside of what a body may have
constexpr double k_settled_early = 5e-4;    // relative decrease of the cost with which a refinement ends
constexpr double k_most_smoothing = 0.1;    // of the size: bulges are as large, times ln 2
constexpr double k_least_size = 1e-6, k_largest_size = 1e6;  // [m]: lengths of parts stay in their range

/// What is fitted, and how.
struct FittingTask {
  const MeshFitOptions& options;
  const RepairedMesh& repaired;
  const DistanceGrid& grid;
  const Points& surface;   // of the mesh, where distances are judged
  double union_smoothing;  // that a fit begins with [m]

  [[nodiscard]] double size() const { return repaired.report.size; }
};

/// Of points from the zero set, by the signed distance function [m].
double mean_distance(const Shape& shape, const Points& points) {
  const ShapeSdf sdf(shape);
  double sum = 0.0;
  for (Eigen::Index i = 0; i < points.cols(); ++i) sum += std::abs(sdf.distance<double>(points.col(i)));
  return sum / static_cast<double>(std::max<Eigen::Index>(points.cols(), 1));
}

/// The smoothing that a shape has in the end [m]: what is asked for, or no more than the default of a shape
/// without a mesh.
double bounded_smoothing(const FittingTask& task, const Shape& shape) {
  if (task.options.union_smoothing) return *task.options.union_smoothing;
  return std::min(shape.union_smoothing, default_union_smoothing(shape, task.size()));
}

/// Smooths a shape as it will be in the end.
void smooth_finally(const FittingTask& task, Shape& shape) {
  shape.union_smoothing = bounded_smoothing(task, shape);
  bound_edges(shape);
}

/// Whether a shape, smoothed as it will be in the end, is as close to the mesh as the tolerance asks for;
/// true without one.
bool is_within_tolerance(const FittingTask& task, Shape shape) {
  if (!task.options.tolerance) return true;
  smooth_finally(task, shape);
  return mean_distance(shape, task.surface) <= *task.options.tolerance * task.size();
}

UnionRefinementOptions refinement_of(const MeshFitOptions& options) {
  UnionRefinementOptions refinement;
  refinement.max_primitives = options.max_primitives;
  refinement.threads = options.threads;
  refinement.progress = options.progress;
  return refinement;
}

/// The same for what comes after the growth.
UnionRefinementOptions last_refinement_of(const MeshFitOptions& options) {
  UnionRefinementOptions refinement = refinement_of(options);
  refinement.most_exponent = k_most_exponent;
  return refinement;
}

/// Superquadrics that fill the inside of a grid `start`, completed against the grid of the mesh.
FittedUnion fit_superquadrics(const FittingTask& task, const DistanceGrid& start) {
  const MeshFitOptions& options = task.options;
  MarchingPrimitivesOptions marching;
  marching.max_primitives = options.max_primitives;
  marching.progress = options.progress;
  FittedSuperquadrics found = march_primitives(start, marching);
  FittedUnion result;
  result.shape.union_smoothing = task.union_smoothing;
  result.shape.primitives = std::move(found.primitives);
  result.marching = found.report;
  if (result.shape.primitives.empty()) return result;
  UnionRefinementOptions refinement = refinement_of(options);
  refinement.settled = k_settled_early;
  result.refinement = refine_union(result.shape, start, refinement);
  ShapeGrowthOptions growth;
  growth.max_primitives = options.max_primitives;
  growth.refinement = refinement;
  result.growth = grow_shape(result.shape, task.grid, growth);
  return result;
}

std::optional<Shape> hull_if_any(const TriangleMesh& mesh) {
  try {
    return hull_shape(mesh);
  } catch (const std::invalid_argument&) {  // too flat
    return std::nullopt;
  }
}

/// Superquadrics from the grid of the mesh, or with its cavities filled and then cut out: the better of both.
FittedUnion fit_superquadrics(const FittingTask& task) {
  const auto merit_of = [](const FittedUnion& fitted) {
    return merit(fitted.growth.iou_after, fitted.shape, ShapeGrowthOptions().least_gain);
  };
  FittedUnion fitted = fit_superquadrics(task, task.grid);
  const FilledGrid filled = fill_cavities(task.grid, k_least_cavities);
  if (filled.filled > 0) {
    FittedUnion other = fit_superquadrics(task, filled.grid);
    if (merit_of(other) > merit_of(fitted)) fitted = std::move(other);
  }
  return fitted;
}

/// Convex polyhedra, as few as the tolerance allows.
FittedUnion fit_convex(const FittingTask& task) {
  const MeshFitOptions& options = task.options;
  const auto shape_of = [&](std::vector<Primitive> parts) {
    Shape shape;
    shape.primitives = std::move(parts);
    shape.union_smoothing = task.union_smoothing;
    smooth_finally(task, shape);
    return shape;
  };
  ConvexDecompositionOptions decomposition;
  decomposition.max_parts = options.max_primitives;
  decomposition.threads = options.threads;
  decomposition.progress = options.progress;
  if (options.tolerance)
    decomposition.is_good_enough = [&](const std::vector<Primitive>& parts) {
      return is_within_tolerance(task, shape_of(parts));
    };
  ConvexDecomposition found = decompose(task.repaired.mesh, task.grid, decomposition);
  FittedUnion result;
  result.shape = shape_of(std::move(found.parts));
  result.decomposition = found.report;
  return result;
}

/// Leaves out superquadrics as long as the tolerance allows it.
void thin_out(const FittingTask& task, FittedUnion& fitted) {
  UnionRefinementOptions thinning = last_refinement_of(task.options);
  thinning.rounds = 0;
  thinning.is_good_enough = [&](const Shape& shape) { return is_within_tolerance(task, shape); };
  fitted.refinement.thinned_out = refine_union(fitted.shape, task.grid, thinning).thinned_out;
}

/// Cheaper kinds and some convex polyhedra in place of what was fitted, if the tolerance allows it.
void replace(const FittingTask& task, const std::vector<Primitive>& polyhedra, FittedUnion& fitted) {
  ReplacementOptions options;
  options.refinement = last_refinement_of(task.options);
  options.is_good_enough = [&](const Shape& shape) { return is_within_tolerance(task, shape); };
  fitted.cheaper_kinds = take_cheaper_kinds(fitted.shape, task.grid, options);
  fitted.polyhedra = take_polyhedra(fitted.shape, polyhedra, task.grid, options);
  if (fitted.polyhedra.replaced > 0)  // what is left may have become nearer to exact kinds
    fitted.cheaper_kinds.replaced += take_cheaper_kinds(fitted.shape, task.grid, options).replaced;
}

/// Superquadrics that were fitted with more smoothing than they will have, refined with that.
void bound_smoothing(const FittingTask& task, Shape& shape) {
  const double bound = bounded_smoothing(task, shape);
  if (bound >= shape.union_smoothing) return;
  shape.union_smoothing = bound;
  UnionRefinementOptions refinement = last_refinement_of(task.options);
  refinement.rounds = 1;  // none is left out
  refinement.settled = k_settled_early;
  (void)refine_union(shape, task.grid, refinement);
}

/// The last refinement, against more points: rounds of growth follow those that they see too closely.
void refine_finally(const FittingTask& task, Shape& shape) {
  UnionRefinementOptions refinement = last_refinement_of(task.options);
  refinement.rounds = 1;
  refinement.max_samples = 40000;
  refinement.settled = k_settled_early;
  Shape refined = shape;
  (void)refine_union(refined, task.grid, refinement);
  if (is_within_tolerance(task, refined)) shape = std::move(refined);
}

/// Cutters that reach out of openings, if the tolerance allows it.
void extend_cutters_of(const FittingTask& task, Shape& shape) {
  Shape extended = shape;
  (void)extend_cutters(extended, task.grid, last_refinement_of(task.options));
  if (is_within_tolerance(task, extended)) shape = std::move(extended);
}

/// What comes after the growth of superquadrics; with `replaced_by`, they are mixed with exact kinds and
/// these polyhedra.
void finish(const FittingTask& task, const std::vector<Primitive>* polyhedra, FittedUnion& fitted) {
  if (fitted.shape.primitives.empty()) return;
  for (Primitive& primitive : fitted.shape.primitives) {
    if (primitive.kind != PrimitiveKind::superquadric) continue;
    for (const std::size_t k : {3, 4})
      primitive.parameters[k] = std::min(primitive.parameters[k], k_most_exponent);
  }
  bound_smoothing(task, fitted.shape);
  if (task.options.tolerance) thin_out(task, fitted);
  if (polyhedra != nullptr) replace(task, *polyhedra, fitted);
  refine_finally(task, fitted.shape);
  extend_cutters_of(task, fitted.shape);
  smooth_finally(task, fitted.shape);
}

/// Superquadrics mixed with other kinds, the hull, convex polyhedra, or these mixed with other kinds,
/// whichever have the highest merit of those within the tolerance; the first where they are equal. Returns
/// what it began with.
FitMethod fit_best(const FittingTask& task, FittedUnion& best) {
  static const std::vector<Primitive> k_none;
  FitMethod method = FitMethod::superquadrics;
  std::pair<bool, double> highest;
  const auto offer = [&](FitMethod other, FittedUnion fitted) {
    if (fitted.shape.primitives.empty()) return;
    const double iou = occupancy_iou(
        task.grid,
        distances_on_grid(ShapeSdf(fitted.shape), task.grid, task.grid.grid.cell_size, task.options.threads));
    const std::pair value(is_within_tolerance(task, fitted.shape),
                          merit(iou, fitted.shape, ShapeGrowthOptions().least_gain));
    if (!best.shape.primitives.empty() && !(value > highest)) return;
    highest = value;
    method = other;
    best = std::move(fitted);
  };
  FittedUnion mixed = fit_superquadrics(task), hull, convex;
  if (std::optional<Shape> shape = hull_if_any(task.repaired.mesh)) {
    hull.shape = std::move(*shape);
    hull.shape.union_smoothing = task.union_smoothing;
  }
  std::vector<Primitive> polyhedra;
  if (flat_share(task.repaired.mesh, task.grid) >= k_least_flat_share) {
    convex = fit_convex(task);
    mixed.decomposition = convex.decomposition;
    polyhedra = hull.shape.primitives;
    polyhedra.insert(polyhedra.end(), convex.shape.primitives.begin(), convex.shape.primitives.end());
  }
  finish(task, &polyhedra, mixed);
  offer(FitMethod::superquadrics, std::move(mixed));
  offer(FitMethod::hull, std::move(hull));
  FittedUnion other_kinds = convex;
  finish(task, &k_none, other_kinds);
  offer(FitMethod::convex, std::move(convex));
  offer(FitMethod::convex, std::move(other_kinds));
  return method;
}

}  // namespace

FittedMesh fit_mesh(const TriangleMesh& mesh, const MeshFitOptions& options) {
  require(options.resolution.value_or(8) >= 8,
          fmt::format("resolution is {}, allowed: >= 8", options.resolution.value_or(8)));
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
  if (options.resolution)
    result.resolution.spacings = *options.resolution;
  else
    result.resolution = resolution_for(result.repaired);
  const int points = 1 + static_cast<int>(result.resolution.spacings / k_fill + 0.5);
  DistanceGridOptions distances;
  distances.threads = options.threads;
  distances.progress = options.progress;
  result.grid = signed_distance_grid(result.repaired,
                                     padded_grid(result.repaired.bvh.bounds(), points, k_fill), distances);

  const Points surface = surface_samples(result.repaired.surface(), k_judged_points).points;
  const FittingTask task = {options, result.repaired, result.grid, surface,
                            options.union_smoothing.value_or(k_union_smoothing_per_size * size)};
  FittedUnion& fitted = result;
  result.method = options.method;
  switch (options.method) {
    case FitMethod::superquadrics:
      fitted = fit_superquadrics(task);
      finish(task, nullptr, fitted);
      break;
    case FitMethod::convex:
      fitted = fit_convex(task);
      break;
    case FitMethod::hull:
      fitted.shape = hull_shape(result.repaired.mesh);
      break;
    case FitMethod::point_cloud:
      fitted.shape = point_cloud_shape(result.repaired.surface());
      break;
    case FitMethod::automatic:
      result.method = fit_best(task, fitted);
      break;
  }
  if (result.shape.union_smoothing == 0.0) result.shape.union_smoothing = task.union_smoothing;
  require(!result.shape.primitives.empty(),
          fmt::format("nothing fits into the mesh: it is thinner than the distance grid can resolve "
                      "({:.3g} m); try a higher resolution",
                      result.grid.grid.cell_size));
  result.mean_distance = mean_distance(result.shape, surface);
  return result;
}

}  // namespace abut
