#include "collision/fitting/primitive_replacement.h"

#include <algorithm>
#include <span>
#include <utility>

#include "collision/fitting/convex_decomposition.h"
#include "collision/fitting/exact_kinds.h"
#include "collision/fitting/free_primitive.h"
#include "collision/fitting/marching_cubes.h"
#include "collision/fitting/parallel_chunks.h"
#include "collision/fitting/query_cost.h"
#include "collision/fitting/shape_on_grid.h"
#include "collision/fitting/union_refiner.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/check.h"

namespace abut {
namespace {

constexpr int k_most_attempts = 4;
constexpr double k_mostly = 0.7;  // of a primitive within polyhedra that take its place

struct Replacement {
  Primitive by;
  int primitive = -1;   ///< whose place it takes; -1: of those that lie mostly within
  double change = 0.0;  ///< of the cost [m^2]
};

/// The part of the grid points in a primitive that are in a shape, its centre being one of them.
double share_within(const Primitive& primitive, const ShapeSdf& shape, const DistanceGrid& grid) {
  Shape alone;
  alone.primitives = {primitive};
  const ShapeSdf sdf(alone);
  if (!sdf.bounds().intersects(shape.bounds())) return 0.0;
  const auto cell_of = [&](const Vec3<double>& p) -> Eigen::Array3d {
    return (p - grid.grid.lower).array() / grid.grid.cell_size;
  };
  const Eigen::Array3i lower = cell_of(sdf.bounds().min()).ceil().cast<int>().max(0),
                       upper = cell_of(sdf.bounds().max()).floor().cast<int>().min(grid.points().array() - 1);
  int inside = 0, within = 0;
  const auto count = [&](const Vec3<double>& p) {
    if (sdf.distance<double>(p) >= 0.0) return;
    ++inside;
    if (shape.distance<double>(p) < 0.0) ++within;
  };
  count(primitive.X_BP.p);
  for (int k = lower.z(); k <= upper.z(); ++k) {
    for (int j = lower.y(); j <= upper.y(); ++j) {
      for (int i = lower.x(); i <= upper.x(); ++i) count(grid.point(i, j, k));
    }
  }
  return static_cast<double>(within) / std::max(inside, 1);
}

/// The shape with all of some replacements.
Shape with(const Shape& shape, std::span<const Replacement> replacements, const DistanceGrid& grid) {
  Shape next = shape;
  Shape polyhedra = shape;
  polyhedra.primitives.clear();
  for (const Replacement& replacement : replacements) {
    if (replacement.primitive >= 0) {
      next.primitives[at(replacement.primitive)] = replacement.by;
    } else {
      polyhedra.primitives.push_back(replacement.by);
    }
  }
  if (polyhedra.primitives.empty()) return next;
  const ShapeSdf sdf(polyhedra);
  std::erase_if(next.primitives, [&](const Primitive& primitive) {
    return is_added(primitive) && share_within(primitive, sdf, grid) > k_mostly;
  });
  next.primitives.insert(next.primitives.end(), polyhedra.primitives.begin(), polyhedra.primitives.end());
  bound_edges(next);
  return next;
}

/// What costs less in a query than a primitive, and is near to it.
std::vector<Primitive> cheaper_kinds_near(const Primitive& primitive) {
  std::vector<Primitive> near = superquadrics_near(primitive);
  if (near.empty()) return exact_kinds_near(primitive);
  for (std::size_t i = 0, superquadrics = near.size(); i < superquadrics; ++i) {
    for (Primitive& exact : exact_kinds_near(near[i])) near.push_back(std::move(exact));
  }
  std::erase_if(near, [&](const Primitive& other) { return query_cost(other) >= query_cost(primitive); });
  return near;
}

/// Cheaper kinds, of each primitive the one that changes the cost least; the one that changes it least first.
std::vector<Replacement> cheaper_kinds_for(const UnionRefiner& refiner, int threads) {
  const Shape& shape = refiner.shape();
  std::vector<Replacement> found;
  for (std::size_t l = 0; l < shape.primitives.size(); ++l) {
    for (Primitive& other : cheaper_kinds_near(shape.primitives[l]))
      found.push_back({std::move(other), static_cast<int>(l)});
  }
  for_each_chunk(static_cast<int>(found.size()), threads, [&](int i) {
    Replacement& replacement = found[at(i)];
    replacement.change = refiner.change_by(replacement.primitive, -1, replacement.by);
  });
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.change < b.change; });
  std::vector<Replacement> best;
  for (Replacement& replacement : found) {
    if (std::none_of(best.begin(), best.end(),
                     [&](const auto& other) { return other.primitive == replacement.primitive; }))
      best.push_back(std::move(replacement));
  }
  return best;
}

/// Those that lower the cost, each by itself; what lowers it most first.
std::vector<Replacement> useful_polyhedra(const std::vector<Primitive>& polyhedra,
                                          const UnionRefiner& refiner, const DistanceGrid& grid) {
  const double before = refiner.cost_of(refiner.shape());
  std::vector<Replacement> found;
  for (const Primitive& polyhedron : polyhedra) {
    Replacement replacement{polyhedron};
    replacement.change = refiner.cost_of(with(refiner.shape(), {&replacement, 1}, grid)) - before;
    if (replacement.change < 0.0) found.push_back(std::move(replacement));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.change < b.change; });
  return found;
}

/// Makes those of the replacements that `find` returns that are worth it.
template <typename Find>
ReplacementReport take(Shape& shape, const DistanceGrid& grid, const ReplacementOptions& options,
                       const Find& find) {
  UnionRefinementOptions refinement = options.refinement;
  refinement.is_good_enough = {};
  ReplacementReport report;
  UnionRefiner refiner(shape, grid, refinement);
  const std::vector<double> distances = refiner.distances();
  report.iou_after = occupancy_iou(grid, distances);
  refiner.choose_samples(distances);
  std::vector<Replacement> waiting = find(refiner);
  std::size_t most = waiting.size();
  for (int attempt = 0; attempt < k_most_attempts && !waiting.empty(); ++attempt) {
    const std::size_t tried = std::min(most, waiting.size());
    refiner.set_shape(with(shape, std::span(waiting).first(tried), grid));
    (void)refiner.descend(refinement.steps);
    if (waiting.front().primitive < 0) {
      UnionRefinementReport pruned;
      refiner.prune(pruned);
      if (pruned.left_out + pruned.merged > 0) (void)refiner.descend(refinement.steps);
    }
    Shape next = refiner.shape();
    const double iou =
        occupancy_iou(grid, distances_on_grid(ShapeSdf(next), grid, grid.grid.cell_size, refinement.threads));
    if (merit(iou, next, options.least_gain) > merit(report.iou_after, shape, options.least_gain) &&
        (!options.is_good_enough || options.is_good_enough(next))) {
      report.replaced += static_cast<int>(tried);
      report.iou_after = iou;
      shape = std::move(next);
      waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(tried));
    } else if (most == 1) {
      break;
    }
    most = std::max<std::size_t>(std::min(most, waiting.size()) / 2, 1);
  }
  return report;
}

void check(const Shape& shape, const ReplacementOptions& options) {
  require(options.least_gain >= 0.0, "least_gain must be >= 0");
  require_refinable(shape);
}

}  // namespace

ReplacementReport take_cheaper_kinds(Shape& shape, const DistanceGrid& grid,
                                     const ReplacementOptions& options) {
  check(shape, options);
  if (std::all_of(shape.primitives.begin(), shape.primitives.end(),
                  [](const Primitive& primitive) { return cheaper_kinds_near(primitive).empty(); }))
    return {};
  return take(shape, grid, options, [&](const UnionRefiner& refiner) {
    return cheaper_kinds_for(refiner, options.refinement.threads);
  });
}

ReplacementReport take_polyhedra(Shape& shape, const std::vector<Primitive>& polyhedra,
                                 const DistanceGrid& grid, const ReplacementOptions& options) {
  check(shape, options);
  require(std::all_of(polyhedra.begin(), polyhedra.end(),
                      [](const Primitive& primitive) {
                        return primitive.kind == PrimitiveKind::convex_polyhedron && is_added(primitive);
                      }),
          "only convex polyhedra can be added to a shape, not subtracted ones or other kinds");
  if (polyhedra.empty()) return {};
  return take(shape, grid, options,
              [&](const UnionRefiner& refiner) { return useful_polyhedra(polyhedra, refiner, grid); });
}

}  // namespace abut
