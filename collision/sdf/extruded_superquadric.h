/// Extruded superquadrics: a superellipse cut by lines, extruded along z with a superquadric's profile.
///
/// With the scaled coordinates t and the exponents p1 = 2/eps1, p2 = 2/eps2 of a superquadric,
///   s = ||(t_x, t_y)||_p2,   q_i = max(0, n_i.(x, y)/o_i),
///   P = ||(s, q_1, q_2, ...)||_p3,   F = ||(P, t_z)||_p1.
/// F is a gauge: convex, F(k x) = k F(x), but no norm, since cuts need no opposite. Without cuts it is that
/// of the superquadric, of which the solid is a part; where two of s, q_i are 1, the corner is rounded off by
/// the factor 2^(-1/p3). p3 > 2 makes q_i^p3 twice differentiable. Ridges for eps > 1 are rounded as those of
/// a superquadric, in s and t_z; distance and normal are Taubin's (superquadric.h).
///
/// @see  "extruded plane-superquadric intersection" is known to us by name only; this is our reading of it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "collision/sdf/gauge.h"
#include "collision/sdf/potential.h"
#include "collision/sdf/sdf_sample.h"
#include "collision/sdf/superquadric.h"
#include "engine/model.h"
#include "engine/pose.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

/// The superquadric is that without cuts.
template <typename T>
struct ExtrudedSuperquadric : Superquadric<T> {
  struct Cut {
    T x, y;                ///< q = max(0, x t_x + y t_y)
    T x_turned, y_turned;  ///< the derivatives of these by the angle
    T inverse_offset;      ///< [1/m]
  };
  std::vector<Cut> cuts;
  T profile_power;  ///< p3
  T profile_bound;  ///< P <= profile_bound |(x, y)| where the superellipse is not there [1/m]
  T corner_factor;  ///< 2^(1/p3)
  T steepest;       ///< |grad F| is at most 1/steepest [m]

  ExtrudedSuperquadric(const Primitive& primitive, const std::array<T, 5>& parameters, double tau)
      : Superquadric<T>(parameters, primitive.X_BP, tau), profile_power(T(primitive.values[0])) {
    const auto& v = primitive.values;
    double sum = 0.0;
    for (std::size_t i = 1; i + 1 < v.size(); i += 2) {
      const double a = primitive.parameters[0] / v[i + 1], b = primitive.parameters[1] / v[i + 1];
      cuts.push_back({T(a * std::cos(v[i])), T(b * std::sin(v[i])), T(-a * std::sin(v[i])),
                      T(b * std::cos(v[i])), T(1.0 / v[i + 1])});
      sum += std::pow(v[i + 1], -v[0]);
    }
    profile_bound = T(std::pow(sum, 1.0 / v[0]));
    corner_factor = T(std::exp2(1.0 / v[0]));
    steepest =
        T(1) / (corner_factor * this->norm_bound * std::max(profile_bound, T(1) / this->shortest_axis));
  }
};

/// Everything about F at a point that value, gradient and Hessian share.
template <typename S>
struct ExtrudedGaugePoint {
  S F;
  S F_squared;
  Vec3<S> F_gradient;        ///< F grad F in B [1/m]
  S t[3];                    ///< scaled coordinates, never all 0
  S squares[3];              ///< t_i^2 + delta^2 |t|^2
  PowerSum<S> inner, outer;  ///< of x and y (s^2), and of the profile and z (F^2)
  S largest;                 ///< of s^2 and the q_i^2
  S profile;                 ///< P^2
  S scale;                   ///< (P^2/largest)^(1 - p3/2)
  Vec3<S> profile_gradient;  ///< P grad P by t
  decltype(std::declval<S>() < std::declval<S>()) is_centre;  ///< F has no gradient there; one is made up
};

/// q_i.
template <typename S, typename Cut>
[[nodiscard]] ABUT_KERNEL_PART S cut_gauge(const Cut& cut, const S (&t)[3]) {
  const S q = S(cut.x) * t[0] + S(cut.y) * t[1];
  return select(q > S(0), q, S(0));
}

/// (square/largest)^(p3/2 - 1); 1 for the largest, whatever its size.
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART S profile_share(const ExtrudedSuperquadric<T>& solid, const S& square,
                                               const S& largest) {
  using std::exp, std::log;
  const S tiny = S(std::numeric_limits<scalar_value_t<S>>::min());
  const S ratio = select(square < largest, square / select(largest > tiny, largest, tiny), S(1));
  return exp(S(T(0.5) * solid.profile_power - T(1)) * log(select(ratio > tiny, ratio, tiny)));
}

/// k -> k + delta^2 (k_x + k_y + k_z): from derivatives by t_i^2 + delta^2 |t|^2 to those by t_i^2.
template <typename S, typename T>
ABUT_KERNEL_PART void add_ridge(const Superquadric<T>& sq, Vec3<S>& k) {
  const S ridge = S(sq.delta_squared) * (k[0] + k[1] + k[2]);
  for (int i = 0; i < 3; ++i) k[i] = k[i] + ridge;
}

/// F and F grad F. With W_j = dP^2/d(s^2 or q_j^2) = (q_j/P)^(p3 - 2),
///   P grad P = W_0 s grad s + sum W_j q_j grad q_j,   F grad F = outer.u P grad P + outer.v t_z grad t_z.
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART ExtrudedGaugePoint<S> gauge_point(const ExtrudedSuperquadric<T>& solid,
                                                                 const Vec3<S>& x_B) {
  using std::exp, std::log, std::sqrt;
  ExtrudedGaugePoint<S> g;
  const Vec3<S> t = transform<S>(solid.to_scaled, relative(x_B, solid.centre));
  g.is_centre = t[0] * t[0] + t[1] * t[1] + t[2] * t[2] < S(1e-30);
  for (int i = 0; i < 3; ++i) {
    g.t[i] = select(g.is_centre, S(i == solid.shortest ? 1e-15 : 0.0), t[i]);
    g.squares[i] = g.t[i] * g.t[i];
  }
  if (solid.rounded) {
    const S ridge = S(solid.delta_squared) * (g.squares[0] + g.squares[1] + g.squares[2]);
    for (int i = 0; i < 3; ++i) g.squares[i] = g.squares[i] + ridge;
  }
  g.inner = power_sum<S>(g.squares[0], g.squares[1], S(solid.eps2), S(solid.power2));

  g.largest = g.inner.value;
  for (const auto& cut : solid.cuts) {
    const S q = cut_gauge(cut, g.t), square = q * q;
    g.largest = select(square > g.largest, square, g.largest);
  }
  const S tiny = S(std::numeric_limits<scalar_value_t<S>>::min());
  const S inverse_largest = S(1) / select(g.largest > tiny, g.largest, tiny);
  const S share = profile_share(solid, g.inner.value, g.largest);
  S sum = select(g.inner.value < g.largest, share * g.inner.value * inverse_largest, share);
  Vec3<S> k(share * g.inner.u_factor, share * g.inner.v_factor, S(0));
  if (solid.rounded) add_ridge(solid, k);
  Vec3<S> v(k[0] * g.t[0], k[1] * g.t[1], k[2] * g.t[2]);
  for (const auto& cut : solid.cuts) {
    const S q = cut_gauge(cut, g.t), square = q * q, w = profile_share(solid, square, g.largest);
    sum = sum + select(g.largest > tiny, w * square * inverse_largest, S(0));
    v[0] = v[0] + w * q * S(cut.x);
    v[1] = v[1] + w * q * S(cut.y);
  }
  const S root = exp(S(T(2) / solid.profile_power) * log(sum));  // P^2/largest
  g.profile = g.largest * root;
  g.scale = root / sum;
  for (int i = 0; i < 3; ++i) g.profile_gradient[i] = v[i] * g.scale;

  g.outer = power_sum<S>(g.profile, g.squares[2], S(solid.eps1), S(solid.power1));
  g.F_squared = g.outer.value;
  g.F = sqrt(g.F_squared);
  Vec3<S> by_z(S(0), S(0), g.outer.v_factor);
  if (solid.rounded) add_ridge(solid, by_z);
  Vec3<S> gradient;
  for (int i = 0; i < 3; ++i) {
    gradient[i] = g.outer.u_factor * g.profile_gradient[i] + by_z[i] * g.t[i];
  }
  g.F_gradient = transform_transposed<S>(solid.to_scaled, gradient);
  return g;
}

/// K += factor w w^T.
template <typename S>
ABUT_KERNEL_PART void add_square(Symmetric<S>& K, const S& factor, const Vec3<S>& w) {
  const S x = factor * w[0], y = factor * w[1], z = factor * w[2];
  K.xx = K.xx + x * w[0];
  K.xy = K.xy + x * w[1];
  K.xz = K.xz + x * w[2];
  K.yy = K.yy + y * w[1];
  K.yz = K.yz + y * w[2];
  K.zz = K.zz + z * w[2];
}

/// F times the Hessian of F in scaled coordinates, all at t/F.
///
/// A p-norm N of numbers q_j >= 0 has  N H = (p - 1) sum W_j u_j u_j^T + sum W_j q_j H_j  with
/// u_j = grad q_j - (q_j/N) grad N, H_j the Hessian of q_j and W_j = (q_j/N)^(p-2). Of two numbers the first
/// sum is (p - 1) W_1 W_2 w w^T, w = (q_2 grad q_1 - q_1 grad q_2)/N. No difference is taken, K is positive
/// semidefinite. Rounded ridges: q_i = sqrt(t^T S_i t) with S_i = e_i e_i^T + delta^2 I stands for |t_i|, and
/// q_i H_i = S_i - grad q_i grad q_i^T; without, q_i is t_i with its sign, and H_i = 0.
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART Symmetric<S> gauge_curvature(const ExtrudedSuperquadric<T>& solid,
                                                            const ExtrudedGaugePoint<S>& g) {
  using std::sqrt;
  const S tiny = S(std::numeric_limits<scalar_value_t<S>>::min());
  const S inverse_F = S(1) / g.F, d2 = S(solid.delta_squared);
  const Vec3<S> t(g.t[0] * inverse_F, g.t[1] * inverse_F, g.t[2] * inverse_F);
  S q[3];
  Vec3<S> dq[3];
  for (int i = 0; i < 3; ++i) {
    q[i] = t[i];
    dq[i] = {S(i == 0 ? 1 : 0), S(i == 1 ? 1 : 0), S(i == 2 ? 1 : 0)};
    if (solid.rounded) {
      q[i] = sqrt(g.squares[i]) * inverse_F;
      const S inverse = S(1) / q[i];
      for (int a = 0; a < 3; ++a) dq[i][a] = (dq[i][a] + d2) * t[a] * inverse;
    }
  }
  const auto add_rounded = [&](Symmetric<S>& K, const S& factor, int i) {  // factor (S_i - dq_i dq_i^T)
    add_square(K, S(-factor), dq[i]);
    K.xx = K.xx + factor * (S(i == 0 ? 1 : 0) + d2);
    K.yy = K.yy + factor * (S(i == 1 ? 1 : 0) + d2);
    K.zz = K.zz + factor * (S(i == 2 ? 1 : 0) + d2);
  };

  // s, whose gradient on the z axis is taken to be that on the y axis.
  const S Qx = g.inner.u_factor, Qy = g.inner.v_factor;
  const auto on_axis = !(g.inner.value > tiny);
  const S s_safe = sqrt(select(on_axis, S(1), g.inner.value)) * inverse_F, inverse_s = S(1) / s_safe;
  const S s = select(on_axis, S(0), s_safe);
  Vec3<S> ds, w_inner;
  for (int a = 0; a < 3; ++a) {
    ds[a] = select(on_axis, dq[1][a], (Qx * q[0] * dq[0][a] + Qy * q[1] * dq[1][a]) * inverse_s);
    w_inner[a] = select(on_axis, dq[0][a], (q[1] * dq[0][a] - q[0] * dq[1][a]) * inverse_s);
  }
  // P
  const auto profile_is_0 = !(g.profile > tiny);
  const S P_safe = sqrt(select(profile_is_0, S(1), g.profile)) * inverse_F, inverse_P = S(1) / P_safe;
  const S P = select(profile_is_0, S(0), P_safe);
  Vec3<S> dP, w_outer;
  for (int a = 0; a < 3; ++a) {
    dP[a] = select(profile_is_0, ds[a], g.profile_gradient[a] * inverse_F * inverse_P);
    w_outer[a] = q[2] * dP[a] - P * dq[2][a];
  }

  const S zero = S(0);
  Symmetric<S> K{zero, zero, zero, zero, zero, zero};
  add_square(K, S((S(2) * S(solid.power1) + S(1)) * g.outer.u_factor * g.outer.v_factor), w_outer);
  const S by_s = g.outer.u_factor * profile_share(solid, g.inner.value, g.largest) * g.scale;
  add_square(K, S(by_s * (S(2) * S(solid.power2) + S(1)) * Qx * Qy), w_inner);
  const S by_profile = g.outer.u_factor * g.scale * S(solid.profile_power - T(1));
  const S r_s = select(profile_is_0, S(1), s * inverse_P);
  Vec3<S> u;
  for (int a = 0; a < 3; ++a) u[a] = ds[a] - r_s * dP[a];
  add_square(K, S(by_profile * profile_share(solid, g.inner.value, g.largest)), u);
  for (const auto& cut : solid.cuts) {
    const S q_cut = cut_gauge(cut, g.t), r = q_cut * inverse_F * inverse_P;
    const S share = select(q_cut > S(0), profile_share(solid, S(q_cut * q_cut), g.largest), S(0));
    u = {S(cut.x) - r * dP[0], S(cut.y) - r * dP[1], -r * dP[2]};
    add_square(K, S(by_profile * share), u);
  }
  if (solid.rounded) {
    add_rounded(K, S(by_s * Qx), 0);
    add_rounded(K, S(by_s * Qy), 1);
    add_rounded(K, g.outer.v_factor, 2);
  }
  const S keep = select(g.is_centre, S(0), S(1));
  return {K.xx * keep, K.xy * keep, K.xz * keep, K.yy * keep, K.yz * keep, K.zz * keep};
}

/// Calls use(i, dF/d(parameter i)): 0-4 are a, b, c, eps1, eps2; 5 is p3; then angle and offset of each cut.
/// With the shares U + W = 1 = u + w of the superquadric's sums (gauge_log_parameter_derivatives) and
/// those of the profile, S_j = (q_j/P)^p3, h being the entropy -sum p log p, d log F is, but for delta,
///   by eps1, eps2  h(U, W)/2,  U S_0 h(u, w)/2        by p3  -U h(S)/p3^2
///   by an offset   -U S_j/o_j                         by an angle  U W_j q_j (dq_j/d angle)/P^2
template <typename S, typename Use>
void for_each_parameter_derivative(const ExtrudedSuperquadric<double>& solid, const Vec3<S>& x_B,
                                   const Use& use) {
  using std::log;
  const ExtrudedGaugePoint<S> g = gauge_point(solid, x_B);
  const S tiny = S(std::numeric_limits<double>::min());
  const auto entropy_term = [&](const S& p) { return S(-p * log(select(p > tiny, p, tiny))); };
  const S inverse = S(1) / g.F_squared;
  const S inverse_inner = S(1) / select(g.inner.value > tiny, g.inner.value, S(1));
  const S inverse_profile = S(1) / select(g.profile > tiny, g.profile, S(1));
  const S U = g.outer.u_factor * g.profile * inverse, W = g.outer.v_factor * g.squares[2] * inverse;
  const S u = g.inner.u_factor * g.squares[0] * inverse_inner,
          w = g.inner.v_factor * g.squares[1] * inverse_inner;
  const S W_s = profile_share(solid, g.inner.value, g.largest) * g.scale;
  const S S_s = W_s * g.inner.value * inverse_profile;
  const S by_s = g.outer.u_factor * W_s;
  const S k[3] = {by_s * g.inner.u_factor, by_s * g.inner.v_factor, g.outer.v_factor};
  std::array<S, 5> by = scaling_log_derivatives(solid, g.t, k, inverse);
  by[3] = by[3] + S(0.5) * (entropy_term(U) + entropy_term(W));
  by[4] = by[4] + S(0.5) * U * S_s * (entropy_term(u) + entropy_term(w));
  for (std::size_t i = 0; i < 5; ++i) use(i, S(g.F * by[i]));
  S entropy = entropy_term(S_s);
  for (std::size_t j = 0; j < solid.cuts.size(); ++j) {
    const auto& cut = solid.cuts[j];
    const S q = cut_gauge(cut, g.t), square = q * q;
    const S W_q = select(q > S(0), profile_share(solid, square, g.largest), S(0)) * g.scale;
    const S share = W_q * square * inverse_profile;
    entropy = entropy + entropy_term(share);
    const S turned = S(cut.x_turned) * g.t[0] + S(cut.y_turned) * g.t[1];
    use(6 + 2 * j, S(g.F * U * W_q * q * turned * inverse_profile));
    use(7 + 2 * j, S(-g.F * U * share * S(cut.inverse_offset)));
  }
  use(std::size_t{5}, S(-g.F * U * entropy / S(solid.profile_power * solid.profile_power)));
}

/// As for a superquadric: m = max|t_i| <= F, |grad F| <= 1/steepest, and F <= c max(|t|, |(P_cuts, t_z)|)
/// with P_cuts the cuts' part of P.
template <typename S, typename T>
[[nodiscard]] DistanceBounds<S> distance_bounds(const ExtrudedSuperquadric<T>& solid, const Vec3<S>& x_B) {
  using std::abs, std::sqrt;
  const Vec3<S> x = relative(x_B, solid.centre), t = transform<S>(solid.to_scaled, x);
  const S x0 = abs(t[0]), x1 = abs(t[1]), x2 = abs(t[2]);
  const S larger = select(x0 > x1, x0, x1), m = select(larger > x2, larger, x2);
  const S r_squared = x[0] * x[0] + x[1] * x[1] + x[2] * x[2], r = sqrt(r_squared);
  const S z_P = t[2] * S(solid.axes[2]), rest = r_squared - z_P * z_P;
  const S by_cuts = S(solid.profile_bound * solid.profile_bound) * select(rest > S(0), rest, S(0));
  const S by_ellipse = t[0] * t[0] + t[1] * t[1];
  const S most = S(solid.corner_factor * solid.norm_bound) *
                     sqrt(select(by_cuts > by_ellipse, by_cuts, by_ellipse) + t[2] * t[2]) +
                 S(1e-15);
  const S beyond = m - S(1), steepest = S(solid.steepest);
  const S upper = select(most < S(1), (most - S(1)) * steepest, r - r / most);
  return {select(beyond > S(0), beyond * steepest, S(-1e30)), upper};
}

}  // namespace abut
