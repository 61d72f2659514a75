/// Spheres, capsules, boxes and cylinders in place of superquadrics that are about that.
#pragma once

#include <functional>
#include <vector>

#include "collision/fitting/distance_grid.h"
#include "collision/fitting/union_refinement.h"
#include "engine/model.h"

namespace abut {

/// What a superquadric could be taken for, by its exponents and axes:
///   rounded_box  exponents up to 0.6; edges as round as those of the superquadric are on the mean
///   sphere       three axes and exponents that are about equal, and 1
///   capsule      round about z, and longer than wide
///   cone         a cylinder: round about z, with eps1 up to 0.6
/// Several, if they are near to several of these; none of what is none. The operation is kept.
[[nodiscard]] std::vector<Primitive> exact_kinds_near(const Primitive& superquadric);

/// What a primitive costs in a query, in superquadrics.
[[nodiscard]] double query_cost(const Primitive& primitive);

struct ExactKindsOptions {
  double least_gain = 5e-4;           ///< of the occupancy IoU that a superquadric must be worth, >= 0
  UnionRefinementOptions refinement;  ///< its rounds and max_primitives do not matter
  /// If it is there, it has to hold of the result.
  std::function<bool(const Shape&)> is_good_enough = {};
};

struct ExactKindsReport {
  int replaced = 0;
  double iou_after = 0.0;  ///< occupancy_iou() under the smooth union; 0 if none is near an exact kind
};

/// Replaces superquadrics of a refined shape by exact kinds, and refines all together. Those that change the
/// error least go first, as many at once as may be: a replacement is kept if the occupancy IoU, less
/// `least_gain` times the sum of the costs (query_cost), is higher than before; otherwise half as many are
/// tried.
///
/// The result depends on the shape, the grid and the options alone. Throws std::invalid_argument as
/// refine_union().
ExactKindsReport take_exact_kinds(Shape& shape, const DistanceGrid& grid,
                                  const ExactKindsOptions& options = {});

}  // namespace abut
