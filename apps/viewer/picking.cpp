#include "apps/viewer/picking.h"

#include <cmath>
#include <limits>

namespace abut::viewer {
namespace {

/// Distance along the ray to the triangle; infinite if it is missed.
/// @see  Moeller and Trumbore (1997), "Fast, minimum storage ray/triangle intersection".
double distance_to_triangle(const Ray& ray, const Vec3<double>& a, const Vec3<double>& b,
                            const Vec3<double>& c) {
  constexpr double k_missed = std::numeric_limits<double>::infinity();
  const Vec3<double> ab = b - a, ac = c - a, across = ray.direction.cross(ac);
  const double determinant = ab.dot(across);
  if (determinant == 0.0) return k_missed;
  const Vec3<double> from_a = ray.origin - a, turned = from_a.cross(ab);
  const double u = from_a.dot(across) / determinant, v = ray.direction.dot(turned) / determinant;
  const double t = ac.dot(turned) / determinant;
  return u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > 0.0 ? t : k_missed;
}

double distance_to_surface(const Ray& ray, const Surface& surface) {
  double nearest = std::numeric_limits<double>::infinity();
  const auto corner = [&](std::size_t i) -> Vec3<double> {
    return surface.positions[surface.triangles[i]].cast<double>();
  };
  for (std::size_t i = 0; i < surface.triangles.size(); i += 3)
    nearest = std::fmin(nearest, distance_to_triangle(ray, corner(i), corner(i + 1), corner(i + 2)));
  return nearest;
}

double distance_to_half_space(const Ray& ray, const Pose<double>& X_WP) {
  const Vec3<double> normal = X_WP.q * Vec3<double>::UnitZ();
  const double height = normal.dot(ray.origin - X_WP.p), fall = -normal.dot(ray.direction);
  return height > 0.0 && fall > 0.0 ? height / fall : std::numeric_limits<double>::infinity();
}

}  // namespace

std::optional<BodyHit> pick_body(const Model& model, std::span<const Pose<double>> X_WB,
                                 BodySurfaces& surfaces, const Ray& ray, const Visibility& visibility) {
  BodyHit hit;
  hit.distance = std::numeric_limits<double>::infinity();
  const auto try_distance = [&](std::size_t body, double distance) {
    if (!(distance < hit.distance)) return;
    hit.distance = distance;
    hit.body = static_cast<int>(body);
  };
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    if (!visibility.shows_body(static_cast<int>(b))) continue;
    const Ray in_B{inverse_point(X_WB[b], ray.origin), X_WB[b].q.conjugate() * ray.direction};
    if (const SharedSurface surface = surfaces.surface_of(model, static_cast<int>(b), BodyDisplay()))
      try_distance(b, distance_to_surface(in_B, *surface));
    for (const Primitive& primitive : model.bodies[b].shape.primitives) {
      if (primitive.kind == PrimitiveKind::half_space && primitive.operation == PrimitiveOperation::add)
        try_distance(b, distance_to_half_space(ray, X_WB[b] * primitive.X_BP));
    }
  }
  if (hit.body < 0) return std::nullopt;
  hit.point_W = ray.origin + hit.distance * ray.direction;
  return hit;
}

}  // namespace abut::viewer
