/// Derivatives by the geometry of a body.
#pragma once

#include <vector>

#include "collision/sdf/shape_sdf.h"
#include "engine/model.h"

namespace abut {

/// dL/d of one body's geometry.
struct GeometryGradient {
  std::vector<PrimitiveGradient> primitives;
  Points contact_points;  ///< (3, n) in B
  double contact_radius = 0;

  void set_zero(const Body& body);
};

}  // namespace abut
