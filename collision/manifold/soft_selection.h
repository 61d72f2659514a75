/// Soft choice of the K smallest of n numbers.
///
/// Weights w_i = S((c - m_i)/band), S = smoothstep5, of metrics m_i <= m_max, where the threshold c solves
///   sum_i w_i + K P(c) = K,   P(c) = S((c - m_max + band)/band).
/// P is a phantom that keeps c <= m_max when few metrics are small: an item at m_max has weight exactly 0. A
/// weight is exactly 0 or 1 outside of a band, so that items drop out for good, and it is twice continuously
/// differentiable in all metrics. If K >= n there is nothing to choose: all weights are 1 and constant.
/// The result does not depend on the order of the items but for rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "engine/smooth.h"

namespace abut {

/// A threshold, ready for weights and derivatives. T: float or double.
template <typename T>
struct SoftSelection {
  T threshold = T(0);  ///< c, unit of the metrics
  T slope_sum = T(0);  ///< sum_i S'_i + K P'; 0 where the weights do not change
  T inverse_band = T(0);
  bool all = false;  ///< K >= n

  [[nodiscard]] T weight(T metric) const {
    return all ? T(1) : smoothstep5(T((threshold - metric) * inverse_band));
  }
  /// S' by its argument.
  [[nodiscard]] T slope(T metric) const {
    return all ? T(0) : smoothstep5_dx(T((threshold - metric) * inverse_band));
  }
};

/// Solves for the threshold by Newton's method within a shrinking bracket; allocates nothing.
///
/// @param metrics  (n), each <= largest and finite
/// @param count    K >= 1
/// @param band     > 0
/// @param largest  m_max
template <typename T>
[[nodiscard]] SoftSelection<T> soft_selection(std::span<const T> metrics, int count, T band, T largest) {
  SoftSelection<T> r;
  r.inverse_band = T(1) / band;
  if (static_cast<std::size_t>(count) >= metrics.size()) {
    r.all = true;
    return r;
  }
  const T K = static_cast<T>(count);
  // f(c) = sum_i w_i + K P - K rises from <= 0 at the least metric to >= 0 at m_max.
  T lower = *std::min_element(metrics.begin(), metrics.end()), upper = largest;
  T f = T(0);
  const auto evaluate = [&](T c) {
    r.threshold = c;
    const T phantom = (c - largest + band) * r.inverse_band;
    f = K * smoothstep5(phantom) - K;
    r.slope_sum = K * smoothstep5_dx(phantom);
    for (const T m : metrics) {
      f += r.weight(m);
      r.slope_sum += r.slope(m);
    }
  };
  constexpr T k_epsilon = std::numeric_limits<T>::epsilon();
  T c = T(0.5) * (lower + upper), step = upper - lower;
  for (int iteration = 0; iteration < 100; ++iteration) {
    evaluate(c);
    if (std::abs(f) <= T(4) * k_epsilon * K) break;
    (f < T(0) ? lower : upper) = c;
    const T newton = c - f * band / r.slope_sum;  // infinite or NaN where no item is in its band
    const bool is_safe = newton > lower && newton < upper && std::abs(newton - c) < T(0.5) * step;
    const T next = is_safe ? newton : T(0.5) * (lower + upper);
    step = std::abs(next - c);
    if (next == c || !(upper - lower > k_epsilon * std::max(std::abs(lower), std::abs(upper)))) break;
    c = next;
  }
  return r;
}

/// JVP:  dw_i = S'_i (dc - dm_i)/band,  dc = sum_i S'_i dm_i/(sum_i S'_i + K P').
template <typename T>
void soft_selection_jvp(std::span<const T> metrics, const SoftSelection<T>& selection,
                        std::span<const T> metrics_dot, std::span<T> weights_dot) {
  T sum = T(0);
  for (std::size_t i = 0; i < metrics.size(); ++i) sum += selection.slope(metrics[i]) * metrics_dot[i];
  const T threshold_dot = selection.slope_sum > T(0) ? sum / selection.slope_sum : T(0);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    weights_dot[i] = selection.slope(metrics[i]) * (threshold_dot - metrics_dot[i]) * selection.inverse_band;
  }
}

/// VJP:  m_bar_i = S'_i (sum_j S'_j w_bar_j/(sum_j S'_j + K P') - w_bar_i)/band. Overwrites metrics_bar.
template <typename T>
void soft_selection_vjp(std::span<const T> metrics, const SoftSelection<T>& selection,
                        std::span<const T> weights_bar, std::span<T> metrics_bar) {
  T sum = T(0);
  for (std::size_t i = 0; i < metrics.size(); ++i) sum += selection.slope(metrics[i]) * weights_bar[i];
  const T mean = selection.slope_sum > T(0) ? sum / selection.slope_sum : T(0);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    metrics_bar[i] = selection.slope(metrics[i]) * (mean - weights_bar[i]) * selection.inverse_band;
  }
}

/// A metric that stops growing: x up to largest - width, `largest` from largest + width on, between them with
/// the slope 1 - smoothstep5. Never above min(x, largest); three times continuously differentiable.
///
/// @param width  > 0
template <typename S>
[[nodiscard]] S clamped_metric(const S& x, const same_t<S>& largest, const same_t<S>& width) {
  const S start = largest - width;
  const S u = (x - start) / (S(2) * width);
  const S inside = select(u < S(0), S(0), select(u > S(1), S(1), u));
  const S lost = inside * inside * inside * inside * (S(2.5) + inside * (inside - S(3)));  // integral of S
  return select(u > S(1), S(largest), select(u < S(0), x, S(start + S(2) * width * (inside - lost))));
}

/// d clamped_metric / dx in [0, 1].
template <typename S>
[[nodiscard]] S clamped_metric_dx(const S& x, const same_t<S>& largest, const same_t<S>& width) {
  return S(1) - smoothstep5(S((x - largest + width) / (S(2) * width)));
}

}  // namespace abut
