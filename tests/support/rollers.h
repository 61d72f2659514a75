/// Round bodies that roll, and where they touch.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "collision/fitting/make_body.h"
#include "tests/support/truths.h"

namespace abut::test {

inline constexpr double k_quarter_turn = 0.5 * std::numbers::pi;

/// A body that rolls along x with its axis along y.
struct Roller {
  std::string name;
  PrimitiveKind kind;
  std::array<double, 5> parameters;
  Vec3<double> rotation_vector;  ///< to roll
  double radius;                 ///< [m]

  [[nodiscard]] Body body() const {
    Shape shape;
    shape.primitives.emplace_back();
    shape.primitives.front().kind = kind;
    shape.primitives.front().parameters = parameters;
    MeshedBodyOptions options;
    options.name = name;
    return make_meshed_body(shape, options).body;
  }
  /// I/(m r^2) about the axis.
  [[nodiscard]] double inertia_ratio(const Body& body) const {
    const Vec3<double> axis = exp_quaternion<double>(rotation_vector).conjugate() * Vec3<double>::UnitY();
    return axis.dot(body.inertia * axis) / (body.mass * radius * radius);
  }
  /// The support function, where it has a closed form: how far the surface reaches along m [m].
  [[nodiscard]] double support(const Vec3<double>& m) const {
    const auto norm = [](double x, double y, double p) {
      const double larger = std::max(std::abs(x), std::abs(y));
      return larger *
             std::pow(std::pow(std::abs(x) / larger, p) + std::pow(std::abs(y) / larger, p), 1.0 / p);
    };
    const auto& q = parameters;
    if (kind == PrimitiveKind::torus) return q[0] * std::hypot(m.x(), m.y()) + q[1];
    return norm(norm(q[0] * m.x(), q[1] * m.y(), 2.0 / (2.0 - q[4])), q[2] * m.z(), 2.0 / (2.0 - q[3]));
  }
  /// The point of the surface with normal m: the gradient of the support function, by differences [m].
  [[nodiscard]] Vec3<double> support_point(const Vec3<double>& m) const {
    constexpr double k_step = 1e-6;
    Vec3<double> x;
    for (int i = 0; i < 3; ++i) {
      const Vec3<double> e = k_step * Vec3<double>::Unit(i);
      x[i] = (support(m + e) - support(m - e)) / (2.0 * k_step);
    }
    return x;
  }
};

inline const std::vector<Roller>& rollers() {
  using enum PrimitiveKind;
  static const std::vector<Roller> all{
      {"cylinder", superquadric, {0.05, 0.05, 0.02, 0.05, 1.0}, {k_quarter_turn, 0, 0}, 0.05},
      {"disc", superquadric, {0.0375, 0.0375, 0.005, 0.05, 1.0}, {k_quarter_turn, 0, 0}, 0.0375},
      {"ellipsoid", superquadric, {0.1, 0.02, 0.02, 1.0, 1.0}, {0, 0, k_quarter_turn}, 0.02},
      {"ball", superquadric, {0.05, 0.05, 0.05, 1.0, 1.0}, {0, 0, 0}, 0.05},
      {"torus", torus, {0.035, 0.015, 0, 0, 0}, {k_quarter_turn, 0, 0}, 0.05},
      {"drum", cone, {0.05, 0.05, 0.02, 1e-4, 0}, {k_quarter_turn, 0, 0}, 0.05}};
  return all;
}

}  // namespace abut::test
