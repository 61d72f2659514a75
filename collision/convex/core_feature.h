/// Features of a core at a contact: what its support function looks like around a normal.
///
/// Where the support point x(n) of a core is a smooth function of the normal, dx = W dn. Where it is not,
/// several points reach equally far: along an edge, a face, a straight line of a cone's side. Then n stays
/// perpendicular to these *flat* directions while x may be anywhere along them, and W is what is left: how x
/// turns about them.
///
/// Everything is in the frame of the core's part; normals point out of the core.
#pragma once

#include <array>
#include <cmath>

#include "collision/convex/minkowski_difference.h"
#include "collision/convex/support.h"
#include "engine/types.h"

namespace abut {

/// A point of a core as a mean of points of its surface.
struct CoreWitness {
  int count = 0;
  std::array<Vec3<double>, 4> points;           ///< in the part's frame, no two the same [m]
  std::array<double, 4> weights{};              ///< >= 0, adding up to 1
  std::array<int, 4> vertices{-1, -1, -1, -1};  ///< of a polyhedron, whose corners the points are

  [[nodiscard]] Vec3<double> mean() const {
    Vec3<double> x = Vec3<double>::Zero();
    for (int i = 0; i < count; ++i) x += weights[at(i)] * points[at(i)];
    return x;
  }
  void add(const Vec3<double>& point, double weight, int vertex = -1) {
    for (int i = 0; i < count; ++i) {
      if (points[at(i)] != point) continue;
      weights[at(i)] += weight;
      return;
    }
    points[at(count)] = point;
    vertices[at(count)] = vertex;
    weights[at(count++)] = weight;
  }
};

/// That of A (or of B) in the point of a simplex of D.
[[nodiscard]] inline CoreWitness witness_of(const DifferenceSimplex& simplex, bool of_A) {
  CoreWitness witness;
  for (int i = 0; i < simplex.count; ++i) {
    const DifferencePoint& point = simplex.points[at(i)];
    witness.add(of_A ? point.on_A : point.on_B, simplex.weights[at(i)],
                of_A ? point.vertex_A : point.vertex_B);
  }
  return witness;
}

/// polytope     vertex, edge or face: base and base + flats are corners
/// smooth       no flats; also the rim of a cone
/// generator    a line of a cone's side, from the rim at z = -h (base) to that at z = h (base + flat)
/// disc         an end of a cone: base its middle, flats two radii
enum class CoreFeatureKind { polytope, smooth, generator, disc };

struct CoreFeature {
  CoreFeatureKind kind = CoreFeatureKind::polytope;
  Vec3<double> base = Vec3<double>::Zero();  ///< [m]
  int flats = 0;
  std::array<Vec3<double>, 2> flat{Vec3<double>::Zero(), Vec3<double>::Zero()};  ///< [m]
  std::array<int, 3> vertices{-1, -1, -1};  ///< of a polyhedron, at base and base + flat_i
  std::array<double, 2> place{};            ///< s_i of the witness, base + sum of s_i flat_i
  Mat3<double> W = Mat3<double>::Zero();    ///< [m]

  [[nodiscard]] Vec3<double> point(const std::array<double, 2>& s) const {
    return base + s[0] * flat[0] + s[1] * flat[1];
  }

  /// Whether base + sum of s_i flat_i is a point of the feature, up to `tolerance` of its extent.
  [[nodiscard]] bool contains(const std::array<double, 2>& s, double tolerance) const {
    if (kind == CoreFeatureKind::disc) return s[0] * s[0] + s[1] * s[1] <= 1.0 + tolerance;
    double sum = 0.0;
    for (int i = 0; i < flats; ++i) {
      if (s[at(i)] < -tolerance) return false;
      sum += s[at(i)];
    }
    return sum <= 1.0 + tolerance;
  }
};

namespace core_feature_detail {

/// As many points of a witness as are not in one line.
[[nodiscard]] inline CoreFeature polytope_feature(const CoreWitness& witness) {
  CoreFeature feature;
  feature.base = witness.points[0];
  feature.vertices[0] = witness.vertices[0];
  for (int i = 1; i < witness.count && feature.flats < 2; ++i) {
    const Vec3<double> e = witness.points[at(i)] - feature.base;
    if (feature.flats == 1 && !(e.cross(feature.flat[0]).norm() > 1e-5 * e.norm() * feature.flat[0].norm()))
      continue;
    feature.place[at(feature.flats)] = witness.weights[at(i)];
    feature.flat[at(feature.flats++)] = e;
    feature.vertices[at(feature.flats)] = witness.vertices[at(i)];
  }
  return feature;
}

template <typename T>
[[nodiscard]] CoreFeature cone_feature(const ConvexPart<T>& part, const CoreWitness& witness,
                                       const Vec3<double>& normal, double disc_slope) {
  using std::sqrt;
  CoreFeature feature;
  const Vec3<double> e = part.extents.template cast<double>();
  const double across = sqrt(normal[0] * normal[0] + normal[1] * normal[1]), h = e[2];
  double base_weight = 0.0, top_weight = 0.0;
  bool at_base = false, at_top = false;
  for (int i = 0; i < witness.count; ++i) {
    const bool is_top = witness.points[at(i)][2] > 0.0;
    (is_top ? at_top : at_base) = true;
    (is_top ? top_weight : base_weight) += witness.weights[at(i)];
  }
  const double radius = at_top ? e[1] : e[0];
  if (!(at_base && at_top) && across <= disc_slope && radius > 0.0) {
    feature.kind = CoreFeatureKind::disc;
    feature.base = {0.0, 0.0, at_top ? h : -h};
    feature.flats = 2;
    feature.flat = {Vec3<double>(radius, 0.0, 0.0), Vec3<double>(0.0, radius, 0.0)};
    const Vec3<double> mean = witness.mean();
    feature.place = {mean[0] / radius, mean[1] / radius};
    return feature;
  }
  feature.kind = CoreFeatureKind::smooth;
  if (!(across > 0.0)) {
    feature.base = {0.0, 0.0, at_top ? h : -h};
    return feature;
  }
  const Vec3<double> outwards(normal[0] / across, normal[1] / across, 0.0),
      around(-outwards[1], outwards[0], 0.0);
  const Vec3<double> base(e[0] * outwards[0], e[0] * outwards[1], -h),
      top(e[1] * outwards[0], e[1] * outwards[1], h);
  feature.base = at_base ? base : top;
  if (at_base && at_top) {
    feature.kind = CoreFeatureKind::generator;
    feature.flats = 1;
    feature.flat[0] = top - base;
    feature.place[0] = top_weight;
  }
  feature.W = ((base_weight * e[0] + top_weight * e[1]) / across) * (around * around.transpose());
  return feature;
}

}  // namespace core_feature_detail

/// @param normal      of unit length
/// @param disc_slope  normals closer to a cone's axis than that [rad] are those of its ends
template <typename T>
[[nodiscard]] CoreFeature core_feature(const ConvexPart<T>& part, const CoreWitness& witness,
                                       const Vec3<double>& normal, double disc_slope = 1e-7) {
  if (part.core == ConvexCore::cone)
    return core_feature_detail::cone_feature(part, witness, normal, disc_slope);
  if (part.core != ConvexCore::superquadric) return core_feature_detail::polytope_feature(witness);
  CoreFeature feature;
  int vertex = -1;
  feature.kind = CoreFeatureKind::smooth;
  feature.base = core_support<T>(part, normal.cast<T>(), vertex).template cast<double>();
  feature.W = core_support_jacobian<T>(part, normal.cast<T>()).template cast<double>();
  return feature;
}

/// Two unit vectors that make a right-handed frame with n: x cross y = n.
struct TangentPlane {
  Vec3<double> x, y;

  explicit TangentPlane(const Vec3<double>& n) {
    Eigen::Index least = 0;
    n.cwiseAbs().minCoeff(&least);
    x = n.cross(Vec3<double>::Unit(least)).normalized();
    y = n.cross(x);
  }
  [[nodiscard]] Vec2<double> of(const Vec3<double>& v) const { return {x.dot(v), y.dot(v)}; }
  [[nodiscard]] Vec3<double> lift(const Vec2<double>& v) const { return v[0] * x + v[1] * y; }
  [[nodiscard]] Mat2<double> of(const Mat3<double>& W) const {
    const Vec3<double> Wx = W * x, Wy = W * y;
    Mat2<double> w;
    w << x.dot(Wx), x.dot(Wy), y.dot(Wx), y.dot(Wy);
    return w;
  }
};

/// The symmetric matrix with eigenvalues below `least` raised to it.
[[nodiscard]] inline Mat2<double> eigenvalues_raised(const Mat2<double>& M, double least) {
  const double mean = 0.5 * (M(0, 0) + M(1, 1)), half = 0.5 * (M(0, 0) - M(1, 1)),
               off = 0.5 * (M(0, 1) + M(1, 0));
  const double spread = std::hypot(half, off), low = mean - spread, high = mean + spread;
  if (low >= least) return M;
  if (spread == 0.0 || high <= least) return std::max(least, 0.0) * Mat2<double>::Identity();
  Mat2<double> of_high;  // projection to the eigenvector of `high`
  of_high << 0.5 + 0.5 * half / spread, 0.5 * off / spread, 0.5 * off / spread, 0.5 - 0.5 * half / spread;
  return high * of_high + least * (Mat2<double>::Identity() - of_high);
}

}  // namespace abut
