/// Joint refinement of the primitives of a smooth union, against a grid of signed distances.
#pragma once

#include <functional>

#include "collision/fitting/distance_grid.h"
#include "engine/model.h"

namespace abut {

struct UnionRefinementOptions {
  double truncation = 1.2;      ///< distances are cut off here [spacings], > 0
  double band = 2.5;            ///< of grid points about either surface that count [spacings], >= 0.5
  int max_samples = 15000;      ///< of these points, chosen by a hash, >= 1
  int max_primitives = 100000;  ///< the cheapest ones beyond it are removed after the first round, >= 1
  int rounds = 2;               ///< of pruning and choosing points again, >= 0
  int steps = 12;               ///< accepted Levenberg-Marquardt steps of a round, >= 1
  double settled = 2e-4;        ///< relative decrease of the cost with which a round ends, >= 0
  double least_axis = 0.25;     ///< semi-axes are at least so long [spacings], > 0
  double least_exponent = 0.05, most_exponent = 1.9;  ///< of superquadrics, in [0.02, 1.9]
  int threads = 0;                                    ///< 0: as many as the machine has; changes no result
  /// If it is there, primitives are removed in the end, the cheapest first, each followed by
  /// `thinning_steps` steps of the others, as long as it holds of what is left.
  std::function<bool(const Shape&)> is_good_enough = {};
  int thinning_steps = 2;  ///< >= 1
  MeshingProgress progress = {};
};

struct UnionRefinementReport {
  int steps = 0;     ///< accepted
  int left_out = 0;  ///< superquadrics without which the error is no larger, or beyond max_primitives
  int merged = 0;    ///< pairs that became one, where that costs less than leaving one out
  double iou_before = 0.0, iou_after = 0.0;      ///< of the smooth union (volumetric_iou)
  double error_before = 0.0, error_after = 0.0;  ///< root mean square of truncated errors [m]
  int thinned_out = 0;  ///< superquadrics left out because the shape without them is good enough
  bool kept =
      false;  ///< whether the steps' result was taken: if the occupancy IoU rises, or there were too many
};

/// Moves all primitives of a shape at once to where the signed distance function that a simulation will
/// see fits a grid best:
///
///   minimize  sum_i (clamp(d(x_i), T) - clamp(g_i, T))^2,
///             d = ShapeSdf of the shape, g the grid's distances,
///
/// over grid points x_i within `band` of the zero set of either, by Levenberg-Marquardt on eleven numbers
/// each (free_primitive.h), with the derivatives of ShapeJacobian. Only primitives that are blended at
/// some point couple, so the normal equations are sparse. Before each round after the first, primitives
/// without which the sum is no larger are left out. Those beyond `max_primitives` are removed one by one, by
/// which the sum rises least: a primitive is left out, or two superquadrics become one (superquadric_merges;
/// of shapes of superquadrics alone).
///
/// The shape stays as it is unless the IoU under the smooth union, measured to less than a spacing
/// (occupancy_iou), rises or there were too many primitives; what `is_good_enough` asks for comes after
/// that. The result depends on the shape, the grid and the options alone.
///
/// @param shape  of superquadrics, spheres, capsules, rounded boxes and cones, and of convex polyhedra, which
///               stay as they are or are left out; added or subtracted, with its union smoothing
/// Throws std::invalid_argument for other primitives, distances other than Taubin's, or options out of range.
UnionRefinementReport refine_union(Shape& shape, const DistanceGrid& grid,
                                   const UnionRefinementOptions& options = {});

}  // namespace abut
