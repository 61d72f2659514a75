#include "collision/fitting/union_refinement.h"

#include <algorithm>
#include <vector>

#include "collision/fitting/free_primitive.h"
#include "collision/fitting/shape_on_grid.h"
#include "collision/fitting/union_refiner.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/check.h"

namespace abut {

UnionRefinementReport refine_union(Shape& shape, const DistanceGrid& grid,
                                   const UnionRefinementOptions& options) {
  require_refinable(shape);
  require(shape.distance_mode == DistanceMode::taubin, "only Taubin's distance can be refined");
  require(options.truncation > 0.0 && options.band >= 0.5 && options.least_axis > 0.0,
          "truncation and least_axis must be > 0, and band >= 0.5");
  require(options.max_samples >= 1 && options.max_primitives >= 1 && options.rounds >= 0 &&
              options.steps >= 1 && options.thinning_steps >= 1,
          "max_samples, max_primitives and steps must be >= 1, and rounds >= 0");
  require(options.least_exponent >= 0.02 && options.least_exponent <= options.most_exponent &&
              options.most_exponent <= 1.9,
          "exponents must be in [0.02, 1.9]");
  UnionRefinementReport report;
  if (std::none_of(shape.primitives.begin(), shape.primitives.end(), is_added)) return report;
  UnionRefiner refiner(shape, grid, options);
  const std::vector<double> before = refiner.distances();
  report.iou_before = report.iou_after = volumetric_iou(grid, before);
  refiner.choose_samples(before);
  report.error_before = refiner.error();
  const int most_steps = options.rounds * options.steps;
  for (int round = 0; round < options.rounds; ++round) {
    if (round > 0) {
      refiner.prune(report);
      refiner.choose_samples(refiner.distances());
    }
    int done = round * options.steps;
    report.steps += refiner.descend(options.steps, [&] {
      if (options.progress) options.progress("steps", ++done, most_steps);
    });
  }
  if (options.progress) options.progress("steps", most_steps, most_steps);
  report.error_after = refiner.error();
  const std::vector<double> after = refiner.distances();
  const bool had_too_many = static_cast<int>(shape.primitives.size()) > options.max_primitives;
  report.kept = had_too_many || occupancy_iou(grid, after) > occupancy_iou(grid, before);
  if (report.kept) {
    report.iou_after = volumetric_iou(grid, after);
    shape = refiner.shape();
  } else {
    report.left_out = report.merged = 0;
    report.error_after = report.error_before;
  }
  if (!options.is_good_enough || !options.is_good_enough(shape)) return report;
  refiner.set_shape(shape);
  while (shape.primitives.size() > 1) {
    refiner.remove(refiner.cheapest_removal());
    refiner.descend(options.thinning_steps);
    if (!options.is_good_enough(refiner.shape())) break;
    shape = refiner.shape();
    ++report.thinned_out;
    if (options.progress)
      options.progress("primitives left out", report.thinned_out,
                       report.thinned_out + static_cast<int>(shape.primitives.size()));
  }
  if (report.thinned_out > 0) report.iou_after = volumetric_iou(grid, ShapeSdf(shape), options.threads);
  return report;
}

}  // namespace abut
