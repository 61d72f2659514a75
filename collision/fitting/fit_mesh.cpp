#include "collision/fitting/fit_mesh.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "collision/fitting/fit_quality.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/body_builder.h"
#include "engine/check.h"

namespace abut {
namespace {

constexpr std::size_t k_judged_points = 5000;

/// Of points from the zero set, by the signed distance function [m].
double mean_distance(const Shape& shape, const Points& points) {
  const ShapeSdf sdf(shape);
  double sum = 0.0;
  for (Eigen::Index i = 0; i < points.cols(); ++i) sum += std::abs(sdf.distance<double>(points.col(i)));
  return sum / static_cast<double>(std::max<Eigen::Index>(points.cols(), 1));
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

  MarchingPrimitivesOptions marching;
  marching.max_primitives = options.max_primitives;
  marching.progress = options.progress;
  FittedSuperquadrics found = march_primitives(result.grid, marching);
  require(!found.primitives.empty(),
          fmt::format("no superquadric fits into the mesh: it is thinner than the distance grid can resolve "
                      "({:.3g} m); try a higher resolution",
                      result.grid.grid.cell_size));
  result.shape.primitives = std::move(found.primitives);
  result.shape.union_smoothing =
      options.union_smoothing.value_or(k_union_smoothing_per_size * result.repaired.report.size);
  result.marching = found.report;
  UnionRefinementOptions refinement;
  refinement.threads = options.threads;
  refinement.progress = options.progress;
  const Points surface = surface_samples(result.repaired.mesh, k_judged_points).points;
  if (options.tolerance) {
    refinement.is_good_enough = [&](const Shape& shape) {
      return mean_distance(shape, surface) <= *options.tolerance * result.repaired.report.size;
    };
  }
  result.refinement = refine_union(result.shape, result.grid, refinement);
  result.mean_distance = mean_distance(result.shape, surface);
  return result;
}

}  // namespace abut
