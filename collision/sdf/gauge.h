/// Superquadrics by their gauge: a convex solid {F <= 1} whose F is a norm about its centre.
///
/// With scaled coordinates t = R_PB (x - p)/(a, b, c), exponents p1 = 2/eps1, p2 = 2/eps2 and
///   F(t) = || (|| (t_x, t_y) ||_p2, t_z) ||_p1,
/// F is 1 on the surface, below 1 inside, and F(s t) = s F(t). The textbook inside-outside function is F^p1,
/// which overflows in float32 where F does not. Here F is computed from the squares of t, so that no sign and
/// no absolute value is ever taken: F dF/dt_i = k_i t_i with bounded factors k_i, on the axis planes too.
///
/// Where max(eps1, eps2) > 1, F has a kink in its gradient's slope at the axis planes (|t|^p, p < 2); there,
/// and only there, each t_i^2 is replaced by t_i^2 + delta^2 |t|^2, which rounds the ridges to a radius of
/// about delta times the axis and leaves F a norm. From exponents of 1.1 on delta = tau/(shortest axis),
/// within [0.01, 0.05], tau [m] being the smoothing of the union; towards 1 it falls to 0, with a derivative.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "collision/sdf/sdf_sample.h"
#include "engine/pose.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

/// The part of delta^2 that an exponent asks for, 0 up to 1 and 1 from 1.1 on, and its slope.
template <typename T>
struct RidgeShare {
  T value, slope;

  explicit RidgeShare(const T& eps) : value(0.0), slope(0.0) {
    constexpr double k_width = 0.1;
    const T s = (eps - T(1)) / T(k_width);
    if (value_of(s) >= 1.0) {
      value = T(1);
    } else if (value_of(s) > 0.0) {
      value = s * s * (T(3) - T(2) * s);
      slope = T(6) * s * (T(1) - s) / T(k_width);
    }
  }
};

/// A superquadric made ready for evaluation. T: float, double, or a Dual for derivatives by its parameters.
template <typename T>
struct Superquadric {
  Mat3<T> to_scaled;           ///< diag(1/a, 1/b, 1/c) R_PB [1/m]
  Vec3<T> centre;              ///< p_BP [m]
  Vec3<T> axes, inverse_axes;  ///< a, b, c [m], and 1/a, 1/b, 1/c
  T eps1, eps2;
  T power1, power2;                                ///< 1/eps - 1
  T delta_squared;                                 ///< of the rounding of ridges; 0 where not needed
  T delta_squared_by_eps1, delta_squared_by_eps2;  ///< its derivatives
  T shortest_axis;                                 ///< [m]
  T norm_bound;                                    ///< F <= norm_bound |t|
  bool has_ridges;                                 ///< max(eps1, eps2) > 1
  bool rounded;                                    ///< delta > 0
  bool delta_follows_axis;                         ///< rounded, and delta = tau/(shortest axis)
  int shortest;                                    ///< index of the shortest axis

  /// @param parameters  a, b, c [m] > 0, eps1, eps2 in [0.02, 1.9]
  /// @param tau         smoothing of the union [m], >= 0
  Superquadric(const std::array<T, 5>& parameters, const Pose<double>& X_BP, double tau)
      : axes(parameters[0], parameters[1], parameters[2]),
        eps1(parameters[3]),
        eps2(parameters[4]),
        power1(T(1) / eps1 - T(1)),
        power2(T(1) / eps2 - T(1)),
        delta_squared(0.0),
        delta_squared_by_eps1(0.0),
        delta_squared_by_eps2(0.0),
        has_ridges(value_of(eps1) > 1.0 || value_of(eps2) > 1.0),
        rounded(false),
        delta_follows_axis(false),
        shortest(0) {
    for (int i : {1, 2}) {
      if (value_of(axes[i]) < value_of(axes[shortest])) shortest = i;
    }
    shortest_axis = axes[shortest];
    if (has_ridges) round_ridges(tau);
    const auto excess = [](double eps) { return eps > 1.0 ? 0.5 * (eps - 1.0) : 0.0; };
    norm_bound = T(std::exp2(excess(value_of(eps1)) + excess(value_of(eps2))) *
                   std::sqrt(1.0 + 3.0 * value_of(delta_squared)));
    const Mat3<double> R_BP = X_BP.rotation();
    for (int i = 0; i < 3; ++i) {
      centre[i] = T(X_BP.p[i]);
      inverse_axes[i] = T(1) / axes[i];
      for (int j = 0; j < 3; ++j) to_scaled(i, j) = T(R_BP(j, i)) / axes[i];
    }
  }

 private:
  void round_ridges(double tau) {
    // Below that the square of delta^2 underflows.
    constexpr double k_least = std::is_same_v<scalar_value_t<T>, float> ? 1e-12 : 1e-20;
    T delta = T(tau) / shortest_axis;
    const bool follows_axis = value_of(delta) > 0.01 && value_of(delta) < 0.05;
    if (!follows_axis) delta = T(value_of(delta) > 0.02 ? 0.05 : 0.01);
    const RidgeShare<T> share1(eps1), share2(eps2);
    const T most = delta * delta,
            squared = most * (share1.value + share2.value - share1.value * share2.value);
    if (!(value_of(squared) > k_least)) return;
    rounded = true;
    delta_follows_axis = follows_axis;
    delta_squared = squared;
    delta_squared_by_eps1 = most * (T(1) - share2.value) * share1.slope;
    delta_squared_by_eps2 = most * (T(1) - share1.value) * share2.slope;
  }
};

/// (u^(1/eps) + v^(1/eps))^eps of u, v >= 0, and the factors that its derivatives are made of.
template <typename S>
struct PowerSum {
  S value;
  S u_factor, v_factor;  ///< (u/value)^(1/eps - 1), = d value / du, dv
};

/// With q = 1 + (smaller/larger)^(1/eps), value = larger q^eps: two exp, two log, no overflow. `power` is
/// 1/eps - 1. 0^0 = 1, and 0 of both is 0. Exponents so little above 1 that no ridge is rounded have a factor
/// at 0 as near it, not an infinite one.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART PowerSum<S> power_sum(const S& u, const S& v, const S& eps, const S& power) {
  using std::exp, std::log;
  const S tiny = S(std::numeric_limits<scalar_value_t<S>>::min());
  const auto u_is_larger = u > v;
  const S larger = select(u_is_larger, u, v), smaller = select(u_is_larger, v, u);
  const S ratio = smaller / select(larger > tiny, larger, tiny);
  const S least = select(power < S(0), S(1e-24), tiny);
  const S ratio_power = exp(power * log(select(ratio > least, ratio, least)));
  const S q = S(1) + ratio * ratio_power;
  const S larger_factor = exp((eps - S(1)) * log(q));  // (larger/value)^(1/eps - 1)
  const S smaller_factor = ratio_power * larger_factor;
  return {larger * q * larger_factor, select(u_is_larger, larger_factor, smaller_factor),
          select(u_is_larger, smaller_factor, larger_factor)};
}

/// The nested norm of three squares, and the factors that its derivatives are made of.
template <typename S>
struct NestedNorm {
  S F_squared;
  Vec3<S> k;                 ///< dF^2/d(squares)
  PowerSum<S> inner, outer;  ///< of x and y, and of that and z
};

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART NestedNorm<S> nested_norm(const S (&squares)[3], const S& eps1, const S& eps2,
                                                         const S& power1, const S& power2) {
  NestedNorm<S> n;
  n.inner = power_sum<S>(squares[0], squares[1], eps2, power2);
  n.outer = power_sum<S>(n.inner.value, squares[2], eps1, power1);
  n.F_squared = n.outer.value;
  n.k = {n.outer.u_factor * n.inner.u_factor, n.outer.u_factor * n.inner.v_factor, n.outer.v_factor};
  return n;
}

/// The same for packs, which have no time: all in logarithms to base 2, so that the chain of functions that
/// wait for each other is as short as it can be, without special cases. With shares
///   u = x^(1/eps2)/(x^(1/eps2) + y^(1/eps2)),  w = 1 - u,
///   U = s^(1/eps1)/(s^(1/eps1) + z^(1/eps1)),  W = 1 - U,
/// s being the inner norm, k = F^2 (U u/x, U w/y, W/z). Squares below the smallest normal number count as it.
template <typename S>
requires requires(const S& x) { exp2_normal(x); }
[[nodiscard]] ABUT_KERNEL_PART NestedNorm<S> nested_norm(const S (&squares)[3], const S& eps1, const S& eps2,
                                                         const S& power1, const S& power2) {
  const S smallest = S(1e-30);
  const S x = max(squares[0], smallest), y = max(squares[1], smallest), z = max(squares[2], smallest);
  const S inverse_x = reciprocal(x), inverse_y = reciprocal(y), inverse_z = reciprocal(z);
  const S zero = S(0), one = S(1);

  const S a = (power2 + one) * log2_normal(x * inverse_y);
  const auto x_is_larger = a > zero;
  const S larger = max(x, y), inverse_larger = min(inverse_x, inverse_y);
  const S e = exp2_normal(-abs(a)), larger_share = reciprocal(one + e), smaller_share = e * larger_share;
  const S inner_log = eps2 * log2_1p_unit(e);

  const S b = (power1 + one) * (log2_normal(z * inverse_larger) - inner_log);
  const auto z_is_larger = b > zero;
  const S f = exp2_normal(-abs(b)), larger_Share = reciprocal(one + f), smaller_Share = f * larger_Share;
  const S outer_log = eps1 * log2_1p_unit(f);

  NestedNorm<S> n;
  n.F_squared =
      select(z_is_larger, z, larger) * exp2_normal(select(z_is_larger, outer_log, outer_log + inner_log));
  const S u = select(x_is_larger, larger_share, smaller_share),
          w = select(x_is_larger, smaller_share, larger_share);
  const S U = select(z_is_larger, smaller_Share, larger_Share),
          W = select(z_is_larger, larger_Share, smaller_Share);
  const S F_squared_U = n.F_squared * U;
  n.k = {F_squared_U * u * inverse_x, F_squared_U * w * inverse_y, n.F_squared * W * inverse_z};
  n.inner.value = larger * exp2_normal(inner_log);
  n.inner.u_factor = u * n.inner.value * inverse_x;
  n.inner.v_factor = w * n.inner.value * inverse_y;
  n.outer.value = n.F_squared;
  n.outer.u_factor = F_squared_U / n.inner.value;
  n.outer.v_factor = n.k[2];
  return n;
}

/// Everything about F at a point that value, gradient and Hessian share.
template <typename S>
struct GaugePoint {
  S F;
  S F_squared;
  Vec3<S> F_gradient;        ///< F grad F in B [1/m]
  S t[3];                    ///< scaled coordinates, never all 0
  S squares[3];              ///< t_i^2 + delta^2 |t|^2
  PowerSum<S> inner, outer;  ///< of squares: of x and y, and of that and z (F^2)
  decltype(std::declval<S>() < std::declval<S>()) is_centre;  ///< F has no gradient there; one is made up
};

/// F, and with it F grad F = M^T (k' t): k = (outer.u inner.u, outer.u inner.v, outer.v) with the factors of
/// the sums, k'_i = k_i + delta^2 (k_x + k_y + k_z), M = to_scaled.
///
/// Nearer to the centre than 1e-15 axes, where F has no gradient, x is taken to be on the shortest axis.
template <typename S, typename Constants>
[[nodiscard]] ABUT_KERNEL_PART GaugePoint<S> gauge_point(const Constants& sq, const Vec3<S>& x_B) {
  using std::sqrt;
  GaugePoint<S> g;
  const Vec3<S> t = transform<S>(sq.to_scaled, relative(x_B, sq.centre));
  g.is_centre = t[0] * t[0] + t[1] * t[1] + t[2] * t[2] < S(1e-30);
  for (int i = 0; i < 3; ++i) {
    g.t[i] = select(g.is_centre, S(i == sq.shortest ? 1e-15 : 0.0), t[i]);
    g.squares[i] = g.t[i] * g.t[i];
  }
  if (sq.rounded) {
    const S ridge = S(sq.delta_squared) * (g.squares[0] + g.squares[1] + g.squares[2]);
    for (int i = 0; i < 3; ++i) g.squares[i] = g.squares[i] + ridge;
  }
  const NestedNorm<S> norm = nested_norm<S>(g.squares, S(sq.eps1), S(sq.eps2), S(sq.power1), S(sq.power2));
  g.inner = norm.inner;
  g.outer = norm.outer;
  g.F_squared = norm.F_squared;
  g.F = sqrt(g.F_squared);
  Vec3<S> k = norm.k;
  if (sq.rounded) {
    const S ridge = S(sq.delta_squared) * (k[0] + k[1] + k[2]);
    for (int i = 0; i < 3; ++i) k[i] = k[i] + ridge;
  }
  for (int i = 0; i < 3; ++i) k[i] = k[i] * g.t[i];
  g.F_gradient = transform_transposed<S>(sq.to_scaled, k);
  return g;
}

/// A symmetric matrix.
template <typename S>
struct Symmetric {
  S xx, xy, xz, yy, yz, zz;

  [[nodiscard]] ABUT_KERNEL_PART Vec3<S> times(const Vec3<S>& v) const {
    return {xx * v[0] + xy * v[1] + xz * v[2], xy * v[0] + yy * v[1] + yz * v[2],
            xz * v[0] + yz * v[1] + zz * v[2]};
  }
};

/// F times the Hessian of F in scaled coordinates, K; M^T K M is F H in B. It is the same all along a ray.
///
/// A p-norm F of two numbers (u, v) has a Hessian of rank one,
///   F H = (p - 1) (u/F)^(p-2) (v/F)^(p-2) w w^T,   w = (v, -u)/F.
/// Here w goes through the gradient of the inner norm, and the inner norm adds its own. There is no
/// difference, so nothing cancels; K is positive semidefinite and has t in its null space by construction.
///
/// With rounded ridges, y_i = sqrt(t^T S_i t) with S_i = e_i e_i^T + delta^2 I stands for |t_i|. Then K is
/// J^T K(y) J, J = dy/dt, plus E, the sum of (dF/dy_i)/y_i (S_i - J_i J_i^T), its difference taken by hand.
template <typename S, typename Constants>
[[nodiscard]] ABUT_KERNEL_PART Symmetric<S> gauge_curvature(const Constants& sq, const GaugePoint<S>& g) {
  const S Qx = g.inner.u_factor, Qy = g.inner.v_factor;
  const S outer =
      select(g.is_centre, S(0), (S(2) * S(sq.power1) + S(1)) * g.outer.u_factor * g.outer.v_factor);
  const S inner = select(g.is_centre, S(0), (S(2) * S(sq.power2) + S(1)) * g.outer.u_factor * Qx * Qy);
  const S inverse_F = S(1) / g.F;  // all below is at t/F, of size 1
  const S x = g.t[0] * inverse_F, y = g.t[1] * inverse_F, z = g.t[2] * inverse_F;
  if (!sq.rounded) {
    // On the z axis (x, y)/s has no limit. Derivatives along x and along y have: those of a bowl s^2/2 in z.
    const S floor = S(1e-30);  // of nested_norm() of packs
    const auto on_z_axis = !(g.squares[0] > floor) && !(g.squares[1] > floor);
    const S xx = x * x, yy = y * y, ss = g.inner.value * inverse_F * inverse_F;
    const S inverse_ss = S(1) / select(on_z_axis, S(1), ss);
    const S cos_xx = xx * inverse_ss, cos_xy = x * y * inverse_ss, cos_yy = yy * inverse_ss;
    const S tilt = outer * z * z;
    return {select(on_z_axis, tilt, tilt * Qx * Qx * cos_xx + inner * cos_yy),
            select(on_z_axis, S(0), (tilt * Qx * Qy - inner) * cos_xy),
            select(on_z_axis, S(0), -outer * Qx * x * z),
            select(on_z_axis, tilt, tilt * Qy * Qy * cos_yy + inner * cos_xx),
            select(on_z_axis, S(0), -outer * Qy * y * z),
            select(on_z_axis, S(0), outer * ss)};
  }
  const S inverse_square = inverse_F * inverse_F;
  const S d2 = S(sq.delta_squared);
  const S xx = g.squares[0] * inverse_square, yy = g.squares[1] * inverse_square,
          zz = g.squares[2] * inverse_square;
  const S ss = g.inner.value * inverse_square;
  const S outer_scale = outer / (zz * ss), inner_scale = inner / (xx * yy * ss);
  const S o0 = zz * Qx, o1 = zz * Qy, o2 = -ss, o_sum = d2 * (o0 + o1 + o2), i_sum = d2 * (yy - xx);
  const S ox = x * (o0 + o_sum), oy = y * (o1 + o_sum), oz = z * (o2 + o_sum);
  const S ix = x * (yy + i_sum), iy = y * (i_sum - xx), iz = z * i_sum;
  // E = delta^2 (|t|^2 diag(b) + k I - (bt) t^T - t (bt)^T - delta^2 (b_x + b_y + b_z) t t^T), bt_i = b_i t_i
  const S bx = g.outer.u_factor * Qx / xx, by = g.outer.u_factor * Qy / yy, bz = g.outer.v_factor / zz;
  const S ridge = select(g.is_centre, S(0), d2), tt = x * x + y * y + z * z, common = d2 * (bx + by + bz);
  const S k = bx * x * x + by * y * y + bz * z * z + tt * common;
  const auto off_diagonal = [&](const S& ti, const S& tj, const S& bi, const S& bj) {
    return S(-ridge * ti * tj * (bi + bj + common));
  };
  const auto diagonal = [&](const S& ti, const S& bi) {
    return S(ridge * (tt * bi + k - ti * ti * (S(2) * bi + common)));
  };
  return {outer_scale * ox * ox + inner_scale * ix * ix + diagonal(x, bx),
          outer_scale * ox * oy + inner_scale * ix * iy + off_diagonal(x, y, bx, by),
          outer_scale * ox * oz + inner_scale * ix * iz + off_diagonal(x, z, bx, bz),
          outer_scale * oy * oy + inner_scale * iy * iy + diagonal(y, by),
          outer_scale * oy * oz + inner_scale * iy * iz + off_diagonal(y, z, by, bz),
          outer_scale * oz * oz + inner_scale * iz * iz + diagonal(z, bz)};
}

/// F H in B from K in scaled coordinates, M^T K M [1/m^2].
template <typename S, typename Constants>
[[nodiscard]] ABUT_KERNEL_PART Mat3<S> curvature_matrix(const Constants& sq, const Symmetric<S>& K) {
  const auto& M = sq.to_scaled;
  Mat3<S> FH;
  for (int j = 0; j < 3; ++j) {
    const Vec3<S> K_Mj = K.times({S(M(0, j)), S(M(1, j)), S(M(2, j))});
    for (int i = 0; i <= j; ++i) {
      FH(i, j) = S(M(0, i)) * K_Mj[0] + S(M(1, i)) * K_Mj[1] + S(M(2, i)) * K_Mj[2];
      FH(j, i) = FH(i, j);
    }
  }
  return FH;
}

/// F and its derivatives by x, at which they have a limit; in B.
template <typename S>
struct GaugeDerivatives {
  S value;
  Vec3<S> gradient;
  Mat3<S> hessian;
};

template <typename S, typename T>
[[nodiscard]] GaugeDerivatives<S> gauge_derivatives(const Superquadric<T>& sq, const Vec3<S>& x_B) {
  const GaugePoint<S> g = gauge_point(sq, x_B);
  const S inverse = S(1) / g.F;
  return {g.F, g.F_gradient * inverse, curvature_matrix(sq, gauge_curvature(sq, g)) * inverse};
}

/// d log F / d(a, b, c, eps1, eps2) by t and delta alone, from k = (dF^2/d squares), 1/F^2.
template <typename S, typename T>
[[nodiscard]] std::array<S, 5> scaling_log_derivatives(const Superquadric<T>& sq, const S (&t)[3],
                                                       const S (&k)[3], const S& inverse) {
  const S k_sum = k[0] + k[1] + k[2];
  std::array<S, 5> by;
  S tt = S(0);
  for (int i = 0; i < 3; ++i) {
    const S square = t[i] * t[i] * inverse;
    tt = tt + square;
    by[static_cast<std::size_t>(i)] = -(k[i] + S(sq.delta_squared) * k_sum) * square / S(sq.axes[i]);
  }
  const S by_delta_squared = S(0.5) * k_sum * tt;
  const auto shortest = static_cast<std::size_t>(sq.shortest);  // d delta^2 / d axis = -2 delta^2/axis
  if (sq.delta_follows_axis)
    by[shortest] = by[shortest] - by_delta_squared * S(T(2) * sq.delta_squared / sq.shortest_axis);
  by[3] = by_delta_squared * S(sq.delta_squared_by_eps1);
  by[4] = by_delta_squared * S(sq.delta_squared_by_eps2);
  return by;
}

/// d log F / d(a, b, c, eps1, eps2), at most (1/a, 1/b, 1/c, log(2)/2, log(2)/2) where no ridge is rounded.
///   by an axis      -k'_i t_i^2/(F^2 axis_i), and through delta where that follows the shortest axis
///   by eps1, eps2   h(U, W)/2 and U h(u, w)/2,  h(p, q) = -(p log p + q log q), with the shares of the sums,
///                   and through delta,
///                   U + W = 1 = u + w:  U = (s/F)^p1, W = (z/F)^p1, u = (x/s)^p2, w = (y/s)^p2
template <typename S, typename T>
[[nodiscard]] std::array<S, 5> gauge_log_parameter_derivatives(const Superquadric<T>& sq,
                                                               const GaugePoint<S>& g) {
  using std::log;
  const S tiny = S(std::numeric_limits<scalar_value_t<S>>::min());
  const auto entropy_term = [&](const S& p) { return S(-p * log(select(p > tiny, p, tiny))); };
  const S inverse = S(1) / g.F_squared;
  const S inverse_inner = S(1) / select(g.inner.value > tiny, g.inner.value, S(1));
  const S U = g.outer.u_factor * g.inner.value * inverse, W = g.outer.v_factor * g.squares[2] * inverse;
  const S u = g.inner.u_factor * g.squares[0] * inverse_inner,
          w = g.inner.v_factor * g.squares[1] * inverse_inner;
  const S k[3] = {g.outer.u_factor * g.inner.u_factor, g.outer.u_factor * g.inner.v_factor, g.outer.v_factor};
  std::array<S, 5> by = scaling_log_derivatives(sq, g.t, k, inverse);
  by[3] = by[3] + S(0.5) * (entropy_term(U) + entropy_term(W));
  by[4] = by[4] + S(0.5) * U * (entropy_term(u) + entropy_term(w));
  return by;
}

template <typename S, typename T>
[[nodiscard]] std::array<S, 5> gauge_log_parameter_derivatives(const Superquadric<T>& sq,
                                                               const Vec3<S>& x_B) {
  return gauge_log_parameter_derivatives(sq, gauge_point(sq, x_B));
}

}  // namespace abut
