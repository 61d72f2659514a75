/// Superquadrics where a fitted shape is wrong by more than a spacing: added ones for lost parts, subtracted
/// ones for cavities.
#pragma once

#include "collision/fitting/distance_grid.h"
#include "collision/fitting/marching_primitives.h"
#include "collision/fitting/union_refinement.h"
#include "engine/model.h"

namespace abut {

struct ShapeGrowthOptions {
  int max_primitives = 1000;  ///< of the shape, >= 1
  int max_rounds = 4;         ///< accepted or not, >= 0
  double least_gain =
      5e-4;  ///< of the occupancy IoU for each primitive more, with which a round is accepted, >= 0
  MarchingPrimitivesOptions marching;
  UnionRefinementOptions refinement;  ///< its is_good_enough and max_primitives do not matter
};

struct ShapeGrowthReport {
  int rounds = 0;                            ///< accepted
  int merged = 0;                            ///< pairs that became one
  int added = 0, subtracted = 0;             ///< primitives of each operation that the shape has in the end
  double iou_before = 0.0, iou_after = 0.0;  ///< occupancy_iou() under the smooth union
};

/// Improves a refined shape in rounds. Regions that it lacks, and regions that it has too much, get a
/// superquadric each (march_residual()); all are refined together (refine_union()), which removes the
/// cheapest ones beyond `max_primitives`. A round is accepted if the occupancy IoU rises by `least_gain`
/// for each primitive more than before; otherwise the next one begins with half as many, or the growth ends
/// if there is no room for more. A round that gains less than 0.001 is the last. Of each operation only the
/// deepest regions are tried, four for each superquadric that there is room for.
///
/// The result depends on the shape, the grid and the options alone. Throws std::invalid_argument for
/// primitives other than superquadrics or options out of range.
ShapeGrowthReport grow_shape(Shape& shape, const DistanceGrid& grid, const ShapeGrowthOptions& options = {});

}  // namespace abut
