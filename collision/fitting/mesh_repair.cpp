#include "collision/fitting/mesh_repair.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "collision/fitting/mesh_cleaning.h"
#include "collision/fitting/mesh_shells.h"
#include "collision/fitting/parallel_chunks.h"
#include "collision/fitting/triangle_corners.h"
#include "collision/fitting/wall_removal.h"
#include "engine/check.h"
#include "engine/count_text.h"

namespace abut {
namespace {

constexpr int k_containers = 256;          // shells that others are looked for in
constexpr int k_votes = 64;                // triangles of an open shell that look around
constexpr double k_decided = 0.25;         // of the votes: the majority that it takes
constexpr double k_least_bulge = 1e-3;     // volume by area^(3/2) from which on the sign of it counts
constexpr double k_least_volume = 1e-9;    // the same of the whole mesh
constexpr double k_least_area = 1e-12;     // of the whole mesh, by its size^2
constexpr int k_enclosure_samples = 1024;  // of the surface
constexpr double k_least_enclosure = 0.7;  // between a flat sheet, 1/2, and a hemisphere, 0.81
constexpr double k_most_offset = 1e9;      // of the mesh from the origin, by its size

void turn(Eigen::Vector3i& triangle) { std::swap(triangle[1], triangle[2]); }

/// Throws unless the mesh can be worked on at all; returns the box around its triangles.
Eigen::AlignedBox3d require_usable(const TriangleMesh& mesh) {
  require(!mesh.triangles.empty(), "the mesh has no triangles");
  Eigen::AlignedBox3d box;
  for (int t = 0; t < mesh.triangle_count(); ++t) {
    for (const int v : mesh.triangles[at(t)]) {
      if (v < 0 || v >= mesh.vertex_count()) {
        throw std::invalid_argument(fmt::format("triangle {} has vertex {}, but the mesh has {}", t, v,
                                                count_text(mesh.vertex_count(), "vertex", "vertices")));
      }
      const Vec3<double> x = mesh.vertices.col(v);
      if (!x.allFinite()) throw std::invalid_argument(fmt::format("vertex {} is not finite", v));
      box.extend(x);
    }
  }
  const double size = box.sizes().maxCoeff();
  require(size > 0.0, "the mesh has no extent: all of its triangles are in one point");
  const double offset = box.min().cwiseAbs().cwiseMax(box.max().cwiseAbs()).maxCoeff();
  require(
      size > 1e-100 && size < 1e100 && offset <= k_most_offset * size,
      fmt::format("the mesh, of size {:.3g} m, lies {:.3g} m from the origin, where its coordinates are too "
                  "coarse: move it to the origin",
                  size, offset));
  return box;
}

/// Turns shells, each of which agrees with itself, outwards.
class ShellTurner {
 public:
  ShellTurner(TriangleMesh& mesh, MeshShells& shells, double size)
      : mesh_(mesh),
        shells_(shells),
        size_(size),
        signs_(shells.shells.size(), 0),
        members_(shells.shells.size()) {
    for (int t = 0; t < mesh.triangle_count(); ++t)
      members_[at(shells.shell_of_triangle[at(t)])].push_back(t);
  }

  /// Returns the number of cavities.
  int run() {
    turn_open_shells();
    const int cavities = turn_closed_shells();
    for (std::size_t s = 0; s < signs_.size(); ++s) {
      if (signs_[s] > 0) continue;
      for (const int t : members_[s]) {
        turn(mesh_.triangles[at(t)]);
        shells_.turned[at(t)] ^= 1;
      }
      shells_.shells[s].volume *= -1.0;
    }
    return cavities;
  }

 private:
  [[nodiscard]] const MeshShell& shell(int s) const { return shells_.shells[at(s)]; }
  [[nodiscard]] bool is_open(int s) const { return shell(s).rim_edges > 0; }
  [[nodiscard]] int shell_count() const { return static_cast<int>(signs_.size()); }

  /// Whether a shell faces outwards (1) or inwards (-1), by what some of its triangles see on either side; 0
  /// where they do not agree.
  [[nodiscard]] int look_around(int s, const TriangleBvh& bvh) const {
    const std::vector<int>& members = members_[at(s)];
    const std::size_t count = std::min(members.size(), at(k_votes));
    int sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const TriangleCorners corners(mesh_, members[(2 * i + 1) * members.size() / (2 * count)]);
      const Vec3<double> vector = corners.area_vector(), n = vector.normalized();
      if (!(vector.norm() > 0.0)) continue;
      // Askew, so that a ray meets no edge of a regular mesh.
      const Vec3<double> askew = n + 0.03 * Vec3<double>(0.5377, 0.8339, -0.2588);
      const double start = std::min(1e-4 * std::sqrt(vector.norm()), 1e-6 * size_);
      const int outer = bvh.crossings(corners.centroid() + start * n, askew).count;
      const int inner = bvh.crossings(corners.centroid() - start * n, -askew).count;
      const int free = (outer == 0 ? 1 : 0) - (inner == 0 ? 1 : 0);
      sum += free != 0 ? free : inner % 2 - outer % 2;
    }
    if (std::abs(sum) < k_decided * static_cast<double>(count)) return 0;
    return sum > 0 ? 1 : -1;
  }

  void turn_open_shells() {
    std::optional<TriangleBvh> bvh;  // winding numbers of it mean nothing yet
    for (int s = 0; s < shell_count(); ++s) {
      if (!is_open(s)) continue;
      if (!bvh) bvh.emplace(mesh_);
      int& sign = signs_[at(s)];
      sign = look_around(s, *bvh);
      if (sign == 0 && std::abs(shell(s).volume) > k_least_bulge * std::pow(shell(s).area, 1.5))
        sign = shell(s).volume > 0.0 ? 1 : -1;
      if (sign == 0) sign = 1;  // as it was
    }
  }

  int turn_closed_shells() {
    // From the largest on, so that the shells around one come before it.
    std::vector<int> order(signs_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int s, int t) { return std::abs(shell(s).volume) > std::abs(shell(t).volume); });
    std::vector<std::optional<TriangleBvh>> insides(std::min(order.size(), at(k_containers)));
    int cavities = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const int s = order[i];
      if (is_open(s)) continue;
      const int facing = shell(s).volume >= 0.0 ? 1 : -1;
      const Vec3<double> p = TriangleCorners(mesh_, shell(s).first_triangle).centroid();
      int parent = -1,
          depth = 0;  // the smallest shell around; how often p is inside of what is there already
      for (std::size_t j = 0; j < std::min(i, insides.size()); ++j) {
        const int around = order[j];
        if (!shell(around).box.contains(shell(s).box)) continue;
        if (!insides[j]) insides[j].emplace(submesh(mesh_, members_[at(around)]));
        if (std::abs(insides[j]->winding_number(p)) <= 0.5) continue;
        parent = around;
        depth += final_facing(around);
      }
      const bool is_cavity = depth > 0 && facing * initial_facing(parent) * final_facing(parent) < 0;
      signs_[at(s)] = is_cavity ? -facing : facing;
      cavities += is_cavity ? 1 : 0;
    }
    return cavities;
  }

  /// Of a shell that has been dealt with: 1 if it faces outwards, -1 if it is a cavity.
  [[nodiscard]] int final_facing(int s) const { return is_open(s) ? 1 : initial_facing(s) * signs_[at(s)]; }
  /// The same before it was turned.
  [[nodiscard]] int initial_facing(int s) const {
    return is_open(s) ? signs_[at(s)] : shell(s).volume >= 0.0 ? 1 : -1;
  }
  TriangleMesh& mesh_;
  MeshShells& shells_;
  double size_;
  std::vector<int> signs_;  // 1: as it is; -1: to be turned
  std::vector<std::vector<int>> members_;
};

/// The mean over the surface of the winding number next to it, on its inner side.
double enclosure_of(const TriangleMesh& mesh, const TriangleBvh& bvh, double area) {
  double passed = 0.0, sum = 0.0;
  int samples = 0;
  for (int t = 0; t < mesh.triangle_count(); ++t) {
    const TriangleCorners corners(mesh, t);
    const Vec3<double> vector = corners.area_vector();
    passed += vector.norm();
    const int due =
        static_cast<int>(passed / area * k_enclosure_samples + 0.5);  // one for equal parts of the area
    if (due <= samples) continue;
    const Vec3<double> p = corners.centroid() - 1e-4 / std::sqrt(vector.norm()) * vector;
    sum += (due - samples) * std::clamp(bvh.winding_number(p, 3.0), 0.0, 1.0);
    samples = due;
  }
  return samples > 0 ? sum / samples : 0.0;
}

/// Heights of the corners of one triangle above the plane of another; no triangle passes through a plane that
/// it lies on one side of.
bool is_beside(const TriangleCorners& t, const Vec3<double>& origin, const Vec3<double>& normal,
               double tolerance) {
  const double x = normal.dot(t.a - origin), y = normal.dot(t.b - origin), z = normal.dot(t.c - origin);
  return std::max({x, y, z}) <= tolerance || std::min({x, y, z}) >= -tolerance;
}

/// Whether the segment from p to q passes through a triangle of unit normal n, its ends being further from
/// the plane than the tolerance, and the point where it does from the sides.
bool passes_through(const Vec3<double>& p, const Vec3<double>& q, const TriangleCorners& t,
                    const Vec3<double>& n, double tolerance) {
  const double hp = n.dot(p - t.a), hq = n.dot(q - t.a);
  if (std::min(hp, hq) >= -tolerance || std::max(hp, hq) <= tolerance) return false;
  const Vec3<double> x = p + hp / (hp - hq) * (q - p);
  const auto is_within = [&](const Vec3<double>& a, const Vec3<double>& b) {
    return n.dot((b - a).cross(x - a)) >= tolerance * (b - a).norm();
  };
  return is_within(t.a, t.b) && is_within(t.b, t.c) && is_within(t.c, t.a);
}

bool do_intersect(const TriangleMesh& mesh, int s, int t, double tolerance) {
  const Eigen::Vector3i &u = mesh.triangles[at(s)], &v = mesh.triangles[at(t)];
  int common = 0, in_u = -1, in_v = -1;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      if (u[i] != v[j]) continue;
      ++common;
      in_u = i;
      in_v = j;
    }
  }
  if (common > 1) return false;
  const TriangleCorners a(mesh, s), b(mesh, t);
  const Vec3<double> n = a.area_vector().normalized(), m = b.area_vector().normalized();
  if (is_beside(b, a.a, n, tolerance) || is_beside(a, b.a, m, tolerance)) return false;
  const auto side = [&](const Eigen::Vector3i& w, int i, const TriangleCorners& through,
                        const Vec3<double>& normal) {
    return passes_through(mesh.vertices.col(w[i]), mesh.vertices.col(w[(i + 1) % 3]), through, normal,
                          tolerance);
  };
  if (common == 1) return side(u, (in_u + 1) % 3, b, m) || side(v, (in_v + 1) % 3, a, n);
  for (int i = 0; i < 3; ++i) {
    if (side(u, i, b, m) || side(v, i, a, n)) return true;
  }
  return false;
}

void add_notes(RepairReport& report) {
  const auto note = [&](bool applies, std::string sentence) {
    if (applies) report.notes.push_back(std::move(sentence));
  };
  note(report.welded_vertices > 0, count_text(report.welded_vertices, "vertex is", "vertices are") +
                                       " one with another in the same place.");
  note(report.unused_vertices > 0,
       count_text(report.unused_vertices, "vertex", "vertices") + " without a triangle dropped.");
  note(report.degenerate_triangles > 0,
       count_text(report.degenerate_triangles, "triangle") + " without area dropped.");
  note(report.duplicate_triangles > 0,
       count_text(report.duplicate_triangles, "triangle") + " on the corners of another one dropped.");
  note(report.cancelled_triangles > 0, count_text(report.cancelled_triangles, "triangle") +
                                           " dropped, in pairs that face each other and enclose nothing.");
  note(report.turned_triangles == report.triangles, "The whole mesh faced inwards; it was turned.");
  note(report.turned_triangles > 0 && report.turned_triangles < report.triangles,
       count_text(report.turned_triangles, "triangle") + " turned, to face outwards like the others.");
  note(report.cavities > 0, count_text(report.cavities, "shell") + " kept as the surface of a cavity.");
  note(report.inner_sheets > 0, count_text(report.inner_sheets, "open sheet") + " within the solid dropped.");
  note(report.inner_area > 0.0,
       fmt::format(
           "{:.2g} % of the surface lies within the solid, where pieces overlap or touch: distances are "
           "not measured from there.",
           100.0 * report.inner_area / report.area));
  note(report.twisted_edges > 0, count_text(report.twisted_edges, "edge") +
                                     " of a surface with one side only: inside is uncertain there.");
  note(report.boundary_edges > 0, count_text(report.holes, "hole") + " with " +
                                      count_text(report.boundary_edges, "edge") +
                                      " left open: inside is where the winding number is above 1/2.");
  note(report.non_manifold_edges > 0,
       count_text(report.non_manifold_edges, "edge") + " with more than two triangles left as found.");
  note(report.intersecting_triangles > 0,
       count_text(report.intersecting_triangles, "triangle") + " found to pass through others, and left so.");
}

/// Turns the shells of a mesh outwards, and drops those that are sheets within the solid.
void orient(TriangleMesh& mesh, RepairReport& report) {
  std::vector<std::uint8_t> turned(mesh.triangles.size(), 0);
  const auto orient_all = [&] {
    MeshShells shells = orient_shells(mesh);
    report.cavities = ShellTurner(mesh, shells, report.size).run();
    for (std::size_t t = 0; t < turned.size(); ++t) turned[t] ^= shells.turned[t];
    return shells;
  };
  MeshShells shells = orient_all();
  const std::vector<std::uint8_t> is_sheet = inner_sheets(mesh, shells, k_least_enclosure);
  report.inner_sheets = static_cast<int>(std::count(is_sheet.begin(), is_sheet.end(), 1));
  if (report.inner_sheets > 0) {
    std::size_t kept = 0;
    for (std::size_t t = 0; t < turned.size(); ++t) {
      if (is_sheet[at(shells.shell_of_triangle[t])] != 0) continue;
      mesh.triangles[kept] = mesh.triangles[t];
      turned[kept++] = turned[t];
    }
    report.inner_triangles = static_cast<int>(turned.size() - kept);
    mesh.triangles.resize(kept);
    turned.resize(kept);
    shells = orient_all();  // edges of three triangles, and shells divided by them, are whole now
  }
  report.triangles = mesh.triangle_count();
  report.boundary_edges = shells.boundary_edges;
  report.holes = shells.holes;
  report.non_manifold_edges = shells.non_manifold_edges;
  report.twisted_edges = shells.twisted_edges;
  report.turned_triangles = std::accumulate(turned.begin(), turned.end(), 0);
  report.shells = static_cast<int>(shells.shells.size());
  for (const MeshShell& shell : shells.shells) {
    report.open_shells += shell.rim_edges > 0 ? 1 : 0;
    report.area += shell.area;
    report.volume += shell.volume;
  }
}

}  // namespace

int count_intersecting_triangles(const TriangleMesh& mesh, const TriangleBvh& bvh, double tolerance,
                                 int threads) {
  constexpr int k_chunk = 1024;
  std::atomic<int> count{0};
  for_each_chunk((mesh.triangle_count() + k_chunk - 1) / k_chunk, threads, [&](int chunk) {
    int found = 0;
    for (int t = chunk * k_chunk; t < std::min((chunk + 1) * k_chunk, mesh.triangle_count()); ++t) {
      const TriangleCorners corners(mesh, t);
      Eigen::AlignedBox3d box(corners.a);
      box.extend(corners.b).extend(corners.c);
      bool intersects = false;
      bvh.visit_overlaps(box, [&](int other) {
        if (!intersects && other != t) intersects = do_intersect(mesh, t, other, tolerance);
      });
      found += intersects ? 1 : 0;
    }
    count += found;
  });
  return count;
}

RepairedMesh repair_mesh(const TriangleMesh& mesh, const RepairOptions& options) {
  require(options.weld_tolerance >= 0.0 && options.weld_tolerance <= 0.01,
          fmt::format("weld_tolerance is {}, allowed: 0 to 0.01", options.weld_tolerance));
  RepairedMesh result;
  RepairReport& report = result.report;
  report.size = require_usable(mesh).sizes().maxCoeff();
  report.input_vertices = mesh.vertex_count();
  report.input_triangles = mesh.triangle_count();
  const double tolerance = options.weld_tolerance * report.size;

  CleaningCounts counts;
  result.mesh = clean_mesh(mesh, tolerance, counts);
  report.welded_vertices = counts.welded_vertices;
  report.unused_vertices = counts.unused_vertices;
  report.degenerate_triangles = counts.degenerate_triangles;
  report.duplicate_triangles = counts.duplicate_triangles;
  report.cancelled_triangles = counts.cancelled_triangles;
  report.vertices = result.mesh.vertex_count();
  report.triangles = result.mesh.triangle_count();
  require(report.triangles > 0,
          fmt::format("none of the {} of the mesh is left: they have no area, or cancel "
                      "each other",
                      count_text(report.input_triangles, "triangle")));
  orient(result.mesh, report);
  require(report.area > k_least_area * report.size * report.size,
          fmt::format("the mesh has no area: all of its triangles lie in a line ({:.3g} m^2)", report.area));
  report.closed = is_balanced(result.mesh);
  result.bvh = TriangleBvh(result.mesh);
  report.enclosure = enclosure_of(result.mesh, result.bvh, report.area);
  if (report.closed) {
    require(report.volume > k_least_volume * std::pow(report.area, 1.5),
            fmt::format("the mesh encloses no volume: it is flat ({:.3g} m^3 within {:.3g} m^2); give it a "
                        "thickness",
                        report.volume, report.area));
  } else {
    require(report.enclosure >= k_least_enclosure,
            fmt::format("the mesh encloses no volume: it is an open sheet (mean winding number {:.2f} at its "
                        "inner side, {} with {}); close it, or give it a thickness",
                        report.enclosure, count_text(report.holes, "hole"),
                        count_text(report.boundary_edges, "edge")));
  }
  report.intersecting_triangles =
      options.find_intersections
          ? count_intersecting_triangles(result.mesh, result.bvh, std::max(tolerance, 1e-9 * report.size),
                                         options.threads)
          : -1;
  if (report.shells > 1 || report.non_manifold_edges > 0 || report.intersecting_triangles != 0) {
    SolidBoundary boundary = solid_boundary(result.mesh, result.bvh, report.size, options.threads);
    if (!boundary.mesh.triangles.empty()) {
      report.inner_triangles += boundary.whole + boundary.in_part;
      report.inner_area = boundary.area;
      result.trimmed.emplace(RepairedMesh::Surface{std::move(boundary.mesh), {}});
      result.trimmed->bvh = TriangleBvh(result.trimmed->mesh);
    }
  }
  add_notes(report);
  return result;
}

}  // namespace abut
