/// What evaluating a shape costs in a fit, to be weighed against how well it fits.
#pragma once

#include "engine/model.h"

namespace abut {

/// Planes of a convex polyhedron that cost about as much as a superquadric.
inline constexpr double k_planes_per_superquadric = 8.0;

/// What a primitive costs in a query, in superquadrics: a convex polyhedron by its planes, a sphere, capsule,
/// rounded box or cone a quarter.
[[nodiscard]] inline double query_cost(const Primitive& primitive) {
  constexpr double k_exact_cost = 0.25;
  switch (primitive.kind) {
    case PrimitiveKind::superquadric:
      return 1.0;
    case PrimitiveKind::convex_polyhedron:
      return static_cast<double>(primitive.values.size()) / k_planes_per_superquadric;
    default:
      return k_exact_cost;
  }
}

/// Of an occupancy IoU (occupancy_iou) and the shape that has it: the IoU, less `least_gain` times the cost
/// of a query.
[[nodiscard]] inline double merit(double iou, const Shape& shape, double least_gain) {
  double cost = 0.0;
  for (const Primitive& primitive : shape.primitives) cost += query_cost(primitive);
  return iou - least_gain * cost;
}

}  // namespace abut
