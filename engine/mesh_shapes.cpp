#include "engine/mesh_shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <string_view>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"

namespace abut {
namespace {

Points to_points(const std::vector<Vec3<double>>& list) {
  Points points(3, static_cast<Eigen::Index>(list.size()));
  for (std::size_t i = 0; i < list.size(); ++i) points.col(static_cast<Eigen::Index>(i)) = list[i];
  return points;
}

}  // namespace

TriangleMesh box_mesh(const Vec3<double>& half_extents, int subdivisions) {
  for (int i = 0; i < 3; ++i) require_positive(half_extents[i], "half_extents");
  require(subdivisions >= 1 && subdivisions <= 1000,
          fmt::format("subdivisions = {}, allowed: 1 to 1000", subdivisions));
  const int n = subdivisions;
  std::vector<Vec3<double>> vertices;
  std::map<std::array<int, 3>, int> index_of;  // by the place in the grid of (n + 1)^3 points
  const auto vertex = [&](const std::array<int, 3>& place) {
    const auto [found, is_new] = index_of.emplace(place, static_cast<int>(vertices.size()));
    if (is_new) {
      Vec3<double> p;
      for (int k = 0; k < 3; ++k) p[k] = half_extents[k] * (2.0 * place[static_cast<std::size_t>(k)] - n) / n;
      vertices.push_back(p);
    }
    return found->second;
  };

  TriangleMesh mesh;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (const bool upper : {false, true}) {
      // (u, v, axis) is right-handed; seen from outside the lower face is its mirror image.
      const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          const auto corner = [&](int di, int dj) {
            std::array<int, 3> place{};
            place[axis] = upper ? n : 0;
            place[u] = i + di;
            place[v] = j + dj;
            return vertex(place);
          };
          std::array<int, 4> quad{corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)};
          const bool diagonal_from_first =
              (2 * i + 1 < n) == (2 * j + 1 < n);  // towards the middle of the face
          if (!diagonal_from_first) std::rotate(quad.begin(), quad.begin() + 1, quad.end());
          if (!upper) std::swap(quad[1], quad[3]);
          mesh.triangles.emplace_back(quad[0], quad[1], quad[2]);
          mesh.triangles.emplace_back(quad[0], quad[2], quad[3]);
        }
      }
    }
  }
  mesh.vertices = to_points(vertices);
  return mesh;
}

TriangleMesh sphere_mesh(double radius, int subdivisions) {
  require_positive(radius, "radius");
  require(subdivisions >= 0 && subdivisions <= 8,
          fmt::format("subdivisions = {}, allowed: 0 to 8", subdivisions));
  constexpr double g = std::numbers::phi;
  std::vector<Vec3<double>> vertices{{-1, g, 0}, {1, g, 0}, {-1, -g, 0}, {1, -g, 0},
                                     {0, -1, g}, {0, 1, g}, {0, -1, -g}, {0, 1, -g},
                                     {g, 0, -1}, {g, 0, 1}, {-g, 0, -1}, {-g, 0, 1}};
  for (Vec3<double>& p : vertices) p *= radius / p.norm();
  std::vector<Eigen::Vector3i> triangles{{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                         {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                         {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                         {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
  for (int level = 0; level < subdivisions; ++level) {
    std::map<std::pair<int, int>, int> middle_of;
    const auto middle = [&](int i, int j) {
      const auto [found, is_new] = middle_of.emplace(std::minmax(i, j), static_cast<int>(vertices.size()));
      if (is_new) {
        const Vec3<double> sum =
            vertices[static_cast<std::size_t>(i)] + vertices[static_cast<std::size_t>(j)];
        vertices.push_back(sum * (radius / sum.norm()));
      }
      return found->second;
    };
    std::vector<Eigen::Vector3i> finer;
    finer.reserve(4 * triangles.size());
    for (const Eigen::Vector3i& t : triangles) {
      const int a = middle(t[0], t[1]), b = middle(t[1], t[2]), c = middle(t[2], t[0]);
      finer.emplace_back(t[0], a, c);
      finer.emplace_back(t[1], b, a);
      finer.emplace_back(t[2], c, b);
      finer.emplace_back(a, b, c);
    }
    triangles = std::move(finer);
  }
  return {to_points(vertices), std::move(triangles)};
}

TriangleMesh capsule_mesh(double radius, double half_length, int segments) {
  require_positive(radius, "radius");
  require(half_length >= 0.0 && std::isfinite(half_length),
          fmt::format("half_length = {}, allowed: >= 0 and finite", half_length));
  require(segments >= 4 && segments % 4 == 0 && segments <= 1000,
          fmt::format("segments = {}, allowed: multiples of 4 from 4 to 1000", segments));
  // Rings from the lower pole to the upper one, the equator once for each half sphere.
  const int quarter = segments / 4;
  std::vector<Vec3<double>> vertices{{0.0, 0.0, -half_length - radius}};
  const auto add_ring = [&](int step, double center) {
    const double latitude = 0.5 * std::numbers::pi * step / quarter;
    for (int k = 0; k < segments; ++k) {
      const double longitude = 2.0 * std::numbers::pi * k / segments;
      vertices.emplace_back(radius * std::cos(latitude) * std::cos(longitude),
                            radius * std::cos(latitude) * std::sin(longitude),
                            center + radius * std::sin(latitude));
    }
  };
  for (int step = 1 - quarter; step <= 0; ++step) add_ring(step, -half_length);
  for (int step = half_length > 0.0 ? 0 : 1; step < quarter; ++step) add_ring(step, half_length);
  vertices.emplace_back(0.0, 0.0, half_length + radius);

  TriangleMesh mesh;
  const int last = static_cast<int>(vertices.size()) - 1, rings = (last - 1) / segments;
  for (int k = 0; k < segments; ++k) {
    const int next = (k + 1) % segments;
    mesh.triangles.emplace_back(0, 1 + next, 1 + k);
    for (int ring = 0; ring + 1 < rings; ++ring) {
      const int lower = 1 + ring * segments, upper = lower + segments;
      mesh.triangles.emplace_back(lower + k, lower + next, upper + next);
      mesh.triangles.emplace_back(lower + k, upper + next, upper + k);
    }
    mesh.triangles.emplace_back(last, last - segments + k, last - segments + next);
  }
  mesh.vertices = to_points(vertices);
  return mesh;
}

}  // namespace abut
