/// Shapes to be fitted again, and the distance grids that they are fitted to.
#pragma once

#include "collision/fitting/distance_grid.h"
#include "collision/fitting/marching_cubes.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/model.h"

namespace abut::test {

inline Primitive superquadric_of(const Vec3<double>& axes, double eps1, double eps2, const Vec3<double>& p) {
  Primitive primitive;
  primitive.parameters = {axes.x(), axes.y(), axes.z(), eps1, eps2};
  primitive.X_BP.p = p;
  return primitive;
}

/// Distances of a shape, with so many points along each side of a cube around it.
inline DistanceGrid grid_of(const Shape& shape, int points) {
  DistanceGrid grid;
  const ShapeSdf sdf(shape);
  grid.grid = padded_grid(sdf.bounds(), points, 0.8);
  for (int k = 0; k < points; ++k) {
    for (int j = 0; j < points; ++j) {
      for (int i = 0; i < points; ++i) grid.values.push_back(sdf.distance<double>(grid.point(i, j, k)));
    }
  }
  return grid;
}

}  // namespace abut::test
