/// The part of a contact point's area that faces a solid.
#pragma once

#include "collision/manifold/soft_selection.h"
#include "engine/flat_faces.h"

namespace abut {

inline constexpr double k_facing_width = 0.1;  // by the area

/// 0.03 |A| + r(-A.n), r(x) = x - (x, clamped at 0) [m^2].
///
/// @param area   |A|, of a vertex of a mesh [m^2]
/// @param along  A.n: its triangles' area vectors, added up, along the solid's normal [m^2]
template <typename S>
[[nodiscard]] S facing_area(const S& area, const S& along) {
  const S x = S(0) - along;
  return S(k_any_facing) * area + (x - clamped_metric<S>(x, S(0), S(k_facing_width) * area));
}

/// -d(facing_area)/d(along).
[[nodiscard]] inline double facing_area_slope(double area, double along) {
  return 1.0 - clamped_metric_dx<double>(-along, 0.0, k_facing_width * area);
}

}  // namespace abut
