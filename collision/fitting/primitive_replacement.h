/// Cheaper kinds and convex polyhedra in place of primitives of a refined shape.
#pragma once

#include <functional>
#include <vector>

#include "collision/fitting/distance_grid.h"
#include "collision/fitting/union_refinement.h"
#include "engine/model.h"

namespace abut {

struct ReplacementOptions {
  double least_gain = 5e-4;           ///< of the occupancy IoU that a superquadric must be worth, >= 0
  UnionRefinementOptions refinement;  ///< its rounds and is_good_enough do not matter
  /// If it is there, it has to hold of the result.
  std::function<bool(const Shape&)> is_good_enough = {};
};

struct ReplacementReport {
  int replaced = 0;        ///< replacements that were made
  double iou_after = 0.0;  ///< occupancy_iou() under the smooth union; 0 if there was nothing to try
};

/// Replaces primitives of a refined shape by kinds that cost less in a query, and refines all together:
/// superquadrics by exact kinds (exact_kinds_near), convex polyhedra by superquadrics (superquadrics_near) or
/// by what is near to these. Those that change the error least go first, as many at once as may be: a
/// replacement is kept if merit(), the occupancy IoU less `least_gain` times the cost of a query, is higher
/// than before; otherwise half as many are tried.
///
/// The result depends on the shape, the grid and the options alone. Throws std::invalid_argument as
/// refine_union().
ReplacementReport take_cheaper_kinds(Shape& shape, const DistanceGrid& grid,
                                     const ReplacementOptions& options = {});

/// Adds those of some convex polyhedra that lower the error, each in place of the added primitives that lie
/// mostly within: more than 70 % of the grid points in them are in the polyhedra. The others move around them
/// and are left out where the error does not rise without them. Polyhedra stay where they are, with edges as
/// bound_edges() allows. As many at once as may be, those that lower the error most first, and kept by the
/// same rule as cheaper kinds.
///
/// The result depends on the arguments alone. Throws std::invalid_argument as refine_union(), and for
/// `polyhedra` of other kinds or subtracted ones.
ReplacementReport take_polyhedra(Shape& shape, const std::vector<Primitive>& polyhedra,
                                 const DistanceGrid& grid, const ReplacementOptions& options = {});

}  // namespace abut
