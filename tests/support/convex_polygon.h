/// Convex polygons in the plane, and padded ones as bodies.
#pragma once

#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "engine/body_builder.h"
#include "engine/primitive_builder.h"
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

/// A padded polygon with the mesh that is made for it.
inline Body polygon_body(std::span<const Vec2<double>> corners, double radius, double density = 1000.0) {
  BodyDescription description;
  description.name = "padded polygon";
  description.shape.primitives = {make_padded_polygon(corners, radius)};
  description.mass_or_density = Density{density};
  return make_body(description);
}

inline std::vector<Vec2<double>> rectangle_corners(double half_x, double half_y) {
  return {{-half_x, -half_y}, {half_x, -half_y}, {half_x, half_y}, {-half_x, half_y}};
}

}  // namespace abut::test
