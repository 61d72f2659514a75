/// Meshes of vessels with thin walls, upright about the z axis, open at the top.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "engine/mesh.h"
#include "engine/types.h"
#include "tests/support/revolved_mesh.h"

namespace abut::test {

inline constexpr int k_steps_around = 64;

/// Half of a hollow ball about the origin [m].
inline TriangleMesh thin_bowl(double radius, double wall) {
  constexpr int k_steps = 16;
  std::vector<ProfilePoint> profile;
  const auto add = [&](int i, double r) {
    const double angle = 0.5 * std::numbers::pi * i / k_steps;
    profile.push_back({i == 0 ? 0.0 : r * std::sin(angle), -r * std::cos(angle)});
  };
  for (int i = 0; i <= k_steps; ++i) add(i, radius);
  for (int i = k_steps; i >= 0; --i) add(i, radius - wall);
  return revolved_mesh(profile, k_steps_around);
}

inline TriangleMesh thin_mug(double radius, double half_length, double wall) {
  const double z = half_length, inner = radius - wall;
  return revolved_mesh({{0, -z}, {radius, -z}, {radius, z}, {inner, z}, {inner, wall - z}, {0, wall - z}},
                       k_steps_around);
}

/// Open at both ends.
inline TriangleMesh thin_tube(double radius, double half_length, double wall) {
  const double z = half_length, inner = radius - wall;
  return revolved_mesh({{inner, -z}, {radius, -z}, {radius, z}, {inner, z}}, k_steps_around, true);
}

/// A box without a lid.
inline TriangleMesh thin_box(const Vec3<double>& half, double wall) {
  TriangleMesh mesh;
  mesh.vertices.resize(3, 16);  // the bottom and the rim of the outside, then of the inside
  for (int v = 0; v < 16; ++v) {
    const double inset = v < 8 ? 0.0 : wall;
    const int corner = v % 4;
    mesh.vertices.col(v) =
        Vec3<double>((corner == 1 || corner == 2 ? 1 : -1) * (half.x() - inset),
                     (corner >= 2 ? 1 : -1) * (half.y() - inset), v % 8 < 4 ? inset - half.z() : half.z());
  }
  const auto add = [&](int a, int b, int c, int d) {
    mesh.triangles.emplace_back(a, b, c);
    mesh.triangles.emplace_back(a, c, d);
  };
  add(0, 3, 2, 1);
  add(8, 9, 10, 11);
  for (int i = 0; i < 4; ++i) {
    const int j = (i + 1) % 4;
    add(i, j, 4 + j, 4 + i);
    add(8 + j, 8 + i, 12 + i, 12 + j);
    add(4 + i, 4 + j, 12 + j, 12 + i);
  }
  return mesh;
}

}  // namespace abut::test
