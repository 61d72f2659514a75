/// Random convex polygons in the plane.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "engine/random.h"
#include "engine/types.h"
#include "tests/support/cases.h"

namespace abut::test {

/// Corners on an ellipse of half axes `size` and 0.6 `size`, its centre in a square of the side `size`,
/// anticlockwise [m].
inline std::vector<Vec2<double>> random_convex_polygon(Random& random, int corner_count, double size) {
  std::vector<Vec2<double>> corners;
  const Vec2<double> middle = random_vector<2>(random, 0.5 * size);
  for (int i = 0; i < corner_count; ++i) {
    const double angle = 2.0 * std::numbers::pi * (i + 0.8 * random.uniform()) / corner_count;
    corners.emplace_back(middle + size * Vec2<double>(std::cos(angle), 0.6 * std::sin(angle)));
  }
  return corners;
}

}  // namespace abut::test
