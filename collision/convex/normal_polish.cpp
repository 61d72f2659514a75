#include "collision/convex/normal_polish.h"

#include <algorithm>
#include <cmath>

#include "collision/convex/gjk.h"

namespace abut {
namespace {

/// Steps end at this part of what rounding makes of coordinates.
constexpr double k_last_digits = 1.0 / 32.0;

/// Weights below that may be of points that have nothing to do with the contact.
constexpr double k_spurious = 1e-4;

/// g and its gradient on the sphere, x_B - x_A - g n, by support points.
template <typename T>
struct GapAlong {
  DifferencePoint point;
  double gap;
  Vec3<double> slide;

  GapAlong(MinkowskiDifference<T>& difference, const Vec3<double>& n)
      : point(difference.support(n)), gap(-n.dot(point.w)), slide(-point.w - gap * n) {}
};

/// (H + shift I)^-1 r, with a shift that leaves no eigenvalue below a small part of the largest.
Vec2<double> solve_shifted(const Mat2<double>& H, const Vec2<double>& r) {
  const double mean = (H(0, 0) + H(1, 1)) / 2.0, half = (H(0, 0) - H(1, 1)) / 2.0;
  const double spread = std::sqrt(half * half + H(0, 1) * H(1, 0)), least = 1e-6 * (std::abs(mean) + spread);
  const double shift = std::max(0.0, least - (mean - spread));
  const double a = H(0, 0) + shift, d = H(1, 1) + shift, determinant = a * d - H(0, 1) * H(1, 0);
  if (!(determinant > 0.0)) return Vec2<double>::Zero();
  return {(d * r[0] - H(0, 1) * r[1]) / determinant, (a * r[1] - H(1, 0) * r[0]) / determinant};
}

template <typename T>
Mat3<double> support_jacobian(const ConvexPart<T>& part, const Vec3<double>& n) {
  return core_support_jacobian<T>(part, n.cast<T>()).template cast<double>();
}

template <typename T>
class Polish {
 public:
  Polish(MinkowskiDifference<T>& difference, double lower, int max_iterations)
      : difference_(difference),
        R_(difference.R_AB()),
        goal_(difference.rounding()),
        lower_(lower),
        max_iterations_(max_iterations) {}

  [[nodiscard]] PolishedNormal smooth(Vec3<double> n);
  [[nodiscard]] PolishedNormal on_features(Vec3<double> n, const CoreWitness& witness_A,
                                           const CoreWitness& witness_B);

 private:
  [[nodiscard]] bool has_point(const ConvexPart<T>& part, const CoreFeature& feature,
                               const std::array<double, 2>& s) const;
  /// g, or of cores that are apart |x_B - x_A|: the same at the end, and a better guess before.
  [[nodiscard]] double reach(double gap, const Vec3<double>& between) const {
    return lower_ > 0.0 ? between.norm() : gap;
  }

  MinkowskiDifference<T>& difference_;
  const Mat3<double>& R_;
  double goal_, lower_;
  int max_iterations_;
};

/// Steps are halved until g does not fall.
template <typename T>
PolishedNormal Polish<T>::smooth(Vec3<double> n) {
  PolishedNormal result;
  GapAlong<T> best(difference_, n);
  double last_step = 1.0;
  for (; result.iterations < max_iterations_ && best.slide.norm() > k_last_digits * goal_;
       ++result.iterations) {
    const TangentPlane plane(n);
    const Mat3<double> W_B =
        R_ * support_jacobian(difference_.B(), Vec3<double>(-(R_.transpose() * n))) * R_.transpose();
    Mat2<double> H = plane.of(Mat3<double>(support_jacobian(difference_.A(), n) + W_B));
    H.diagonal().array() += reach(best.gap, best.point.w);
    const Vec3<double> step = plane.lift(solve_shifted(H, plane.of(best.slide)));
    last_step = step.norm();
    bool is_better = false;
    double length = 1.0;
    for (int halving = 0; halving < 8 && !is_better; ++halving, length /= 2.0) {
      const Vec3<double> moved = (n + length * step).normalized();
      const GapAlong<T> there(difference_, moved);
      // Near the maximum g is flat to rounding, and the slide says more.
      is_better =
          there.gap > best.gap || (there.gap >= best.gap - goal_ && there.slide.norm() < best.slide.norm());
      if (is_better) n = moved, best = there;
    }
    if (!is_better) break;
  }
  // Where supports are very flat or very sharp, slides or steps are rounding that is magnified.
  const bool is_settled =
      best.slide.norm() <= 0.125 * goal_ || (best.slide.norm() <= 1e4 * goal_ && last_step <= 1e-7);
  result.is_better = is_settled && best.gap >= lower_ - goal_;
  result.normal = n;
  result.distance = result.lower = best.gap;
  result.witness_A.add(best.point.on_A, 1.0, best.point.vertex_A);
  result.witness_B.add(best.point.on_B, 1.0, best.point.vertex_B);
  return result;
}

/// The point base + sum s_i flat_i of a feature as a mean of points of the surface.
CoreWitness point_of_feature(const CoreFeature& feature, const std::array<double, 2>& s) {
  CoreWitness witness;
  if (feature.kind == CoreFeatureKind::disc) {
    witness.add(feature.point(s), 1.0);
    return witness;
  }
  double rest = 1.0;
  for (int i = 0; i < feature.flats; ++i) rest -= s[at(i)];
  witness.add(feature.base, rest, feature.vertices[0]);
  for (int i = 0; i < feature.flats; ++i)
    witness.add(feature.base + feature.flat[at(i)], s[at(i)], feature.vertices[at(i + 1)]);
  return witness;
}

/// Whether the point base + sum s_i flat_i belongs to the core, up to rounding. That of a face may lie
/// outside the triangle of corners that the search ended with.
template <typename T>
bool Polish<T>::has_point(const ConvexPart<T>& part, const CoreFeature& feature,
                          const std::array<double, 2>& s) const {
  if (feature.flats == 0) return true;
  const double slack = 4.0 * goal_;
  if (feature.contains(s, slack / feature.flat[0].norm())) return true;
  const Vec3<double> x = feature.point(s);
  if (part.core == ConvexCore::box)
    return (x.cwiseAbs() - part.extents.template cast<double>()).maxCoeff() <= slack;
  if (part.core != ConvexCore::polyhedron) return false;
  const PolyhedronGraph<T>& graph = *part.polyhedron;
  for (int f = 0; f < graph.face_count(); ++f) {
    const Vec3<double> corner =
        graph.vertices[at(graph.corners[at(graph.first_corner[at(f)])])].template cast<double>();
    if (graph.face_normals[at(f)].template cast<double>().dot(x - corner) > slack) return false;
  }
  return true;
}

template <typename T>
PolishedNormal Polish<T>::on_features(Vec3<double> n, const CoreWitness& witness_A,
                                      const CoreWitness& witness_B) {
  PolishedNormal result;
  const double disc_slope = std::is_same_v<T, float> ? 3e-2 : 3e-3;
  for (bool was_rounding = false;; ++result.iterations) {
    const Vec3<double> n_Q = -(R_.transpose() * n);
    const CoreFeature A = core_feature(difference_.A(), witness_A, n, disc_slope),
                      B = core_feature(difference_.B(), witness_B, n_Q, disc_slope);
    const Vec3<double> from_A = R_ * B.point(B.place) + difference_.p_AB() - A.point(A.place);
    const TangentPlane plane(n);
    // Up to two independent flats, in the tangent plane, as columns: x_B - x_A changes by -flat of A, +flat
    // of B.
    Mat2<double> E = Mat2<double>::Zero();
    Vec2<double> tilt = Vec2<double>::Zero();  // how far n is from perpendicular to them
    int rank = 0, owner[2] = {0, 0}, index[2] = {0, 0};
    double lengths[2] = {1.0, 1.0};
    for (int side = 0; side < 2; ++side) {
      for (int k = 0; k < (side == 0 ? A.flats : B.flats) && rank < 2; ++k) {
        const Vec3<double> e = side == 0 ? Vec3<double>(-A.flat[at(k)]) : Vec3<double>(R_ * B.flat[at(k)]);
        const double length = e.norm();
        const Vec2<double> in_plane = plane.of(e) / length;
        if (rank == 1 && std::abs(E(0, 0) * in_plane[1] - E(1, 0) * in_plane[0]) < 1e-4) continue;
        E.col(rank) = in_plane;
        tilt[rank] = n.dot(e) / length;
        lengths[rank] = length;
        owner[rank] = side;
        index[rank++] = k;
      }
    }
    const double gap = n.dot(from_A);
    const Vec2<double> slide = plane.of(from_A);
    Vec2<double> step, places = Vec2<double>::Zero();
    double residual = tilt.norm() * difference_.size();
    if (rank == 2) {
      const double determinant = E(0, 0) * E(1, 1) - E(0, 1) * E(1, 0);
      step = Vec2<double>(E(1, 1) * tilt[0] - E(1, 0) * tilt[1], E(0, 0) * tilt[1] - E(0, 1) * tilt[0]) /
             -determinant;
      places =
          Vec2<double>(E(1, 1) * slide[0] - E(0, 1) * slide[1], E(0, 0) * slide[1] - E(1, 0) * slide[0]) /
          -determinant;
    } else if (rank == 0) {
      Mat2<double> H = plane.of(Mat3<double>(A.W + R_ * B.W * R_.transpose()));
      H.diagonal().array() += reach(gap, from_A);
      residual = slide.norm();
      step = solve_shifted(H, slide);
    } else {
      const Vec2<double> e = E.col(0), u(-e[1], e[0]);
      const double squared = e.squaredNorm();
      const Vec2<double> upright = e * (-tilt[0] / squared);
      const Mat2<double> W = plane.of(Mat3<double>(A.W + R_ * B.W * R_.transpose()));
      const double curvature = (u.dot(W * u)) / squared + reach(gap, from_A),
                   along = u.dot(slide) / std::sqrt(squared);
      residual += std::abs(along);
      if (!(curvature > 0.0)) return result;
      step = upright +
             u * ((along - u.dot(W * upright) / std::sqrt(squared)) / (curvature * std::sqrt(squared)));
      places[0] = -e.dot(slide) / squared;
    }
    // Once it is rounding, one step more is worth it: with no curvature n is off by the residual over g.
    const bool is_rounding = residual <= 4.0 * goal_ && (was_rounding || residual <= k_last_digits * goal_);
    was_rounding = residual <= 4.0 * goal_;
    if (is_rounding || (result.iterations >= max_iterations_ && residual <= 1e3 * goal_)) {
      std::array<double, 2> places_A = A.place, places_B = B.place;
      for (int k = 0; k < rank; ++k)
        (owner[k] == 0 ? places_A : places_B)[at(index[k])] += places[k] / lengths[k];
      const bool has_A = has_point(difference_.A(), A, places_A),
                 has_B = has_point(difference_.B(), B, places_B);
      result.outside_A = !has_A;
      result.outside_B = !has_B;
      if (!has_A || !has_B) {
        result.witness_A = point_of_feature(A, places_A);
        result.witness_B = point_of_feature(B, places_B);
        return result;
      }
      result.normal = n;
      result.distance = gap;
      result.lower = -n.dot(difference_.support(n).w);
      // Other points of the cores reach no farther.
      if (!(std::abs(result.lower - gap) <= 1e3 * goal_) || !(result.lower >= lower_ - goal_)) return result;
      result.witness_A = point_of_feature(A, places_A);
      result.witness_B = point_of_feature(B, places_B);
      result.is_better = true;
      return result;
    }
    if (result.iterations >= max_iterations_ || !(step.squaredNorm() < 1.0)) return result;
    n = (n + plane.lift(step)).normalized();
  }
}

double least_weight(const CoreWitness& witness) {
  return *std::min_element(witness.weights.begin(), witness.weights.begin() + witness.count);
}

/// The points of `found` but the one with the least weight, or those of `before` if it has no more.
CoreWitness without_least(const CoreWitness& found, const CoreWitness& before) {
  if (found.count < 2) return before;
  int least = 0;
  for (int i = 1; i < found.count; ++i)
    if (found.weights[at(i)] < found.weights[at(least)]) least = i;
  CoreWitness fewer;
  for (int i = 0; i < found.count; ++i)
    if (i != least)
      fewer.add(found.points[at(i)], std::max(0.0, found.weights[at(i)]), found.vertices[at(i)]);
  return fewer;
}

}  // namespace

template <typename T>
PolishedNormal polish_normal(MinkowskiDifference<T>& difference, const Vec3<double>& normal,
                             const CoreWitness& witness_A, const CoreWitness& witness_B, double lower,
                             int max_iterations) {
  Polish<T> polish(difference, lower, max_iterations);
  CoreWitness A = witness_A, B = witness_B;
  int spent = 0;
  for (int attempt = 0; attempt < 4; ++attempt) {
    PolishedNormal result = polish.on_features(normal, A, B);
    result.iterations += spent;
    if (result.is_better) return result;
    spent = result.iterations;
    // Points too many, which GJK or EPA ended before they dropped.
    const bool drop_A = result.outside_A || (!result.outside_B && least_weight(A) < k_spurious),
               drop_B = result.outside_B || (!result.outside_A && least_weight(B) < k_spurious);
    if (!drop_A && !drop_B) break;
    if (drop_A) A = without_least(result.outside_A ? result.witness_A : A, A);
    if (drop_B) B = without_least(result.outside_B ? result.witness_B : B, B);
  }
  PolishedNormal result = polish.smooth(normal);
  result.iterations += spent;
  return result;
}

template PolishedNormal polish_normal(MinkowskiDifference<double>&, const Vec3<double>&, const CoreWitness&,
                                      const CoreWitness&, double, int);
template PolishedNormal polish_normal(MinkowskiDifference<float>&, const Vec3<double>&, const CoreWitness&,
                                      const CoreWitness&, double, int);

}  // namespace abut
