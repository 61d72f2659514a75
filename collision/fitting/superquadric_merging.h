/// Single superquadrics in place of two of a shape.
#pragma once

#include <vector>

#include "collision/fitting/marching_cubes.h"
#include "collision/fitting/superquadric_fit.h"
#include "engine/model.h"
#include "engine/types.h"

namespace abut {

/// A superquadric that could take the place of two primitives of the same operation.
struct SuperquadricMerge {
  int first, second;  ///< of the shape, first < second
  Primitive merged;
  double change;  ///< of the sum of squared truncated errors, by radial distances and without smoothing [m^2]
};

/// For each two superquadrics of the same operation whose boxes are no more than a spacing apart, the one
/// that fits best in their place, the others staying as they are; the cheapest first.
///
/// Fits begin with the ellipsoid of the second moments of both, and with the box around both along the axes
/// of the larger one; points at which the other operation decides are of no concern.
///
/// @param points   (3, n) near the surface [m]
/// @param targets  distances there, truncated at `fit.truncation` spacings [m]
/// @param grid     of which the points are: its spacing
/// @param threads  0: as many as the machine has; changes no result
[[nodiscard]] std::vector<SuperquadricMerge> superquadric_merges(const Shape& shape, const Points& points,
                                                                 const std::vector<double>& targets,
                                                                 const SampleGrid& grid,
                                                                 const SuperquadricFitOptions& fit,
                                                                 int threads);

}  // namespace abut
