/// Superquadrics as signed distance functions: three ways from their gauge F (gauge.h) to a distance.
///
/// taubin      (F - 1)/|grad F|, the first-order metric
/// radial      |x| (1 - 1/F), along the ray from the centre
/// projected   to the closest point, blended into taubin where that is not to be trusted
///
/// All take the normal from grad F; the projected one takes it at the closest point.
#pragma once

#include <cmath>

#include "collision/sdf/gauge.h"
#include "collision/sdf/sdf_sample.h"
#include "engine/dual.h"
#include "engine/model.h"
#include "engine/scalar.h"
#include "engine/smooth.h"
#include "engine/types.h"

namespace abut {

/// Distance by the first-order metric, normal by the gradient of F:
///   d = (F - 1)/G,   n = grad F/G,   grad d = n - d (H n)/G,   dn/dx = (I - n n^T) H/G
/// with G = |grad F| and H the Hessian of F.
/// d never exceeds the true distance outside, and is its first-order approximation near the surface.
/// @see  Taubin (1991), "Estimation of planar curves, surfaces, and nonplanar space curves".
///
/// `Gauge` is a Superquadric, a pack of them (kernel/solid_lanes.h), or what else has a gauge_point and a
/// gauge_curvature (ExtrudedSuperquadric).
template <SdfOrder order, typename S, typename Gauge>
[[nodiscard]] ABUT_KERNEL SdfAnswer<order, S> taubin_sample(const Gauge& sq, const Vec3<S>& x_B) {
  using std::sqrt;
  const auto g = gauge_point(sq, x_B);
  const Vec3<S>& v = g.F_gradient;  // F grad F, so G = |v|/F
  const S inverse = reciprocal_sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  SdfAnswer<order, S> out;
  out.distance = (g.F_squared - g.F) * inverse;
  if constexpr (order >= SdfOrder::normal) out.normal = {v[0] * inverse, v[1] * inverse, v[2] * inverse};
  if constexpr (order >= SdfOrder::gradient) {
    const Vec3<S>& n = out.normal;
    const Symmetric<S> K = gauge_curvature(sq, g);
    Vec3<S> Hn = transform_transposed<S>(sq.to_scaled, K.times(transform<S>(sq.to_scaled, n)));  // F H n
    for (int i = 0; i < 3; ++i) {
      Hn[i] = Hn[i] * inverse;  // H n/G
      out.gradient[i] = n[i] - out.distance * Hn[i];
    }
    if constexpr (order >= SdfOrder::jacobian) {
      const Mat3<S> FH = curvature_matrix(sq, K);
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) out.normal_jacobian(i, j) = FH(i, j) * inverse - n[i] * Hn[j];
      }
    }
  }
  return out;
}

/// The distance along the ray from the centre, d = |x| - |x|/F, and the normal of taubin_sample.
///   grad d = u (1 - 1/F) + r grad F/F^2,   u = x/r
/// r and F are smoothed at the centre, r^2 + (1e-7 shortest axis)^2 and F^2 + 1e-14, where the gradient has
/// no limit. Never below the true distance outside; up to long/short axis above it.
template <SdfOrder order, typename S, typename T>
[[nodiscard]] ABUT_KERNEL SdfAnswer<order, S> radial_sample(const Superquadric<T>& sq, const Vec3<S>& x_B) {
  using std::sqrt;
  const GaugePoint<S> g = gauge_point(sq, x_B);
  const Vec3<S> x = relative(x_B, sq.centre);
  const S softening = S(1e-7) * S(sq.shortest_axis);
  const S r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + softening * softening);
  const S inverse_F = S(1) / sqrt(g.F_squared + S(1e-14));
  SdfAnswer<order, S> out;
  out.distance = r - r * inverse_F;
  if constexpr (order >= SdfOrder::normal) {
    const Vec3<S>& v = g.F_gradient;
    const S inverse = S(1) / sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    out.normal = {v[0] * inverse, v[1] * inverse, v[2] * inverse};
    if constexpr (order >= SdfOrder::gradient) {
      const S along_x = (S(1) - inverse_F) / r, along_v = r * inverse_F * inverse_F * inverse_F;
      for (int i = 0; i < 3; ++i) out.gradient[i] = along_x * x[i] + along_v * v[i];
    }
    if constexpr (order >= SdfOrder::jacobian) {
      const Vec3<S>& n = out.normal;
      const Mat3<S> FH = curvature_matrix(sq, gauge_curvature(sq, g));
      for (int j = 0; j < 3; ++j) {
        const S nFH = n[0] * FH(0, j) + n[1] * FH(1, j) + n[2] * FH(2, j);
        for (int i = 0; i < 3; ++i) out.normal_jacobian(i, j) = (FH(i, j) - n[i] * nFH) * inverse;
      }
    }
  }
  return out;
}

/// Where the projected distance is used: its weight is 1 while `unfit` < 1/4, and falls to 0 at 1.
inline constexpr double k_projected_depth = 0.5;  ///< largest |d| by the shortest axis
inline constexpr double k_projected_bend = 0.3;   ///< largest |d| (kappa_1 + kappa_2) at the foot

/// The next iterate y of the closest point to x, and |x - y| (kappa_1 + kappa_2) with the curvatures of the
/// level set at the last one.
template <typename S>
struct ClosestPoint {
  Vec3<S> y;
  S bend;
};

/// Newton's iteration for  y - x + lambda grad F(y) = 0, F(y) = 1,  the multiplier being taken from y,
/// lambda = mu/|grad F|, mu = n.(x - y). With Taubin's d, n and N = dn/dx at y that is
///   y += -d n + (I + C)^-1 (P (x - y) + d mu N n),   C = mu N P,   P = I - n n^T,
/// the inverse being that of a 2x2 matrix in the tangent plane, ((1 + tr C) I - C)/(1 + tr C + det C).
template <typename S, typename T>
[[nodiscard]] ClosestPoint<S> closest_point_step(const Superquadric<T>& sq, const Vec3<S>& x,
                                                 const Vec3<S>& y) {
  const SdfSampleJacobian<S> at = taubin_sample<SdfOrder::jacobian, S>(sq, y);
  const Vec3<S>& n = at.normal;
  const Vec3<S> to_x(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
  const S mu = n[0] * to_x[0] + n[1] * to_x[1] + n[2] * to_x[2];
  Mat3<S> C;
  Vec3<S> right;
  for (int i = 0; i < 3; ++i) {
    const Mat3<S>& N = at.normal_jacobian;
    const S N_n = N(i, 0) * n[0] + N(i, 1) * n[1] + N(i, 2) * n[2];
    for (int j = 0; j < 3; ++j) C(i, j) = mu * (N(i, j) - N_n * n[j]);
    right[i] = to_x[i] - mu * n[i] + at.distance * mu * N_n;
  }
  const S trace = C(0, 0) + C(1, 1) + C(2, 2);
  const S determinant = C(0, 0) * C(1, 1) - C(0, 1) * C(1, 0) + C(0, 0) * C(2, 2) - C(0, 2) * C(2, 0) +
                        C(1, 1) * C(2, 2) - C(1, 2) * C(2, 1);
  const S divisor = S(1) + trace + determinant;  // near 0 only where the answer will not be used
  const S scale = S(1) / select(divisor > S(0.1), divisor, S(0.1));
  ClosestPoint<S> next;
  next.bend = trace;
  for (int i = 0; i < 3; ++i) {
    const S C_right = C(i, 0) * right[0] + C(i, 1) * right[1] + C(i, 2) * right[2];
    next.y[i] = y[i] - at.distance * n[i] + ((S(1) + trace) * right[i] - C_right) * scale;
  }
  return next;
}

/// The distance to the closest point of the surface and the normal there, blended into Taubin's.
///
/// Two of Taubin's steps, then three iterations of Newton's method. They are trusted where all along the way
/// `bend` is small and |d| well below the shortest axis; elsewhere the answer is Taubin's, with a C2
/// transition. In the trusted region the distance is exact to rounding, but it is the one to the surface
/// around y: where two faces of a box-like solid are about equally far, the other one may be a little closer.
template <typename S, typename T>
[[nodiscard]] SdfNormal<S> projected_value(const Superquadric<T>& sq, const Vec3<S>& x_B) {
  using std::sqrt;
  const SdfNormal<S> taubin = taubin_sample<SdfOrder::normal, S>(sq, x_B);
  const S depth = taubin.distance / (S(k_projected_depth) * S(sq.shortest_axis));
  S unfit = depth * depth;
  if (all(unfit >= S(1))) return taubin;  // NOLINT(performance-no-automatic-move)

  Vec3<S> y;
  for (int i = 0; i < 3; ++i) y[i] = x_B[i] - taubin.distance * taubin.normal[i];
  const SdfNormal<S> second = taubin_sample<SdfOrder::normal, S>(sq, y);
  for (int i = 0; i < 3; ++i) y[i] = y[i] - second.distance * second.normal[i];
  for (int iteration = 0; iteration < 3; ++iteration) {
    const ClosestPoint<S> next = closest_point_step(sq, x_B, y);
    const S bend = next.bend / S(k_projected_bend);
    unfit = unfit + bend * bend;
    y = next.y;
  }

  const SdfNormal<S> foot = taubin_sample<SdfOrder::normal, S>(sq, y);
  S distance = foot.distance;  // what is left of it, if y is not quite on the surface
  for (int i = 0; i < 3; ++i) distance = distance + (x_B[i] - y[i]) * foot.normal[i];
  const auto is_used = unfit < S(1);
  const S weight = select(is_used, S(1) - smoothstep5<S>((unfit - S(0.25)) / S(0.75)), S(0));
  SdfNormal<S> out;
  out.distance = select(is_used, taubin.distance + weight * (distance - taubin.distance), taubin.distance);
  S squared = S(0);
  for (int i = 0; i < 3; ++i) {
    const S blend = taubin.normal[i] + weight * (foot.normal[i] - taubin.normal[i]);
    out.normal[i] = select(is_used, blend, taubin.normal[i]);
    squared = squared + out.normal[i] * out.normal[i];
  }
  const S inverse = S(1) / sqrt(squared);
  for (int i = 0; i < 3; ++i) out.normal[i] = out.normal[i] * inverse;
  return out;
}

/// projected_value with its derivatives, those of just what it computes, carried through it by dual numbers.
template <SdfOrder order, typename S, typename T>
[[nodiscard]] SdfAnswer<order, S> projected_sample(const Superquadric<T>& sq, const Vec3<S>& x_B) {
  if constexpr (order == SdfOrder::distance) {
    return {projected_value(sq, x_B).distance};
  } else if constexpr (order == SdfOrder::normal) {
    return projected_value(sq, x_B);
  } else {
    const SdfAnswer<order, S> taubin = taubin_sample<order, S>(sq, x_B);
    const S depth = taubin.distance / (S(k_projected_depth) * S(sq.shortest_axis));
    if (all(depth * depth >= S(1))) return taubin;  // NOLINT(performance-no-automatic-move)
    using D = Dual<S, 3>;
    const auto at =
        projected_value<D>(sq, {D::variable(x_B[0], 0), D::variable(x_B[1], 1), D::variable(x_B[2], 2)});
    const auto is_deep = depth * depth >= S(1);  // of a pack: as if the lane were alone
    SdfAnswer<order, S> out;
    out.distance = at.distance.value;
    for (int i = 0; i < 3; ++i) {
      const auto row = static_cast<std::size_t>(i);
      out.normal[i] = at.normal[i].value;
      out.gradient[i] = select(is_deep, taubin.gradient[i], at.distance.d[row]);
      if constexpr (order >= SdfOrder::jacobian) {
        for (int j = 0; j < 3; ++j) {
          out.normal_jacobian(i, j) =
              select(is_deep, taubin.normal_jacobian(i, j), at.normal[i].d[static_cast<std::size_t>(j)]);
        }
      }
    }
    return out;
  }
}

/// lower <= d <= upper without exp and log, for all three modes (lower is -1e30 within the box of the axes).
///
/// m = max|t_i| <= F <= c |t|, c = norm_bound, and F/|x| <= G = |grad F| <= c/(shortest axis) = 1/s.
///   radial   d = |x|(1 - 1/F) lies between the same of m and of c |t|
///   others   at most that outside, and at most (c |t| - 1) s where that is inside for sure;
///            at least (m - 1)/G, where G <= |t/axes|/m for eps <= 1, and always 1/s
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL DistanceBounds<S> distance_bounds(const Superquadric<T>& sq, DistanceMode mode,
                                                            const Vec3<S>& x_B) {
  using std::abs, std::sqrt;
  const Vec3<S> x = relative(x_B, sq.centre), t = transform<S>(sq.to_scaled, x);
  const S x0 = abs(t[0]), x1 = abs(t[1]), x2 = abs(t[2]);
  const S larger = select(x0 > x1, x0, x1), m = select(larger > x2, larger, x2);
  const S r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
  const S most = S(sq.norm_bound) * sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]) + S(1e-15);
  const S steepest = S(sq.shortest_axis) / S(sq.norm_bound), beyond = m - S(1);
  S lower, upper = r - r / most;
  if (mode == DistanceMode::radial) {
    lower = r - r / select(beyond > S(0), m, S(1));
  } else {
    upper = select(most < S(1), (most - S(1)) * steepest, upper);
    if (sq.has_ridges) {
      lower = beyond * steepest;
    } else {
      S slope = S(1e-30);
      for (int i = 0; i < 3; ++i)
        slope = slope + (t[i] * S(sq.inverse_axes[i])) * (t[i] * S(sq.inverse_axes[i]));
      lower = beyond * m * reciprocal_sqrt(slope);
    }
  }
  return {select(beyond > S(0), lower, S(-1e30)), upper};
}

/// Distance, normal and their derivatives in the mode asked for.
template <SdfOrder order, typename S, typename T>
[[nodiscard]] SdfAnswer<order, S> superquadric_sample(const Superquadric<T>& sq, DistanceMode mode,
                                                      const Vec3<S>& x_B) {
  switch (mode) {
    case DistanceMode::radial:
      return radial_sample<order, S>(sq, x_B);
    case DistanceMode::projected:
      return projected_sample<order, S>(sq, x_B);
    case DistanceMode::taubin:
      break;
  }
  return taubin_sample<order, S>(sq, x_B);
}

}  // namespace abut
