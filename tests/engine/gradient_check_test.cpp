#include "tests/support/gradient_check.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "engine/random.h"
#include "engine/types.h"
#include "tests/support/close.h"
#include "tests/support/fitted_derivative.h"

namespace abut {
namespace {

template <typename S>
S f(const S& x) {
  using std::exp, std::sin;
  return exp(sin(S(3) * x)) + x * x;
}
double df(double x) { return 3.0 * std::cos(3.0 * x) * std::exp(std::sin(3.0 * x)) + 2.0 * x; }

template <typename S>
Vec3<S> g(const Vec3<S>& x) {
  using std::exp;
  return Vec3<S>(x[0] * x[1], exp(x[2]) * x[0], x[1] * x[1] * x[2]);
}

}  // namespace

TEST_CASE("gradient_check: a derivative off by 1e-4 is caught, the right one passes",
          "[engine][derivative]") {
  const double x = GENERATE(-1.3, -0.2, 0.0, 0.7, 4.0);
  const auto function = [](auto t) { return f(t); };
  const double fd = test::fd_derivative(function, x, 1e-5), jet = test::jet_derivative(function, x);
  const test::SweptDerivative swept = test::fd_sweep(function, x, 0.1);
  CAPTURE(x, swept.error);
  CHECK(test::close(df(x), fd, 1e-7, 1e-9));
  CHECK(test::close(df(x), jet, 1e-14, 1e-15));
  CHECK(test::close(df(x), swept.value, 1e-10, 1e-12));
  CHECK_FALSE(swept.disagrees_with_itself);
  CHECK(std::abs(swept.value - df(x)) <= 10.0 * swept.error + 1e-13);
  for (const double wrong : {df(x) * (1.0 + 1e-4), df(x) * (1.0 - 1e-4)}) {
    CHECK_FALSE(test::close(wrong, fd, 1e-7, 1e-9));
    CHECK_FALSE(test::close(wrong, jet, 1e-14, 1e-15));
    CHECK_FALSE(test::close(wrong, swept.value, 1e-10, 1e-12));
  }
}

TEST_CASE("gradient_check: one wrong element of a Jacobian is caught", "[engine][derivative]") {
  const Vec3<double> x(0.4, -1.2, 0.3);
  Mat3<double> J;
  // clang-format off
  J << x[1], x[0], 0.0,
       std::exp(x[2]), 0.0, std::exp(x[2]) * x[0],
       0.0, 2.0 * x[1] * x[2], x[1] * x[1];
  // clang-format on
  const auto function = [](const auto& v) { return g(v); };
  const auto fd = test::fd_jacobian(function, x, 1e-5);
  const auto jet = test::jet_jacobian(function, x);
  CHECK(test::close(J, fd, 1e-8, 1e-10));
  CHECK(test::close(J, jet, 1e-15, 0));
  J(2, 1) *= 1.0 + 1e-4;
  CHECK_FALSE(test::close(J, fd, 1e-8, 1e-10));
  CHECK_FALSE(test::close(J, jet, 1e-15, 0));

  const auto sum = [](const auto& v) { return g(v).dot(g(v)); };
  CHECK(test::close(test::jet_gradient(sum, x), test::fd_gradient(sum, x, 1e-5), 1e-8, 1e-10));
}

TEST_CASE("gradient_check: the sweep doubts itself at a kink, a jump and noise", "[engine][derivative]") {
  CHECK(test::fd_sweep([](double x) { return std::abs(x); }, 0.0, 0.1).disagrees_with_itself);
  CHECK(test::fd_sweep([](double x) { return std::abs(x) + x; }, 0.0, 0.1).disagrees_with_itself);
  CHECK(test::fd_sweep([](double x) { return x > 0 ? 1.0 + x : x; }, 0.0, 0.1).disagrees_with_itself);
  CHECK(
      test::fd_sweep([](double x) { return x + 1e-4 * std::sin(1e9 * x); }, 0.3, 0.1).disagrees_with_itself);
  CHECK(test::fd_sweep([](double) { return std::numeric_limits<double>::quiet_NaN(); }, 0.3, 0.1)
            .disagrees_with_itself);
  CHECK_FALSE(test::fd_sweep([](double x) { return std::abs(x); }, 0.3, 0.1).disagrees_with_itself);
  CHECK_FALSE(test::fd_sweep([](double x) { return x * x * x; }, 0.3, 0.1).disagrees_with_itself);
}

TEST_CASE("fitted_derivative: its error covers scatter and curvature, and a derivative off by 2e-6 is caught",
          "[engine][derivative]") {
  const double widths[] = {1e-1, 3e-2, 1e-2, 3e-3, 1e-3};
  const double noise = GENERATE(0.0, 1e-12, 1e-10, 1e-8, 1e-6), x = GENERATE(-1.3, -0.2, 0.7, 4.0);
  Random random(1);
  const auto function = [&](double t) { return f(t) + noise * random.uniform(-1, 1); };
  const test::FittedDerivative fitted = test::fitted_derivative(function, x, widths);
  CAPTURE(noise, x, fitted.value, fitted.error, df(x));
  CHECK(std::abs(fitted.value - df(x)) <= 3.0 * fitted.error + 1e-13);
  if (noise <= 1e-10) {
    CHECK(fitted.is_resolved());
    CHECK(fitted.agrees_with(df(x)));
    CHECK_FALSE(fitted.agrees_with(df(x) + 2.0 * fitted.tolerance()));
    CHECK_FALSE(fitted.agrees_with(df(x) - 2.0 * fitted.tolerance()));
  }
  if (noise >= 1e-6) CHECK_FALSE(fitted.is_resolved());
}

TEST_CASE("fitted_derivative: resolves no kink, jump or NaN", "[engine][derivative]") {
  const double widths[] = {1e-1, 1e-2, 1e-3};
  const auto is_resolved = [&](const auto& function) {
    return test::fitted_derivative(function, 0.0, widths).is_resolved();
  };
  CHECK_FALSE(is_resolved([](double x) { return std::abs(x); }));
  CHECK_FALSE(is_resolved([](double x) { return 1e-4 * std::abs(x - 1e-5) + x; }));
  CHECK_FALSE(is_resolved([](double x) { return x > 1e-5 ? 1.0 + x : x; }));
  CHECK_FALSE(is_resolved([](double) { return std::numeric_limits<double>::quiet_NaN(); }));
  CHECK(is_resolved([](double x) { return std::abs(x - 0.05); }));
}

TEST_CASE("close: is false on NaN, unlike infinities and unlike sizes", "[engine][value]") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  CHECK_FALSE(test::close(nan, nan, 1.0, 1.0));
  CHECK_FALSE(test::close(1.0, nan, 1.0, inf));
  CHECK_FALSE(test::close(inf, 1.0, 1.0, 1.0));
  CHECK_FALSE(test::close(inf, -inf, 1.0, 1.0));
  CHECK(test::close(inf, inf, 0.0, 0.0));
  CHECK(test::close(1.0, 1.0 + 1e-10, 1e-9, 0.0));
  CHECK_FALSE(test::close(1.0, 1.0 + 1e-8, 1e-9, 0.0));
  CHECK_FALSE(test::close(Vec3<double>(1, 2, nan), Vec3<double>(1, 2, nan), 1.0, 1.0));
  CHECK_FALSE(
      test::close(Vec3<double>(1e6, 1, 1), Vec3<double>(1e6, 1, 1 + 1e-5), 1e-6, 0.0));  // each by itself
  CHECK_FALSE(test::close(Vec3<double>(1, 2, 3), Vec2<double>(1, 2), 1.0, 1.0));
}

}  // namespace abut
