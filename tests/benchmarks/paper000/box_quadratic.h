/// The smooth minimiser of a quadratic function of two variables over the unit square, as published.
///
///   minimise  1/2 a^T Q a + c^T a  over a in [0, 1]^2,   Q = (Q11 Q12; Q12 Q22) positive definite
///
/// Where the minimum a^u of the whole plane lies inside the square it is the answer, else the least of the
/// minima on the four sides (a corner is the end of two sides). Each of these choices is made softly:
///   sides     a_k = (o, clip(r_k)),  r_k = -(Q12 o + c_j)/Q_jj,  o in {0, 1}, for either variable fixed
///   choice    a^c = sum_k p_k a_k,   p = softmax(-C/eps_min),  C_k the cost of a_k
///   interior  gamma = prod_i sigma(a^u_i/eps) sigma((1 - a^u_i)/eps)
///   answer    a = gamma a^u + (1 - gamma) a^c
/// with clip(x) = eps log((1 + e^(x/eps))/(1 + e^((x-1)/eps))).
/// Clip and interior are functions of F = e^(y/eps) with y = min(x, 1 - x) <= 1/2, so that one exponential
/// serves a factor, and nothing overflows.
///
/// @see  Beker et al., "Smoothly differentiable and efficiently vectorizable contact manifold generation",
///       IV-D2 and supplement III-B. Mended: a^u is -Q^-1 c, the side a_1 = 1 has r = -(Q12 + c2)/Q22, and
///       the cost of the side a_2 = 0 is of its own point.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

#include "collision/sdf/sdf_sample.h"
#include "engine/scalar.h"
#include "quadratic_program.h"

namespace abut::paper000 {

/// How soft the choices are.
struct BoxWidths {
  double clip;      ///< eps of the coordinate along a side at its ends [-], > 0
  double minimum;   ///< eps_min of the choice among the sides [unit of the costs, such as m^2], > 0
  double interior;  ///< eps of whether the free minimum lies inside [-], > 0
};

/// BoxWidths, made ready for a scalar whose plain type is T.
template <typename T>
struct BoxSmoothing {
  T clip_exponent;      ///< log2(e)/eps of the clip
  T clip_logarithm;     ///< eps/log2(e) of it
  T clip_end;           ///< exp(-1/eps) of it
  T minimum_exponent;   ///< log2(e)/eps_min
  T interior_exponent;  ///< log2(e)/eps of the interior
  T interior_end;       ///< exp(-1/eps) of it

  /// Below 1/700 (double), 1/40 (float) a clip or an interior would leave the range of the numbers; these are
  /// the least there are.
  explicit BoxSmoothing(const BoxWidths& widths) {
    constexpr double least = std::is_same_v<T, float> ? 1.0 / 40.0 : 1.0 / 700.0;
    const double clip = std::max(widths.clip, least);
    const double interior = std::max(widths.interior, least);
    clip_exponent = static_cast<T>(std::numbers::log2e / clip);
    clip_logarithm = static_cast<T>(std::numbers::ln2 * clip);
    clip_end = static_cast<T>(std::exp(-1.0 / clip));
    minimum_exponent = static_cast<T>(std::numbers::log2e / widths.minimum);
    interior_exponent = static_cast<T>(std::numbers::log2e / interior);
    interior_end = static_cast<T>(std::exp(-1.0 / interior));
  }
};

template <typename S>
struct BoxMinimum {
  S alpha[2];  ///< a
  S gamma;     ///< how much the free minimum lies inside, in (0, 1)
  S free[2];   ///< a^u
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

/// a^u, and the r_k of the sides 0: a_1 = 1, 1: a_1 = 0, 2: a_2 = 1, 3: a_2 = 0.
template <typename S>
struct UnclippedMinima {
  S free[2];
  S ratio[4];
};

template <typename S>
[[nodiscard]] ABUT_KERNEL_PART UnclippedMinima<S> unclipped_minima(const QuadraticProgram<S>& p) {
  UnclippedMinima<S> m;
  const S diagonal = p.Q11 * p.Q22, inverse_diagonal = reciprocal(diagonal);
  const S inverse_determinant = reciprocal(S(diagonal - p.Q12 * p.Q12));
  const S inverse_Q11 = inverse_diagonal * p.Q22, inverse_Q22 = inverse_diagonal * p.Q11;
  m.free[0] = (p.Q12 * p.c2 - p.Q22 * p.c1) * inverse_determinant;
  m.free[1] = (p.Q12 * p.c1 - p.Q11 * p.c2) * inverse_determinant;
  m.ratio[0] = -(p.Q12 + p.c2) * inverse_Q22;
  m.ratio[1] = -p.c2 * inverse_Q22;
  m.ratio[2] = -(p.Q12 + p.c1) * inverse_Q11;
  m.ratio[3] = -p.c1 * inverse_Q11;
  return m;
}

}  // namespace box_quadratic_detail

/// The smooth minimiser: 10 exp, 4 log, 4 divisions.
template <typename S, typename T>
[[nodiscard]] ABUT_KERNEL_PART BoxMinimum<S> box_minimum(const QuadraticProgram<S>& p,
                                                         const BoxSmoothing<T>& smoothing) {
  using namespace box_quadratic_detail;
  const UnclippedMinima<S> of_plane = unclipped_minima(p);
  const S *free = of_plane.free, *ratio = of_plane.ratio;

  // All exponentials that wait for nothing come first, so that the processor has them to do while it divides.
  S ends[4], far_end[4], interior_ends[2], sigmoids[2];
  for (int k = 0; k < 4; ++k) {
    ends[k] = power_of_two(S(S(smoothing.clip_exponent) * to_nearer_end(ratio[k])));
    far_end[k] = S(1) + S(smoothing.clip_end) * ends[k];  // in [1, 2]
  }
  for (int i = 0; i < 2; ++i) {
    interior_ends[i] = power_of_two(S(S(smoothing.interior_exponent) * to_nearer_end(free[i])));
    sigmoids[i] = (S(1) + interior_ends[i]) * (S(1) + S(smoothing.interior_end) * interior_ends[i]);
  }

  const S product_01 = far_end[0] * far_end[1], product_23 = far_end[2] * far_end[3];
  const S inverse_all = reciprocal(S(product_01 * product_23));
  const S inverse_01 = inverse_all * product_23, inverse_23 = inverse_all * product_01;
  const S inverse_far_end[4] = {inverse_01 * far_end[1], inverse_01 * far_end[0], inverse_23 * far_end[3],
                                inverse_23 * far_end[2]};
  S s[4];  // clip(r_k), the coordinate along side k
  for (int k = 0; k < 4; ++k) {
    const S from_end = S(smoothing.clip_logarithm) * log2_above_1(S((S(1) + ends[k]) * inverse_far_end[k]));
    s[k] = select(ratio[k] < S(0.5), from_end, S(S(1) - from_end));
  }

  const S half_Q11 = S(0.5) * p.Q11, half_Q22 = S(0.5) * p.Q22;
  const S cost[4] = {
      half_Q11 + p.c1 + s[0] * (p.Q12 + p.c2 + half_Q22 * s[0]), s[1] * (p.c2 + half_Q22 * s[1]),
      half_Q22 + p.c2 + s[2] * (p.Q12 + p.c1 + half_Q11 * s[2]), s[3] * (p.c1 + half_Q11 * s[3])};
  const S least_01 = select(cost[0] < cost[1], cost[0], cost[1]);
  const S least_23 = select(cost[2] < cost[3], cost[2], cost[3]);
  const S least = select(least_01 < least_23, least_01, least_23);
  S weight[4];
  for (int k = 0; k < 4; ++k) weight[k] = power_of_two(S((least - cost[k]) * S(smoothing.minimum_exponent)));
  const S sum = (weight[0] + weight[1]) + (weight[2] + weight[3]);

  const S sigmoid_product = sigmoids[0] * sigmoids[1];
  const S inverse_both = reciprocal(S(sum * sigmoid_product));
  const S inverse_sum = inverse_both * sigmoid_product, inverse_product = inverse_both * sum;
  BoxMinimum<S> m;
  m.gamma = interior_ends[0] * interior_ends[1] * inverse_product;
  const S on_sides[2] = {(weight[0] + weight[2] * s[2] + weight[3] * s[3]) * inverse_sum,
                         (weight[2] + weight[0] * s[0] + weight[1] * s[1]) * inverse_sum};
  for (int i = 0; i < 2; ++i) {
    m.free[i] = free[i];
    m.alpha[i] = on_sides[i] + m.gamma * (free[i] - on_sides[i]);
  }
  return m;
}

}  // namespace abut::paper000
