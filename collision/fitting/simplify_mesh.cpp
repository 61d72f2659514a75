#include "collision/fitting/simplify_mesh.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <queue>
#include <tuple>
#include <unordered_set>
#include <vector>

#include <Eigen/Cholesky>

#include "collision/fitting/editable_mesh.h"
#include "collision/fitting/triangle_geometry.h"
#include "engine/check.h"

namespace abut {
namespace {

/// x^T A x - 2 b^T x + c: a weighted sum of squared distances to planes and points.
struct Quadric {
  Mat3<double> A = Mat3<double>::Zero();
  Vec3<double> b = Vec3<double>::Zero();
  double c = 0.0;

  void add_plane(const Vec3<double>& unit_normal, double offset, double weight) {
    A += weight * unit_normal * unit_normal.transpose();
    b += weight * offset * unit_normal;
    c += weight * offset * offset;
  }
  void add_point(const Vec3<double>& p, double weight) {
    A += weight * Mat3<double>::Identity();
    b += weight * p;
    c += weight * p.squaredNorm();
  }
  [[nodiscard]] double operator()(const Vec3<double>& x) const { return x.dot(A * x) - 2.0 * b.dot(x) + c; }
};

Quadric operator+(const Quadric& p, const Quadric& q) { return {p.A + q.A, p.b + q.b, p.c + q.c}; }

class Simplifier {
 public:
  explicit Simplifier(const CreasedMesh& creased)
      : mesh_(creased),
        quadrics_(static_cast<std::size_t>(creased.mesh.vertex_count())),
        stamps_(static_cast<std::size_t>(creased.mesh.vertex_count()), 0) {
    for (const Eigen::Vector3i& t : creased.mesh.triangles) {
      const Vec3<double> a = mesh_.position(t[0]), b = mesh_.position(t[1]), c = mesh_.position(t[2]);
      const Vec3<double> normal = (b - a).cross(c - a);
      const double twice_area = normal.norm();
      if (twice_area == 0.0) continue;
      for (const int v : t)
        quadric(v).add_plane(normal / twice_area, normal.dot(a) / twice_area, twice_area / 6.0);
    }
  }

  CreasedMesh run(int vertices) {
    for (const double min_quality : {0.1, 0.02, 0.0}) {
      for (const auto& [a, b] : mesh_.edges()) push(a, b);
      while (mesh_.vertex_count() > vertices && !queue_.empty()) {
        const Candidate candidate = queue_.top();
        queue_.pop();
        if (!is_current(candidate)) continue;
        const Survivor survivor = mesh_.survivor(candidate.a, candidate.b);
        if (survivor != candidate.survivor) {
          push(candidate.a, candidate.b);
          continue;
        }
        if (survivor != Survivor::none && mesh_.can_collapse(candidate.a, candidate.b)) {
          if (keeps_shape(candidate, min_quality)) {
            collapse(candidate);
            continue;
          }
          if (candidate.place == Place::best && survivor == Survivor::any)
            push(candidate.a, candidate.b, Place::middle);  // not as good, but it may be allowed
        }
        refused_.insert(number_of(candidate.a, candidate.b));
      }
      queue_ = {};
      refused_.clear();
      if (mesh_.vertex_count() <= vertices) break;
    }
    return mesh_.creased_mesh();
  }

 private:
  using Survivor = EditableMesh::Survivor;
  enum class Place {
    best,
    middle
  };  ///< of the vertex that an edge collapses to, where the surface is smooth

  struct Candidate {
    double cost;
    int a, b;
    std::array<int, 2> stamps;  // of a and b when the cost was found
    Vec3<double> position;
    Place place;
    Survivor survivor;                              // when the cost was found
    bool operator<(const Candidate& other) const {  // the cheapest is on top of the queue; ties by number
      return std::tie(other.cost, other.a, other.b) < std::tie(cost, a, b);
    }
  };

  Quadric& quadric(int v) { return quadrics_[static_cast<std::size_t>(v)]; }
  int& stamp(int v) { return stamps_[static_cast<std::size_t>(v)]; }

  bool is_current(const Candidate& c) {
    return mesh_.has_vertex(c.a) && mesh_.has_vertex(c.b) && stamp(c.a) == c.stamps[0] &&
           stamp(c.b) == c.stamps[1];
  }

  void push(int a, int b, Place place = Place::best) {
    const Vec3<double> middle = 0.5 * (mesh_.position(a) + mesh_.position(b));
    Quadric sum = quadric(a) + quadric(b);
    const Survivor survivor = mesh_.survivor(a, b);
    if (survivor == Survivor::any)
      sum.add_point(middle, 1e-3 * sum.A.trace() + std::numeric_limits<double>::min());
    Vec3<double> position = middle;
    if (survivor != Survivor::any) {
      const bool is_second =
          survivor == Survivor::second ||
          (survivor == Survivor::along_crease && sum(mesh_.position(b)) < sum(mesh_.position(a)));
      position = mesh_.position(is_second ? b : a);
    } else if (place == Place::best) {
      // Nearly flat surroundings would put it anywhere along the surface.
      const Vec3<double> best = sum.A.ldlt().solve(sum.b), step = best - middle;
      const double reach = (mesh_.position(a) - mesh_.position(b)).norm();
      if (step.allFinite()) position += std::min(1.0, reach / std::max(step.norm(), 1e-300)) * step;
    }
    queue_.push({sum(position), a, b, {stamp(a), stamp(b)}, position, place, survivor});
  }

  /// No triangle around the edge turns by more than 70 degrees, and the worst of them becomes no sliver (or
  /// no worse one).
  [[nodiscard]] bool keeps_shape(const Candidate& candidate, double min_quality) const {
    constexpr double k_min_cosine = 0.34, k_sliver = 0.05;
    double worst_before = 1.0, worst_after = 1.0;
    for (const int v : {candidate.a, candidate.b}) {
      const int other = v == candidate.a ? candidate.b : candidate.a;
      for (const int t : mesh_.triangles_of(v)) {
        std::array<Vec3<double>, 3> before, after;
        bool goes = false, is_near_crease = false;
        for (std::size_t i = 0; i < 3; ++i) {
          const int u = mesh_.triangle(t)[i];
          is_near_crease = is_near_crease || mesh_.is_on_crease(u);
          goes = goes || u == other;
          before[i] = mesh_.position(u);
          after[i] = u == v ? candidate.position : before[i];
        }
        const double quality = triangle_quality(before[0], before[1], before[2]);
        worst_before = std::min(worst_before, quality);
        if (goes) continue;
        worst_after = std::min(worst_after, triangle_quality(after[0], after[1], after[2]));
        const Vec3<double> m = (before[1] - before[0]).cross(before[2] - before[0]);
        const Vec3<double> n = (after[1] - after[0]).cross(after[2] - after[0]);
        if (quality <
            k_sliver) {  // marching cubes make many whose normal says nothing; beside a crease it does
          if (is_near_crease && m.dot(n) < 0.0) return false;
          continue;
        }
        if (m.dot(n) < k_min_cosine * m.norm() * n.norm()) return false;
      }
    }
    return worst_after >= std::min(min_quality, worst_before);
  }

  void collapse(const Candidate& candidate) {
    const auto& [cost, a, b, stamps, position, place, survivor] = candidate;
    mesh_.collapse(a, b);
    mesh_.set_position(a, position);
    quadric(a) = quadric(a) + quadric(b);
    ++stamp(a);
    // Edges whose cost has changed; and those nearby that were refused for their shape, which may be good
    // now.
    for (const int v : mesh_.neighbors(a)) {
      push(std::min(a, v), std::max(a, v));
      if (refused_.empty()) continue;
      for (const int u : mesh_.neighbors(v)) {
        if (u != a && refused_.erase(number_of(u, v)) > 0) push(std::min(u, v), std::max(u, v));
      }
    }
  }

  /// Of an edge.
  [[nodiscard]] static std::uint64_t number_of(int a, int b) {
    return std::uint64_t(std::min(a, b)) << 32 | std::uint64_t(std::max(a, b));
  }

  EditableMesh mesh_;
  std::vector<Quadric> quadrics_;
  std::vector<int> stamps_;  // counts the changes of a vertex
  std::priority_queue<Candidate> queue_;
  std::unordered_set<std::uint64_t> refused_;  // edges, as they are now
};

}  // namespace

CreasedMesh simplify_mesh(const CreasedMesh& mesh, int vertices) {
  require(vertices >= 4, "a closed surface has at least 4 vertices");
  return Simplifier(mesh).run(vertices);
}

TriangleMesh simplify_mesh(const TriangleMesh& mesh, int vertices) {
  return simplify_mesh(CreasedMesh{mesh, {}}, vertices).mesh;
}

}  // namespace abut
