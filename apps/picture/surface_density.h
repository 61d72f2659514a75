/// Amounts spread over a surface, as forces are that make pressures.
#pragma once

#include <span>
#include <vector>

#include "apps/picture/surface.h"

namespace abut {

struct SpreadAmount {
  Vec3<double> place = Vec3<double>::Zero();  ///< on the surface, or near it [m]
  Vec3<double> outwards =
      Vec3<double>::Zero();  ///< from the side that it lies on, of any length; 0: of any side
  double amount = 0.0;
  double radius = 1.0;  ///< of the kernel [m], > 0
};

struct SurfaceDensity {
  Surface patch;                ///< the parts of the surface near the places, in small triangles; no colours
  std::vector<double> density;  ///< at each of its positions [amount/m^2]
};

/// Each amount is spread with the density c max(0, n . outwards) (1 - d^2/r^2)^2 at distances d < r from the
/// place of the surface that is nearest to its own, n being the surface's normal. c is such that the integral
/// of the density, which is linear over each triangle of the patch, is the amount; without the second factor
/// where it leaves nothing. A surface without triangles has none.
[[nodiscard]] SurfaceDensity spread_over(const Surface& surface, std::span<const SpreadAmount> amounts);

}  // namespace abut
