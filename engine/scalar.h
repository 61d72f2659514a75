/// What a kernel may ask of a number: a choice without a branch, its plain value, its precision.
///
/// A kernel is written once, on a scalar S, and runs as double, float, Pack<T, W>, Dual<S, N> and any
/// forward-mode number with a member `a` for its value (such as ceres::Jet). It calls maths unqualified
/// (`using std::exp;` first) and has no `if` on a number: it uses select().
#pragma once

#include <cmath>
#include <type_traits>

namespace abut {

/// `condition ? a : b`, both evaluated. Overloaded for packs (lane by lane) in pack.h; the derivative of a
/// forward-mode number is that of the chosen side.
template <typename S>
[[nodiscard]] constexpr S select(bool condition, const S& a, const S& b) {
  return condition ? a : b;
}

/// What is true of one number is true of any and of all of it: a kernel may ask numbers as it asks packs.
[[nodiscard]] constexpr bool any(bool condition) { return condition; }
[[nodiscard]] constexpr bool all(bool condition) { return condition; }

/// exp and log where a pack may do without the care for special cases: results of exp and arguments of log
/// are normal numbers, or as good as 0. The same as exp and log for single numbers.
template <typename S>
[[nodiscard]] S exp_normal(const S& x) {
  using std::exp;
  return exp(x);
}
template <typename S>
[[nodiscard]] S log_normal(const S& x) {
  using std::log;
  return log(x);
}

/// 1/x and 1/sqrt(x) where a pack may be a little faster than it divides: x is neither very small nor very
/// large. The same as dividing for single numbers.
template <typename S>
[[nodiscard]] S reciprocal(const S& x) {
  return S(1) / x;
}
template <typename S>
[[nodiscard]] S reciprocal_sqrt(const S& x) {
  using std::sqrt;
  return S(1) / sqrt(x);
}

/// The value of a number without its derivatives: itself if arithmetic, else that of its member `a`.
/// A type of another make gets an overload in its own namespace, found by argument-dependent lookup.
template <typename S>
requires std::is_arithmetic_v<S>
[[nodiscard]] constexpr double value_of(S x) { return static_cast<double>(x); }

template <typename S>
requires requires(const S& x) { x.a; }
[[nodiscard]] constexpr double value_of(const S& x) { return value_of(x.a); }

/// The floating-point type that a number is made of. To be specialised where the member is not called `a`.
template <typename S>
struct ScalarValue {
  using type = typename ScalarValue<std::remove_cvref_t<decltype(S::a)>>::type;
};
template <>
struct ScalarValue<float> {
  using type = float;
};
template <>
struct ScalarValue<double> {
  using type = double;
};
template <>
struct ScalarValue<long double> {
  using type = long double;
};

template <typename S>
using scalar_value_t = typename ScalarValue<S>::type;

}  // namespace abut
