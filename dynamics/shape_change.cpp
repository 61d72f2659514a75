#include "dynamics/shape_change.h"

#include <cmath>
#include <utility>

#include "engine/check.h"

namespace abut {
namespace {

/// How contact points depend on the parameters of the one primitive they were made from:
///   p = X_BP (t o scale(parameters)),   contact radius = parameters[radius_index],
/// with t constant. Only for a single added sphere, capsule or rounded box whose radius is the contact
/// radius.
struct PointsOfPrimitive {
  int radius_index = -1;
  Vec3<double> scale = Vec3<double>::Ones();
  bool valid = false;

  explicit PointsOfPrimitive(const Body& body) {
    if (body.shape.primitives.size() != 1) return;
    const Primitive& primitive = body.shape.primitives.front();
    if (primitive.operation != PrimitiveOperation::add) return;
    const auto& q = primitive.parameters;
    switch (primitive.kind) {
      case PrimitiveKind::sphere:
        radius_index = 0;
        break;
      case PrimitiveKind::capsule:
        radius_index = 0;
        scale = {1.0, 1.0, q[1]};
        break;
      case PrimitiveKind::rounded_box:
        radius_index = 3;
        scale = {q[0] - q[3], q[1] - q[3], q[2] - q[3]};
        break;
      case PrimitiveKind::superquadric:
      case PrimitiveKind::half_space:
      case PrimitiveKind::convex_polyhedron:
      case PrimitiveKind::oriented_point_cloud:
      case PrimitiveKind::extruded_superquadric:
        return;
    }
    valid = body.contact_radius == q[static_cast<std::size_t>(radius_index)];  // 0 for a box with sharp edges
  }
};

/// dL/d(parameters) from dL/d(scale) of PointsOfPrimitive.
void scale_vjp(PrimitiveKind kind, const Vec3<double>& scale_bar, PrimitiveGradient& bar) {
  if (kind == PrimitiveKind::capsule) bar.parameters[1] += scale_bar.z();
  if (kind == PrimitiveKind::rounded_box) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      bar.parameters[axis] += scale_bar[static_cast<Eigen::Index>(axis)];
    bar.parameters[3] -= scale_bar.sum();
  }
}

bool points_follow_zero_set(const Body& body) {
  return body.contact_radius == 0.0 && body.contact_points_on_surface && !body.shape.primitives.empty();
}

/// Moves x along the gradient to the level set of value `level`.
Vec3<double> project(const ShapeSdf& sdf, Vec3<double> x, double level, double tolerance) {
  constexpr int k_max_iterations = 30;
  for (int iteration = 0; iteration < k_max_iterations; ++iteration) {
    const auto sample = sdf.evaluate<double>(x);
    const double off = sample.distance - level;
    if (std::abs(off) <= tolerance) break;
    x -= off / sample.gradient.squaredNorm() * sample.gradient;
  }
  return x;
}

}  // namespace

Body with_primitives(const Body& body, const std::vector<Primitive>& primitives) {
  require(primitives.size() == body.shape.primitives.size(),
          "with_primitives: the number of primitives may not change");
  Body changed = body;
  changed.shape.primitives = primitives;
  const PointsOfPrimitive before(body);
  if (before.valid) {
    changed.contact_radius = primitives.front().parameters[static_cast<std::size_t>(before.radius_index)];
    const PointsOfPrimitive after(changed);
    for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i) {
      const Vec3<double> local =
          inverse_point<double>(body.shape.primitives.front().X_BP, body.contact_points.col(i))
              .cwiseQuotient(before.scale);
      changed.contact_points.col(i) = primitives.front().X_BP * Vec3<double>(local.cwiseProduct(after.scale));
    }
  } else if (points_follow_zero_set(body)) {
    const ShapeSdf old_sdf(body.shape), new_sdf(changed.shape);
    for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i) {
      const Vec3<double> v = body.contact_points.col(i);
      changed.contact_points.col(i) = project(new_sdf, v, old_sdf.distance<double>(v), 1e-15 * body.size);
    }
  }
  return changed;
}

std::vector<PrimitiveGradient> total_shape_gradient(const Body& body, const ShapeSdf& sdf,
                                                    const GeometryGradient& partial) {
  std::vector<PrimitiveGradient> total = partial.primitives;
  const PointsOfPrimitive points(body);
  if (points.valid) {
    const Primitive& primitive = body.shape.primitives.front();
    PrimitiveGradient& bar = total.front();
    bar.parameters[static_cast<std::size_t>(points.radius_index)] += partial.contact_radius;
    for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i) {
      const Vec3<double> local = inverse_point<double>(primitive.X_BP, body.contact_points.col(i));
      const auto point_bar = point_vjp<double>(primitive.X_BP, local, partial.contact_points.col(i));
      bar.pose += point_bar.pose;
      scale_vjp(primitive.kind, point_bar.point.cwiseProduct(local.cwiseQuotient(points.scale)), bar);
    }
  } else if (points_follow_zero_set(body)) {
    for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i) {
      const Vec3<double> v = body.contact_points.col(i), v_bar = partial.contact_points.col(i);
      if (v_bar.isZero(0.0)) continue;
      const Vec3<double> gradient = sdf.evaluate<double>(v).gradient;
      sdf.parameter_vjp(v, -gradient.dot(v_bar) / gradient.squaredNorm(), Vec3<double>::Zero(), total);
    }
  }
  return total;
}

}  // namespace abut
