#include "collision/fitting/wall_removal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "collision/fitting/parallel_chunks.h"
#include "collision/fitting/triangle_corners.h"

namespace abut {
namespace {

constexpr double k_offset = 1e-4;                // of the points on either side, by the size
constexpr double k_longest_piece = 1.0 / 128.0;  // by the size
constexpr int k_finer = 4;                       // pieces whose points disagree are so much shorter
constexpr std::size_t k_shell_samples = 64;      // triangles of a shell
constexpr double k_most_free = 1.0 / 16.0;  // of rays: a shell from which more leave is seen from outside
constexpr double k_within = 0.75;           // winding number

/// The triangles of a mesh that fulfil the condition, on the same vertices.
template <typename Condition>
TriangleMesh part_of(const TriangleMesh& mesh, const Condition& condition) {
  TriangleMesh part;
  part.vertices = mesh.vertices;
  for (int t = 0; t < mesh.triangle_count(); ++t) {
    if (condition(t)) part.triangles.push_back(mesh.triangles[at(t)]);
  }
  return part;
}

std::vector<int> samples_of(const std::vector<int>& triangles) {
  const std::size_t count = std::min(triangles.size(), k_shell_samples);
  std::vector<int> samples;
  for (std::size_t i = 0; i < count; ++i)
    samples.push_back(triangles[(2 * i + 1) * triangles.size() / (2 * count)]);
  return samples;
}

/// Whether rays from the triangles leave the mesh.
bool is_seen_from_outside(const TriangleMesh& mesh, const TriangleBvh& bvh, const std::vector<int>& samples,
                          double offset) {
  // About the normal: straight, and 48 degrees to four sides; askew, so that a ray meets no edge of a regular
  // mesh.
  static const std::array<Vec3<double>, 5> k_directions = {
      {{0.013, 0.027, 1.0}, {1.1, 0.08, 1.0}, {-0.07, 1.13, 1.0}, {-1.09, -0.06, 1.0}, {0.05, -1.12, 1.0}}};
  int rays = 0, free = 0;
  for (const int t : samples) {
    const TriangleCorners corners(mesh, t);
    const Vec3<double> vector = corners.area_vector();
    if (!(vector.norm() > 0.0)) continue;
    const Vec3<double> n = vector.normalized(), u = (corners.b - corners.a).normalized(), v = n.cross(u);
    for (const double side : {1.0, -1.0}) {
      for (const Vec3<double>& d : k_directions) {
        const Vec3<double> direction = d.x() * u + d.y() * v + side * d.z() * n;
        ++rays;
        free += bvh.crossings(corners.centroid() + side * offset * n, direction).count == 0 ? 1 : 0;
      }
    }
  }
  return free > k_most_free * rays;
}

/// The mean of the winding number of a shell by itself at the side where it is larger.
double enclosure_alone(const TriangleMesh& mesh, const std::vector<int>& triangles, double offset) {
  const TriangleBvh bvh(submesh(mesh, triangles));
  double behind = 0.0, before = 0.0;
  const std::vector<int> samples = samples_of(triangles);
  for (const int t : samples) {
    const TriangleCorners corners(mesh, t);
    const Vec3<double> shift = offset * corners.area_vector().normalized();
    behind += bvh.winding_number(corners.centroid() - shift);
    before += bvh.winding_number(corners.centroid() + shift);
  }
  return std::max(std::abs(behind), std::abs(before)) / static_cast<double>(samples.size());
}

/// Cuts triangles down to pieces that lie within the solid or do not.
class BoundaryCutter {
 public:
  BoundaryCutter(const TriangleMesh& mesh, const TriangleBvh& bvh, double size)
      : mesh_(mesh), bvh_(bvh), offset_(k_offset * size), longest_(k_longest_piece * size) {}

  enum class Part { none, some, all };

  /// How much of a triangle is boundary; if some, its pieces are appended to `pieces`.
  Part cut(int triangle, std::vector<TriangleCorners>& pieces) const {
    return cut(triangle, TriangleCorners(mesh_, triangle), pieces);
  }

 private:
  static constexpr int k_points = 4;

  Part cut(int triangle, const TriangleCorners& t, std::vector<TriangleCorners>& pieces) const {
    if (!(t.area_vector().norm() > 0.0)) return Part::all;  // without a side
    const std::array<double, 3> lengths = {(t.b - t.a).norm(), (t.c - t.b).norm(), (t.a - t.c).norm()};
    const double length = *std::max_element(lengths.begin(), lengths.end());
    const bool is_short = length <= longest_ / k_finer;
    if (is_short || !may_meet_others(triangle, t)) return is_within(t.centroid(), t) ? Part::none : Part::all;
    if (length <= longest_) {
      const int within = points_within(t);
      if (within == 0) return Part::all;
      if (within == k_points) return Part::none;
    }
    // The longest side is halved.
    const TriangleCorners turned = length == lengths[0]   ? t
                                   : length == lengths[1] ? TriangleCorners{t.b, t.c, t.a}
                                                          : TriangleCorners{t.c, t.a, t.b};
    const Vec3<double> middle = 0.5 * (turned.a + turned.b);
    const std::array<TriangleCorners, 2> halves = {
        {{turned.a, middle, turned.c}, {middle, turned.b, turned.c}}};
    const Part first = cut(triangle, halves[0], pieces);
    const std::size_t between = pieces.size();
    const Part second = cut(triangle, halves[1], pieces);
    if (first == second && first != Part::some) return first;
    if (first == Part::all) pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(between), halves[0]);
    if (second == Part::all) pieces.push_back(halves[1]);
    return Part::some;
  }

  /// Whether a triangle that has no corner in common with this one comes near its piece t: elsewhere one side
  /// is all inside or all outside.
  [[nodiscard]] bool may_meet_others(int triangle, const TriangleCorners& t) const {
    const Eigen::Vector3i& corners = mesh_.triangles[at(triangle)];
    Eigen::AlignedBox3d box(t.a);
    box.extend(t.b).extend(t.c);
    box.min().array() -= 2.0 * offset_;
    box.max().array() += 2.0 * offset_;
    bool meets = false;
    bvh_.visit_overlaps(box, [&](int other) {
      if (meets) return;
      const Eigen::Vector3i& of_other = mesh_.triangles[at(other)];
      for (const int v : corners) {
        if ((of_other.array() == v).any()) return;
      }
      const TriangleCorners u(mesh_, other);
      meets = !is_clear_of(t, u) && !is_clear_of(u, t);
    });
    return meets;
  }

  /// Whether all of u lies on one side of the plane of t, and off it.
  [[nodiscard]] bool is_clear_of(const TriangleCorners& t, const TriangleCorners& u) const {
    const Vec3<double> n = t.area_vector().normalized();
    const double x = n.dot(u.a - t.a), y = n.dot(u.b - t.a), z = n.dot(u.c - t.a);
    return std::min({x, y, z}) > 2.0 * offset_ || std::max({x, y, z}) < -2.0 * offset_;
  }

  /// Whether the solid is on both sides of a point of the triangle.
  [[nodiscard]] bool is_within(const Vec3<double>& p, const TriangleCorners& t) const {
    const Vec3<double> shift = offset_ * t.area_vector().normalized();
    return bvh_.winding_number(p - shift) > 0.5 && bvh_.winding_number(p + shift) > 0.5;
  }

  /// Of the centroid and three points near the corners.
  [[nodiscard]] int points_within(const TriangleCorners& t) const {
    const Vec3<double> middle = t.centroid();
    int count = is_within(middle, t) ? 1 : 0;
    for (const Vec3<double>& corner : {t.a, t.b, t.c})
      count += is_within(0.2 * middle + 0.8 * corner, t) ? 1 : 0;
    return count;
  }

  const TriangleMesh& mesh_;
  const TriangleBvh& bvh_;
  double offset_, longest_;  // [m]
};

}  // namespace

std::vector<std::uint8_t> inner_sheets(const TriangleMesh& mesh, const MeshShells& shells,
                                       double least_enclosure) {
  const std::size_t count = shells.shells.size();
  std::vector<std::uint8_t> is_sheet(count, 0);
  if (count < 2) return is_sheet;
  std::vector<std::vector<int>> triangles(count);
  for (int t = 0; t < mesh.triangle_count(); ++t) triangles[at(shells.shell_of_triangle[at(t)])].push_back(t);
  Eigen::AlignedBox3d box;
  for (const MeshShell& shell : shells.shells) box.extend(shell.box);
  const double size = box.sizes().maxCoeff();

  const TriangleBvh all(mesh);
  bool any = false;
  for (std::size_t s = 0; s < count; ++s) {
    if (shells.shells[s].rim_edges == 0) continue;
    is_sheet[s] = !is_seen_from_outside(mesh, all, samples_of(triangles[s]), k_offset * size) &&
                          enclosure_alone(mesh, triangles[s], k_offset * size) < least_enclosure
                      ? 1
                      : 0;
    any = any || is_sheet[s] != 0;
  }
  if (!any) return is_sheet;
  const TriangleMesh others =
      part_of(mesh, [&](int t) { return is_sheet[at(shells.shell_of_triangle[at(t)])] == 0; });
  if (others.triangles.empty()) return std::vector<std::uint8_t>(count, 0);
  const TriangleBvh bvh(others);
  for (std::size_t s = 0; s < count; ++s) {
    if (is_sheet[s] == 0) continue;
    double sum = 0.0;
    const std::vector<int> samples = samples_of(triangles[s]);
    for (const int t : samples) sum += bvh.winding_number(TriangleCorners(mesh, t).centroid());
    if (!(sum > k_within * static_cast<double>(samples.size()))) is_sheet[s] = 0;
  }
  return is_sheet;
}

SolidBoundary solid_boundary(const TriangleMesh& mesh, const TriangleBvh& bvh, double size, int threads) {
  constexpr int k_chunk = 256;
  struct Part {
    std::vector<TriangleCorners> pieces;
    std::vector<int> kept;  // whole
    int dropped = 0, cut = 0;
  };
  const BoundaryCutter cutter(mesh, bvh, size);
  std::vector<Part> parts(at((mesh.triangle_count() + k_chunk - 1) / k_chunk));
  for_each_chunk(static_cast<int>(parts.size()), threads, [&](int chunk) {
    Part& part = parts[at(chunk)];
    for (int t = chunk * k_chunk; t < std::min((chunk + 1) * k_chunk, mesh.triangle_count()); ++t) {
      switch (cutter.cut(t, part.pieces)) {
        case BoundaryCutter::Part::all:
          part.kept.push_back(t);
          break;
        case BoundaryCutter::Part::some:
          ++part.cut;
          break;
        case BoundaryCutter::Part::none:
          ++part.dropped;
          break;
      }
    }
  });

  SolidBoundary result;
  Eigen::Index pieces = 0;
  for (const Part& part : parts) {
    result.whole += part.dropped;
    result.in_part += part.cut;
    pieces += static_cast<Eigen::Index>(part.pieces.size());
  }
  if (result.whole + result.in_part == 0) return result;
  double kept = 0.0;
  result.mesh.vertices.resize(3, mesh.vertex_count() + 3 * pieces);
  result.mesh.vertices.leftCols(mesh.vertex_count()) = mesh.vertices;
  int next = mesh.vertex_count();
  for (const Part& part : parts) {
    for (const int t : part.kept) {
      result.mesh.triangles.push_back(mesh.triangles[at(t)]);
      kept += TriangleCorners(mesh, t).area_vector().norm();
    }
    for (const TriangleCorners& piece : part.pieces) {
      for (const Vec3<double>& x : {piece.a, piece.b, piece.c}) result.mesh.vertices.col(next++) = x;
      result.mesh.triangles.emplace_back(next - 3, next - 2, next - 1);
      kept += piece.area_vector().norm();
    }
  }
  for (int t = 0; t < mesh.triangle_count(); ++t)
    result.area += TriangleCorners(mesh, t).area_vector().norm();
  result.area -= kept;
  return result;
}

}  // namespace abut
