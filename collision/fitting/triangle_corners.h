/// Corners of a mesh's triangles.
#pragma once

#include <vector>

#include "engine/mesh.h"
#include "engine/types.h"

namespace abut {

struct TriangleCorners {
  Vec3<double> a, b, c;

  TriangleCorners(const Vec3<double>& a_, const Vec3<double>& b_, const Vec3<double>& c_)
      : a(a_), b(b_), c(c_) {}
  TriangleCorners(const TriangleMesh& mesh, int triangle) {
    const Eigen::Vector3i& t = mesh.triangles[at(triangle)];
    a = mesh.vertices.col(t[0]);
    b = mesh.vertices.col(t[1]);
    c = mesh.vertices.col(t[2]);
  }
  [[nodiscard]] Vec3<double> centroid() const { return (a + b + c) / 3.0; }
  [[nodiscard]] Vec3<double> area_vector() const { return 0.5 * (b - a).cross(c - a); }
};

/// Some triangles of a mesh, each with vertices of its own.
[[nodiscard]] inline TriangleMesh submesh(const TriangleMesh& mesh, const std::vector<int>& triangles) {
  TriangleMesh result;
  result.vertices.resize(3, 3 * static_cast<Eigen::Index>(triangles.size()));
  for (const int t : triangles) {
    const int first = 3 * result.triangle_count();
    for (int i = 0; i < 3; ++i) result.vertices.col(first + i) = mesh.vertices.col(mesh.triangles[at(t)][i]);
    result.triangles.emplace_back(first, first + 1, first + 2);
  }
  return result;
}

}  // namespace abut
