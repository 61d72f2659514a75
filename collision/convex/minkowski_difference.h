/// Points of the Minkowski difference of two cores, D = {x_A - x_B}, and simplices of them.
///
/// Everything is in the frame of the part of A, called P below; the origin lies in D where the cores overlap.
/// Each point keeps the points of A and B that it is made of, so a simplex is valid at other poses, too:
/// these make points of D there.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "collision/convex/support.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

/// A point w = x_A - x_B of D.
struct DifferencePoint {
  Vec3<double> w;                    ///< in P [m]
  Vec3<double> on_A, on_B;           ///< x_A and x_B, each in the frame of its own part [m]
  int vertex_A = -1, vertex_B = -1;  ///< of polyhedra
};

/// Two parts at a relative pose. T: of the parts; only support points are computed in it.
template <typename T>
class MinkowskiDifference {
 public:
  /// @param X_AB  the frame of B's part in that of A's
  MinkowskiDifference(const ConvexPart<T>& A, const ConvexPart<T>& B, const Pose<double>& X_AB)
      : A_(&A),
        B_(&B),
        R_AB_(X_AB.rotation()),
        p_AB_(X_AB.p),
        size_(double(A.size) + double(B.size) + X_AB.p.norm()) {}

  /// The point of D that reaches farthest along a direction in P.
  [[nodiscard]] DifferencePoint support(const Vec3<double>& direction) {
    DifferencePoint point;
    const Vec3<double> back = -(R_AB_.transpose() * direction);
    point.on_A = core_support<T>(*A_, direction.cast<T>(), vertex_A_).template cast<double>();
    point.on_B = core_support<T>(*B_, back.cast<T>(), vertex_B_).template cast<double>();
    point.vertex_A = vertex_A_;
    point.vertex_B = vertex_B_;
    place(point);
    return point;
  }

  /// Sets w from the points of A and B.
  void place(DifferencePoint& point) const { point.w = point.on_A - (R_AB_ * point.on_B + p_AB_); }

  /// Of two points, each in the frame of its own part [m].
  [[nodiscard]] double distance(const Vec3<double>& on_A, const Vec3<double>& on_B) const {
    return (R_AB_ * on_B + p_AB_ - on_A).norm();
  }

  /// Where searches along edges of polyhedra start.
  void start_search_at(int vertex_A, int vertex_B) {
    vertex_A_ = vertex_A;
    vertex_B_ = vertex_B;
  }

  [[nodiscard]] const ConvexPart<T>& A() const { return *A_; }
  [[nodiscard]] const ConvexPart<T>& B() const { return *B_; }
  [[nodiscard]] const Mat3<double>& R_AB() const { return R_AB_; }
  /// From the origin of A's part to that of B's [m].
  [[nodiscard]] const Vec3<double>& p_AB() const { return p_AB_; }
  /// No coordinate of a point of D is larger than that, nor any of the points that it is made of [m].
  [[nodiscard]] double size() const { return size_; }
  /// What rounding makes of coordinates, a few times over [m].
  [[nodiscard]] double rounding() const { return 8.0 * double(std::numeric_limits<T>::epsilon()) * size_; }

 private:
  const ConvexPart<T>*A_, *B_;
  Mat3<double> R_AB_;
  Vec3<double> p_AB_;
  double size_;
  int vertex_A_ = -1, vertex_B_ = -1;
};

/// Up to four points of D, affinely independent up to rounding, with the weights of a point in their hull.
struct DifferenceSimplex {
  int count = 0;
  std::array<DifferencePoint, 4> points;
  std::array<double, 4> weights{};  ///< >= 0, adding up to 1
};

/// The point of a triangle, segment or point closest to the origin.
struct ClosestOnSimplex {
  Vec3<double> v =
      Vec3<double>::Zero();  ///< [m]; of a triangle along its normal, which rounding turns less than a sum
  double squared = std::numeric_limits<double>::infinity();  ///< |v|^2 [m^2]
  std::array<int, 3> corners{};                              ///< those with a weight, the first `count`
  std::array<double, 3> weights{};
  int count = 0;
};

[[nodiscard]] inline ClosestOnSimplex closest_on_point(const Vec3<double>& a, int i) {
  return {a, a.squaredNorm(), {i, 0, 0}, {1.0, 0.0, 0.0}, 1};
}

[[nodiscard]] inline ClosestOnSimplex closest_on_segment(const Vec3<double>& a, const Vec3<double>& b, int i,
                                                         int j) {
  const Vec3<double> e = b - a;
  const double length = e.squaredNorm(), along = -a.dot(e);
  if (!(along > 0.0)) return closest_on_point(a, i);
  if (!(along < length)) return closest_on_point(b, j);
  const double s = along / length;
  Vec3<double> v = s < 0.5 ? Vec3<double>(a + s * e) : Vec3<double>(b - (1.0 - s) * e);
  v -= (v.dot(e) / length) * e;  // perpendicular by its own length, which may be much shorter
  return {v, v.squaredNorm(), {i, j, 0}, {1.0 - s, s, 0.0}, 2};
}

/// By signed areas in the coordinate plane where the triangle is largest.
/// @see  Montanari, Petrinic, Barbieri (2017), "Improving the GJK algorithm for faster and more reliable
///       distance queries between convex objects", ACM TOG 36(3).
[[nodiscard]] inline ClosestOnSimplex closest_on_triangle(const Vec3<double>& a, const Vec3<double>& b,
                                                          const Vec3<double>& c, int i, int j, int k) {
  const Vec3<double> ab = b - a, ac = c - a, n = ab.cross(ac);
  const double squared = n.squaredNorm();
  std::array<double, 3> weights{-1.0, -1.0, -1.0};  // of a degenerate triangle: by its edges
  constexpr double k_sliver =
      16.0 * std::numeric_limits<double>::epsilon() * std::numeric_limits<double>::epsilon();
  if (squared > k_sliver * ab.squaredNorm() * ac.squaredNorm()) {
    const Vec3<double> p = n * (n.dot(a) / squared);
    Eigen::Index axis = 0;
    n.cwiseAbs().maxCoeff(&axis);
    const Eigen::Index x = (axis + 1) % 3, y = (axis + 2) % 3;
    const auto area = [&](const Vec3<double>& q, const Vec3<double>& r) {
      return ((q[x] - p[x]) * (r[y] - p[y]) - (q[y] - p[y]) * (r[x] - p[x])) / n[axis];
    };
    weights = {area(b, c), area(c, a), area(a, b)};
    if (weights[0] > 0.0 && weights[1] > 0.0 && weights[2] > 0.0) {
      const double sum = weights[0] + weights[1] + weights[2];
      for (double& w : weights) w /= sum;
      // The normal of a sliver is rounding; the sum of its corners is a point of it all the same.
      const Vec3<double> mean = weights[0] * a + weights[1] * b + weights[2] * c;
      const double rounding = 8.0 * std::numeric_limits<double>::epsilon() * a.norm();
      const Vec3<double>& v = (mean - p).squaredNorm() > rounding * rounding ? mean : p;
      return {v, v.squaredNorm(), {i, j, k}, weights, 3};
    }
  }
  ClosestOnSimplex best;
  const auto try_edge = [&](bool is_candidate, const Vec3<double>& q, const Vec3<double>& r, int iq, int ir) {
    if (!is_candidate) return;
    const auto found = closest_on_segment(q, r, iq, ir);
    if (found.squared < best.squared) best = found;
  };
  try_edge(!(weights[2] > 0.0), a, b, i, j);
  try_edge(!(weights[1] > 0.0), a, c, i, k);
  try_edge(!(weights[0] > 0.0), b, c, j, k);
  return best;
}

/// Reduces a simplex to the points that its closest point to the origin is made of, and returns that point.
/// Four points stay where the origin lies within them; the point is 0 then.
[[nodiscard]] inline Vec3<double> reduce_to_closest(DifferenceSimplex& simplex) {
  const auto w = [&](int i) -> const Vec3<double>& { return simplex.points[at(i)].w; };
  ClosestOnSimplex best = closest_on_point(w(0), 0);
  if (simplex.count == 2) {
    best = closest_on_segment(w(0), w(1), 0, 1);
  } else if (simplex.count == 3) {
    best = closest_on_triangle(w(0), w(1), w(2), 0, 1, 2);
  } else if (simplex.count == 4) {
    constexpr int opposite[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    const Vec3<double> e1 = w(1) - w(0), e2 = w(2) - w(0), e3 = w(3) - w(0);
    const double volume = e1.dot(e2.cross(e3));
    constexpr double k_flat = 8.0 * std::numeric_limits<double>::epsilon();
    const bool is_flat = !(std::abs(volume) > k_flat * e1.norm() * e2.norm() * e3.norm());
    std::array<double, 4> parts;  // signed volumes opposite to each point, by `volume`
    bool is_inside = !is_flat;
    for (int i = 0; i < 4; ++i) {
      const auto& o = opposite[i];
      parts[at(i)] = w(o[0]).dot(w(o[1]).cross(w(o[2]))) / volume;
      is_inside = is_inside && parts[at(i)] > 0.0;
    }
    if (is_inside) {
      const double sum = parts[0] + parts[1] + parts[2] + parts[3];
      for (int i = 0; i < 4; ++i) simplex.weights[at(i)] = parts[at(i)] / sum;
      return Vec3<double>::Zero();
    }
    best.squared = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 4; ++i) {
      if (!is_flat && parts[at(i)] > 0.0) continue;
      const auto& o = opposite[i];
      const auto found = closest_on_triangle(w(o[0]), w(o[1]), w(o[2]), o[0], o[1], o[2]);
      if (found.squared < best.squared) best = found;
    }
  }
  DifferenceSimplex reduced;
  reduced.count = best.count;
  for (int i = 0; i < best.count; ++i) {
    reduced.points[at(i)] = simplex.points[at(best.corners[at(i)])];
    reduced.weights[at(i)] = best.weights[at(i)];
  }
  simplex = reduced;
  return best.v;
}

}  // namespace abut
