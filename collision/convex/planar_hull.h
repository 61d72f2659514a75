/// Convex hull of points in a plane.
#pragma once

#include <span>
#include <vector>

#include "engine/types.h"

namespace abut {

/// Indices of the points that are corners of the hull, anticlockwise. Of equal points one is taken; points
/// within `tolerance` [m] of a side are not corners. Points on a line have the two ends of it, equal points
/// one.
/// @see  Andrew (1979), "Another efficient algorithm for convex hulls in two dimensions".
[[nodiscard]] std::vector<int> planar_hull(std::span<const Vec2<double>> points, double tolerance);

}  // namespace abut
