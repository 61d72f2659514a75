/// Dual<S, N>: a number and its N first derivatives, carried forward through every operation.
///
/// For the parameter derivatives that are needed rarely, where writing them by hand does not pay:
/// value + sum_i d_i e_i with e_i e_j = 0, so that f(x) = f(value) + f'(value) sum_i d_i e_i. S may be a Dual
/// itself, which gives second derivatives, or a Pack. There is no tape and no allocation. Comparisons and
/// select() look at the value alone.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>

#include <Eigen/Core>

#include "engine/scalar.h"

namespace abut {

template <typename S, int N>
struct Dual {
  static constexpr int k_derivatives = N;

  S value{};
  std::array<S, N> d{};  ///< derivatives by the N variables

  Dual() = default;
  template <typename A>
  requires std::is_arithmetic_v<A> Dual(A x) : value(static_cast<scalar_value_t<S>>(x)) {}  ///< a constant
  Dual(const S& x) requires(!std::is_arithmetic_v<S>) : value(x) {}
  Dual(const S& x, const std::array<S, N>& derivatives) : value(x), d(derivatives) {}

  /// The variable number i of the N, at x.
  [[nodiscard]] static Dual variable(const S& x, int i) {
    Dual r;
    r.value = x;
    r.d[static_cast<std::size_t>(i)] = S(1);
    return r;
  }

  // Arithmetic with a Dual and with a plain number.

  friend Dual operator+(const Dual& a, const Dual& b) { return combine(a.value + b.value, a, S(1), b, S(1)); }
  friend Dual operator-(const Dual& a, const Dual& b) {
    return combine(a.value - b.value, a, S(1), b, S(-1));
  }
  friend Dual operator*(const Dual& a, const Dual& b) {
    return combine(a.value * b.value, a, b.value, b, a.value);
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    const S inverse = S(1) / b.value, quotient = a.value / b.value;
    return combine(quotient, a, inverse, b, -quotient * inverse);
  }
  Dual operator-() const { return chain(*this, -value, S(-1)); }
  Dual operator+() const { return *this; }

  template <typename A>
  requires std::is_arithmetic_v<A>
  friend Dual operator+(const Dual& a, A b) { return {a.value + S(b), a.d}; }
  template <typename A>
  requires std::is_arithmetic_v<A>
  friend Dual operator+(A a, const Dual& b) { return {S(a) + b.value, b.d}; }
  template <typename A>
  requires std::is_arithmetic_v<A>
  friend Dual operator-(const Dual& a, A b) { return {a.value - S(b), a.d}; }
  template <typename A>
  requires std::is_arithmetic_v<A>
  friend Dual operator-(A a, const Dual& b) { return chain(b, S(a) - b.value, S(-1)); }
  template <typename A>
  requires std::is_arithmetic_v<A>
  friend Dual operator*(const Dual& a, A b) { return chain(a, a.value * S(b), S(b)); }
  template <typename A>
  requires std::is_arithmetic_v<A>
  friend Dual operator*(A a, const Dual& b) { return chain(b, S(a) * b.value, S(a)); }
  template <typename A>
  requires std::is_arithmetic_v<A>
  friend Dual operator/(const Dual& a, A b) { return chain(a, a.value / S(b), S(1) / S(b)); }
  template <typename A>
  requires std::is_arithmetic_v<A>
  friend Dual operator/(A a, const Dual& b) {
    const S quotient = S(a) / b.value;
    return chain(b, quotient, -quotient / b.value);
  }
  template <typename B>
  Dual& operator+=(const B& b) {
    return *this = *this + b;
  }
  template <typename B>
  Dual& operator-=(const B& b) {
    return *this = *this - b;
  }
  template <typename B>
  Dual& operator*=(const B& b) {
    return *this = *this * b;
  }
  template <typename B>
  Dual& operator/=(const B& b) {
    return *this = *this / b;
  }

  // Comparison of the values, and choice.

  friend auto operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
  friend auto operator>(const Dual& a, const Dual& b) { return a.value > b.value; }
  friend auto operator<=(const Dual& a, const Dual& b) { return a.value <= b.value; }
  friend auto operator>=(const Dual& a, const Dual& b) { return a.value >= b.value; }
  friend auto operator==(const Dual& a, const Dual& b) { return a.value == b.value; }
  friend auto operator!=(const Dual& a, const Dual& b) { return a.value != b.value; }
  friend auto isfinite(const Dual& x) {
    using std::isfinite;
    return isfinite(x.value);
  }
  friend auto isnan(const Dual& x) {
    using std::isnan;
    return isnan(x.value);
  }
  friend Dual min(const Dual& a, const Dual& b) { return select(b < a, b, a); }
  friend Dual max(const Dual& a, const Dual& b) { return select(a < b, b, a); }

  // Functions. The derivative of |x| at 0 is 1.

  friend Dual abs(const Dual& x) { return select(x.value < S(0), -x, x); }
  friend Dual sqrt(const Dual& x) {
    using std::sqrt;
    const S root = sqrt(x.value);
    return chain(x, root, S(0.5) / root);
  }
  friend Dual exp(const Dual& x) {
    using std::exp;
    const S e = exp(x.value);
    return chain(x, e, e);
  }
  friend Dual expm1(const Dual& x) {
    using std::exp, std::expm1;
    return chain(x, expm1(x.value), exp(x.value));
  }
  friend Dual log(const Dual& x) {
    using std::log;
    return chain(x, log(x.value), S(1) / x.value);
  }
  friend Dual log1p(const Dual& x) {
    using std::log1p;
    return chain(x, log1p(x.value), S(1) / (S(1) + x.value));
  }
  friend Dual sin(const Dual& x) {
    using std::cos, std::sin;
    return chain(x, sin(x.value), cos(x.value));
  }
  friend Dual cos(const Dual& x) {
    using std::cos, std::sin;
    return chain(x, cos(x.value), -sin(x.value));
  }
  friend Dual tanh(const Dual& x) {
    using std::abs, std::exp, std::tanh;
    const S e = exp(S(-2) * abs(x.value));
    return chain(x, tanh(x.value), S(4) * e / ((S(1) + e) * (S(1) + e)));  // 1 - tanh^2 without cancellation
  }
  friend Dual atan2(const Dual& y, const Dual& x) {
    using std::atan2;
    const S inverse = S(1) / (x.value * x.value + y.value * y.value);
    return combine(atan2(y.value, x.value), y, x.value * inverse, x, -y.value * inverse);
  }
  /// sqrt(x^2 + y^2); NaN derivatives at the origin, where there are none.
  friend Dual hypot(const Dual& x, const Dual& y) {
    using std::hypot;
    const S length = hypot(x.value, y.value);
    return combine(length, x, x.value / length, y, y.value / length);
  }
  /// x^p. By p it is 0 for x <= 0, where x^p is defined for isolated p only or vanishes.
  friend Dual pow(const Dual& x, const Dual& p) {
    using std::log, std::pow;
    const S power = pow(x.value, p.value);
    const auto is_positive = x.value > S(0);
    const S by_x = select(p.value == S(0), S(0), p.value * pow(x.value, p.value - S(1)));
    return combine(power, x, by_x, p,
                   select(is_positive, power * log(select(is_positive, x.value, S(1))), S(0)));
  }
  template <typename A>
  requires std::is_arithmetic_v<A>
  friend Dual pow(const Dual& x, A p) {
    using std::pow;
    return chain(x, pow(x.value, S(p)), p == A(0) ? S(0) : S(S(p) * pow(x.value, S(p) - S(1))));
  }
  template <typename A>
  requires std::is_arithmetic_v<A>
  friend Dual pow(A x, const Dual& p) { return pow(Dual(x), p); }

 private:
  /// f(x) from f and f' at the value of x.
  static Dual chain(const Dual& x, const S& f, const S& df) {
    Dual r;
    r.value = f;
    for (std::size_t i = 0; i < N; ++i) r.d[i] = df * x.d[i];
    return r;
  }
  /// f(a, b) from f and its two partial derivatives.
  static Dual combine(const S& f, const Dual& a, const S& df_da, const Dual& b, const S& df_db) {
    Dual r;
    r.value = f;
    for (std::size_t i = 0; i < N; ++i) r.d[i] = df_da * a.d[i] + df_db * b.d[i];
    return r;
  }
};

/// select() where the condition is a pack's, one bool a lane.
template <typename Condition, typename S, int N>
requires(!std::is_same_v<Condition, bool>)
    [[nodiscard]] Dual<S, N> select(const Condition& condition, const Dual<S, N>& a, const Dual<S, N>& b) {
  Dual<S, N> r;
  r.value = select(condition, a.value, b.value);
  for (std::size_t i = 0; i < N; ++i) r.d[i] = select(condition, a.d[i], b.d[i]);
  return r;
}

template <typename S, int N>
[[nodiscard]] constexpr double value_of(const Dual<S, N>& x) {
  return value_of(x.value);
}

template <typename S, int N>
struct ScalarValue<Dual<S, N>> {
  using type = scalar_value_t<S>;
};

}  // namespace abut

namespace Eigen {

template <typename S, int N>
struct NumTraits<abut::Dual<S, N>> : GenericNumTraits<abut::scalar_value_t<S>> {
  using Real = abut::Dual<S, N>;
  using NonInteger = Real;
  using Nested = Real;
  using Literal = abut::scalar_value_t<S>;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = 1,
    AddCost = N + 1,
    MulCost = 3 * N
  };
  static Real epsilon() { return Real(NumTraits<Literal>::epsilon()); }
  static Real dummy_precision() { return Real(NumTraits<Literal>::dummy_precision()); }
  static Real highest() { return Real(NumTraits<Literal>::highest()); }
  static Real lowest() { return Real(NumTraits<Literal>::lowest()); }
};

/// A matrix of Duals times a plain number.
template <typename S, int N, typename A, typename Operation>
requires std::is_arithmetic_v<A>
struct ScalarBinaryOpTraits<abut::Dual<S, N>, A, Operation> {
  using ReturnType = abut::Dual<S, N>;
};
template <typename S, int N, typename A, typename Operation>
requires std::is_arithmetic_v<A>
struct ScalarBinaryOpTraits<A, abut::Dual<S, N>, Operation> {
  using ReturnType = abut::Dual<S, N>;
};

}  // namespace Eigen
