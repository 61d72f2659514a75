/// Bounds of a solid's primitives, for culling.
#pragma once

#include <vector>

#include "collision/sdf/shape_sdf.h"
#include "engine/types.h"

namespace abut {

/// Where a primitive of a solid is, for culling.
template <typename T>
struct PrimitiveBound {
  Mat3<T> to_scaled;     ///< of a superquadric: t = to_scaled (x - center); else R_PB
  Vec3<T> center;        ///< [m]
  Vec3<T> inverse_axes;  ///< |dt| <= inverse_axes |dx|
  Vec3<T> half;          ///< the solid lies in |t_i| <= half_i
  T below = -1;          ///< -1; 1 of a half-space, which has no end that way: t_0 takes the place of |t_0|
  T steepest;            ///< distance >= steepest (max_i |t_i| - half_i), and 0 where that is < 0
};

/// Of all primitives of a solid, in the order of the SDF.
template <typename T>
[[nodiscard]] std::vector<PrimitiveBound<T>> bounds_of_primitives(const ShapeSdf& sdf);

/// A solid with the bounds of its primitives, in the order of the SDF.
struct BoundedSolid {
  const ShapeSdf* sdf;
  const PrimitiveBound<double>* bounds;
};

}  // namespace abut
