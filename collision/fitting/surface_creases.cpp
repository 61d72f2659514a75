#include "collision/fitting/surface_creases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <Eigen/LU>

namespace abut {
namespace {

constexpr double k_least_angle = 0.2;         // of the normals at a crease [rad]
constexpr double k_least_determinant = 0.01;  // of the Gram matrix of normals: that of two at 0.1 rad
constexpr double k_kept_angle = 0.7;          // part of the angle that stays from one reach to the next
constexpr double k_zoom = 0.25;
constexpr int k_most_zooms = 16;
constexpr double k_most_rounding = 1.0 / 32.0;  // of a crease at most, by the mean length of edges
constexpr double k_least_reach = 1e7;           // times the tolerance
constexpr double k_farthest = 3.0;     // point of a crease from where it was looked for, by the reach
constexpr double k_at_surface = 0.05;  // distance of such a point from the surface, by the reach
constexpr double k_angle_of_faces =
    0.6;  // of the normals at an edge that is split in search of a third face [rad]
constexpr int k_rounds_of_crossings = 3, k_sweeps = 10;
constexpr double k_least_facing = 0.3;   // of a triangle's normal and that of the surface
constexpr double k_least_height = 1e-4;  // of a triangle, by its longest side
constexpr double k_folded_cosine = 0.5;  // of the angle at which a crease goes back
constexpr double k_beside = 0.1;  // distance from a crease at which its faces are looked for, by the reach
constexpr double k_nearly_on = 1e-2;  // distance from the surface where its normal is looked at, by the edge
constexpr double k_least_gradient = 1e-6;
constexpr double k_short = 0.3;  // creases that are merged, by the mean length of edges

double angle_between(const Vec3<double>& m, const Vec3<double>& n) {
  return std::atan2(m.cross(n).norm(), m.dot(n));
}

/// The tangent planes n_i x = o_i of the surface next to a point, one towards each side.
struct TangentPlanes {
  std::array<Vec3<double>, 3> normals;
  std::array<double, 3> offsets{};
  std::size_t count = 0;

  [[nodiscard]] double least_angle() const {
    double least = k_infinity;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < i; ++j) least = std::min(least, angle_between(normals[i], normals[j]));
    }
    return least;
  }
  /// The step from x to the nearest point on all of them, if they meet at an angle.
  [[nodiscard]] std::optional<Vec3<double>> step_from(const Vec3<double>& x) const {
    Mat3<double> gram = Mat3<double>::Identity();
    Vec3<double> gaps = Vec3<double>::Zero();
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      gaps[row] = offsets[i] - normals[i].dot(x);
      for (std::size_t j = 0; j < count; ++j)
        gram(row, static_cast<Eigen::Index>(j)) = normals[i].dot(normals[j]);
    }
    if (!(gram.determinant() >= k_least_determinant)) return std::nullopt;
    const Vec3<double> factors = gram.inverse() * gaps;
    Vec3<double> step = Vec3<double>::Zero();
    for (std::size_t i = 0; i < count; ++i) step += factors[static_cast<Eigen::Index>(i)] * normals[i];
    return step;
  }
};

std::optional<TangentPlanes> tangent_planes(const SurfaceField& field, const Vec3<double>& x,
                                            std::span<const Vec3<double>> sides, double reach,
                                            double tolerance) {
  TangentPlanes planes;
  for (const Vec3<double>& side : sides) {
    const double distance = (side - x).norm();
    if (!(distance > 0.0)) return std::nullopt;
    Vec3<double> p = x + std::min(reach / distance, 1.0) * (side - x);
    if (!project_to_surface(field, p, tolerance)) return std::nullopt;
    const Vec3<double> normal = field(p).gradient.normalized();
    planes.normals[planes.count] = normal;
    planes.offsets[planes.count++] = normal.dot(p);
  }
  return planes;
}

}  // namespace

std::optional<Vec3<double>> crease_point(const SurfaceField& field, const Vec3<double>& x,
                                         std::span<const Vec3<double>> sides, double reach, double rounding,
                                         double tolerance) {
  Vec3<double> found = x;
  double angle = 0.0, s = reach;
  int zooms = 0;
  for (; zooms < k_most_zooms && (s > k_zoom * rounding || s >= k_least_reach * tolerance);
       ++zooms, s *= k_zoom) {
    const std::optional<TangentPlanes> planes = tangent_planes(field, found, sides, s, tolerance);
    if (!planes) break;
    const double now = planes->least_angle();
    if (now < std::max(k_least_angle, k_kept_angle * angle)) break;
    angle = std::max(angle, now);
    const std::optional<Vec3<double>> step = planes->step_from(found);
    if (!step || step->norm() > k_farthest * s) break;
    found += *step;
  }
  if (s > k_zoom * rounding || (found - x).norm() > k_farthest * reach) return std::nullopt;
  // Within the rounding any bend of it has an angle: it must stay there, too.
  if (reach < rounding && zooms < 2 && k_zoom * reach >= k_least_reach * tolerance) return std::nullopt;
  if (!(std::abs(field(found).distance) <= k_at_surface * reach)) return std::nullopt;
  Vec3<double> projected = found;
  if (project_to_surface(field, projected, tolerance)) found = projected;
  return found;
}

namespace {

/// Makes triangles face out of the solid that do not.
class Untangler {
 public:
  Untangler(const SurfaceField& field, EditableMesh& mesh) : field_(field), mesh_(mesh) {}

  void run() {
    for (int sweep = 0; sweep < k_sweeps; ++sweep) {
      bool is_done = true;
      for (int t = 0; t < mesh_.triangle_slots(); ++t) {
        if (mesh_.triangle(t)[0] >= 0 && is_tangled(corners(t)) && untangle(t)) is_done = false;
      }
      if (is_done) break;
    }
  }

 private:
  using Corners = std::array<Vec3<double>, 3>;

  /// Whether a triangle has no area, or does not face out of the solid.
  [[nodiscard]] bool is_tangled(const Corners& x) const {
    const Vec3<double> normal = (x[1] - x[0]).cross(x[2] - x[0]);
    const double longest =
        std::max({(x[1] - x[0]).squaredNorm(), (x[2] - x[1]).squaredNorm(), (x[0] - x[2]).squaredNorm()});
    if (!(normal.norm() > k_least_height * longest)) return true;
    const Vec3<double> gradient = field_((x[0] + x[1] + x[2]) / 3.0).gradient;
    return !(normal.dot(gradient) >= k_least_facing * normal.norm() * gradient.norm());
  }
  [[nodiscard]] Corners corners(int t) const {
    const EditableMesh::Triangle& v = mesh_.triangle(t);
    return {mesh_.position(v[0]), mesh_.position(v[1]), mesh_.position(v[2])};
  }

  /// Flips or collapses one of its edges where fewer triangles are tangled then.
  bool untangle(int t) {
    const EditableMesh::Triangle v = mesh_.triangle(t);
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = v[k], b = v[(k + 1) % 3];
      if (!mesh_.can_flip(a, b)) continue;
      const auto [c, d] = mesh_.opposite(a, b);
      const auto [left, right] = mesh_.triangles_of_edge(a, b);
      const Vec3<double>&pa = mesh_.position(a), &pb = mesh_.position(b), &pc = mesh_.position(c),
            &pd = mesh_.position(d);
      const int before = is_tangled(corners(left)) + is_tangled(corners(right));
      if (is_tangled({pa, pd, pc}) + is_tangled({pb, pc, pd}) >= before) continue;
      mesh_.flip(a, b);
      return true;
    }
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = v[k], b = v[(k + 1) % 3];
      const EditableMesh::Survivor survivor = mesh_.survivor(a, b);
      if (survivor == EditableMesh::Survivor::none || !mesh_.can_collapse(a, b)) continue;
      for (const int kept : {a, b}) {
        if ((survivor == EditableMesh::Survivor::first && kept == b) ||
            (survivor == EditableMesh::Survivor::second && kept == a))
          continue;
        const Vec3<double> position = mesh_.position(kept);
        if (!untangles(a, b, position)) continue;
        mesh_.collapse(a, b);
        mesh_.set_position(a, position);
        return true;
      }
    }
    return false;
  }

  /// Whether moving a and b to a position leaves fewer triangles tangled.
  [[nodiscard]] bool untangles(int a, int b, const Vec3<double>& position) const {
    int change = 0;
    for (const int v : {a, b}) {
      for (const int t : mesh_.triangles_of(v)) {
        Corners after = corners(t);
        const EditableMesh::Triangle& of_triangle = mesh_.triangle(t);
        int moved = 0;
        for (std::size_t k = 0; k < 3; ++k) {
          if (of_triangle[k] != a && of_triangle[k] != b) continue;
          after[k] = position;
          ++moved;
        }
        if (moved == 2 && v == b) continue;  // counted with a
        change -= is_tangled(corners(t));
        if (moved == 1) change += is_tangled(after);
      }
    }
    return change < 0;
  }

  const SurfaceField& field_;
  EditableMesh& mesh_;
};

class CreaseInserter {
 public:
  CreaseInserter(const SurfaceField& field, const TriangleMesh& fine, double tolerance)
      : field_(field), tolerance_(tolerance), mesh_(fine) {
    for (int v = 0; v < fine.vertex_count(); ++v) normals_.push_back(normal_at(fine.vertices.col(v)));
  }

  /// No creases where the surface has none: what was done in search of them is then of no use.
  CreasedMesh run() {
    for (const auto& [a, b] : mesh_.edges()) {
      mean_length_ += (mesh_.position(a) - mesh_.position(b)).norm() / (1.5 * mesh_.triangle_slots());
    }
    int first_new = 0;
    for (int round = 0; round < k_rounds_of_crossings && first_new < mesh_.vertex_slots(); ++round)
      first_new = find_crossings(first_new);
    if (points_.empty()) return {};
    std::vector<EditableMesh::Triangle> triangles;  // none is gone
    for (int t = 0; t < mesh_.triangle_slots(); ++t) triangles.push_back(mesh_.triangle(t));
    for (auto& [ends, crossing] : points_)
      crossing.vertex = mesh_.split(ends.first, ends.second, crossing.position);
    for (const EditableMesh::Triangle& t : triangles) mark(t);
    merge_short();
    untangle(field_, mesh_);
    return mesh_.creased_mesh();
  }

 private:
  struct Crossing {
    Vec3<double> position;
    int vertex = -1;
  };
  using Ends = std::pair<int, int>;

  [[nodiscard]] Crossing* crossing(int a, int b) {
    const auto found = points_.find(std::minmax(a, b));
    return found == points_.end() ? nullptr : &found->second;
  }

  /// Where an edge of the mesh crosses the crease of the faces of its ends: near its middle; where that ends at a corner,
  /// near its ends.
  [[nodiscard]] std::optional<Vec3<double>> crossing_of(const Ends& edge) const {
    const Vec3<double>&p = mesh_.position(edge.first), &q = mesh_.position(edge.second);
    const double reach = 0.5 * (p - q).norm();
    for (const double part : {0.5, 0.3, 0.7, 0.1, 0.9}) {
      if (const auto x = crease_point(field_, p + part * (q - p), std::array{p, q}, reach,
                                      k_most_rounding * mean_length_, tolerance_))
        return x;
    }
    // Beyond a corner the face of one end is not where that end is: across an outer crease, or an inner one.
    const Vec3<double>&m = normals_[static_cast<std::size_t>(edge.first)],
          &n = normals_[static_cast<std::size_t>(edge.second)];
    const double cosine = m.dot(n);
    const Vec3<double> along_first = n - cosine * m, along_second = m - cosine * n;
    TangentPlanes planes;
    planes.count = 2;
    planes.normals = {m, n, Vec3<double>::Zero()};
    planes.offsets = {m.dot(p), n.dot(q), 0.0};
    for (const double part : {0.5, 0.3, 0.7, 0.1, 0.9, 0.0, 1.0}) {
      const Vec3<double> start = p + part * (q - p);
      const std::optional<Vec3<double>> step = planes.step_from(start);
      if (!step) return std::nullopt;
      const Vec3<double> x = start + *step;
      for (const double sign : {-1.0, 1.0}) {
        const std::array<Vec3<double>, 2> sides{x + sign * along_first, x + sign * along_second};
        const auto at_sides = tangent_planes(field_, x, sides, k_beside * reach, tolerance_);
        if (!at_sides || angle_between(at_sides->normals[0], m) > k_least_angle ||
            angle_between(at_sides->normals[1], n) > k_least_angle)
          continue;
        if (const auto found =
                crease_point(field_, x, sides, k_beside * reach, k_most_rounding * mean_length_, tolerance_))
          return found;
      }
    }
    return std::nullopt;
  }

  /// Whether the normals m, n of the surface at p, q may jump somewhere between them: whether they still differ where
  /// these are as near to each other as a crease may be rounded, with points of the surface between them.
  [[nodiscard]] bool may_jump(const Vec3<double>& p, const Vec3<double>& m, const Vec3<double>& q,
                              const Vec3<double>& n) const {
    if (angle_between(m, n) < k_kept_angle * k_least_angle) return false;
    const double length = (p - q).norm();
    if (length <= k_most_rounding * mean_length_) return true;
    Vec3<double> middle = 0.5 * (p + q);
    if (!project_to_surface(field_, middle, k_nearly_on * length) ||
        std::max((middle - p).norm(), (middle - q).norm()) > length)
      return true;
    const Vec3<double> gradient = field_(middle).gradient;
    if (!(gradient.norm() > k_least_gradient)) return true;  // in a seam between flush primitives
    const Vec3<double> between = gradient.normalized();
    return may_jump(p, m, middle, between) || may_jump(middle, between, q, n);
  }

  /// Finds where edges cross creases, those with a vertex from `first_new` on. An edge between two faces that crosses
  /// none where they would meet has a third one between its ends, and is split there. Returns the first new vertex.
  int find_crossings(int first_new) {
    const int vertices = mesh_.vertex_slots();
    const std::vector<Ends> edges = mesh_.edges();
    for (const Ends& edge : edges) {
      const auto& [a, b] = edge;
      const Vec3<double> p = mesh_.position(a), q = mesh_.position(b);
      const Vec3<double>&m = normals_[static_cast<std::size_t>(a)],
            &n = normals_[static_cast<std::size_t>(b)];
      const double angle = angle_between(m, n);
      if (std::max(a, b) < first_new || angle < k_least_angle || !may_jump(p, m, q, n)) continue;
      if (const auto x = crossing_of(edge)) {
        points_.emplace(edge, Crossing{*x});
      } else if (angle > k_angle_of_faces) {
        Vec3<double> middle = 0.5 * (p + q);
        if (!project_to_surface(field_, middle, tolerance_) ||
            std::max((middle - p).norm(), (middle - q).norm()) > (p - q).norm())
          continue;
        mesh_.split(a, b, middle);
        normals_.push_back(normal_at(middle));
      }
    }
    return vertices;
  }

  /// Marks the creases within what was a triangle.
  void mark(const EditableMesh::Triangle& t) {
    std::vector<int> on_creases;
    for (std::size_t k = 0; k < 3; ++k) {
      if (const Crossing* const found = crossing(t[k], t[(k + 1) % 3])) on_creases.push_back(found->vertex);
    }
    if (on_creases.size() == 2) {
      mesh_.mark_crease(on_creases[0], on_creases[1]);
    } else if (on_creases.size() == 3) {
      mark_corner(t, on_creases);
    }
  }

  void mark_corner(const EditableMesh::Triangle& t, const std::vector<int>& on_creases) {
    // The vertex that was put in first has edges to the others.
    const int hub = *std::min_element(on_creases.begin(), on_creases.end());
    std::vector<int> others;
    for (const int v : on_creases) {
      if (v != hub) others.push_back(v);
    }
    const std::array<Vec3<double>, 3> sides{mesh_.position(t[0]), mesh_.position(t[1]), mesh_.position(t[2])};
    const Vec3<double> middle = (sides[0] + sides[1] + sides[2]) / 3.0;
    double reach = 0.0;
    for (const Vec3<double>& side : sides) reach = std::max(reach, (side - middle).norm());
    // The third corner of both of the triangles that lie between the hub and the others.
    const std::optional<int> inner = common_neighbor(hub, others[0], others[1], t);
    std::optional<Vec3<double>> x =
        crease_point(field_, middle, sides, reach, k_most_rounding * mean_length_, tolerance_);
    if (!x) {
      TangentPlanes planes;
      planes.count = 3;
      for (std::size_t k = 0; k < 3; ++k) {
        planes.normals[k] = normals_[static_cast<std::size_t>(t[k])];
        planes.offsets[k] = planes.normals[k].dot(sides[k]);
      }
      if (const auto step = planes.step_from(middle); step && step->norm() < k_farthest * reach)
        x = crease_point(field_, middle + *step, sides, k_beside * reach, k_most_rounding * mean_length_,
                         tolerance_);
    }
    if (!x || !inner) {
      for (const int v : others) mesh_.mark_crease(hub, v);
      return;
    }
    const int corner = mesh_.split(hub, *inner, *x);
    mesh_.mark_crease(corner, hub);
    for (const int v : others) mesh_.mark_crease(corner, v);
  }

  /// The corner of the triangle t to which the hub has an edge.
  [[nodiscard]] std::optional<int> common_neighbor(int hub, int u, int v,
                                                   const EditableMesh::Triangle& t) const {
    for (const int w : t) {
      const std::array<int, 2> triangles = mesh_.triangles_of_edge(hub, w);
      if (triangles[0] < 0) continue;
      const std::array<int, 2> opposite = mesh_.opposite(hub, w);
      if ((opposite[0] == u && opposite[1] == v) || (opposite[0] == v && opposite[1] == u)) return w;
    }
    return std::nullopt;
  }

  /// Merges vertices along creases that are nearer to each other than the mesh is fine.
  void merge_short() {
    for (bool is_done = false; !is_done;) {
      is_done = true;
      for (int v = 0; v < mesh_.vertex_slots(); ++v) {
        if (merge_if_folded(v) || merge_if_one(v)) is_done = false;
        const std::vector<int> others = mesh_.creases_of(v);
        for (const int u : others) {
          if (v < u && merge_if_short(v, u)) {
            is_done = false;
            break;
          }
        }
      }
    }
  }

  /// A vertex from which its crease goes back to where it came from, as between corners that are one.
  bool merge_if_folded(int v) {
    if (mesh_.creases_of(v).size() != 2) return false;
    const std::array<int, 2> others{mesh_.creases_of(v)[0], mesh_.creases_of(v)[1]};
    const Vec3<double> first = mesh_.position(others[0]) - mesh_.position(v),
                       second = mesh_.position(others[1]) - mesh_.position(v);
    if (first.dot(second) < k_folded_cosine * first.norm() * second.norm()) return false;
    const int nearer = first.norm() <= second.norm() ? others[0] : others[1];
    if (!mesh_.can_collapse(nearer, v)) return false;
    mesh_.collapse(nearer, v);
    return true;
  }

  /// A vertex of a crease that is where another one is.
  bool merge_if_one(int v) {
    if (!mesh_.is_on_crease(v)) return false;
    for (const int u : mesh_.neighbors(v)) {
      if (!mesh_.is_on_crease(u) ||
          (mesh_.position(u) - mesh_.position(v)).norm() > k_least_reach * tolerance_ ||
          !mesh_.can_collapse(u, v))
        continue;
      mesh_.collapse(u, v);
      return true;
    }
    return false;
  }

  bool merge_if_short(int a, int b) {
    const double length = (mesh_.position(a) - mesh_.position(b)).norm();
    if (length > k_short * mean_length_ || !mesh_.can_collapse(a, b)) return false;
    const EditableMesh::Survivor survivor = mesh_.survivor(a, b);
    if (survivor == EditableMesh::Survivor::none) return false;
    const Vec3<double> position = mesh_.position(survivor == EditableMesh::Survivor::second ? b : a);
    if (turns_over(a, b, position)) return false;
    mesh_.collapse(a, b);
    mesh_.set_position(a, position);
    return true;
  }

  /// Whether moving a and b to a position would turn a triangle over.
  [[nodiscard]] bool turns_over(int a, int b, const Vec3<double>& position) const {
    for (const int v : {a, b}) {
      for (const int t : mesh_.triangles_of(v)) {
        std::array<Vec3<double>, 3> before, after;
        int moved = 0;
        for (std::size_t k = 0; k < 3; ++k) {
          const int u = mesh_.triangle(t)[k];
          before[k] = after[k] = mesh_.position(u);
          if (u != a && u != b) continue;
          after[k] = position;
          ++moved;
        }
        if (moved == 2) continue;  // it goes
        const Vec3<double> m = (before[1] - before[0]).cross(before[2] - before[0]),
                           n = (after[1] - after[0]).cross(after[2] - after[0]);
        if (m.dot(n) < 0.0) return true;
      }
    }
    return false;
  }

  [[nodiscard]] Vec3<double> normal_at(const Vec3<double>& x) const {
    return field_(x).gradient.normalized();
  }

  const SurfaceField& field_;
  double tolerance_, mean_length_ = 0.0;
  EditableMesh mesh_;
  std::vector<Vec3<double>> normals_;
  std::map<Ends, Crossing> points_;
};

}  // namespace

void untangle(const SurfaceField& field, EditableMesh& mesh) { Untangler(field, mesh).run(); }

CreasedMesh with_creases(const SurfaceField& field, const TriangleMesh& fine, double tolerance) {
  CreasedMesh creased = CreaseInserter(field, fine, tolerance).run();
  if (creased.creases.empty()) creased.mesh = fine;
  return creased;
}

}  // namespace abut
