/// Meshes for tests, beside those of engine/mesh_shapes.h.
#pragma once

#include <cmath>
#include <numbers>

#include "engine/mesh.h"
#include "engine/pose.h"
#include "engine/random.h"
#include "engine/types.h"

namespace abut::test {

/// V - E + F of a closed mesh.
inline int euler_characteristic(const TriangleMesh& mesh) {
  return mesh.vertex_count() - mesh.triangle_count() / 2;
}

/// A torus about z with radii 1 and `tube`, of n x m quadrangles.
inline TriangleMesh torus_mesh(double tube, int n, int m) {
  TriangleMesh mesh;
  mesh.vertices.resize(3, n * m);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < m; ++j) {
      const double u = 2.0 * std::numbers::pi * i / n, v = 2.0 * std::numbers::pi * j / m;
      const double ring = 1.0 + tube * std::cos(v);
      mesh.vertices.col(i * m + j) = Vec3<double>(ring * std::cos(u), ring * std::sin(u), tube * std::sin(v));
      const int a = i * m + j, b = (i + 1) % n * m + j, c = (i + 1) % n * m + (j + 1) % m,
                d = i * m + (j + 1) % m;
      mesh.triangles.emplace_back(a, b, c);
      mesh.triangles.emplace_back(a, c, d);
    }
  }
  return mesh;
}

/// Both in one, in this order.
inline TriangleMesh joined(const TriangleMesh& a, const TriangleMesh& b) {
  TriangleMesh result;
  result.vertices.resize(3, a.vertex_count() + b.vertex_count());
  if (a.vertex_count() > 0) result.vertices.leftCols(a.vertex_count()) = a.vertices;
  if (b.vertex_count() > 0) result.vertices.rightCols(b.vertex_count()) = b.vertices;
  result.triangles = a.triangles;
  const Eigen::Vector3i shift = Eigen::Vector3i::Constant(a.vertex_count());
  for (const Eigen::Vector3i& t : b.triangles) result.triangles.push_back(t + shift);
  return result;
}

inline TriangleMesh inverted(TriangleMesh mesh) {
  for (Eigen::Vector3i& t : mesh.triangles) std::swap(t[1], t[2]);
  return mesh;
}

inline TriangleMesh moved(TriangleMesh mesh, const Pose<double>& X) {
  for (int v = 0; v < mesh.vertex_count(); ++v) mesh.vertices.col(v) = X * Vec3<double>(mesh.vertices.col(v));
  return mesh;
}

inline TriangleMesh translated(const TriangleMesh& mesh, const Vec3<double>& by) {
  return moved(mesh, {Quat<double>::Identity(), by});
}

/// Every triangle with vertices of its own.
inline TriangleMesh soup_of(const TriangleMesh& mesh) {
  TriangleMesh result;
  result.vertices.resize(3, 3 * mesh.triangle_count());
  for (int t = 0; t < mesh.triangle_count(); ++t) {
    for (int i = 0; i < 3; ++i) result.vertices.col(3 * t + i) = mesh.vertices.col(mesh.triangles[at(t)][i]);
    result.triangles.emplace_back(3 * t, 3 * t + 1, 3 * t + 2);
  }
  return result;
}

/// Without the triangles whose centroid fulfils the condition.
template <typename Condition>
TriangleMesh without(const TriangleMesh& mesh, const Condition& condition) {
  TriangleMesh result = mesh;
  std::erase_if(result.triangles, [&](const Eigen::Vector3i& t) {
    const Vec3<double> a = mesh.vertices.col(t[0]), b = mesh.vertices.col(t[1]), c = mesh.vertices.col(t[2]);
    return condition(Vec3<double>((a + b + c) / 3.0));
  });
  return result;
}

/// Triangles anywhere in the cube [-1, 1]^3, of extents up to 2 `size`, with nothing in common.
inline TriangleMesh random_soup(Random& random, int triangles, double size) {
  TriangleMesh mesh;
  mesh.vertices.resize(3, 3 * triangles);
  for (int t = 0; t < triangles; ++t) {
    Vec3<double> middle;
    for (double& x : middle) x = random.uniform(-1.0, 1.0);
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k) mesh.vertices(k, 3 * t + i) = middle[k] + random.uniform(-size, size);
    }
    mesh.triangles.emplace_back(3 * t, 3 * t + 1, 3 * t + 2);
  }
  return mesh;
}

}  // namespace abut::test
