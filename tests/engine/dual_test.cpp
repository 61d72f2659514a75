#include "engine/dual.h"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <cstddef>

#include "engine/random.h"
#include "engine/types.h"
#include "tests/support/close.h"
#include "tests/support/jet_support.h"

namespace abut {
namespace {

/// A random expression of three variables: 15 steps, each replacing one of three numbers. A copy of the
/// generator makes the same expression on another scalar. Every function gets arguments where it is smooth.
template <typename S>
S random_expression(Random random, std::array<S, 3> x) {
  using std::abs, std::atan2, std::cos, std::exp, std::expm1, std::hypot, std::log, std::log1p, std::pow,
      std::sin, std::sqrt, std::tanh;
  for (int step = 0; step < 15; ++step) {
    const S a = x[random.integer(3)], b = x[random.integer(3)];
    const S c(random.uniform(0.5, 2.0));
    S& r = x[random.integer(3)];
    switch (random.integer(22)) {
      case 0:
        r = a + b * c;
        break;
      case 1:
        r = c - a + S(2) * b;
        break;
      case 2:
        r = sin(a) * b;
        break;
      case 3:
        r = a / (S(2) + sin(b));
        break;
      case 4:
        r = c / (S(2) + cos(a)) - b;
        break;
      case 5:
        r = sqrt(c + a * a) + b;
        break;
      case 6:
        r = exp(sin(a)) - b;
        break;
      case 7:
        r = log(c + a * a) - b;
        break;
      case 8:
        r = log1p(a * a) + cos(b);
        break;
      case 9:
        r = expm1(sin(a)) * c;
        break;
      case 10:
        r = pow(c + a * a, sin(b));
        break;
      case 11:
        r = pow(c + a * a, 0.3) - b;
        break;
      case 12:
        r = pow(c, sin(a)) + b;
        break;
      case 13:
        r = atan2(sin(a), S(2) + cos(b));
        break;
      case 14:
        r = tanh(a) + b;
        break;
      case 15:
        r = abs(a) - c * b;
        break;
      case 16:
        r = select(a < b, a, b) + c;
        break;
      case 17:
        r = hypot(a, b + c);
        break;
      case 18:
        r = -a / c + S(1);
        break;
      case 19:
        r += sin(a);
        break;
      case 20:
        r *= cos(b);
        break;
      default:
        r -= S(0.5) * tanh(b);
        break;
    }
    r = S(3) * sin(r * S(0.5));  // keep it in bounds
  }
  return x[0] + S(2) * x[1] - S(0.5) * x[2];
}

}  // namespace

TEST_CASE("dual: agrees with Jet on random expressions, value and gradient", "[engine][derivative]") {
  using D = Dual<double, 3>;
  using J = test::Jet<3>;
  Random random(21);
  for (int k = 0; k < 2000; ++k) {
    std::array<D, 3> x;
    std::array<J, 3> y;
    for (int i = 0; i < 3; ++i) {
      const double value = random.uniform(-2.0, 2.0);
      x[static_cast<std::size_t>(i)] = D::variable(value, i);
      y[static_cast<std::size_t>(i)] = J(value, i);
    }
    const Random seed(random.bits());
    const D f = random_expression(seed, x);
    const J g = random_expression(seed, y);
    CAPTURE(k);
    REQUIRE(test::close(f.value, g.a, 1e-12, 1e-12));
    const double scale = 1.0 + g.v.norm();
    for (int i = 0; i < 3; ++i)
      REQUIRE(test::close(f.d[static_cast<std::size_t>(i)], g.v[i], 1e-10, 1e-11 * scale));
  }
}

TEST_CASE(
    "dual: a Dual of Duals gives symmetric second derivatives, those that Jet finds of a Dual's gradient",
    "[engine][derivative]") {
  using D = Dual<Dual<double, 3>, 3>;
  using J = Dual<test::Jet<3>, 3>;
  Random random(22);
  for (int k = 0; k < 300; ++k) {
    std::array<D, 3> x;
    std::array<J, 3> y;
    for (int i = 0; i < 3; ++i) {
      const double value = random.uniform(-2.0, 2.0);
      x[static_cast<std::size_t>(i)] = D::variable(Dual<double, 3>::variable(value, i), i);
      y[static_cast<std::size_t>(i)] = J::variable(test::Jet<3>(value, i), i);
    }
    const Random seed(random.bits());
    const D f = random_expression(seed, x);
    const J g = random_expression(seed, y);
    double scale = 1.0;
    for (const test::Jet<3>& d : g.d) scale += d.v.norm();
    CAPTURE(k, scale);
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        REQUIRE(test::close(f.d[i].d[j], g.d[i].v[static_cast<int>(j)], 1e-9, 1e-10 * scale));
        REQUIRE(test::close(f.d[i].d[j], f.d[j].d[i], 1e-9, 1e-10 * scale));
      }
    }
  }
}

TEST_CASE("dual: compares by value, and takes plain numbers of every kind", "[engine][value]") {
  using D = Dual<double, 2>;
  const D x = D::variable(2.0, 0), y(2.0);
  CHECK(x == y);
  CHECK(x <= 2);
  CHECK(x > 1.5f);
  CHECK((2 * x + 1).value == 5.0);
  CHECK((1.0f / x).d[0] == -0.25);
  CHECK((x - 1).d[0] == 1.0);
  CHECK((1 - x).d[0] == -1.0);
  CHECK(min(x, D(3)).d[0] == 1.0);
  CHECK(max(x, D(3)).d[0] == 0.0);
  CHECK(isfinite(x));
  CHECK(isnan(D(std::nan(""))));
}

TEST_CASE("dual: powers are right at the edge of their domain", "[engine][derivative]") {
  using D = Dual<double, 2>;
  const D zero = D::variable(0.0, 0);
  CHECK(pow(zero, 2.0).d[0] == 0.0);
  CHECK(pow(zero, 1.0).d[0] == 1.0);
  CHECK(pow(zero, 0.0).d[0] == 0.0);
  CHECK(pow(D::variable(-3.0, 0), 2.0).d[0] == -6.0);
  const D power = pow(zero, D::variable(1.5, 1));
  CHECK((power.value == 0.0 && power.d[0] == 0.0 && power.d[1] == 0.0));
  const D square = pow(D::variable(-3.0, 0), D(2.0));
  CHECK((square.value == 9.0 && square.d[0] == -6.0));
  CHECK(tanh(D::variable(300.0, 0)).d[0] > 0.0);  // 1 - tanh^2 would be 0
}

TEST_CASE("dual: Eigen computes with it", "[engine][derivative]") {
  using D = Dual<double, 1>;
  const D t = D::variable(0.3, 0);
  const Vec3<D> a(t, t * t, D(1)), b(D(2), t, sin(t));
  const D f = (a.cross(b) * 2.0 + 0.5 * a).norm() + a.dot(b);
  const auto g = [](double s) {
    const Vec3<double> u(s, s * s, 1), v(2, s, std::sin(s));
    return (u.cross(v) * 2.0 + 0.5 * u).norm() + u.dot(v);
  };
  CHECK(test::close(f.value, g(0.3), 1e-14, 0));
  CHECK(test::close(f.d[0], (g(0.3 + 1e-6) - g(0.3 - 1e-6)) / 2e-6, 1e-8, 0));
}

}  // namespace abut
