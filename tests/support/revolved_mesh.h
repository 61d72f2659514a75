/// Meshes of solids of revolution.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "engine/mesh.h"
#include "engine/types.h"

namespace abut::test {

/// A place of a profile: the distance from the z axis and the height [m].
struct ProfilePoint {
  double radius, z;
};

/// The surface that a profile sweeps about the z axis, in so many steps. Outside is to the right of the way
/// along it, radii to the right and heights upwards. It goes from axis to axis, or, as a ring, back to its
/// beginning.
inline TriangleMesh revolved_mesh(const std::vector<ProfilePoint>& profile, int segments,
                                  bool is_ring = false) {
  std::vector<std::vector<int>> rings;  // vertices by profile point and segment
  std::vector<Vec3<double>> vertices;
  for (const ProfilePoint& point : profile) {
    std::vector<int>& ring = rings.emplace_back();
    for (int j = 0; j < segments; ++j) {
      if (j == 0 || point.radius > 0.0) {
        const double angle = 2.0 * std::numbers::pi * j / segments;
        vertices.emplace_back(point.radius * std::cos(angle), point.radius * std::sin(angle), point.z);
      }
      ring.push_back(static_cast<int>(vertices.size()) - 1);
    }
  }
  TriangleMesh mesh;
  mesh.vertices.resize(3, static_cast<Eigen::Index>(vertices.size()));
  for (std::size_t v = 0; v < vertices.size(); ++v)
    mesh.vertices.col(static_cast<Eigen::Index>(v)) = vertices[v];
  const std::size_t count = rings.size();
  for (std::size_t i = 0; i + (is_ring ? 0 : 1) < count; ++i) {
    for (std::size_t j = 0; j < static_cast<std::size_t>(segments); ++j) {
      const std::size_t next = (j + 1) % static_cast<std::size_t>(segments);
      const std::vector<int>&lower = rings[i], &upper = rings[(i + 1) % count];
      const int a = lower[j], b = lower[next], c = upper[next], d = upper[j];
      if (a != b) mesh.triangles.emplace_back(a, b, c);
      if (c != d) mesh.triangles.emplace_back(a, c, d);
    }
  }
  return mesh;
}

inline TriangleMesh cone_mesh(double radius, double top_radius, double half_length, int segments) {
  std::vector<ProfilePoint> profile{{0.0, -half_length}, {radius, -half_length}, {top_radius, half_length}};
  if (top_radius > 0.0) profile.push_back({0.0, half_length});
  return revolved_mesh(profile, segments);
}

inline TriangleMesh torus_mesh(double radius, double tube_radius, int segments, int around_tube) {
  std::vector<ProfilePoint> profile;
  for (int i = 0; i < around_tube; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / around_tube;
    profile.push_back({radius + tube_radius * std::cos(angle), tube_radius * std::sin(angle)});
  }
  return revolved_mesh(profile, segments, true);
}

}  // namespace abut::test
