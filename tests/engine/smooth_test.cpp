#include "engine/smooth.h"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "engine/dual.h"
#include "engine/pack.h"
#include "engine/random.h"
#include "engine/types.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace abut {
namespace {

/// A point of the curve: in a tail, on a slope, at the knee, or on the seam itself.
double random_argument(Random& random, double tau) {
  const double kind = random.uniform();
  if (kind < 0.1) return 0.0;
  if (kind < 0.4) return tau * random.uniform(-3.0, 3.0);
  if (kind < 0.7) return tau * random.uniform(-40.0, 40.0);
  return tau * std::pow(10.0, random.uniform(-8.0, 3.0)) * (random.uniform() < 0.5 ? -1.0 : 1.0);
}

/// Calls visit(f, df, x, length) for every function of one number in smooth.h, its derivative beside it, at a
/// random x. `f` and `df` take any scalar; `length` is over what distance f curves.
template <typename Visit>
void for_each_function(Random& random, const Visit& visit) {
  // Parameters that float holds exactly, so that float and double get the same.
  const auto single = [](double t) { return static_cast<double>(static_cast<float>(t)); };
  const double tau = single(std::pow(10.0, random.uniform(-4.0, 1.0)));
  const double x = single(random_argument(random, tau));
  const double lo = single(tau * random.uniform(-5.0, 5.0));
  const double hi = single(lo + tau * random.uniform(0.1, 30.0));
  const double b = single(random_argument(random, tau));
  const auto of = [](double t, auto like) { return decltype(like)(t); };
  visit(
      "sigmoid", [](auto t) { return sigmoid(t); }, [](auto t) { return sigmoid_dx(t); }, x / tau, 1.0);
  visit(
      "smooth_greater", [=](auto t) { return smooth_greater(t, of(b, t), of(tau, t)); },
      [=](auto t) { return smooth_greater_da(t, of(b, t), of(tau, t)); }, x, tau);
  visit(
      "smooth_greater by b", [=](auto t) { return smooth_greater(of(b, t), t, of(tau, t)); },
      [=](auto t) { return -smooth_greater_da(of(b, t), t, of(tau, t)); }, x, tau);
  visit(
      "tanh_sign", [=](auto t) { return tanh_sign(t, of(tau, t)); },
      [=](auto t) { return tanh_sign_dx(t, of(tau, t)); }, x, tau);
  visit(
      "softplus", [=](auto t) { return softplus(t, of(tau, t)); },
      [=](auto t) { return softplus_dx(t, of(tau, t)); }, x, tau);
  visit(
      "softplus_dx", [=](auto t) { return softplus_dx(t, of(tau, t)); },
      [=](auto t) { return softplus_dxdx(t, of(tau, t)); }, x, tau);
  visit(
      "softclip", [=](auto t) { return softclip(t, of(lo, t), of(hi, t), of(tau, t)); },
      [=](auto t) { return softclip_dx(t, of(lo, t), of(hi, t), of(tau, t)); }, x, tau);
  visit(
      "softclip by lo", [=](auto t) { return softclip(of(x, t), t, of(hi, t), of(tau, t)); },
      [=](auto t) { return sigmoid((t - of(x, t)) / of(tau, t)); }, lo, tau);
  visit(
      "softclip by hi", [=](auto t) { return softclip(of(x, t), of(lo, t), t, of(tau, t)); },
      [=](auto t) { return sigmoid((of(x, t) - t) / of(tau, t)); }, hi, tau);
  visit(
      "smooth_max", [=](auto t) { return smooth_max(t, of(b, t), of(tau, t)); },
      [=](auto t) { return smooth_max_da(t, of(b, t), of(tau, t)); }, x, tau);
  visit(
      "smooth_max by b", [=](auto t) { return smooth_max(of(b, t), t, of(tau, t)); },
      [=](auto t) { return smooth_max_da(t, of(b, t), of(tau, t)); }, x, tau);
  visit(
      "smooth_min", [=](auto t) { return smooth_min(t, of(b, t), of(tau, t)); },
      [=](auto t) { return smooth_min_da(t, of(b, t), of(tau, t)); }, x, tau);
  visit(
      "smooth_min by b", [=](auto t) { return smooth_min(of(b, t), t, of(tau, t)); },
      [=](auto t) { return smooth_min_da(t, of(b, t), of(tau, t)); }, x, tau);
  const double step = random.uniform(-0.5, 1.5);
  visit(
      "smoothstep5", [](auto t) { return smoothstep5(t); }, [](auto t) { return smoothstep5_dx(t); }, step,
      0.1);
  visit(
      "smoothstep5_dx", [](auto t) { return smoothstep5_dx(t); }, [](auto t) { return smoothstep5_dxdx(t); },
      step, 0.1);
  visit(
      "smooth_ramp", [=](auto t) { return smooth_ramp(t, of(tau, t)); },
      [=](auto t) { return smooth_ramp_dx(t, of(tau, t)); }, tau * random.uniform(-1.5, 1.5), tau);
  visit(
      "smooth_ramp by width", [=](auto t) { return smooth_ramp(of(x, t), t); },
      [=](auto t) { return SmoothRamp(of(x, t), t, 1.0 / t).by_width; }, tau, tau);
  visit(
      "soft_norm", [=](auto t) { return soft_norm(t, of(tau, t)); },
      [=](auto t) { return soft_norm_dx(t, of(tau, t)); }, x, tau);
}

}  // namespace

TEST_CASE("smooth: every derivative agrees with Jet and finite differences, in both tails and at the knee",
          "[engine][derivative]") {
  Random random(31);
  double largest_slope = 0.0;
  for (int k = 0; k < 1000; ++k) {
    for_each_function(random, [&](const char* name, const auto& f, const auto& df, double x, double length) {
      const double derivative = df(x), size = std::abs(f(x)) + length;
      CAPTURE(k, name, x, length, derivative);
      largest_slope = std::max(largest_slope, std::abs(derivative) * length / size);
      REQUIRE(std::isfinite(derivative));
      // What Jet makes of tanh and of a difference of softplus cancels in the tails: hence the absolute
      // 4e-15.
      const double jet = test::jet_derivative(f, x);
      REQUIRE(test::close(derivative, jet, 1e-12, 4e-15 * std::max(1.0, 1.0 / length)));
      const double h = 1e-4 * length;
      const double rounding = 1e-15 * (std::abs(x) + size) / h;  // of the difference quotient itself
      const double truncation = 1e-7 / length * std::min(1.0, size);
      REQUIRE(test::close(derivative, test::fd_derivative(f, x, h), 1e-7, rounding + truncation));
    });
  }
  CHECK(largest_slope > 0.1);  // not vacuous
}

TEST_CASE("smooth: a seam on either zero has the right derivative", "[engine][derivative]") {
  for (const double zero : {0.0, -0.0}) {
    CHECK(test::jet_derivative([](auto x) { return softplus(x, decltype(x)(0.1)); }, zero) == 0.5);
    CHECK(test::jet_derivative([](auto x) { return smooth_max(x, decltype(x)(0), decltype(x)(0.1)); },
                               zero) == 0.5);
    CHECK(test::jet_derivative([](auto x) { return smooth_min(decltype(x)(0), x, decltype(x)(0.1)); },
                               zero) == 0.5);
    CHECK(test::jet_derivative([](auto x) { return soft_norm(x, decltype(x)(0.1)); }, zero) == 0.0);
    CHECK(test::close(
        test::jet_derivative(
            [](auto x) { return softclip(x, decltype(x)(0), decltype(x)(9), decltype(x)(0.1)); }, zero),
        0.5, 1e-15, 0));
  }
}

TEST_CASE("smooth: float follows double", "[engine][value]") {
  Random random(32);
  for (int k = 0; k < 1000; ++k) {
    for_each_function(
        random, [&](const char* name, const auto& f, const auto& df, double x_double, double length) {
          const auto x = static_cast<float>(x_double);
          CAPTURE(k, name, x, length);
          const double xd = static_cast<double>(x);  // an exponent of up to 80 rounded to float: 1e-5
          REQUIRE(test::close(static_cast<double>(f(x)), f(xd), 1e-5,
                              3e-7 * std::min(std::abs(xd) + length, 1.0)));
          REQUIRE(std::isfinite(df(x)));
          REQUIRE(test::close(static_cast<double>(df(x)), df(xd), 1e-4, 1e-30));
        });
  }
}

TEST_CASE("smooth: a Pack agrees with plain numbers, and its lanes with each other bit for bit",
          "[engine][batch]") {
  using P4 = Pack<double, 4>;
  using P16 = Pack<double, 16>;
  Random random(33);
  for (int k = 0; k < 300; ++k) {
    for_each_function(random, [&](const char* name, const auto& f, const auto& df, double x, double length) {
      CAPTURE(k, name, x, length);
      P16 wide(x + length);
      wide.set_lane(13, x);
      REQUIRE(f(P4(x))[1] == f(wide)[13]);
      REQUIRE(df(P4(x))[2] == df(wide)[13]);
      REQUIRE(test::close(f(P4(x))[0], f(x), 1e-14, 1e-300));
      REQUIRE(test::close(df(P4(x))[0], df(x), 1e-13, 1e-300));
    });
  }
}

TEST_CASE("smooth: no finite argument overflows", "[engine][value]") {
  const auto check = [](auto like) {
    using T = decltype(like);
    const T largest = std::numeric_limits<T>::max(), smallest = std::numeric_limits<T>::min();
    const std::vector<T> numbers{T(0),      smallest, T(1),     T(1e30),     largest / 4,
                                 -smallest, T(-1),    T(-1e30), -largest / 4};
    for (const T tau : {smallest * 16, T(1e-3), T(1), T(1e30)}) {
      for (const T x : numbers) {
        CAPTURE(x, tau);
        for (const T y : {sigmoid(x), sigmoid_dx(x), tanh_sign(x, tau), softplus(x, tau), softplus_dx(x, tau),
                          smoothstep5(x), smoothstep5_dx(x), smoothstep5_dxdx(x), soft_norm(x, tau),
                          soft_norm_dx(x, tau)}) {
          REQUIRE(std::isfinite(y));
        }
        REQUIRE(std::isfinite(tanh_sign_dx(x, tau)));
        REQUIRE(std::isfinite(softplus_dxdx(x, tau)));
        for (const T b : numbers) {
          CAPTURE(b);
          for (const T y : {smooth_greater(x, b, tau), smooth_max(x, b, tau), smooth_min(x, b, tau),
                            smooth_max_da(x, b, tau), smooth_min_da(x, b, tau),
                            softclip(x, std::min(b, -b), std::max(b, -b), tau),
                            softclip_dx(x, std::min(b, -b), std::max(b, -b), tau)}) {
            REQUIRE(std::isfinite(y));
          }
          const std::array<T, 3> list{x, b, T(0.5)};
          std::array<T, 3> weights{};
          REQUIRE(std::isfinite(logsumexp(list, tau)));
          REQUIRE(std::isfinite(softmin(list, tau)));
          softargmin(list, tau, weights);
          for (const T w : weights) REQUIRE((w >= T(0) && w <= T(1)));
          REQUIRE(std::isfinite(soft_norm(Vec3<T>(x, b, T(1)), tau)));
        }
      }
    }
  };
  check(1.0);
  check(1.0f);
}

TEST_CASE("smooth: the tails keep their relative accuracy", "[engine][value]") {
  const double far = GENERATE(40.0, 200.0, 700.0);
  CHECK(test::close(softplus(-far, 1.0), std::exp(-far), 1e-14, 0));
  CHECK(softplus(far, 1.0) == far);
  CHECK(test::close(sigmoid(-far), std::exp(-far), 1e-14, 0));
  CHECK(test::close(sigmoid_dx(far), std::exp(-far), 1e-14, 0));
  CHECK(test::close(sigmoid_dx(-far), std::exp(-far), 1e-14, 0));
  CHECK(test::close(tanh_sign_dx(far / 2.0, 1.0), 4.0 * std::exp(-far), 1e-13, 0));
  CHECK(test::close(softclip_dx(far, -1.0, 1.0, 1.0), std::exp(-far) * (std::exp(1.0) - std::exp(-1.0)),
                    1e-13, 0));
  CHECK(softclip(1e300, 0.0, 1.0, 1e-3) == 1.0);
  CHECK(softclip(-1e300, 0.0, 1.0, 1e-3) == 0.0);
  CHECK(softclip(far, 0.0, 1.0, 1.0) <= 1.0);
  CHECK(softclip(-far, 0.0, 1.0, 1.0) >= 0.0);
  CHECK(test::close(softclip(-far, 0.0, 1.0, 1.0), std::exp(-far) * (1.0 - std::exp(-1.0)), 1e-13, 0));
}

TEST_CASE("smooth: values at landmarks are the textbook's", "[engine][value]") {
  CHECK(sigmoid(0.0) == 0.5);
  CHECK(test::close(softplus(0.0, 0.3), 0.3 * std::log(2.0), 1e-15, 0));
  CHECK(test::close(tanh_sign(0.4, 0.5), 2.0 * sigmoid(2.0 * 0.4 / 0.5) - 1.0, 1e-14, 0));
  CHECK(test::close(smooth_max(2.0, 2.0, 0.1), 2.0 + 0.1 * std::log(2.0), 1e-15, 0));
  CHECK(test::close(smooth_min(1.0, 2.0, 0.3), -smooth_max(-1.0, -2.0, 0.3), 1e-15, 0));
  CHECK(test::close(softclip(0.2, 0.0, 1.0, 0.1), softplus(0.2, 0.1) - softplus(-0.8, 0.1), 1e-14, 0));
  CHECK((smooth_ramp(-0.1, 0.1) == 0.0 && smooth_ramp(0.1, 0.1) == 0.1 && smooth_ramp(3.0, 0.1) == 3.0));
  CHECK(test::close(smooth_ramp(0.0, 0.1), 5.0 / 32.0 * 0.1, 1e-15, 0));
  CHECK((smooth_ramp_dx(0.0, 0.1) == 0.5 && smooth_ramp_dx(-0.2, 0.1) == 0.0 &&
         smooth_ramp_dx(0.2, 0.1) == 1.0));
  CHECK((smoothstep5(0.0) == 0.0 && smoothstep5(1.0) == 1.0 && smoothstep5(0.5) == 0.5));
  CHECK((smoothstep5(-2.0) == 0.0 && smoothstep5(2.0) == 1.0 && smoothstep5_dx(-2.0) == 0.0 &&
         smoothstep5_dxdx(2.0) == 0.0));
  CHECK((smoothstep5_dx(0.0) == 0.0 && smoothstep5_dx(1.0) == 0.0 && smoothstep5_dxdx(0.0) == 0.0 &&
         smoothstep5_dxdx(1.0) == 0.0));
  CHECK(soft_norm(0.0, 0.3) == 0.3);
  CHECK(soft_norm(3.0, 4.0) == 5.0);
  CHECK(test::close(soft_norm(Vec3<double>(1e200, 2e200, 2e200), 1.0), 3e200, 1e-15, 0));
  CHECK(std::isnan(softplus(std::nan(""), 1.0)));
  CHECK(std::isnan(softclip(std::nan(""), 0.0, 1.0, 1.0)));
  CHECK(std::isnan(smooth_max(1.0, std::nan(""), 1.0)));
}

TEST_CASE("smooth: logsumexp and softmin have softmax weights as gradient", "[engine][derivative]") {
  Random random(34);
  for (int k = 0; k < 1000; ++k) {
    const double tau = std::pow(10.0, random.uniform(-3.0, 2.0));
    VecX<double> x(1 + static_cast<Eigen::Index>(random.integer(6)));
    for (double& xi : x) xi = random.uniform() < 0.2 ? 0.0 : random_argument(random, tau);
    VecX<double> largest_weights(x.size()), least_weights(x.size());
    logsumexp_dx(x, tau, largest_weights);
    softargmin(x, tau, least_weights);
    CAPTURE(k, tau, x);
    const double h = 1e-5 * tau, noise = 1e-15 * (x.cwiseAbs().maxCoeff() + tau) / h;
    REQUIRE(test::close(largest_weights,
                        test::fd_gradient([&](const VecX<double>& y) { return logsumexp(y, tau); }, x, h),
                        1e-8, 1e-8 + noise));
    REQUIRE(test::close(least_weights,
                        test::fd_gradient([&](const VecX<double>& y) { return softmin(y, tau); }, x, h), 1e-8,
                        1e-8 + noise));
    REQUIRE(test::close(largest_weights.sum(), 1.0, 1e-14, 0));
    REQUIRE(logsumexp(x, tau) >= x.maxCoeff());
    REQUIRE(logsumexp(x, tau) <=
            x.maxCoeff() + tau * std::log(double(x.size())) * (1 + 1e-14) + 1e-15 * std::abs(x.maxCoeff()));
  }
  const Vec3<double> x(0.3, 0.1, 0.2);
  Vec3<double> weights;
  logsumexp_dx(x, 0.1, weights);
  const auto f = [](const auto& y) { return logsumexp(y, typename std::decay_t<decltype(y)>::Scalar(0.1)); };
  CHECK(test::close(weights, test::jet_gradient(f, x), 1e-14, 0));
  const std::vector<double> list{0.3, 0.1, 0.2};
  CHECK(logsumexp(list, 0.1) == logsumexp(x, 0.1));
  CHECK(logsumexp(std::span(list), 0.1) == logsumexp(x, 0.1));
}

TEST_CASE("smooth: the VJP of softargmin is the transpose of its Jacobian", "[engine][derivative]") {
  const auto weights_of = [](const auto& x) {
    using S = typename std::decay_t<decltype(x)>::Scalar;
    Eigen::Matrix<S, 4, 1> weights;
    softargmin(x, S(0.3), weights);
    return weights;
  };
  Random random(35);
  for (int k = 0; k < 100; ++k) {
    Vec4<double> x, weights_bar, x_bar;
    for (int i = 0; i < 4; ++i) x[i] = random.uniform(-1.0, 1.0), weights_bar[i] = random.normal();
    softargmin_vjp(weights_of(x), weights_bar, 0.3, x_bar);
    const auto J = test::jet_jacobian(weights_of, x);
    REQUIRE(test::close(x_bar, J.transpose() * weights_bar, 1e-12, 1e-14));
    REQUIRE(test::close(J, test::fd_jacobian(weights_of, x, 1e-5), 1e-7, 1e-9));
  }
}

TEST_CASE("smooth: soft_norm of a vector has the derivative x/soft_norm, at zero too",
          "[engine][derivative]") {
  Random random(36);
  for (int k = 0; k < 1000; ++k) {
    Vec3<double> x;
    for (double& xi : x) xi = k == 0 ? 0.0 : random_argument(random, 0.1);
    const auto f = [](const auto& y) {
      return soft_norm(y, typename std::decay_t<decltype(y)>::Scalar(0.1));
    };
    CAPTURE(k, x);
    REQUIRE(test::close(f(x), std::sqrt(x.squaredNorm() + 0.01), 1e-15, 0));
    REQUIRE(test::close(soft_norm_dx(x, 0.1), test::jet_gradient(f, x), 1e-13, 1e-15));
    REQUIRE(soft_norm_dx(x, 0.1).norm() < 1.0 + 1e-15);
  }
}

TEST_CASE("smooth: a Dual gives the second derivatives that are written by hand", "[engine][derivative]") {
  using D = Dual<Dual<double, 1>, 1>;
  for (const double x : {-0.7, -0.05, 0.0, 0.02, 0.3, 0.9}) {
    const D t = D::variable(Dual<double, 1>::variable(x, 0), 0);
    CHECK(test::close(softplus(t, D(0.1)).d[0].d[0], softplus_dxdx(x, 0.1), 1e-12, 1e-14));
    CHECK(test::close(smoothstep5(t).d[0].d[0], smoothstep5_dxdx(x), 1e-13, 1e-14));
  }
}

}  // namespace abut
