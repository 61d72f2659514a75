/// Where the signed distance of a solid has no derivative.
#pragma once

#include "collision/sdf/shape_sdf.h"
#include "engine/types.h"

namespace abut {

/// Whether x_B lies near a place without a single closest point on the surface of a primitive that matters
/// there: the centre of a sphere or superquadric, the axis of a capsule, or the planes in a box (from the
/// edges of one with sharp edges on) that are equally deep below two faces. Near is a thousandth of the depth
/// there. Of a padded polygon also where its normal has no derivative: the seams between its plates, half
/// cylinders and parts of balls.
[[nodiscard]] bool is_near_kink(const ShapeSdf& sdf, const Vec3<double>& x_B);

/// Whether there are kinks outside of the solid, too: the seams of padded polygons.
[[nodiscard]] bool has_kinks_outside(const ShapeSdf& sdf);

}  // namespace abut
