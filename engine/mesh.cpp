#include "engine/mesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/count_text.h"

namespace abut {

void require_closed_surface(const TriangleMesh& mesh, const std::string& name) {
  const int n = mesh.vertex_count();
  require(n >= 4,
          fmt::format("{}: {}, a closed surface has at least 4", name, count_text(n, "vertex", "vertices")));
  // Messages are made when they are needed only: meshes have 10^5 edges.
  const auto fail = [&](const std::string& what) { throw std::invalid_argument(name + ": " + what); };
  for (int i = 0; i < n; ++i) {
    const Vec3<double> p = mesh.vertices.col(i);
    if (!p.allFinite()) fail(fmt::format("vertex {} ({}, {}, {}) is not finite", i, p.x(), p.y(), p.z()));
  }

  // Each directed edge belongs to one triangle; 64 bits hold both of its ends.
  const auto key = [](int from, int to) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(from)) << 32) |
           static_cast<std::uint32_t>(to);
  };
  std::unordered_map<std::uint64_t, int> triangle_of_edge;
  triangle_of_edge.reserve(3 * mesh.triangles.size());
  std::vector<bool> used(static_cast<std::size_t>(n), false);
  for (int t = 0; t < mesh.triangle_count(); ++t) {
    const Eigen::Vector3i& triangle = mesh.triangles[static_cast<std::size_t>(t)];
    for (int k = 0; k < 3; ++k) {
      const int i = triangle[k];
      if (i < 0 || i >= n) fail(fmt::format("triangle {} has vertex {}, allowed: 0 to {}", t, i, n - 1));
      used[static_cast<std::size_t>(i)] = true;
    }
    for (int k = 0; k < 3; ++k) {
      const int from = triangle[k], to = triangle[(k + 1) % 3];
      if (from == to) fail(fmt::format("triangle {} is degenerate, vertex {} occurs twice", t, from));
      const auto [other, is_new] = triangle_of_edge.emplace(key(from, to), t);
      if (!is_new)
        fail(
            fmt::format("triangles {} and {} both run along the edge {} -> {}: one of them is flipped, or "
                        "more than two triangles meet there",
                        other->second, t, from, to));
    }
  }
  for (int t = 0; t < mesh.triangle_count(); ++t) {
    const Eigen::Vector3i& triangle = mesh.triangles[static_cast<std::size_t>(t)];
    for (int k = 0; k < 3; ++k) {
      const int from = triangle[k], to = triangle[(k + 1) % 3];
      if (!triangle_of_edge.contains(key(to, from)))
        fail(fmt::format("the surface is open at the edge {} -> {} of triangle {}", from, to, t));
    }
  }
  const auto unused = std::find(used.begin(), used.end(), false);
  require(unused == used.end(),
          fmt::format("{}: vertex {} belongs to no triangle", name, unused - used.begin()));
}

double largest_extent(const TriangleMesh& mesh) {
  return (mesh.vertices.rowwise().maxCoeff() - mesh.vertices.rowwise().minCoeff()).maxCoeff();
}

std::vector<double> vertex_areas(const TriangleMesh& mesh) {
  std::vector<double> areas(static_cast<std::size_t>(mesh.vertex_count()), 0.0);
  for (const Eigen::Vector3i& triangle : mesh.triangles) {
    const Vec3<double> a = mesh.vertices.col(triangle[0]), b = mesh.vertices.col(triangle[1]),
                       c = mesh.vertices.col(triangle[2]);
    const double third = (b - a).cross(c - a).norm() / 6.0;
    for (int k = 0; k < 3; ++k) areas[static_cast<std::size_t>(triangle[k])] += third;
  }
  return areas;
}

Points vertex_area_vectors(const TriangleMesh& mesh) {
  Points areas = Points::Zero(3, mesh.vertex_count());
  for (const Eigen::Vector3i& triangle : mesh.triangles) {
    const Vec3<double> a = mesh.vertices.col(triangle[0]), b = mesh.vertices.col(triangle[1]),
                       c = mesh.vertices.col(triangle[2]);
    const Vec3<double> third = (b - a).cross(c - a) / 6.0;
    for (int k = 0; k < 3; ++k) areas.col(triangle[k]) += third;
  }
  return areas;
}

}  // namespace abut
