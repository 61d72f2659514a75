#include "collision/fitting/shape_growth.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "collision/fitting/shape_on_grid.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/check.h"

namespace abut {
namespace {

constexpr int k_spare = 3;  // superquadrics more than allowed, before the least useful ones are left out
constexpr double k_little = 1e-3;   // gain of the IoU with which an accepted round is the last
constexpr int k_regions_tried = 4;  // of each operation, for each superquadric that may be added

}  // namespace

ShapeGrowthReport grow_shape(Shape& shape, const DistanceGrid& grid, const ShapeGrowthOptions& options) {
  require(options.max_primitives >= 1 && options.max_rounds >= 0 && options.least_gain >= 0.0,
          "max_primitives must be >= 1, max_rounds and least_gain >= 0");
  UnionRefinementOptions refinement = options.refinement;
  refinement.max_primitives = options.max_primitives;
  refinement.is_good_enough = {};
  const auto distances_of = [&](const Shape& s) {
    return distances_on_grid(ShapeSdf(s), grid, grid.grid.cell_size, refinement.threads);
  };
  ShapeGrowthReport report;
  std::vector<double> distances = distances_of(shape);
  report.iou_before = report.iou_after = occupancy_iou(grid, distances);
  std::size_t most = std::numeric_limits<std::size_t>::max();  // superquadrics of a round
  for (int attempt = 0; attempt < options.max_rounds; ++attempt) {
    const int room = std::max(options.max_primitives - static_cast<int>(shape.primitives.size()), 0);
    MarchingPrimitivesOptions marching = options.marching;
    marching.max_regions = std::min(marching.max_regions, k_regions_tried * (room + k_spare));
    std::vector<ResidualPrimitive> found;
    for (const PrimitiveOperation operation : {PrimitiveOperation::add, PrimitiveOperation::subtract}) {
      const std::vector<ResidualPrimitive> more = march_residual(grid, distances, operation, marching);
      found.insert(found.end(), more.begin(), more.end());
    }
    if (found.empty()) break;
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.gain > b.gain; });
    found.resize(std::min({found.size(), at(room + k_spare), most}));
    Shape next = shape;
    for (const ResidualPrimitive& f : found) next.primitives.push_back(f.primitive);
    const UnionRefinementReport refined = refine_union(next, grid, refinement);
    std::vector<double> distances_of_next = distances_of(next);
    const double iou = occupancy_iou(grid, distances_of_next);
    const int more = static_cast<int>(next.primitives.size()) - static_cast<int>(shape.primitives.size());
    if (static_cast<int>(next.primitives.size()) > options.max_primitives ||
        !(iou > report.iou_after + options.least_gain * std::max(more, 0))) {
      if (room == 0 || found.size() == 1) break;
      most = found.size() / 2;
      continue;
    }
    shape = std::move(next);
    distances = std::move(distances_of_next);
    const double gain = iou - report.iou_after;
    report.iou_after = iou;
    report.merged += refined.merged;
    ++report.rounds;
    if (gain < k_little) break;
  }
  for (const Primitive& primitive : shape.primitives)
    ++(primitive.operation == PrimitiveOperation::add ? report.added : report.subtracted);
  return report;
}

}  // namespace abut
