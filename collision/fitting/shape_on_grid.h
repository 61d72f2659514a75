/// The signed distance function of a shape at the points of a grid, and how well its inside agrees with that
/// of the grid.
#pragma once

#include <vector>

#include "collision/fitting/distance_grid.h"
#include "collision/sdf/shape_sdf.h"

namespace abut {

/// The field of an SDF (marching_cubes.h) that costs nothing far away: infinite at points that are certainly
/// further than `band` [m] from the inside. The SDF must outlive it.
[[nodiscard]] ScalarField field_near(const ShapeSdf& sdf, double band);

/// That field [m] at each point of the grid, in its order.
///
/// @param threads  0: as many as the machine has; changes no result
[[nodiscard]] std::vector<double> distances_on_grid(const ShapeSdf& sdf, const DistanceGrid& grid,
                                                    double band, int threads = 0);

/// Points with a negative distance in both by those in either, of a grid and of distances at its points.
[[nodiscard]] double volumetric_iou(const DistanceGrid& grid, const std::vector<double>& distances);

/// The same to less than a spacing h: of the parts of the points' cells that are inside, about
/// clamp(1/2 - d/h, 0, 1) of a cell at distance d, the sum of the smaller by that of the larger ones. It sees
/// how thick a thin wall is. Distances must be known to h/2 from the zero set.
[[nodiscard]] double occupancy_iou(const DistanceGrid& grid, const std::vector<double>& distances);

/// The volumetric IoU of a grid and the zero set of a signed distance function.
[[nodiscard]] double volumetric_iou(const DistanceGrid& grid, const ShapeSdf& sdf, int threads = 0);

}  // namespace abut
