#include "collision/fitting/convex_pieces.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

#include "collision/fitting/disjoint_sets.h"
#include "collision/fitting/single_primitive_fit.h"
#include "engine/convex_hull.h"

namespace abut {
namespace {

constexpr double k_merge_angle = 0.05;      // of the facets of a hull [rad]
constexpr double k_longest_edge = 1.5;      // [spacings]
constexpr double k_near = 0.8;              // of triangles from the runs of their piece [spacings]
constexpr double k_wrong_side = 0.25;       // of what is below a triangle, from a plane [spacings]
constexpr double k_least_side = 0.01;       // of the volume, that a cut leaves on either side
constexpr double k_least_run = 0.3;         // that a cut leaves [spacings]
constexpr double k_least_volume = 2.0;      // of a piece [spacings^3]
constexpr double k_coplanar = 0.3;          // [spacings]
constexpr double k_cos_coplanar = 0.99939;  // of 2 degrees
constexpr double k_least_face = 1.0 / 400.0;

/// Sorted runs, by their rows.
class RunIndex {
 public:
  explicit RunIndex(const std::vector<RowRun>& runs) : runs_(runs) {
    for (const RowRun& run : runs) {
      lower_ = lower_.cwiseMin(Eigen::Vector2i(run.j, run.k));
      upper_ = upper_.cwiseMax(Eigen::Vector2i(run.j, run.k));
    }
    if (runs.empty()) return;
    const Eigen::Vector2i rows = upper_ - lower_ + Eigen::Vector2i::Ones();
    begin_.assign(at(rows.prod()) + 1, 0);
    for (const RowRun& run : runs) ++begin_[number(run.j, run.k) + 1];
    for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  }

  /// Numbers of the runs of a row: [begin, end).
  [[nodiscard]] std::pair<int, int> row(int j, int k) const {
    if (j < lower_[0] || j > upper_[0] || k < lower_[1] || k > upper_[1]) return {0, 0};
    const std::size_t i = number(j, k);
    return {begin_[i], begin_[i + 1]};
  }

  /// The nearest run within k_near of a point, -1 if there is none.
  [[nodiscard]] int nearest(const Vec3<double>& p) const {
    const int j0 = static_cast<int>(std::lround(p.y())), k0 = static_cast<int>(std::lround(p.z()));
    int best = -1;
    double least = k_near * k_near;
    for (int k = k0 - 1; k <= k0 + 1; ++k) {
      for (int j = j0 - 1; j <= j0 + 1; ++j) {
        const auto [begin, end] = row(j, k);
        for (int i = begin; i < end; ++i) {
          const double dx = std::max({runs_[at(i)].first - p.x(), p.x() - runs_[at(i)].last, 0.0});
          const double squared = dx * dx + (j - p.y()) * (j - p.y()) + (k - p.z()) * (k - p.z());
          if (squared < least) best = i, least = squared;
        }
      }
    }
    return best;
  }

 private:
  [[nodiscard]] std::size_t number(int j, int k) const {
    return at(k - lower_[1]) * at(upper_[0] - lower_[0] + 1) + at(j - lower_[0]);
  }

  const std::vector<RowRun>& runs_;
  Eigen::Vector2i lower_ = Eigen::Vector2i::Constant(std::numeric_limits<int>::max()),
                  upper_ = Eigen::Vector2i::Constant(-1);
  std::vector<int> begin_;  // of each row
};

/// Runs of neighbouring rows that overlap are connected. Returns the component of each run, numbered in the
/// order of their first runs, and how many there are.
std::pair<std::vector<int>, int> components_of(const std::vector<RowRun>& runs) {
  const int count = static_cast<int>(runs.size());
  DisjointSets sets(count);
  const RunIndex index(runs);
  constexpr std::array<std::array<int, 2>, 4> k_before = {{{-1, 0}, {-1, -1}, {0, -1}, {1, -1}}};
  for (int i = 0; i < count;) {
    const int j = runs[at(i)].j, k = runs[at(i)].k, end = index.row(j, k).second;
    for (const auto& [dj, dk] : k_before) {
      auto [other, other_end] = index.row(j + dj, k + dk);
      for (int own = i; own < end && other < other_end;) {
        const RowRun &a = runs[at(own)], &b = runs[at(other)];
        if (a.first <= b.last && b.first <= a.last) sets.unite(own, other);
        if (a.last < b.last)
          ++own;
        else
          ++other;
      }
    }
    i = end;
  }
  std::vector<int> label(runs.size(), -1);
  int components = 0;
  for (int i = 0; i < count; ++i) {
    const int root = sets.find(i);
    label[at(i)] = root == i ? components++ : label[at(root)];
  }
  return {std::move(label), components};
}

double volume_of(const std::vector<RowRun>& runs) {
  double volume = 0.0;
  for (const RowRun& run : runs) volume += run.length();
  return volume;
}

/// The runs on the side normal.x <= offset of a plane, without what a plane shaves off that is nearly
/// parallel to a face.
std::vector<RowRun> side_of(const std::vector<RowRun>& runs, const CutPlane& plane) {
  std::vector<RowRun> side;
  for (const RowRun& run : runs) {
    const RowRun part = clipped(run, plane.normal, plane.offset);
    if (part.length() >= std::min(run.length(), k_least_run)) side.push_back(part);
  }
  return side;
}

CutPlane reversed(const CutPlane& plane) { return {-plane.normal, -plane.offset}; }

/// A point half a spacing below the middle of a triangle.
Vec3<double> below(const TriangleCorners& t) {
  const Vec3<double> normal = (t[1] - t[0]).cross(t[2] - t[0]), middle = (t[0] + t[1] + t[2]) / 3.0;
  const double length = normal.norm();
  return length > 0.0 ? Vec3<double>(middle - (0.5 / length) * normal) : middle;
}

/// Adds the part of a triangle on the side normal.x <= offset of a plane, unless the solid below it is on the
/// other one: a face that lies in the plane, or nearly so, belongs to one side alone.
void clip(const TriangleCorners& triangle, const CutPlane& plane, std::vector<TriangleCorners>& result) {
  const auto above = [&](const Vec3<double>& x) {
    constexpr double k_in_plane = 1e-6;
    const double d = plane.normal.dot(x) - plane.offset;
    return std::abs(d) > k_in_plane ? d : 0.0;
  };
  std::array<Vec3<double>, 4> polygon;
  int corners = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const Vec3<double>&a = triangle[i], &b = triangle[(i + 1) % 3];
    const double da = above(a), db = above(b);
    if (da <= 0.0) polygon[at(corners++)] = a;
    if ((da < 0.0 && db > 0.0) || (da > 0.0 && db < 0.0))
      polygon[at(corners++)] = a + (da / (da - db)) * (b - a);
  }
  for (int i = 2; i < corners; ++i) {
    const TriangleCorners part{polygon[0], polygon[at(i - 1)], polygon[at(i)]};
    if (plane.normal.dot(below(part)) <= plane.offset + k_wrong_side) result.push_back(part);
  }
}

std::optional<PieceHull> hull_of_extremes(const Points& points, double merge_angle, const GridRows& rows) {
  if (points.cols() < 4) return std::nullopt;
  try {
    const ConvexHull hull = convex_hull(points, merge_angle);
    PieceHull result;
    result.corners = hull.vertices;
    result.solid = {hull.normals, hull.offsets};
    result.box = {hull.vertices.rowwise().minCoeff(), hull.vertices.rowwise().maxCoeff()};
    result.excess = rows.excess(result.solid, result.box);
    return result;
  } catch (const std::invalid_argument&) {  // flat
    return std::nullopt;
  }
}

/// Adds the connected pieces of runs, each with the triangles that lie above it.
void add_pieces(std::vector<RowRun> runs, const std::vector<TriangleCorners>& triangles, const GridRows& rows,
                std::vector<ConvexPiece>& pieces) {
  const auto [label, count] = components_of(runs);
  std::vector<ConvexPiece> found(at(count));
  for (std::size_t i = 0; i < runs.size(); ++i) found[at(label[i])].runs.push_back(runs[i]);
  const RunIndex index(runs);
  for (const TriangleCorners& triangle : triangles) {
    const int run = index.nearest(below(triangle));
    if (run >= 0) found[at(label[at(run)])].triangles.push_back(triangle);
  }
  for (ConvexPiece& piece : found) {
    piece.volume = volume_of(piece.runs);
    if (piece.volume < k_least_volume) continue;
    std::vector<std::array<double, 3>> corners;
    for (const TriangleCorners& triangle : piece.triangles) {
      for (const Vec3<double>& corner : triangle) corners.push_back({corner.x(), corner.y(), corner.z()});
    }
    std::sort(corners.begin(), corners.end());
    corners.erase(std::unique(corners.begin(), corners.end()), corners.end());
    for (const RowRun& run : piece.runs) {
      for (const double x : {run.first, run.last}) corners.push_back({x, double(run.j), double(run.k)});
    }
    Points points(3, static_cast<Eigen::Index>(corners.size()));
    for (std::size_t i = 0; i < corners.size(); ++i)
      points.col(static_cast<Eigen::Index>(i)) = Vec3<double>(corners[i][0], corners[i][1], corners[i][2]);
    std::optional<PieceHull> hull = hull_of(points, rows);
    if (!hull) continue;
    piece.hull = std::move(*hull);
    pieces.push_back(std::move(piece));
  }
}

}  // namespace

std::optional<PieceHull> hull_of(const Points& points, const GridRows& rows) {
  return hull_of_extremes(extreme_points(points), k_merge_angle, rows);
}

std::optional<PieceHull> rough_hull_of(const Points& points, const GridRows& rows) {
  return hull_of_extremes(extreme_points(points, 100, 2), k_merge_angle, rows);
}

std::vector<ConvexPiece> whole_pieces(std::vector<RowRun> runs, const std::vector<TriangleCorners>& triangles,
                                      const GridRows& rows) {
  std::vector<ConvexPiece> pieces;
  add_pieces(std::move(runs), triangles, rows, pieces);
  return pieces;
}

std::vector<ConvexPiece> cut(const ConvexPiece& piece, const CutPlane& plane, const GridRows& rows) {
  std::vector<ConvexPiece> pieces;
  for (const CutPlane& side : {plane, reversed(plane)}) {
    std::vector<TriangleCorners> triangles;
    for (const TriangleCorners& triangle : piece.triangles) clip(triangle, side, triangles);
    add_pieces(side_of(piece.runs, side), triangles, rows, pieces);
  }
  return pieces;
}

std::optional<CutEstimate> estimate_cut(const ConvexPiece& piece, const CutPlane& plane,
                                        const GridRows& rows) {
  CutEstimate estimate;
  std::array<double, 2> volumes{};
  for (std::size_t s = 0; s < 2; ++s) {
    const std::vector<RowRun> side = side_of(piece.runs, s == 0 ? plane : reversed(plane));
    volumes[s] = volume_of(side);
    if (!(volumes[s] > k_least_side * piece.volume)) return std::nullopt;
    const auto [label, count] = components_of(side);
    std::vector<std::vector<RowRun>> parts(at(count));
    for (std::size_t i = 0; i < side.size(); ++i) parts[at(label[i])].push_back(side[i]);
    for (const std::vector<RowRun>& part : parts) {
      if (volume_of(part) < k_least_volume) continue;
      Points ends(3, static_cast<Eigen::Index>(2 * part.size()));
      for (std::size_t i = 0; i < part.size(); ++i) {
        ends.col(static_cast<Eigen::Index>(2 * i)) = part[i].begin();
        ends.col(static_cast<Eigen::Index>(2 * i + 1)) = part[i].end();
      }
      if (const std::optional<PieceHull> hull = rough_hull_of(ends, rows)) estimate.excess += hull->excess;
    }
  }
  estimate.imbalance = std::abs(volumes[0] - volumes[1]) / (volumes[0] + volumes[1]);
  return estimate;
}

std::vector<TriangleCorners> fine_triangles(const TriangleMesh& mesh, const GridRows& rows) {
  const Points vertices = rows.in_spacings(mesh.vertices);
  std::vector<TriangleCorners> result;
  for (const Eigen::Vector3i& t : mesh.triangles) {
    const Vec3<double> a = vertices.col(t[0]), u = vertices.col(t[1]) - a, v = vertices.col(t[2]) - a;
    const double longest = std::max({u.norm(), v.norm(), (u - v).norm()});
    const int n = std::max(1, static_cast<int>(std::ceil(longest / k_longest_edge)));
    const auto point = [&](int i, int j) -> Vec3<double> { return a + (double(i) * u + double(j) * v) / n; };
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n - i; ++j) {
        result.push_back({point(i, j), point(i + 1, j), point(i, j + 1)});
        if (i + j + 1 < n) result.push_back({point(i + 1, j), point(i + 1, j + 1), point(i, j + 1)});
      }
    }
  }
  return result;
}

std::vector<FacePlane> face_planes(const TriangleMesh& mesh, const GridRows& rows) {
  const Points vertices = rows.in_spacings(mesh.vertices);
  struct Group {
    Vec3<double> area_vector = Vec3<double>::Zero(), moment = Vec3<double>::Zero();
    double area = 0.0;

    [[nodiscard]] FacePlane plane() const {
      const Vec3<double> normal = area_vector.normalized();
      return {{normal, normal.dot(moment) / area}, area};
    }
  };
  // Triangles of nearly the same plane have the same key, or those of a few groups, which become one below.
  std::map<std::array<int, 4>, Group> groups;
  double total = 0.0;
  for (const Eigen::Vector3i& t : mesh.triangles) {
    const Vec3<double> a = vertices.col(t[0]), b = vertices.col(t[1]), c = vertices.col(t[2]);
    const Vec3<double> area_vector = 0.5 * (b - a).cross(c - a);
    const double area = area_vector.norm();
    total += area;
    if (!(area > 0.0)) continue;
    constexpr double k_normals = 16.0, k_offsets = 2.0;
    const Vec3<double> normal = area_vector / area, centroid = (a + b + c) / 3.0;
    const auto cell = [](double x) { return static_cast<int>(std::lround(x)); };
    Group& group = groups[{cell(k_normals * normal.x()), cell(k_normals * normal.y()),
                           cell(k_normals * normal.z()), cell(k_offsets * normal.dot(centroid))}];
    group.area_vector += area_vector;
    group.moment += area * centroid;
    group.area += area;
  }
  std::vector<Group> sorted;
  for (const auto& [key, group] : groups) {
    if (group.area > 0.25 * k_least_face * total) sorted.push_back(group);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Group& a, const Group& b) { return a.area > b.area; });
  std::vector<Group> merged;
  for (const Group& group : sorted) {
    const CutPlane plane = group.plane().plane;
    const auto same = std::find_if(merged.begin(), merged.end(), [&](const Group& other) {
      const CutPlane p = other.plane().plane;
      return p.normal.dot(plane.normal) > k_cos_coplanar &&
             std::abs(p.normal.dot(group.moment) / group.area - p.offset) < k_coplanar;
    });
    if (same == merged.end()) {
      merged.push_back(group);
      continue;
    }
    same->area_vector += group.area_vector;
    same->moment += group.moment;
    same->area += group.area;
  }
  std::vector<FacePlane> faces;
  for (const Group& group : merged) {
    if (group.area >= k_least_face * total) faces.push_back(group.plane());
  }
  std::stable_sort(faces.begin(), faces.end(),
                   [](const FacePlane& a, const FacePlane& b) { return a.area > b.area; });
  return faces;
}

}  // namespace abut
