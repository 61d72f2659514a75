/// Smooth stand-ins for max, clip, sign, comparison, argmin and norm. Each derivative stands directly below
/// its function.
///
/// The smoothing (tau, eps, width) is in units of the argument and must be > 0; as it goes to 0 the kinked
/// original comes back. Nothing overflows for any finite argument, and both tails keep their relative
/// accuracy: every exponential is of a number <= 0. NaN in, NaN out. All run on any scalar. Where a formula
/// has two sides, both the value and the derivative of a forward-mode number are right at the seam as well:
/// |x| is the select of the same condition there, not abs(), whose derivative at +-0 is a matter of taste.
#pragma once

#include <cmath>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

#include <Eigen/Core>

#include "engine/scalar.h"

namespace abut {

/// Parameters that follow the scalar of the first one, so that a plain 0.1 will do beside a Pack.
template <typename S>
using same_t = std::type_identity_t<S>;

// Sigmoid and comparison ------------------------------------------------------------------------------------

/// 1/(1 + exp(-x)), dimensionless.
template <typename S>
[[nodiscard]] S sigmoid(const S& x) {
  using std::exp;
  const auto is_positive = x > S(0);
  const S e = exp(select(is_positive, -x, x));
  return select(is_positive, S(1), e) / (S(1) + e);
}

/// d sigmoid / dx = sigmoid(x) sigmoid(-x), without cancellation in the tails.
template <typename S>
[[nodiscard]] S sigmoid_dx(const S& x) {
  using std::exp;
  const S e = exp(select(x > S(0), -x, x));
  return e / ((S(1) + e) * (S(1) + e));
}

/// How true a > b is, sigmoid((a - b)/tau): 1/2 at a = b.
template <typename S>
[[nodiscard]] S smooth_greater(const S& a, const same_t<S>& b, const same_t<S>& tau) {
  return sigmoid<S>((a - b) / tau);
}

/// d smooth_greater / da = -d smooth_greater / db.
template <typename S>
[[nodiscard]] S smooth_greater_da(const S& a, const same_t<S>& b, const same_t<S>& tau) {
  return sigmoid_dx<S>((a - b) / tau) / tau;
}

/// Smooth sign, tanh(x/width) = 2 sigmoid(2x/width) - 1.
template <typename S>
[[nodiscard]] S tanh_sign(const S& x, const same_t<S>& width) {
  using std::tanh;
  return tanh(x / width);
}

/// d tanh_sign / dx = (1 - tanh^2(x/width))/width = 4 sigmoid_dx(2x/width)/width.
template <typename S>
[[nodiscard]] S tanh_sign_dx(const S& x, const same_t<S>& width) {
  return S(4) * sigmoid_dx<S>(S(2) * x / width) / width;
}

// Softplus and clip -----------------------------------------------------------------------------------------

/// Smooth max(x, 0),  tau log(1 + exp(x/tau)):  > 0, tau log 2 at 0.
template <typename S>
[[nodiscard]] S softplus(const S& x, const same_t<S>& tau) {
  using std::exp, std::log1p;
  const auto is_positive = x > S(0);
  return select(is_positive, x, S(0)) + tau * log1p(exp(select(is_positive, -x, x) / tau));
}

/// d softplus / dx = sigmoid(x/tau).
template <typename S>
[[nodiscard]] S softplus_dx(const S& x, const same_t<S>& tau) {
  return sigmoid<S>(x / tau);
}

/// d^2 softplus / dx^2 [1/unit of x].
template <typename S>
[[nodiscard]] S softplus_dxdx(const S& x, const same_t<S>& tau) {
  return sigmoid_dx<S>(x / tau) / tau;
}

/// Smooth clamp of x to [lo, hi],  lo + softplus(x - lo) - softplus(x - hi):  between lo and hi, and
/// increasing in x. Written as the hard clamp plus two corrections, which is the same and exact in the tails,
/// however far out.
template <typename S>
[[nodiscard]] S softclip(const S& x, const same_t<S>& lo, const same_t<S>& hi, const same_t<S>& tau) {
  using std::exp, std::log1p;
  const auto above_lo = x > lo, above_hi = x > hi;
  const S clamped = select(above_hi, hi, select(above_lo, x, lo));
  const S at_lo = log1p(exp(select(above_lo, lo - x, x - lo) / tau));
  const S at_hi = log1p(exp(select(above_hi, hi - x, x - hi) / tau));
  return clamped + tau * (at_lo - at_hi);
}

/// d softclip / dx = sigmoid((x - lo)/tau) - sigmoid((x - hi)/tau), as a product: in (0, 1) however far out.
/// d/dlo = sigmoid((lo - x)/tau) and d/dhi = sigmoid((x - hi)/tau) complete it to 1.
template <typename S>
[[nodiscard]] S softclip_dx(const S& x, const same_t<S>& lo, const same_t<S>& hi, const same_t<S>& tau) {
  using std::expm1;
  return sigmoid<S>((x - lo) / tau) * sigmoid<S>((hi - x) / tau) * -expm1((lo - hi) / tau);
}

// Max, min, logsumexp, argmin -------------------------------------------------------------------------------

/// Smooth max(a, b),  tau log(exp(a/tau) + exp(b/tau)):  between max and max + tau log 2, symmetric.
template <typename S>
[[nodiscard]] S smooth_max(const S& a, const same_t<S>& b, const same_t<S>& tau) {
  using std::exp, std::log1p;
  const auto is_a = a > b;
  return select(is_a, a, b) + tau * log1p(exp(select(is_a, b - a, a - b) / tau));
}

/// d smooth_max / da = sigmoid((a - b)/tau); d/db is the same with a and b exchanged.
template <typename S>
[[nodiscard]] S smooth_max_da(const S& a, const same_t<S>& b, const same_t<S>& tau) {
  return sigmoid<S>((a - b) / tau);
}

/// Smooth min(a, b),  -tau log(exp(-a/tau) + exp(-b/tau)):  between min - tau log 2 and min, symmetric.
template <typename S>
[[nodiscard]] S smooth_min(const S& a, const same_t<S>& b, const same_t<S>& tau) {
  using std::exp, std::log1p;
  const auto is_b = a > b;
  return select(is_b, b, a) - tau * log1p(exp(select(is_b, b - a, a - b) / tau));
}

/// d smooth_min / da = sigmoid((b - a)/tau); d/db is the same with a and b exchanged.
template <typename S>
[[nodiscard]] S smooth_min_da(const S& a, const same_t<S>& b, const same_t<S>& tau) {
  return sigmoid<S>((b - a) / tau);
}

/// What stands in a list: std::array, std::vector, std::span, an Eigen vector.
template <typename List>
using element_t = std::remove_cvref_t<decltype(std::declval<const List&>()[0])>;

/// Smooth maximum of a list of n >= 1 numbers,  tau log sum_i exp(x_i/tau):  between max and max + tau log n.
template <typename List, typename S = element_t<List>>
[[nodiscard]] S logsumexp(const List& x, const same_t<S>& tau) {
  using std::exp, std::log;
  const auto n = std::size(x);
  using Index = std::remove_const_t<decltype(n)>;
  S largest = x[0];
  for (Index i = 1; i < n; ++i) largest = select(x[i] > largest, S(x[i]), largest);
  S sum = S(0);
  for (Index i = 0; i < n; ++i) sum += exp((x[i] - largest) / tau);
  return largest + tau * log(sum);
}

/// d logsumexp / dx_i = exp(x_i/tau) / sum_j exp(x_j/tau), the softmax weights, into `weights` (of x's
/// length): they are >= 0 and add up to 1. `weights` may be x itself.
template <typename List, typename Weights, typename S = element_t<List>>
void logsumexp_dx(const List& x, const same_t<S>& tau, Weights& weights) {
  using std::exp;
  const auto n = std::size(x);
  using Index = std::remove_const_t<decltype(n)>;
  S largest = x[0];
  for (Index i = 1; i < n; ++i) largest = select(x[i] > largest, S(x[i]), largest);
  S sum = S(0);
  for (Index i = 0; i < n; ++i) sum += weights[i] = exp((x[i] - largest) / tau);
  const S scale = S(1) / sum;
  for (Index i = 0; i < n; ++i) weights[i] *= scale;
}

/// Smooth minimum of a list,  -tau log sum_i exp(-x_i/tau):  between min - tau log n and min. Its gradient
/// is softargmin.
template <typename List, typename S = element_t<List>>
[[nodiscard]] S softmin(const List& x, const same_t<S>& tau) {
  using std::exp, std::log;
  const auto n = std::size(x);
  using Index = std::remove_const_t<decltype(n)>;
  S least = x[0];
  for (Index i = 1; i < n; ++i) least = select(x[i] < least, S(x[i]), least);
  S sum = S(0);
  for (Index i = 0; i < n; ++i) sum += exp((least - x[i]) / tau);
  return least - tau * log(sum);
}

/// Smooth choice of the least,  w_i = exp(-x_i/tau) / sum_j exp(-x_j/tau), into `weights`; = d softmin /
/// dx_i.
template <typename List, typename Weights, typename S = element_t<List>>
void softargmin(const List& x, const same_t<S>& tau, Weights& weights) {
  const auto n = std::size(x);
  using Index = std::remove_const_t<decltype(n)>;
  for (Index i = 0; i < n; ++i) weights[i] = -x[i];
  logsumexp_dx<Weights, Weights, S>(weights, tau, weights);
}

/// VJP of softargmin:  x_bar_i = -(w_i/tau) (w_bar_i - sum_j w_j w_bar_j), from the weights it gave.
/// Overwrites x_bar.
template <typename Weights, typename Bar, typename XBar, typename S = element_t<Weights>>
void softargmin_vjp(const Weights& weights, const Bar& weights_bar, const same_t<S>& tau, XBar& x_bar) {
  const auto n = std::size(weights);
  using Index = std::remove_const_t<decltype(n)>;
  S mean = S(0);
  for (Index i = 0; i < n; ++i) mean += weights[i] * weights_bar[i];
  for (Index i = 0; i < n; ++i) x_bar[i] = -(weights[i] / tau) * (weights_bar[i] - mean);
}

// Smoothstep and norm ---------------------------------------------------------------------------------------

/// x^3 (10 - 15 x + 6 x^2) on [0, 1], 0 below and 1 above: twice continuously differentiable.
template <typename S>
[[nodiscard]] S smoothstep5(const S& x) {
  const S c = select(x < S(0), S(0), select(x > S(1), S(1), x));
  return c * c * c * (S(10) + c * (S(6) * c - S(15)));
}

/// d smoothstep5 / dx = 30 x^2 (1 - x)^2.
template <typename S>
[[nodiscard]] S smoothstep5_dx(const S& x) {
  const S c = select(x < S(0), S(0), select(x > S(1), S(1), x));
  return S(30) * c * c * (S(1) - c) * (S(1) - c);
}

/// d^2 smoothstep5 / dx^2 = 60 x (1 - x)(1 - 2x).
template <typename S>
[[nodiscard]] S smoothstep5_dxdx(const S& x) {
  const S c = select(x < S(0), S(0), select(x > S(1), S(1), x));
  return S(60) * c * (S(1) - c) * (S(1) - S(2) * c);
}

/// Smooth max(x, 0), the integral of smoothstep5: exactly 0 up to -width, exactly x from width on, three
/// times continuously differentiable; 5/32 width at 0, with a slope of 1/2 there. With c = (x + width)/
/// (2 width), held in [0, 1].
template <typename S>
struct SmoothRamp {
  S value;     ///< 2 width c^4 (5/2 - 3 c + c^2)
  S slope;     ///< d value/dx = smoothstep5(c)
  S by_width;  ///< d value/dwidth = 10 c^3 (1 - c)^3 >= 0

  /// @param inverse_width  1/width
  SmoothRamp(const S& x, const same_t<S>& width, const same_t<S>& inverse_width) {
    const S u = (x + width) * (S(0.5) * inverse_width);
    const S c = select(u < S(0), S(0), select(u > S(1), S(1), u)), product = c * (S(1) - c);
    const S within = S(2) * width * (c * c * c * c * (S(2.5) + c * (c - S(3))));
    value = select(x >= width, x, within);
    slope = smoothstep5<S>(c);
    by_width = S(10) * product * product * product;
  }
};

template <typename S>
[[nodiscard]] S smooth_ramp(const S& x, const same_t<S>& width) {
  return SmoothRamp<S>(x, width, S(1) / width).value;
}

/// d smooth_ramp / dx in [0, 1].
template <typename S>
[[nodiscard]] S smooth_ramp_dx(const S& x, const same_t<S>& width) {
  return SmoothRamp<S>(x, width, S(1) / width).slope;
}

/// Smooth |x|,  sqrt(x^2 + eps^2) >= eps > 0.
template <typename S>
[[nodiscard]] S soft_norm(const S& x, const same_t<S>& eps) {
  using std::sqrt;
  const auto is_positive = x > S(0);
  const S magnitude = select(is_positive, x, -x);
  const auto is_large = magnitude > eps;
  const S larger = select(is_large, magnitude, eps), ratio = select(is_large, eps, magnitude) / larger;
  return larger * sqrt(S(1) + ratio * ratio);
}

/// d soft_norm / dx = x/soft_norm, in (-1, 1).
template <typename S>
[[nodiscard]] S soft_norm_dx(const S& x, const same_t<S>& eps) {
  return x / soft_norm(x, eps);
}

/// Smooth length of a vector,  sqrt(x.x + eps^2) >= eps > 0.
template <typename S, int n>
[[nodiscard]] S soft_norm(const Eigen::Matrix<S, n, 1>& x, const same_t<S>& eps) {
  using std::abs, std::sqrt;
  S largest = eps;
  for (Eigen::Index i = 0; i < x.size(); ++i) largest = select(abs(x[i]) > largest, S(abs(x[i])), largest);
  S sum = (eps / largest) * (eps / largest);
  for (Eigen::Index i = 0; i < x.size(); ++i) sum += (x[i] / largest) * (x[i] / largest);
  return largest * sqrt(sum);
}

/// d soft_norm / dx = x/soft_norm, shorter than 1.
template <typename S, int n>
[[nodiscard]] Eigen::Matrix<S, n, 1> soft_norm_dx(const Eigen::Matrix<S, n, 1>& x, const same_t<S>& eps) {
  return x / soft_norm(x, eps);
}

}  // namespace abut
