/// Solids of which a part has flat faces and another is round, as modellers draw them.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>
#include <vector>

#include "engine/mesh.h"
#include "engine/types.h"
#include "tests/support/furniture.h"
#include "tests/support/meshes.h"

namespace abut::test {

/// Points of a hexagon with sides at x = +-apothem, or of a circle, at even angles.
inline Points hexagon(double apothem, int points) {
  Points outline(3, points);
  for (int i = 0; i < points; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / points, third = std::numbers::pi / 3.0;
    const double off = angle - third * std::round(angle / third);
    outline.col(i) = apothem / std::cos(off) * Vec3<double>(std::cos(angle), std::sin(angle), 0.0);
  }
  return outline;
}
inline Points circle(double radius, int points) {
  Points outline(3, points);
  for (int i = 0; i < points; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / points;
    outline.col(i) = radius * Vec3<double>(std::cos(angle), std::sin(angle), 0.0);
  }
  return outline;
}

/// What is between two outlines of as many points, one around the other, from z = lower to upper; a prism, if
/// all of the inner one is a point.
inline TriangleMesh ring_between(const Points& outer, const Points& inner, double lower, double upper) {
  const auto n = static_cast<int>(outer.cols());
  TriangleMesh mesh;
  mesh.vertices.resize(3, 4 * n);
  mesh.vertices << outer, outer, inner, inner;
  mesh.vertices.row(2).setConstant(lower);
  mesh.vertices.row(2).segment(n, n).setConstant(upper);
  mesh.vertices.row(2).segment(3 * n, n).setConstant(upper);
  for (int i = 0; i < n; ++i) {
    const int j = (i + 1) % n;
    const auto add = [&](int a, int b, int c, int d) {
      mesh.triangles.emplace_back(a, b, c);
      mesh.triangles.emplace_back(a, c, d);
    };
    add(i, j, n + j, n + i);                          // outside
    add(3 * n + i, 3 * n + j, 2 * n + j, 2 * n + i);  // around the hole
    add(n + i, n + j, 3 * n + j, 3 * n + i);          // above
    add(j, i, 2 * n + i, 2 * n + j);                  // below
  }
  return mesh;
}
inline TriangleMesh prism_of(const Points& outline, double lower, double upper) {
  return ring_between(outline, Points::Zero(3, outline.cols()), lower, upper);
}

struct NamedMesh {
  std::string name;
  TriangleMesh mesh;
};

inline const std::vector<NamedMesh>& mixed_solids() {
  constexpr int k_round = 60;  // points of a circle
  static const std::vector<NamedMesh> list = [] {
    TriangleMesh table = prism_of(circle(0.9, k_round), 0.5, 0.65);
    TriangleMesh chair = joined(prism_of(circle(0.5, k_round), -0.05, 0.05),
                                box_between({-0.35, 0.3, 0.05}, {0.35, 0.4, 1.0}));
    for (const double x : {-1.0, 1.0}) {
      for (const double y : {-1.0, 1.0}) {
        const Vec3<double> leg(0.5 * x, 0.5 * y, 0.0), foot(0.3 * x, 0.3 * y, 0.0);
        table =
            joined(table, box_between(leg - Vec3<double>(0.1, 0.1, 0.7), leg + Vec3<double>(0.1, 0.1, 0.5)));
        chair = joined(
            chair, box_between(foot - Vec3<double>(0.06, 0.06, 0.9), foot + Vec3<double>(0.06, 0.06, -0.05)));
      }
    }
    return std::vector<NamedMesh>{
        {"bolt",
         joined(prism_of(hexagon(0.42, k_round), 0.5, 0.85), prism_of(circle(0.22, k_round), -0.9, 0.5))},
        {"chair with a round seat", chair},
        {"nut", ring_between(hexagon(0.75, k_round), circle(0.45, k_round), -0.35, 0.35)},
        {"table with a round top", table}};
  }();
  return list;
}

}  // namespace abut::test
