/// Cones and truncated cones with smooth edges: phi = tau_c log sum_i exp(psi_i/tau_c), of the distances
///   psi_0 = c rho + s z - o     from the side, c = 2 h/L, s = (R_0 - R_1)/L, o = c R_0 - s h,
///   psi_1 = z - h,   psi_2 = -z - h     from the two ends,
/// where L is the length of the side and rho = sqrt(x^2 + y^2 + tau_c^2), so that no function of place has a
/// kink at the axis.
///
/// The solid lies within the sharp cone: by tau_c^2/2rho at the side, by tau_c log 2 or more where side and
/// ends meet. As of a polyhedron, the largest psi is the exact distance inside and in front of a face, and
/// less than it in front of an edge.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "collision/sdf/potential.h"
#include "collision/sdf/sdf_sample.h"
#include "engine/pose.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

template <typename T>
struct TruncatedCone {
  Vec3<T> axis;               ///< z axis of P in B
  Vec3<T> centre;             ///< p_BP [m]: halfway between the ends
  T base_radius, top_radius;  ///< R_0 at z = -h, R_1 at z = h [m]
  T half_length;              ///< h [m]
  T smoothing;                ///< tau_c [m]
  T side_length;              ///< L [m]
  T side_across, side_along;  ///< c and s: the normal of the side
  T side_offset;              ///< o [m]

  TruncatedCone(const std::array<T, 5>& parameters, const Pose<double>& X_BP)
      : axis(X_BP.rotation().col(2).template cast<T>()),
        centre(X_BP.p.template cast<T>()),
        base_radius(parameters[0]),
        top_radius(parameters[1]),
        half_length(parameters[2]),
        smoothing(parameters[3]) {
    using std::sqrt;
    const T rise = T(2) * half_length, run = base_radius - top_radius;
    side_length = sqrt(rise * rise + run * run);
    side_across = rise / side_length;
    side_along = run / side_length;
    side_offset = side_across * base_radius - side_along * half_length;
  }
};

/// What the faces of a cone are to a point.
template <typename S>
struct ConeFaces {
  S along;           ///< z [m]
  S from_axis;       ///< rho [m]
  Vec3<S> outwards;  ///< grad rho, in B
  S largest;         ///< of the psi_i, without derivatives [m]
  S psi[3];          ///< [m]
  S weight[3];       ///< exp((psi_i - phi)/tau_c), adding up to 1
  S log_sum;         ///< (phi - largest)/tau_c
};

template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART ConeFaces<S> cone_faces(const TruncatedCone<T>& cone, const Vec3<S>& x_B) {
  using std::exp, std::log, std::sqrt;
  const Vec3<S> r = relative(x_B, cone.centre);
  const Vec3<S> a(S(cone.axis[0]), S(cone.axis[1]), S(cone.axis[2]));
  ConeFaces<S> at;
  at.along = a[0] * r[0] + a[1] * r[1] + a[2] * r[2];
  for (int i = 0; i < 3; ++i) at.outwards[i] = r[i] - at.along * a[i];
  at.from_axis = sqrt(at.outwards[0] * at.outwards[0] + at.outwards[1] * at.outwards[1] +
                      at.outwards[2] * at.outwards[2] + S(cone.smoothing * cone.smoothing));
  const S inverse = S(1) / at.from_axis;
  for (int i = 0; i < 3; ++i) at.outwards[i] = at.outwards[i] * inverse;
  at.psi[0] = S(cone.side_across) * at.from_axis + S(cone.side_along) * at.along - S(cone.side_offset);
  at.psi[1] = at.along - S(cone.half_length);
  at.psi[2] = S(0) - at.along - S(cone.half_length);
  auto largest = plain_value(at.psi[0]);
  for (int i = 1; i < 3; ++i) {
    const auto psi = plain_value(at.psi[i]);
    largest = select(psi > largest, psi, largest);
  }
  at.largest = S(largest);
  const S inverse_tau = S(T(1) / cone.smoothing);
  S sum = S(0);
  for (int i = 0; i < 3; ++i) {
    at.weight[i] = exp((at.psi[i] - at.largest) * inverse_tau);
    sum = sum + at.weight[i];
  }
  const S share = S(1) / sum;
  for (S& weight : at.weight) weight = weight * share;
  at.log_sum = log(sum);
  return at;
}

/// phi, grad phi = sum w_i grad psi_i, and its Hessian
///   w_0 c (I - a a^T - e e^T)/rho + sum w_i (grad psi_i - g)(grad psi_i - g)^T/tau_c,   e = grad rho.
template <SdfOrder order, typename S, typename T>
[[nodiscard]] Potential<S> potential(const TruncatedCone<T>& cone, const Vec3<S>& x_B) {
  const ConeFaces<S> at = cone_faces<S>(cone, x_B);
  Potential<S> phi;
  phi.value = at.largest + S(cone.smoothing) * at.log_sum;
  if constexpr (order >= SdfOrder::normal) {
    const S c(cone.side_across), s(cone.side_along);
    const S across = at.weight[0] * c, along = at.weight[0] * s + at.weight[1] - at.weight[2];
    const Vec3<S> a(S(cone.axis[0]), S(cone.axis[1]), S(cone.axis[2]));
    const Vec3<S>& e = at.outwards;
    for (int i = 0; i < 3; ++i) phi.gradient[i] = across * e[i] + along * a[i];
    if constexpr (order >= SdfOrder::jacobian) {
      // grad psi_i - g = u_i e + v_i a: the second sum is a quadratic form in e and a.
      const S inverse_tau = S(T(1) / cone.smoothing);
      const S u[3] = {c - across, S(0) - across, S(0) - across},
              v[3] = {s - along, S(1) - along, S(-1) - along};
      S uu = S(0), uv = S(0), vv = S(0);
      for (int i = 0; i < 3; ++i) {
        const S w = at.weight[i] * inverse_tau;
        uu = uu + w * u[i] * u[i];
        uv = uv + w * u[i] * v[i];
        vv = vv + w * v[i] * v[i];
      }
      const S curvature = across / at.from_axis;
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          phi.hessian(i, j) = (uu - curvature) * e[i] * e[j] + (vv - curvature) * a[i] * a[j] +
                              uv * (e[i] * a[j] + a[i] * e[j]);
        }
        phi.hessian(i, i) = phi.hessian(i, i) + curvature;
      }
    }
  }
  return phi;
}

/// d phi/d(R_0, R_1, h, tau_c). With t = c (z + h) - s (rho - R_0), the place along the side from the base
/// on,
///   by R_0    -w_0 c (1 - t/L)
///   by R_1    -w_0 c t/L
///   by h      w_0 s (1 - 2 t/L) - w_1 - w_2
///   by tau_c  -sum w_i log w_i + w_0 c tau_c/rho
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART std::array<S, 4> parameter_derivatives(const TruncatedCone<T>& cone,
                                                                      const Vec3<S>& x_B) {
  const ConeFaces<S> at = cone_faces<S>(cone, x_B);
  const S c(cone.side_across), s(cone.side_along), tau(cone.smoothing);
  const S place = (c * (at.along + S(cone.half_length)) - s * (at.from_axis - S(cone.base_radius))) *
                  S(T(1) / cone.side_length);
  const S& side = at.weight[0];
  S mean = S(0);  // of (psi_i - largest)/tau
  for (int i = 0; i < 3; ++i) mean = mean + at.weight[i] * (at.psi[i] - at.largest);
  return {side * c * (place - S(1)), S(0) - side * c * place,
          side * s * (S(1) - S(2) * place) - at.weight[1] - at.weight[2],
          at.log_sum - mean / tau + side * c * tau / at.from_axis};
}

/// M <= phi <= M + tau_c log 3, M being the largest psi_i.
template <typename S, typename T>
[[nodiscard]] DistanceBounds<S> distance_bounds(const TruncatedCone<T>& cone, const Vec3<S>& x_B) {
  using std::abs, std::sqrt;
  const Vec3<S> r = relative(x_B, cone.centre);
  const S along = S(cone.axis[0]) * r[0] + S(cone.axis[1]) * r[1] + S(cone.axis[2]) * r[2];
  const S across = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] - along * along;
  const S tau(cone.smoothing);
  const S side = S(cone.side_across) * sqrt(select(across > S(0), across, S(0)) + tau * tau) +
                 S(cone.side_along) * along - S(cone.side_offset),
          ends = abs(along) - S(cone.half_length);
  const S largest = select(side > ends, side, ends);
  return {largest, largest + S(cone.smoothing * T(1.0986123))};
}

}  // namespace abut
