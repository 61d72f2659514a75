#include "collision/fitting/exact_kinds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "engine/convex_hull.h"
#include "engine/primitive_check.h"
#include "engine/types.h"

namespace abut {
namespace {

constexpr double k_most_box_exponent = 0.6, k_round = 0.3;  // |exponent - 1| of what is round
constexpr double k_round_ratio = 1.25;                      // of axes that are about equal
constexpr double k_edge_smoothing = 0.05;  // tau_c of a cylinder by its smaller length; 0.1 is the most

bool about_equal(double a, double b) { return std::max(a, b) <= k_round_ratio * std::min(a, b); }
bool is_round(double exponent) { return std::abs(exponent - 1.0) <= k_round; }

/// Of a square with the same diagonal as a superellipse of this exponent, by its half side.
double edge_radius(double exponent) {
  return (1.0 - std::pow(2.0, -0.5 * exponent)) / (1.0 - 0.5 * std::numbers::sqrt2);
}

/// With its axes and half extents.
struct OrientedBox {
  Mat3<double> R = Mat3<double>::Identity();
  Vec3<double> centre = Vec3<double>::Zero(), half = Vec3<double>::Zero();
};

OrientedBox box_along(const Mat3<double>& R, const Points& points) {
  const Points turned = R.transpose() * points;
  const Vec3<double> lower = turned.rowwise().minCoeff(), upper = turned.rowwise().maxCoeff();
  return {R, R * Vec3<double>(0.5 * (lower + upper)), 0.5 * (upper - lower)};
}

/// The smallest box around a polyhedron along normals of its faces, the second made perpendicular to the
/// first.
OrientedBox smallest_box(const Primitive& polyhedron) {
  constexpr double k_parallel = 0.2;  // |sin| of the angle between two normals that give no axes
  const Points points = polyhedron_vertices(polyhedron.directions, polyhedron.values);
  OrientedBox smallest = box_along(Mat3<double>::Identity(), points);
  for (Eigen::Index i = 0; i < polyhedron.directions.cols(); ++i) {
    for (Eigen::Index j = 0; j < polyhedron.directions.cols(); ++j) {
      const Vec3<double> z = polyhedron.directions.col(i);
      const Vec3<double> x = polyhedron.directions.col(j) - z * z.dot(polyhedron.directions.col(j));
      if (x.norm() < k_parallel) continue;
      Mat3<double> R;
      R << x.normalized(), z.cross(x.normalized()), z;
      const OrientedBox box = box_along(R, points);
      if (box.half.prod() < (1.0 - 1e-9) * smallest.half.prod()) smallest = box;
    }
  }
  return smallest;
}

}  // namespace

std::vector<Primitive> exact_kinds_near(const Primitive& superquadric) {
  std::vector<Primitive> kinds;
  if (superquadric.kind != PrimitiveKind::superquadric) return kinds;
  const auto& [a, b, c, eps1, eps2] = superquadric.parameters;
  const auto offer = [&](PrimitiveKind kind, const std::array<double, 5>& parameters) {
    kinds.push_back(superquadric);
    kinds.back().kind = kind;
    kinds.back().parameters = parameters;
  };
  if (std::max(eps1, eps2) <= k_most_box_exponent) {
    const double radius = std::min(edge_radius(0.5 * (eps1 + eps2)), 0.9) * std::min({a, b, c});
    offer(PrimitiveKind::rounded_box, {a, b, c, radius, 0.0});
  }
  if (!is_round(eps2) || !about_equal(a, b)) return kinds;
  const double radius = std::sqrt(a * b);
  if (is_round(eps1) && about_equal(radius, c))
    offer(PrimitiveKind::sphere, {std::cbrt(a * b * c), 0.0, 0.0, 0.0, 0.0});
  if (eps1 <= 1.0 + k_round && c > radius) offer(PrimitiveKind::capsule, {radius, c - radius, 0.0, 0.0, 0.0});
  const double edge_smoothing = k_edge_smoothing * std::min(radius, c);
  if (eps1 <= k_most_box_exponent && edge_smoothing >= k_least_length)
    offer(PrimitiveKind::cone, {radius, radius, c, edge_smoothing, 0.0});
  return kinds;
}

std::vector<Primitive> superquadrics_near(const Primitive& polyhedron) {
  constexpr double k_flat = 0.1;  // exponent
  std::vector<Primitive> found;
  if (polyhedron.kind != PrimitiveKind::convex_polyhedron) return found;
  const OrientedBox box = smallest_box(polyhedron);
  const auto offer = [&](int z, double eps1, double eps2) {
    const int x = (z + 1) % 3, y = (z + 2) % 3;
    Mat3<double> R;
    R << box.R.col(x), box.R.col(y), box.R.col(z);
    Primitive superquadric;
    superquadric.operation = polyhedron.operation;
    superquadric.X_BP.p = polyhedron.X_BP * box.centre;
    superquadric.X_BP.q = (polyhedron.X_BP.q * Quat<double>(R)).normalized();
    superquadric.parameters = {box.half[x], box.half[y], box.half[z], eps1, eps2};
    found.push_back(std::move(superquadric));
  };
  offer(2, k_flat, k_flat);
  offer(2, 1.0, 1.0);
  for (int z = 0; z < 3; ++z) offer(z, k_flat, 1.0);
  return found;
}

}  // namespace abut
