/// The smooth minimiser of a quadratic function of two variables over the unit square.
///
///   minimise  1/2 a^T Q a + c^T a  over a in [0, 1]^2,   Q = (Q11 Q12; Q12 Q22) positive definite
///
/// Where the minimum a^u of the whole plane lies inside the square it is the answer, else the least of the
/// minima on the four sides is (a corner is the end of two sides). Each of these choices is made softly:
///   sides     a_k = (o, clip(r_k)),  r_k = -(Q12 o + c_j)/Q_jj,  o in {0, 1}, for either variable fixed
///   choice    a^c = sum_k p_k a_k,   p = softmax(-C/(eps_min L^2)),  C_k the cost of a_k
///   interior  gamma = prod_i sigma(a^u_i/eps) sigma((1 - a^u_i)/eps)
///   answer    a = gamma a^u + (1 - gamma) a^c
/// with clip(x) = eps log((1 + e^(x/eps))/(1 + e^((x-1)/eps))). L^2 is a number in the unit of the costs.
/// Clip and interior are functions of F = e^(y/eps) with y = min(x, 1 - x) <= 1/2, so that one exponential
/// serves a factor with all its derivatives, and nothing overflows.
///
/// @see  Beker et al., "Smoothly differentiable and efficiently vectorizable contact manifold generation",
///       IV-D2 and supplement III-B. Mended: a^u is -Q^-1 c, the side a_1 = 1 has r = -(Q12 + c2)/Q22, the
///       cost of the side a_2 = 0 is of its own point, and the choice has a scale.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

#include "collision/sdf/sdf_sample.h"
#include "engine/contact_config.h"
#include "engine/scalar.h"

namespace abut {

/// The problem. Q11, Q22, Q12, c1, c2 and L^2 have one unit, such as m^2; L^2 > 0 and Q11 Q22 > Q12^2.
template <typename S>
struct BoxQuadratic {
  S Q11, Q12, Q22, c1, c2;
  S scale;  ///< L^2
};

/// Widths of the choices, made ready for a scalar whose plain type is T.
template <typename T>
struct BoxSmoothing {
  T clip_exponent;      ///< log2(e)/eps of the parameter at the ends of a side
  T clip_logarithm;     ///< eps/log2(e) of it
  T clip_end;           ///< exp(-1/eps) of it
  T inverse_minimum;    ///< 1/eps of the choice among the sides
  T inverse_interior;   ///< 1/eps of the interior
  T interior_end;       ///< exp(-1/eps) of it
  T minimum_exponent;   ///< log2(e)/eps
  T interior_exponent;  ///< log2(e)/eps

  /// Widths are > 0. Below 1/700 (double), 1/40 (float) a clip or an interior would leave the range of the
  /// numbers; these are the least there are.
  explicit BoxSmoothing(const ContactConfig& config) {
    constexpr double least = std::is_same_v<T, float> ? 1.0 / 40.0 : 1.0 / 700.0;
    const double clip = std::max(config.clip_smoothing, least);
    const double interior = std::max(config.interior_smoothing, least);
    clip_exponent = static_cast<T>(std::numbers::log2e / clip);
    clip_logarithm = static_cast<T>(std::numbers::ln2 * clip);
    clip_end = static_cast<T>(std::exp(-1.0 / clip));
    inverse_minimum = static_cast<T>(1.0 / config.minimum_smoothing);
    inverse_interior = static_cast<T>(1.0 / interior);
    interior_end = static_cast<T>(std::exp(-1.0 / interior));
    minimum_exponent = static_cast<T>(std::numbers::log2e / config.minimum_smoothing);
    interior_exponent = static_cast<T>(std::numbers::log2e / interior);
  }
};

/// The answer, and what its derivatives are made of.
///
/// Sides are numbered 0: a_1 = 1, 1: a_1 = 0, 2: a_2 = 1, 3: a_2 = 0.
template <typename S>
struct BoxMinimum {
  S alpha[2];     ///< a
  S gamma;        ///< how much the free minimum lies inside, in (0, 1)
  S free[2];      ///< a^u
  S on_sides[2];  ///< a^c
  S Q11, Q12, Q22, c1, c2;
  S inverse_Q11, inverse_Q22, inverse_determinant;
  S inverse_scale;                 ///< 1/L^2
  S clipped[4];                    ///< clip(r_k), the coordinate along side k
  S ratio[4];                      ///< r_k
  S ends[4];                       ///< F of r_k
  S inverse_far_end[4];            ///< 1/(1 + F e^(-1/eps)) of r_k
  S cost[4];                       ///< C_k
  S share[4];                      ///< p_k
  S interior_ends[2];              ///< F of a^u_i
  S inverse_interior_sigmoids[2];  ///< 1/((1 + F)(1 + F e^(-1/eps))) of a^u_i
};

namespace box_quadratic_detail {

// What a Pack does faster where its argument is known to be no special case.

/// 2^x, where any result below the smallest normal number will do as 0.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S power_of_two(const S& x) {
  if constexpr (requires { exp2_normal(x); }) {
    return exp2_normal(x);
  } else {
    using std::exp;
    return exp(x * S(std::numbers::ln2));
  }
}

/// log2(x) for x in [1, 1e300] (double), [1, 1e30] (float).
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S log2_above_1(const S& x) {
  if constexpr (requires { log2_normal(x); }) {
    return log2_normal(x);
  } else {
    using std::log;
    return log(x) * S(std::numbers::log2e);
  }
}

/// min(x, 1 - x).
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART S to_nearer_end(const S& x) {
  return select(x < S(0.5), x, S(S(1) - x));
}

/// Everything before the choices: free minimum and the unclipped minima along the sides.
template <typename S>
[[nodiscard]] ABUT_KERNEL_PART BoxMinimum<S> free_minimum(const BoxQuadratic<S>& problem) {
  BoxMinimum<S> m;
  m.Q11 = problem.Q11;
  m.Q12 = problem.Q12;
  m.Q22 = problem.Q22;
  m.c1 = problem.c1;
  m.c2 = problem.c2;
  m.inverse_scale = reciprocal(problem.scale);
  const S diagonal = m.Q11 * m.Q22, inverse_diagonal = reciprocal(diagonal);
  m.inverse_determinant = reciprocal(S(diagonal - m.Q12 * m.Q12));
  m.inverse_Q11 = inverse_diagonal * m.Q22;
  m.inverse_Q22 = inverse_diagonal * m.Q11;
  m.free[0] = (m.Q12 * m.c2 - m.Q22 * m.c1) * m.inverse_determinant;
  m.free[1] = (m.Q12 * m.c1 - m.Q11 * m.c2) * m.inverse_determinant;
  m.ratio[0] = -(m.Q12 + m.c2) * m.inverse_Q22;
  m.ratio[1] = -m.c2 * m.inverse_Q22;
  m.ratio[2] = -(m.Q12 + m.c1) * m.inverse_Q11;
  m.ratio[3] = -m.c1 * m.inverse_Q11;
  return m;
}

/// C_k of points on the sides, given by their clipped coordinates.
template <typename S>
ABUT_KERNEL_PART void side_costs(BoxMinimum<S>& m) {
  const S* s = m.clipped;
  const S half_Q11 = S(0.5) * m.Q11, half_Q22 = S(0.5) * m.Q22;
  m.cost[0] = half_Q11 + m.c1 + s[0] * (m.Q12 + m.c2 + half_Q22 * s[0]);
  m.cost[1] = s[1] * (m.c2 + half_Q22 * s[1]);
  m.cost[2] = half_Q22 + m.c2 + s[2] * (m.Q12 + m.c1 + half_Q11 * s[2]);
  m.cost[3] = s[3] * (m.c1 + half_Q11 * s[3]);
}

/// dC_k by its own coordinate.
template <typename S>
ABUT_KERNEL_PART void side_slopes(const BoxMinimum<S>& m, S (&slope)[4]) {
  slope[0] = m.Q12 + m.c2 + m.Q22 * m.clipped[0];
  slope[1] = m.c2 + m.Q22 * m.clipped[1];
  slope[2] = m.Q12 + m.c1 + m.Q11 * m.clipped[2];
  slope[3] = m.c1 + m.Q11 * m.clipped[3];
}

/// d clip / dr_k = (1 - e^(-1/eps)) F/((1 + F)(1 + F e^(-1/eps))).
template <typename S, typename T>
ABUT_KERNEL_PART void clip_slopes(const BoxMinimum<S>& m, const BoxSmoothing<T>& smoothing, S (&slope)[4]) {
  for (int k = 0; k < 4; ++k) {
    slope[k] = S(T(1) - smoothing.clip_end) * m.ends[k] * m.inverse_far_end[k] * reciprocal(S(S(1) + m.ends[k]));
  }
}

/// d log gamma / d a^u_i = (sigma((1 - a)/eps) - sigma(a/eps))/eps.
template <typename S, typename T>
ABUT_KERNEL_PART void interior_slopes(const BoxMinimum<S>& m, const BoxSmoothing<T>& smoothing,
                                      S (&slope)[2]) {
  for (int i = 0; i < 2; ++i) {
    const S F = m.interior_ends[i];
    const S towards_middle = S(smoothing.inverse_interior) * (S(1) - S(smoothing.interior_end) * F * F) *
                             m.inverse_interior_sigmoids[i];
    slope[i] = select(m.free[i] < S(0.5), towards_middle, S(-towards_middle));
  }
}

}  // namespace box_quadratic_detail

/// The smooth minimiser: 10 exp, 4 log, 4 divisions.
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART BoxMinimum<S> box_minimum(const BoxQuadratic<S>& problem,
                                                         const BoxSmoothing<T>& smoothing) {
  using namespace box_quadratic_detail;
  BoxMinimum<S> m = free_minimum(problem);

  // All exponentials that wait for nothing come first, so that the processor has them to do while it divides.
  S far_end[4], sigmoids[2];
  for (int k = 0; k < 4; ++k) {
    m.ends[k] = power_of_two(S(S(smoothing.clip_exponent) * to_nearer_end(m.ratio[k])));
    far_end[k] = S(1) + S(smoothing.clip_end) * m.ends[k];  // in [1, 2]
  }
  for (int i = 0; i < 2; ++i) {
    m.interior_ends[i] = power_of_two(S(S(smoothing.interior_exponent) * to_nearer_end(m.free[i])));
    sigmoids[i] = (S(1) + m.interior_ends[i]) * (S(1) + S(smoothing.interior_end) * m.interior_ends[i]);
  }

  const S product_01 = far_end[0] * far_end[1], product_23 = far_end[2] * far_end[3];
  const S inverse_all = reciprocal(S(product_01 * product_23));
  const S inverse_01 = inverse_all * product_23, inverse_23 = inverse_all * product_01;
  m.inverse_far_end[0] = inverse_01 * far_end[1];
  m.inverse_far_end[1] = inverse_01 * far_end[0];
  m.inverse_far_end[2] = inverse_23 * far_end[3];
  m.inverse_far_end[3] = inverse_23 * far_end[2];
  for (int k = 0; k < 4; ++k) {
    const S from_end =
        S(smoothing.clip_logarithm) * log2_above_1(S((S(1) + m.ends[k]) * m.inverse_far_end[k]));
    m.clipped[k] = select(m.ratio[k] < S(0.5), from_end, S(S(1) - from_end));
  }

  side_costs(m);
  const S* cost = m.cost;
  const S least_01 = select(cost[0] < cost[1], cost[0], cost[1]);
  const S least_23 = select(cost[2] < cost[3], cost[2], cost[3]);
  const S least = select(least_01 < least_23, least_01, least_23);
  const S inverse_width = S(smoothing.minimum_exponent) * m.inverse_scale;
  S weight[4];
  for (int k = 0; k < 4; ++k) weight[k] = power_of_two(S((least - cost[k]) * inverse_width));
  const S sum = (weight[0] + weight[1]) + (weight[2] + weight[3]);

  const S sigmoid_product = sigmoids[0] * sigmoids[1];
  const S inverse_both = reciprocal(S(sum * sigmoid_product));
  const S inverse_sum = inverse_both * sigmoid_product, inverse_product = inverse_both * sum;
  m.inverse_interior_sigmoids[0] = inverse_product * sigmoids[1];
  m.inverse_interior_sigmoids[1] = inverse_product * sigmoids[0];
  m.gamma = m.interior_ends[0] * m.interior_ends[1] * inverse_product;
  const S* s = m.clipped;
  m.on_sides[0] = (weight[0] + weight[2] * s[2] + weight[3] * s[3]) * inverse_sum;
  m.on_sides[1] = (weight[2] + weight[0] * s[0] + weight[1] * s[1]) * inverse_sum;
  for (int k = 0; k < 4; ++k) m.share[k] = weight[k] * inverse_sum;
  for (int i = 0; i < 2; ++i) m.alpha[i] = m.on_sides[i] + m.gamma * (m.free[i] - m.on_sides[i]);
  return m;
}

/// Derivatives by (Q12, c1, c2), in that order [1/unit of Q]: all that a rigid motion changes.
template <typename S>
struct BoxMinimumDerivative {
  S alpha[2][3];
  S gamma[3];
};

template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART BoxMinimumDerivative<S> box_minimum_dx(const BoxMinimum<S>& m,
                                                                      const BoxSmoothing<T>& smoothing) {
  using namespace box_quadratic_detail;
  S clip_slope[4], cost_slope[4], interior_slope[2];
  clip_slopes(m, smoothing, clip_slope);
  side_slopes(m, cost_slope);
  interior_slopes(m, smoothing, interior_slope);
  const S* p = m.share;
  const S* s = m.clipped;

  // Q a^u = -c: da^u = -Q^-1 (dQ a^u + dc).
  const S r11 = -m.Q22 * m.inverse_determinant, r12 = m.Q12 * m.inverse_determinant,
          r22 = -m.Q11 * m.inverse_determinant;
  const S free_dx[2][3] = {{r11 * m.free[1] + r12 * m.free[0], r11, r12},
                           {r12 * m.free[1] + r22 * m.free[0], r12, r22}};

  // Coordinates of the sides: ds_k is this along dQ12 (odd k: not) and along c_2 (k < 2) or c_1.
  const S ds[4] = {-clip_slope[0] * m.inverse_Q22, -clip_slope[1] * m.inverse_Q22,
                   -clip_slope[2] * m.inverse_Q11, -clip_slope[3] * m.inverse_Q11};
  const S moved[4] = {cost_slope[0] * ds[0], cost_slope[1] * ds[1], cost_slope[2] * ds[2],
                      cost_slope[3] * ds[3]};
  const S cost_dx[4][3] = {{s[0] + moved[0], S(1), s[0] + moved[0]},
                           {S(0), S(0), s[1] + moved[1]},
                           {s[2] + moved[2], s[2] + moved[2], S(1)},
                           {S(0), s[3] + moved[3], S(0)}};
  const S sides_dx[2][3] = {{p[2] * ds[2], p[2] * ds[2] + p[3] * ds[3], S(0)},
                            {p[0] * ds[0], S(0), p[0] * ds[0] + p[1] * ds[1]}};
  // dp_k = -(p_k/eps)(dC_k - sum_j p_j dC_j): weights of dC_k in da^c_i.
  const S coordinate[2][4] = {{S(1), S(0), s[2], s[3]}, {s[0], s[1], S(1), S(0)}};
  BoxMinimumDerivative<S> r;
  const S inverse_width = S(smoothing.inverse_minimum) * m.inverse_scale;
  S weight[2][4];
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 4; ++k) weight[i][k] = inverse_width * p[k] * (m.on_sides[i] - coordinate[i][k]);
  }
  for (int x = 0; x < 3; ++x) {
    r.gamma[x] = m.gamma * (interior_slope[0] * free_dx[0][x] + interior_slope[1] * free_dx[1][x]);
    for (int i = 0; i < 2; ++i) {
      S on_sides = sides_dx[i][x];
      for (int k = 0; k < 4; ++k) on_sides = on_sides + weight[i][k] * cost_dx[k][x];
      r.alpha[i][x] =
          on_sides + m.gamma * (free_dx[i][x] - on_sides) + r.gamma[x] * (m.free[i] - m.on_sides[i]);
    }
  }
  return r;
}

/// VJP: dL/d of the problem from dL/d(alpha, gamma). Q12_bar is by the single number Q12.
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART BoxQuadratic<S> box_minimum_vjp(const BoxMinimum<S>& m,
                                                               const BoxSmoothing<T>& smoothing,
                                                               const S (&alpha_bar)[2], const S& gamma_bar) {
  using namespace box_quadratic_detail;
  S clip_slope[4], cost_slope[4], interior_slope[2];
  clip_slopes(m, smoothing, clip_slope);
  side_slopes(m, cost_slope);
  interior_slopes(m, smoothing, interior_slope);
  const S* p = m.share;
  const S* s = m.clipped;

  S gamma_total = gamma_bar;
  for (int i = 0; i < 2; ++i) gamma_total = gamma_total + alpha_bar[i] * (m.free[i] - m.on_sides[i]);
  S free_bar[2], sides_bar[2];
  for (int i = 0; i < 2; ++i) {
    free_bar[i] = m.gamma * (alpha_bar[i] + gamma_total * interior_slope[i]);
    sides_bar[i] = alpha_bar[i] - m.gamma * alpha_bar[i];
  }

  const S share_bar[4] = {sides_bar[0] + s[0] * sides_bar[1], s[1] * sides_bar[1],
                          s[2] * sides_bar[0] + sides_bar[1], s[3] * sides_bar[0]};
  const S mean_bar = m.on_sides[0] * sides_bar[0] + m.on_sides[1] * sides_bar[1];
  const S inverse_width = S(smoothing.inverse_minimum) * m.inverse_scale;
  S cost_bar[4], ratio_bar[4];
  for (int k = 0; k < 4; ++k) {
    cost_bar[k] = inverse_width * p[k] * (mean_bar - share_bar[k]);
    const S s_bar = p[k] * sides_bar[k < 2 ? 1 : 0] + cost_bar[k] * cost_slope[k];
    ratio_bar[k] = s_bar * clip_slope[k] * (k < 2 ? m.inverse_Q22 : m.inverse_Q11);
  }

  // Q a^u = -c, adjoint w = Q^-1 free_bar.
  const S w1 = (m.Q22 * free_bar[0] - m.Q12 * free_bar[1]) * m.inverse_determinant;
  const S w2 = (m.Q11 * free_bar[1] - m.Q12 * free_bar[0]) * m.inverse_determinant;

  BoxQuadratic<S> bar;
  bar.Q11 = S(0.5) * (cost_bar[0] + cost_bar[2] * s[2] * s[2] + cost_bar[3] * s[3] * s[3]) -
            ratio_bar[2] * m.ratio[2] - ratio_bar[3] * m.ratio[3] - w1 * m.free[0];
  bar.Q22 = S(0.5) * (cost_bar[2] + cost_bar[0] * s[0] * s[0] + cost_bar[1] * s[1] * s[1]) -
            ratio_bar[0] * m.ratio[0] - ratio_bar[1] * m.ratio[1] - w2 * m.free[1];
  bar.Q12 =
      cost_bar[0] * s[0] + cost_bar[2] * s[2] - ratio_bar[0] - ratio_bar[2] - w1 * m.free[1] - w2 * m.free[0];
  bar.c1 = cost_bar[0] + cost_bar[2] * s[2] + cost_bar[3] * s[3] - ratio_bar[2] - ratio_bar[3] - w1;
  bar.c2 = cost_bar[2] + cost_bar[0] * s[0] + cost_bar[1] * s[1] - ratio_bar[0] - ratio_bar[1] - w2;
  bar.scale = -(cost_bar[0] * m.cost[0] + cost_bar[1] * m.cost[1] + cost_bar[2] * m.cost[2] +
                cost_bar[3] * m.cost[3]) *
              m.inverse_scale;
  return bar;
}

/// The exact minimiser, with every choice hard; gamma is 1 inside the square and on its rim, else 0.
template <typename S>
struct HardBoxMinimum {
  S alpha[2];
  S gamma;
};

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART HardBoxMinimum<S> hard_box_minimum(const BoxQuadratic<S>& problem) {
  using namespace box_quadratic_detail;
  BoxMinimum<S> m = free_minimum(problem);
  for (int k = 0; k < 4; ++k) {
    const S from_below = select(m.ratio[k] < S(0), S(0), m.ratio[k]);
    m.clipped[k] = select(from_below > S(1), S(1), from_below);
  }
  side_costs(m);
  const S* cost = m.cost;
  const S point[4][2] = {
      {S(1), m.clipped[0]}, {S(0), m.clipped[1]}, {m.clipped[2], S(1)}, {m.clipped[3], S(0)}};
  S least = cost[0];
  HardBoxMinimum<S> r{{point[0][0], point[0][1]}, S(0)};
  for (int k = 1; k < 4; ++k) {
    const auto is_less = cost[k] < least;
    least = select(is_less, cost[k], least);
    for (int i = 0; i < 2; ++i) r.alpha[i] = select(is_less, point[k][i], r.alpha[i]);
  }
  const auto inside = m.free[0] >= S(0) && m.free[0] <= S(1) && m.free[1] >= S(0) && m.free[1] <= S(1);
  for (int i = 0; i < 2; ++i) r.alpha[i] = select(inside, m.free[i], r.alpha[i]);
  r.gamma = select(inside, S(1), S(0));
  return r;
}

}  // namespace abut
