#include "collision/manifold/geometry_gradient.h"

#include <algorithm>

#include "collision/sdf/shape_sdf.h"
#include "engine/check.h"

namespace abut {

void GeometryGradient::set_zero(const Body& body) {
  primitives.resize(body.shape.primitives.size());
  for (std::size_t i = 0; i < primitives.size(); ++i) {
    primitives[i].parameters.fill(0.0);
    primitives[i].values.assign(body.shape.primitives[i].values.size(), 0.0);
    primitives[i].pose.setZero();
  }
  contact_points.setZero(3, body.contact_points.cols());
  contact_radius = 0.0;
  face_normals.resize(3, 0);
}

double inner_product(std::span<const PrimitiveGradient> gradient, std::span<const PrimitiveGradient> change) {
  ABUT_ASSERT(gradient.size() == change.size());
  double sum = 0.0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const PrimitiveGradient &g = gradient[i], &c = change[i];
    sum += g.pose.dot(c.pose);
    for (std::size_t k = 0; k < g.parameters.size(); ++k) sum += g.parameters[k] * c.parameters[k];
    for (std::size_t k = 0; k < std::min(g.values.size(), c.values.size()); ++k)
      sum += g.values[k] * c.values[k];
  }
  return sum;
}

double inner_product(const GeometryGradient& gradient, const GeometryGradient& change) {
  return inner_product(gradient.primitives, change.primitives) +
         (gradient.contact_points.array() * change.contact_points.array()).sum() +
         gradient.contact_radius * change.contact_radius;
}

double parameter_jvp(const ShapeSdf& sdf, const Vec3<double>& x_B,
                     std::span<const PrimitiveGradient> change) {
  std::vector<PrimitiveGradient> row(change.size());
  sdf.parameter_vjp(x_B, 1.0, Vec3<double>::Zero(), row);
  return inner_product(row, change);
}

Vec3<double> normal_parameter_jvp(const ShapeSdf& sdf, const Vec3<double>& x_B,
                                  std::span<const PrimitiveGradient> change) {
  Vec3<double> r;
  for (int i = 0; i < 3; ++i) {
    std::vector<PrimitiveGradient> row(change.size());
    sdf.parameter_vjp(x_B, 0.0, Vec3<double>::Unit(i), row);
    r[i] = inner_product(row, change);
  }
  return r;
}

}  // namespace abut
