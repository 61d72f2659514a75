/// Convex polyhedra with smooth edges: phi = tau_c log sum_i exp((n_i.x - o_i)/tau_c).
///
/// phi lies between the largest plane distance M and M + tau_c log N, so the solid lies within the polyhedron
/// of the planes, up to tau_c log(k) deeper where k planes meet. M is the exact distance inside and in front
/// of a face, and less than it in front of an edge or corner.
/// @see  the contact manifold paper, eq. (4) and (5).
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "collision/sdf/potential.h"
#include "collision/sdf/sdf_sample.h"
#include "engine/model.h"
#include "engine/pose.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

template <typename T>
struct ConvexPolyhedron {
  struct Plane {
    Vec3<T> normal;  ///< unit, outwards, in B
    T offset;        ///< from the centre [m]
  };
  std::vector<Plane> planes;
  Vec3<T> centre;    ///< p_BP [m]
  T smoothing;       ///< tau_c [m]
  T largest_excess;  ///< tau_c log N [m]

  ConvexPolyhedron(const Primitive& primitive, const std::array<T, 5>& parameters)
      : centre(primitive.X_BP.p.template cast<T>()),
        smoothing(parameters[0]),
        largest_excess(smoothing * T(std::log(static_cast<double>(primitive.values.size())))) {
    const Mat3<double> R_BP = primitive.X_BP.rotation();
    for (std::size_t i = 0; i < primitive.values.size(); ++i) {
      const Vec3<double> n = R_BP * primitive.directions.col(static_cast<Eigen::Index>(i));
      planes.push_back({n.template cast<T>(), T(primitive.values[i])});
    }
  }
};

/// n_i.x - o_i, x being relative to the centre.
template <typename S, typename Plane>
[[nodiscard]] ABUT_KERNEL_PART S plane_distance(const Plane& plane, const Vec3<S>& r) {
  return S(plane.normal[0]) * r[0] + S(plane.normal[1]) * r[1] + S(plane.normal[2]) * r[2] - S(plane.offset);
}

/// The largest distance from one of the planes.
template <typename S, typename T>
[[nodiscard]] S largest_plane_distance(const ConvexPolyhedron<T>& polyhedron, const Vec3<S>& r) {
  S largest = S(-1e30);
  for (const auto& plane : polyhedron.planes) {
    const S psi = plane_distance(plane, r);
    largest = select(psi > largest, psi, largest);
  }
  return largest;
}

/// Calls use(i, plane, w) with the weight w = exp((psi_i - largest)/tau_c) of each plane that has one, in no
/// lane of a pack otherwise than if that lane were alone.
template <typename S, typename V, typename T, typename Use>
void for_each_plane(const ConvexPolyhedron<T>& polyhedron, const Vec3<S>& r, const V& largest,
                    const Use& use) {
  using std::exp;
  const S inverse_tau = S(T(1) / polyhedron.smoothing);
  const V limit = largest - V(T(k_negligible<T>) * polyhedron.smoothing);
  for (std::size_t i = 0; i < polyhedron.planes.size(); ++i) {
    const auto& plane = polyhedron.planes[i];
    const S psi = plane_distance(plane, r);
    const auto is_negligible = plain_value(psi) < limit;
    if (all(is_negligible)) continue;
    use(i, plane, S(select(is_negligible, S(0), S(exp((psi - S(largest)) * inverse_tau)))));
  }
}

/// phi, grad phi = sum w_i n_i and its Hessian sum w_i (n_i - g)(n_i - g)^T/tau_c, the w_i adding up to 1.
template <SdfOrder order, typename S, typename T>
[[nodiscard]] Potential<S> potential(const ConvexPolyhedron<T>& polyhedron, const Vec3<S>& x_B) {
  using std::log;
  const Vec3<S> r = relative(x_B, polyhedron.centre);
  using V = decltype(plain_value(r[0]));
  const V largest =
      largest_plane_distance<V>(polyhedron, Vec3<V>(plain_value(r[0]), plain_value(r[1]), plain_value(r[2])));
  Potential<S> phi;
  S sum = S(0);
  Vec3<S> g(S(0), S(0), S(0));
  for_each_plane(polyhedron, r, largest, [&](std::size_t, const auto& plane, const S& w) {
    sum = sum + w;
    if constexpr (order >= SdfOrder::normal) {
      for (int a = 0; a < 3; ++a) g[a] = g[a] + w * S(plane.normal[a]);
    }
  });
  phi.value = S(largest) + S(polyhedron.smoothing) * log(sum);
  if constexpr (order >= SdfOrder::normal) {
    const S inverse = S(1) / sum;
    for (int a = 0; a < 3; ++a) g[a] = g[a] * inverse;
    phi.gradient = g;
    if constexpr (order >= SdfOrder::jacobian) {
      phi.hessian.setConstant(S(0));
      const S scale = inverse * S(T(1) / polyhedron.smoothing);
      for_each_plane(polyhedron, r, largest, [&](std::size_t, const auto& plane, const S& w) {
        const Vec3<S> c(S(plane.normal[0]) - g[0], S(plane.normal[1]) - g[1], S(plane.normal[2]) - g[2]);
        for (int a = 0; a < 3; ++a) {
          const S wc = w * scale * c[a];
          for (int b = 0; b < 3; ++b) phi.hessian(a, b) = phi.hessian(a, b) + wc * c[b];
        }
      });
    }
  }
  return phi;
}

/// Calls use(i, d phi/d(parameter i)): 0 is tau_c, 1 + i the offset of plane i.
///   by an offset  -w_i
///   by tau_c      -sum w_i log w_i
template <typename S, typename Use>
void for_each_parameter_derivative(const ConvexPolyhedron<double>& polyhedron, const Vec3<S>& x_B,
                                   const Use& use) {
  using std::log;
  const Vec3<S> r = relative(x_B, polyhedron.centre);
  const double largest = largest_plane_distance<double>(
      polyhedron, Vec3<double>(plain_value(r[0]), plain_value(r[1]), plain_value(r[2])));
  S sum = S(0), mean = S(0);
  for_each_plane(polyhedron, r, largest, [&](std::size_t, const auto& plane, const S& w) {
    sum = sum + w;
    mean = mean + w * (plane_distance(plane, r) - S(largest));
  });
  const S inverse = S(1) / sum;
  use(std::size_t{0}, S(log(sum) - mean * inverse / S(polyhedron.smoothing)));
  for_each_plane(polyhedron, r, largest,
                 [&](std::size_t i, const auto&, const S& w) { use(1 + i, S(-w * inverse)); });
}

/// M <= phi <= M + tau_c log N.
template <typename S, typename T>
[[nodiscard]] DistanceBounds<S> distance_bounds(const ConvexPolyhedron<T>& polyhedron, const Vec3<S>& x_B) {
  const S largest = largest_plane_distance<S>(polyhedron, relative(x_B, polyhedron.centre));
  return {largest, largest + S(polyhedron.largest_excess)};
}

}  // namespace abut
