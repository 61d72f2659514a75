/// Shapes to be fitted again, and the distance grids that they are fitted to.
#pragma once

#include "collision/fitting/distance_grid.h"
#include "collision/fitting/free_primitive.h"
#include "collision/fitting/shape_jacobian.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/model.h"
#include "tests/support/cases.h"

namespace abut::test {

inline Primitive superquadric_of(const Vec3<double>& axes, double eps1, double eps2, const Vec3<double>& p) {
  Primitive primitive;
  primitive.parameters = {axes.x(), axes.y(), axes.z(), eps1, eps2};
  primitive.X_BP.p = p;
  return primitive;
}

/// A value at each point of a grid.
template <typename Field>
DistanceGrid filled(const SampleGrid& points, const Field& value_at) {
  DistanceGrid grid;
  grid.grid = points;
  const Eigen::Vector3i n = grid.points();
  for (int k = 0; k < n.z(); ++k) {
    for (int j = 0; j < n.y(); ++j) {
      for (int i = 0; i < n.x(); ++i) grid.values.push_back(value_at(grid.point(i, j, k)));
    }
  }
  return grid;
}

/// Distances of a shape, with so many points along the longest side.
inline DistanceGrid grid_of(const Shape& shape, int points) {
  const ShapeSdf sdf(shape);
  return filled(padded_grid(sdf.bounds(), points, 0.8),
                [&](const Vec3<double>& x) { return sdf.distance<double>(x); });
}

/// All primitives that a fit moves, moved a little at random.
inline Shape disturbed(Shape shape) {
  Random random(11);
  for (Primitive& primitive : shape.primitives) {
    if (!is_free(primitive)) continue;
    PrimitiveTangent step = 0.05 * random_vector<k_superquadric_numbers>(random);
    step.head<3>() *= 0.2;
    primitive = moved(primitive, step, {1e-3, 10.0, 0.05, 1.9});
  }
  return shape;
}

/// Of entry i of a Jacobian, by a primitive; zero where there is none.
inline PrimitiveTangent slope_of(const DistanceJacobian& J, std::size_t i, std::size_t primitive) {
  for (std::size_t k = J.begin[i]; k < J.begin[i + 1]; ++k) {
    if (J.slopes[k].primitive == static_cast<int>(primitive)) return J.slopes[k].slope;
  }
  return PrimitiveTangent::Zero();
}

/// The same by central differences, at a point.
inline PrimitiveTangent slope_by_differences(const Shape& shape, std::size_t primitive,
                                             const Vec3<double>& x) {
  constexpr double k_step = 1e-6;
  PrimitiveTangent difference;
  for (int number = 0; number < k_superquadric_numbers; ++number) {
    const auto distance_moved_by = [&](double by) {
      PrimitiveTangent step = PrimitiveTangent::Zero();
      step[number] = by;
      Shape changed = shape;
      changed.primitives[primitive] = moved(shape.primitives[primitive], step, {1e-6, 10.0, 0.02, 1.9});
      return ShapeSdf(changed).distance<double>(x);
    };
    difference[number] = (distance_moved_by(k_step) - distance_moved_by(-k_step)) / (2.0 * k_step);
  }
  return difference;
}

}  // namespace abut::test
