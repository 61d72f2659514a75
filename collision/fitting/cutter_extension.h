/// Subtracted primitives that reach far out of the openings that they cut.
#pragma once

#include "collision/fitting/distance_grid.h"
#include "collision/fitting/union_refinement.h"
#include "engine/model.h"

namespace abut {

/// Lengthens subtracted primitives along their axes where they leave the solid, by up to four times their
/// half width, as far as the error of the shape (refine_union) does not rise. Returns how many ends have
/// moved.
///
/// Beyond the end of a subtracted primitive the distance of a difference is that of the solid without it: a
/// ball would lie on the mouth of a mug. Within it the distance is that of the walls.
///
/// The result depends on the shape, the grid and the options alone. Throws std::invalid_argument as
/// refine_union().
int extend_cutters(Shape& shape, const DistanceGrid& grid, const UnionRefinementOptions& options = {});

}  // namespace abut
