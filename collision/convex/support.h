/// Support functions of convex parts: h(n) = max_{x in part} n.x and the points where it is reached.
///
/// Everything is in the part's frame P and without the ball, which adds radius n/|n| to a point and the
/// radius to h. Directions need not have unit length, but must not be 0.
///
/// The support function of a superquadric is the gauge of another: {F <= 1} with semi-axes a, b, c and
/// exponents eps has h(n) = F'(a n_x, b n_y, c n_z), F' being the nested norm of exponents 2 - eps (its
/// dual), because 1/p + 1/p' = 1 for p = 2/eps. h is twice differentiable where no component of n is 0, or
/// eps >= 1.
/// @see  gauge.h; Rockafellar (1970), "Convex analysis", section 15.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "collision/convex/convex_part.h"
#include "collision/sdf/gauge.h"
#include "engine/types.h"

namespace abut {

/// Polyhedra with fewer vertices are searched one by one, which is faster than along their edges.
inline constexpr int k_least_graph_search = 32;

namespace support_detail {

/// What nested_norm() and gauge_curvature() ask of the dual of a superquadric.
template <typename T>
struct DualGauge {
  T eps1, eps2, power1, power2, delta_squared = T(0);
  static constexpr bool rounded = false;

  explicit DualGauge(const ConvexPart<T>& part)
      : eps1(T(2) - part.eps1),
        eps2(T(2) - part.eps2),
        power1(T(1) / eps1 - T(1)),
        power2(T(1) / eps2 - T(1)) {}
};

template <typename T>
[[nodiscard]] Vec3<T> superquadric_support(const ConvexPart<T>& part, const Vec3<T>& direction) {
  using std::sqrt;
  Vec3<T> m = part.extents.cwiseProduct(direction);
  m /= m.cwiseAbs().maxCoeff();
  if (part.eps1 == T(1) && part.eps2 == T(1)) return part.extents.cwiseProduct(m) / m.norm();
  const DualGauge<T> dual(part);
  const T squares[3] = {m[0] * m[0], m[1] * m[1], m[2] * m[2]};
  const NestedNorm<T> norm = nested_norm<T>(squares, dual.eps1, dual.eps2, dual.power1, dual.power2);
  const T inverse = T(1) / sqrt(norm.F_squared);
  return part.extents.cwiseProduct(norm.k.cwiseProduct(m)) * inverse;
}

template <typename T>
[[nodiscard]] Vec3<T> cone_support(const ConvexPart<T>& part, const Vec3<T>& d) {
  using std::sqrt;
  const T across = sqrt(d[0] * d[0] + d[1] * d[1]), h = part.extents[2];
  const bool at_top = part.extents[1] * across + h * d[2] > part.extents[0] * across - h * d[2];
  const T r = at_top ? part.extents[1] : part.extents[0], z = at_top ? h : -h;
  if (!(across > std::numeric_limits<T>::min())) return {r, T(0), z};
  return {r * (d[0] / across), r * (d[1] / across), z};
}

/// @param vertex  where a search along edges starts, if in range; then the vertex that is found
template <typename T>
[[nodiscard]] Vec3<T> polyhedron_support(const PolyhedronGraph<T>& graph, const Vec3<T>& d, int& vertex) {
  const int count = graph.vertex_count();
  const auto height = [&](int i) {
    const Vec3<T>& x = graph.vertices[at(i)];
    return d[0] * x[0] + d[1] * x[1] + d[2] * x[2];
  };
  const bool by_graph = graph.is_complete && count >= k_least_graph_search;
  int best = by_graph && vertex >= 0 && vertex < count ? vertex : 0;
  T highest = height(best);
  if (!by_graph) {
    for (int i = 1; i < count; ++i) {
      const T h = height(i);
      if (h > highest) highest = h, best = i;
    }
  } else {
    for (int from = -1; from != best;) {
      from = best;
      for (int k = graph.first_neighbour[at(from)]; k < graph.first_neighbour[at(from) + 1]; ++k) {
        const int i = graph.neighbours[at(k)];
        const T h = height(i);
        if (h > highest) highest = h, best = i;
      }
    }
  }
  vertex = best;
  return graph.vertices[at(best)];
}

}  // namespace support_detail

/// A point of the core that reaches farthest along a direction in P [m].
///
/// Where many do (a direction normal to a face), one of them: a corner, the middle of a superquadric's flat
/// side, a point of a cone's rim.
/// @param vertex  of polyhedra: where the search starts (any number), then which vertex it is. Else
/// unchanged.
template <typename T>
[[nodiscard]] Vec3<T> core_support(const ConvexPart<T>& part, const Vec3<T>& direction, int& vertex) {
  const auto& e = part.extents;
  const auto signed_extent = [&](int i) { return direction[i] < T(0) ? -e[i] : e[i]; };
  switch (part.core) {
    case ConvexCore::segment:
      return {T(0), T(0), signed_extent(2)};
    case ConvexCore::box:
      return {signed_extent(0), signed_extent(1), signed_extent(2)};
    case ConvexCore::superquadric:
      return support_detail::superquadric_support(part, direction);
    case ConvexCore::cone:
      return support_detail::cone_support(part, direction);
    case ConvexCore::polyhedron:
      return support_detail::polyhedron_support(*part.polyhedron, direction, vertex);
    case ConvexCore::point:
    case ConvexCore::half_space:
      break;
  }
  return Vec3<T>::Zero();
}

/// h(n) of the part with its ball [m], n of unit length in P.
template <typename T>
[[nodiscard]] T support_value(const ConvexPart<T>& part, const Vec3<T>& normal) {
  int vertex = -1;
  return normal.dot(core_support(part, normal, vertex)) + part.radius;
}

/// W = d(core_support)/dn at a unit normal n in P [m]: symmetric, W n = 0, its other eigenvalues the
/// principal radii of curvature. 0 at corners (also where n is normal to a face or edge, and the support
/// point jumps), and that of its rim for a cone.
///
/// A superquadric with an exponent below 1 has flat sides, where W is infinite: components of the scaled
/// normal are taken to be at least 1e-9 of the largest, in float 1e-5.
template <typename T>
[[nodiscard]] Mat3<T> core_support_jacobian(const ConvexPart<T>& part, const Vec3<T>& normal) {
  using std::abs, std::sqrt;
  Mat3<T> W = Mat3<T>::Zero();
  if (part.core == ConvexCore::cone) {
    const T across = sqrt(normal[0] * normal[0] + normal[1] * normal[1]), h = part.extents[2];
    if (!(across > std::numeric_limits<T>::epsilon())) return W;
    const bool at_top = part.extents[1] * across + h * normal[2] > part.extents[0] * across - h * normal[2];
    const Vec3<T> around(-normal[1] / across, normal[0] / across, T(0));
    return ((at_top ? part.extents[1] : part.extents[0]) / across) * (around * around.transpose());
  }
  if (part.core != ConvexCore::superquadric) return W;
  const Vec3<T> m = part.extents.cwiseProduct(normal);
  const T largest = m.cwiseAbs().maxCoeff();
  const bool has_flat_side = part.eps1 < T(1) || part.eps2 < T(1);
  const T least = !has_flat_side ? T(0) : std::is_same_v<T, float> ? T(1e-5) : T(1e-9);
  const support_detail::DualGauge<T> dual(part);
  GaugePoint<T> g;
  for (int i = 0; i < 3; ++i) {
    const T t = m[i] / largest;
    g.t[i] = abs(t) >= least ? t : (t < T(0) ? -least : least);
    g.squares[i] = g.t[i] * g.t[i];
  }
  const NestedNorm<T> norm = nested_norm<T>(g.squares, dual.eps1, dual.eps2, dual.power1, dual.power2);
  g.inner = norm.inner;
  g.outer = norm.outer;
  g.F_squared = norm.F_squared;
  g.F = sqrt(g.F_squared);
  g.is_centre = false;
  const Symmetric<T> K = gauge_curvature(dual, g);  // F times the Hessian of F, in the scaled normal
  const T scale = T(1) / (g.F * largest);           // of degree -1
  const auto& e = part.extents;
  W << e[0] * e[0] * K.xx, e[0] * e[1] * K.xy, e[0] * e[2] * K.xz,  //
      e[0] * e[1] * K.xy, e[1] * e[1] * K.yy, e[1] * e[2] * K.yz,   //
      e[0] * e[2] * K.xz, e[1] * e[2] * K.yz, e[2] * e[2] * K.zz;
  return W * scale;
}

}  // namespace abut
