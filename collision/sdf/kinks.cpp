#include "collision/sdf/kinks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <variant>

namespace abut {
namespace {

constexpr double k_share = 1e-3;

bool is_near_kink(const HalfSpace<double>&, const Vec3<double>&) { return false; }
bool is_near_kink(const ConvexPolyhedron<double>&, const Vec3<double>&) { return false; }
bool is_near_kink(const OrientedPointCloud<double>&, const Vec3<double>&) { return false; }
bool is_near_kink(const TruncatedCone<double>&, const Vec3<double>&) { return false; }

bool is_near_kink(const Sphere<double>& sphere, const Vec3<double>& x) {
  return (x - sphere.centre).norm() <= k_share * sphere.radius;
}

bool is_near_kink(const Capsule<double>& capsule, const Vec3<double>& x) {
  const Vec3<double> r = x - capsule.centre;
  const double along = std::clamp(capsule.axis.dot(r), -capsule.half_length, capsule.half_length);
  return (r - along * capsule.axis).norm() <= k_share * capsule.radius;
}

bool is_near_kink(const Torus<double>& torus, const Vec3<double>& x) {
  return beside_axis<double>(torus, x).from_circle <= k_share * torus.tube_radius;
}

bool is_near_kink(const RoundedBox<double>& box, const Vec3<double>& x) {
  const Vec3<double> x_P = box.R_BP.transpose() * (x - box.centre), q = x_P.cwiseAbs() - box.core;
  int deepest = 0;
  const double largest = q.maxCoeff(&deepest),
               near = k_share * std::max(std::abs(largest), box.turning_radius);
  if (largest > near) return false;
  const double other = std::max(q[(deepest + 1) % 3], q[(deepest + 2) % 3]);
  return other >= largest - near || std::abs(x_P[deepest]) <= k_share * box.core[deepest];
}

bool is_near_kink(const PaddedPolygonSolid<double>& solid, const Vec3<double>& x) {
  const Vec3<double> x_P = solid.R_BP.transpose() * (x - solid.centre);
  const double near = k_share * solid.padding;
  const ClosestOnPolygon<double> at = closest_on_polygon<double>(solid, x_P);
  if (at.offset.norm() <= near) return true;
  const double beside = at.offset.head<2>().norm();
  double highest = -std::numeric_limits<double>::infinity();
  for (const auto& edge : solid.edges) {
    const Vec2<double> r = x_P.head<2>() - edge.start;
    const double along = edge.along.dot(r), height = r.x() * edge.along.y() - r.y() * edge.along.x();
    highest = std::max(highest, height);
    const bool is_at_end = std::min(std::abs(along), std::abs(along - edge.length)) <= near;
    if (is_at_end && at.is_face == 0.0 && std::abs(height - beside) <= near) return true;
  }
  return std::abs(highest) <= near;
}

/// Extruded ones included.
bool is_near_kink(const Superquadric<double>& superquadric, const Vec3<double>& x) {
  return (superquadric.to_scaled * (x - superquadric.centre)).norm() <= k_share;
}

}  // namespace

bool is_near_kink(const ShapeSdf& sdf, const Vec3<double>& x_B) {
  // A primitive that matters: an added one that is not farther than the shape, one cut out that is not
  // deeper.
  const auto matters = [&](const PreparedPrimitive<double>& primitive, bool is_added) {
    const double negligible = k_negligible<double> * sdf.smoothing(), distance = sdf.distance<double>(x_B),
                 of_primitive =
                     primitive_sample<SdfOrder::distance, double>(primitive, sdf.distance_mode(), x_B)
                         .distance;
    return is_added ? !(of_primitive > distance + negligible) : !(-of_primitive < distance - negligible);
  };
  const auto& primitives = sdf.primitives<double>();
  for (std::size_t i = 0; i < primitives.size(); ++i) {
    if (std::visit([&](const auto& solid) { return is_near_kink(solid, x_B); }, primitives[i].solid) &&
        matters(primitives[i], static_cast<int>(i) < sdf.added()))
      return true;
  }
  return false;
}

bool has_kinks_outside(const ShapeSdf& sdf) {
  const auto& primitives = sdf.primitives<double>();
  return std::any_of(primitives.begin(), primitives.end(), [](const PreparedPrimitive<double>& primitive) {
    return std::holds_alternative<PaddedPolygonSolid<double>>(primitive.solid);
  });
}

}  // namespace abut
