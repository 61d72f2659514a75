/// Derivatives by the geometry of a body.
#pragma once

#include <span>
#include <vector>

#include "engine/model.h"
#include "engine/primitive_gradient.h"

namespace abut {

class ShapeSdf;

/// dL/d of one body's geometry, or a change of it.
struct GeometryGradient {
  std::vector<PrimitiveGradient> primitives;
  Points contact_points;  ///< (3, n) in B
  double contact_radius = 0;
  /// (3, 2 edges) in B, both face normals of each of EdgeBody::edges: what finish_face_normals() has yet to
  /// pass on.
  Points face_normals;

  void set_zero(const Body& body);
};

/// dL of a change of the geometry: the sum of all products. Primitives without values count as having 0.
[[nodiscard]] double inner_product(std::span<const PrimitiveGradient> gradient,
                                   std::span<const PrimitiveGradient> change);
[[nodiscard]] double inner_product(const GeometryGradient& gradient, const GeometryGradient& change);

/// JVP: d phi at a point of a solid along a change of its primitives, by ShapeSdf::parameter_vjp().
[[nodiscard]] double parameter_jvp(const ShapeSdf& sdf, const Vec3<double>& x_B,
                                   std::span<const PrimitiveGradient> change);
/// The same of the normal, at three times the cost.
[[nodiscard]] Vec3<double> normal_parameter_jvp(const ShapeSdf& sdf, const Vec3<double>& x_B,
                                                std::span<const PrimitiveGradient> change);

}  // namespace abut
