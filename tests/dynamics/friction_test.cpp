#include "dynamics/contact_laws/friction.h"

#include <catch2/catch.hpp>

#include <cmath>

#include <Eigen/Eigenvalues>

#include "engine/random.h"
#include "tests/support/close.h"
#include "tests/support/contact_law_cases.h"
#include "tests/support/gradient_check.h"

namespace {

using namespace abut;
using test::around, test::Jet;

}  // namespace

TEST_CASE("Friction: impulse opposes slip and stays below its bound", "[dynamics][property]") {
  Random random(4);
  for (int i = 0; i < 1000; ++i) {
    const double v_s = std::pow(10.0, random.uniform(-5.0, -1.0)),
                 bound = std::pow(10.0, random.uniform(-6.0, 2.0));
    const Vec3<double> n = test::random_normal(random),
                       u = std::abs(around(random, v_s)) * random.unit_vector();
    const Friction friction(u, n, v_s);
    const Vec3<double> impulse = friction.impulse(bound);
    CAPTURE(i, u.transpose(), n.transpose(), v_s, bound);
    REQUIRE(impulse.norm() <= bound * (1.0 + 1e-15));
    REQUIRE(impulse.dot(u) <= 0.0);
    if (std::abs(n.norm() - 1.0) > 1e-12) continue;
    REQUIRE(std::abs(impulse.dot(n)) <= 1e-12 * bound);
    // v_s r/sqrt(1 - r^2) is the slip at which a share r of the bound acts: what creep on a slope follows
    // from.
    const double r = impulse.norm() / bound, slip = (u - n.dot(u) * n).norm();
    if (r < 0.99) REQUIRE(test::close(v_s * r / std::sqrt(1.0 - r * r), slip, 1e-9, 0));
  }
}

TEST_CASE("Friction: resistance is minus the impulse's Jacobian, symmetric and positive semidefinite",
          "[dynamics][derivative]") {
  Random random(5);
  for (int i = 0; i < 1000; ++i) {
    const double v_s = std::pow(10.0, random.uniform(-5.0, -1.0)),
                 bound = std::pow(10.0, random.uniform(-6.0, 2.0));
    const Vec3<double> n = test::random_normal(random),
                       u = std::abs(around(random, v_s)) * random.unit_vector();
    const Friction friction(u, n, v_s);
    const Mat3<double> K = friction.resistance(bound);
    CAPTURE(i, u.transpose(), n.transpose(), v_s, bound);
    const auto impulse = [&](const Vec3<double>& x) { return Friction(x, n, v_s).impulse(bound); };
    const double unit = bound / friction.w;
    REQUIRE(test::close(K, -test::fd_jacobian(impulse, u, 1e-5 * friction.w), 1e-6, 1e-8 * unit));
    REQUIRE(test::close(K, K.transpose(), 1e-14, 1e-16 * unit));
    const Eigen::SelfAdjointEigenSolver<Mat3<double>> eigen(K);
    REQUIRE(eigen.eigenvalues().minCoeff() >= -1e-14 * unit);
    REQUIRE(eigen.eigenvalues().maxCoeff() <= unit * (1.0 + 1e-14));
  }
}

TEST_CASE("Friction: VJP and JVP agree with Jet and differences in bound, velocity and normal",
          "[dynamics][derivative]") {
  Random random(6);
  for (int i = 0; i < 1000; ++i) {
    const double v_s = std::pow(10.0, random.uniform(-5.0, -1.0)),
                 bound = std::pow(10.0, random.uniform(-6.0, 2.0));
    const Vec3<double> n = test::random_normal(random),
                       u = std::abs(around(random, v_s)) * random.unit_vector();
    const Vec3<double> lambda = test::random_vector(random);
    // lambda . gamma_t with gamma_t = -b P P u/sqrt(|P u|^2 + v_s^2), P = I - n n^T, of x = (b, u, n)
    const auto f = [&](const auto& x) {
      using S = std::decay_t<decltype(x[0])>;
      using std::sqrt;
      const Vec3<S> ux(x[1], x[2], x[3]), nx(x[4], x[5], x[6]);
      const S un = ux.dot(nx);
      const Vec3<S> u_t = ux - nx * un;
      const S unt = u_t.dot(nx);
      const Vec3<S> Pu_t = u_t - nx * unt;
      const S w = sqrt(u_t.dot(u_t) + S(v_s * v_s));
      return S(-x[0] / w * (Pu_t[0] * S(lambda[0]) + Pu_t[1] * S(lambda[1]) + Pu_t[2] * S(lambda[2])));
    };
    Eigen::Matrix<double, 7, 1> x;
    x << bound, u, n;
    const Eigen::Matrix<double, 7, 1> exact = test::jet_gradient(f, x);
    const Friction friction(u, n, v_s);
    const Friction::Bar bar = friction.vjp(bound, u, lambda);
    CAPTURE(i, x.transpose(), v_s);
    REQUIRE(test::close(friction.impulse(bound).dot(lambda), f(x), 1e-12, 1e-14 * bound));
    REQUIRE(test::close(bar.bound, exact[0], 1e-11, 1e-14));
    REQUIRE(test::close(bar.u, exact.segment<3>(1), 1e-10, 1e-13 * bound / friction.w));
    REQUIRE(test::close(bar.n, exact.tail<3>(), 1e-10, 1e-13 * bound * (1.0 + u.norm() / friction.w)));
    const Vec3<double> u_dot = test::random_vector(random), n_dot = test::random_vector(random);
    const double bound_dot = random.uniform(-1.0, 1.0);
    Eigen::Matrix<double, 7, 1> x_dot;
    x_dot << bound_dot, u_dot, n_dot;
    const double sum = exact.cwiseProduct(x_dot).cwiseAbs().sum();
    REQUIRE(test::close(friction.jvp(bound, u, u_dot, n_dot, bound_dot).dot(lambda), exact.dot(x_dot), 1e-9,
                        1e-11 * sum));

    const auto along_n = [&](double t) {
      return Friction(u, n + t * lambda, v_s).impulse(bound).dot(lambda);
    };
    const double reach = v_s / (v_s + u.norm());  // the turn of n that brings v_s of slip
    const auto fd = test::fd_sweep(along_n, 0.0, 0.1 * reach, 1e-7, 1e-9 * bound / reach);
    REQUIRE(test::close(bar.n.dot(lambda), fd.value, 1e-5, 1e-7 * bound / reach));
  }
}
