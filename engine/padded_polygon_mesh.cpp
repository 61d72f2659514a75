#include "engine/padded_polygon_mesh.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/padded_polygon.h"

namespace abut {
namespace {

/// A corner and a direction out of it, in the plane.
struct RimPoint {
  int corner;
  Vec2<double> direction;
};

/// Once round the polygon, the outer angle of each corner cut into pieces of at most `step` [rad].
std::vector<RimPoint> rim_points(std::span<const Vec2<double>> corners, double step) {
  std::vector<RimPoint> rim;
  const std::size_t n = corners.size();
  for (std::size_t i = 0; i < n; ++i) {
    const Vec2<double> before = corners[i] - corners[(i + n - 1) % n],
                       after = corners[(i + 1) % n] - corners[i];
    const double start = std::atan2(-before.x(), before.y()),  // of the normal of the edge before
        angle = std::atan2(before.x() * after.y() - before.y() * after.x(), before.dot(after));
    const int pieces = std::max(1, static_cast<int>(std::ceil(angle / step - 1e-9)));
    for (int k = 0; k <= pieces; ++k) {
      const double azimuth = start + angle * k / pieces;
      rim.push_back({static_cast<int>(i), {std::cos(azimuth), std::sin(azimuth)}});
    }
  }
  return rim;
}

}  // namespace

TriangleMesh padded_polygon_mesh(std::span<const Vec2<double>> corners, double radius, int segments) {
  require_convex_polygon(corners);
  require_positive(radius, "radius");
  require(segments >= 2 && segments % 2 == 0 && segments <= 1000,
          fmt::format("segments = {}, allowed: even, from 2 to 1000", segments));
  const double step = std::numbers::pi / segments;
  const std::vector<RimPoint> rim = rim_points(corners, step);
  // The corners of the lower face, rings from below to above, the corners of the upper face.
  const int n = static_cast<int>(corners.size()), ring_size = static_cast<int>(rim.size()),
            rings = segments - 1, upper = n + rings * ring_size;
  TriangleMesh mesh;
  mesh.vertices.resize(3, upper + n);
  for (int i = 0; i < n; ++i) {
    const Vec2<double>& corner = corners[at(i)];
    mesh.vertices.col(i) = Vec3<double>(corner.x(), corner.y(), -radius);
    mesh.vertices.col(upper + i) = Vec3<double>(corner.x(), corner.y(), radius);
  }
  for (int ring = 0; ring < rings; ++ring) {
    const double latitude = step * (ring + 1 - segments / 2);
    for (int k = 0; k < ring_size; ++k) {
      const auto& [corner, direction] = rim[at(k)];
      const Vec2<double> place = corners[at(corner)] + radius * std::cos(latitude) * direction;
      mesh.vertices.col(n + ring * ring_size + k) =
          Vec3<double>(place.x(), place.y(), radius * std::sin(latitude));
    }
  }

  for (int i = 1; i + 1 < n; ++i) {
    mesh.triangles.emplace_back(0, i + 1, i);
    mesh.triangles.emplace_back(upper, upper + i, upper + i + 1);
  }
  for (int k = 0; k < ring_size; ++k) {
    const int next = (k + 1) % ring_size, corner = rim[at(k)].corner, next_corner = rim[at(next)].corner;
    const int lowest = n, highest = n + (rings - 1) * ring_size;
    mesh.triangles.emplace_back(corner, lowest + next, lowest + k);
    mesh.triangles.emplace_back(upper + corner, highest + k, highest + next);
    if (corner != next_corner) {
      mesh.triangles.emplace_back(corner, next_corner, lowest + next);
      mesh.triangles.emplace_back(upper + corner, highest + next, upper + next_corner);
    }
    for (int ring = 0; ring + 1 < rings; ++ring) {
      const int below = n + ring * ring_size, above = below + ring_size;
      mesh.triangles.emplace_back(below + k, below + next, above + next);
      mesh.triangles.emplace_back(below + k, above + next, above + k);
    }
  }
  return mesh;
}

}  // namespace abut
