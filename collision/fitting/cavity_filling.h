/// Cavities of a solid on a grid: what a bowl, a mug or a tube encloses.
#pragma once

#include <cstddef>

#include "collision/fitting/distance_grid.h"

namespace abut {

/// A grid whose cavities count as inside.
struct FilledGrid {
  DistanceGrid grid;
  std::size_t filled = 0;  ///< points that became inside by it
  std::size_t inside = 0;  ///< points that were inside before
};

/// Fills the points outside from which the inside lies in at least 17 of the 26 directions of the grid's axes
/// and diagonals, again and again, up to ten times, what is filled counting as inside. At a flat wall it is 9
/// of them, in the corner of two walls 15; in the mouth of a cavity, on what is filled, 17.
///
/// Distances are those of the given grid where its surface is the nearest one, and else those of centres of
/// cells, from the exact Euclidean distance transform, less half a spacing: good to about a spacing.
///
/// @see  Felzenszwalb and Huttenlocher (2012), "Distance transforms of sampled functions".
/// @param least_part  of the points inside: if the first time fills no more than that, nothing is filled, >=
/// 0
[[nodiscard]] FilledGrid fill_cavities(const DistanceGrid& grid, double least_part);

}  // namespace abut
