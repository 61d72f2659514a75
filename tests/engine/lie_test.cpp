#include "engine/lie.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

#include "engine/dual.h"
#include "engine/pack.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace abut {
namespace {

constexpr double k_pi = 3.14159265358979323846;

/// Angles [rad] at which a formula may change its form or lose its digits.
const std::vector<double>& hard_angles() {
  static const std::vector<double> angles{0.0,  1e-300, 1e-160, 1e-12, 1e-9,  1e-8,        1e-6,
                                          1e-4, 1e-3,   0.01,   0.1,   0.17,  0.18,        0.34,
                                          0.35, 0.5,    0.999,  1.0,   1.001, 1.5,         1.999,
                                          2.0,  2.001,  3.0,    3.1,   3.14,  k_pi - 1e-6, k_pi - 1e-9};
  return angles;
}

/// For rotation vectors at every hard angle and at 200 random ones, four axes each.
template <typename Visit>
void for_each_rotation(std::uint64_t seed, const Visit& visit) {
  Random random(seed);
  const auto visit_axes = [&](double angle) {
    for (int k = 0; k < 3; ++k) visit(test::random_rotation_vector(random, angle));
    visit(Vec3<double>(0.0, -angle, 0.0));  // along an axis: the other components are exactly 0
  };
  for (const double angle : hard_angles()) visit_axes(angle);
  for (int k = 0; k < 200; ++k) visit_axes(random.uniform(0.0, k_pi));
}

/// exp_so3 the plain way, in long double.
Mat3<double> rodrigues(const Vec3<double>& w) {
  using Wide = Eigen::Matrix<long double, 3, 1>;
  const Wide x = w.cast<long double>();
  const long double t = std::sqrt(x.dot(x));
  if (t == 0) return Mat3<double>::Identity();
  const Wide n = x / t;
  const Eigen::Matrix<long double, 3, 3> N = skew<long double>(n);
  return (Eigen::Matrix<long double, 3, 3>::Identity() + std::sin(t) * N + (1 - std::cos(t)) * N * N)
      .cast<double>();
}

}  // namespace

TEST_CASE("lie: skew(a) b is a x b, and unskew undoes it", "[engine][value]") {
  Random random(41);
  const Vec3<double> a = test::random_vector(random), b = test::random_vector(random);
  CHECK(skew(a) * b == a.cross(b));
  CHECK(unskew(skew(a)) == a);
}

TEST_CASE("lie: Exp is a rotation, the one of Rodrigues' formula, as matrix and as quaternion",
          "[engine][value]") {
  for_each_rotation(42, [](const Vec3<double>& w) {
    const Mat3<double> R = exp_so3(w);
    const Quat<double> q = exp_quaternion(w);
    CAPTURE(w, w.norm());
    REQUIRE(test::close(R, rodrigues(w), 0, 1e-15));
    REQUIRE(test::close(R * R.transpose(), Mat3<double>::Identity(), 0, 2e-15));
    REQUIRE(std::abs(R.determinant() - 1.0) < 2e-15);
    REQUIRE(test::close(q.toRotationMatrix(), R, 0, 2e-15));
    REQUIRE(test::close(q.norm(), 1.0, 5e-16, 0));
  });
}

TEST_CASE("lie: Log undoes Exp from 0 to pi, to the last digits of every component", "[engine][value]") {
  for_each_rotation(43, [](const Vec3<double>& w) {
    CAPTURE(w, w.norm());
    REQUIRE(test::close(log_quaternion(exp_quaternion(w)), w, 1e-14, 4e-16 * w.norm()));
    const Quat<double> q = exp_quaternion(w);
    REQUIRE(test::close(log_quaternion(Quat<double>(-q.w(), -q.x(), -q.y(), -q.z())), w, 1e-14,
                        4e-16 * w.norm()));
    REQUIRE(test::close(log_quaternion(Quat<double>(3 * q.w(), 3 * q.x(), 3 * q.y(), 3 * q.z())), w, 1e-14,
                        4e-16 * w.norm()));
    REQUIRE(test::close(log_so3(exp_so3(w)), w, 1e-14,
                        1e-15 * (1.0 + w.norm())));  // 1: R holds small angles to 1e-16
  });
}

TEST_CASE("lie: Log of rotations by exactly pi has length pi and the right axis", "[engine][value]") {
  Random random(44);
  for (int k = 0; k < 100; ++k) {
    const Vec3<double> n = k < 3 ? Vec3<double>(Vec3<double>::Unit(k)) : random.unit_vector();
    const Mat3<double> R = 2.0 * n * n.transpose() - Mat3<double>::Identity();
    const Vec3<double> w = log_so3(R);
    CAPTURE(n);
    REQUIRE(test::close(w.norm(), k_pi, 1e-15, 0));
    REQUIRE(std::abs(std::abs(w.dot(n)) - k_pi) < 1e-14);
  }
}

TEST_CASE("lie: the shortest rotation takes one direction to the other, about an axis across both",
          "[engine][value]") {
  Random random(45);
  for (int k = 0; k < 300; ++k) {
    const Vec3<double> from = test::random_vector(random);
    Vec3<double> to = test::random_vector(random);
    if (k % 3 == 1) to = 3.0 * from + std::pow(10.0, -random.uniform(1.0, 17.0)) * to;
    if (k % 3 == 2) to = -0.5 * from;
    CAPTURE(k, from, to);
    const Quat<double> q = shortest_rotation(from, to);
    REQUIRE(test::close(q.norm(), 1.0, 5e-16, 0));
    REQUIRE(test::close(Vec3<double>(q * from.normalized()), to.normalized(), 0, 1e-15));
    REQUIRE(std::abs(q.vec().dot(from.normalized())) < 1e-15);
  }
  CHECK(shortest_rotation({0, 0, 2}, {0, 0, 5}).coeffs() == Quat<double>::Identity().coeffs());
}

TEST_CASE("lie: derivative of Exp agrees with Jet, finite differences and the left Jacobian",
          "[engine][derivative]") {
  const auto exp_at = [](const auto& w) { return exp_so3(w); };
  for_each_rotation(45, [&](const Vec3<double>& w) {
    // Exp(w + dw) = Exp(J_l dw) Exp(w), so d(vec R) = vec([J_l dw]x R).
    const Mat3<double> J = left_jacobian_so3(w), R = exp_so3(w);
    Eigen::Matrix<double, 9, 3> dR;
    for (int i = 0; i < 3; ++i) {
      const Mat3<double> column = skew<double>(J.col(i)) * R;
      dR.col(i) = Eigen::Map<const Eigen::Matrix<double, 9, 1>>(column.data());
    }
    CAPTURE(w, w.norm());
    REQUIRE(test::close(dR, test::jet_jacobian(exp_at, w), 0, 3e-15));
    REQUIRE(test::close(dR, test::fd_jacobian(exp_at, w, 1e-5), 0, 1e-10));
  });
}

TEST_CASE("lie: derivative of the quaternion Exp is exact at zero and beyond", "[engine][derivative]") {
  const auto exp_at = [](const auto& w) { return exp_quaternion(w).coeffs().eval(); };
  for_each_rotation(46, [&](const Vec3<double>& w) {
    CAPTURE(w, w.norm());
    // dq = (0, J_l dw)/2 * q
    const Mat3<double> J = left_jacobian_so3(w);
    const Quat<double> q = exp_quaternion(w);
    Eigen::Matrix<double, 4, 3> dq;
    for (int i = 0; i < 3; ++i) dq.col(i) = 0.5 * (Quat<double>(0.0, J(0, i), J(1, i), J(2, i)) * q).coeffs();
    REQUIRE(test::close(dq, test::jet_jacobian(exp_at, w), 0, 2e-15));
    REQUIRE(test::close(dq, test::fd_jacobian(exp_at, w, 1e-5), 0, 1e-10));
  });
}

TEST_CASE("lie: derivative of Log under left perturbations is the inverse left Jacobian",
          "[engine][derivative]") {
  for_each_rotation(47, [](const Vec3<double>& w) {
    if (w.norm() > k_pi - 1e-3) return;  // beyond, a step crosses the cut at pi
    const Quat<double> q = exp_quaternion(w);
    const auto log_moved = [&](const auto& dtheta) {
      using S = typename std::decay_t<decltype(dtheta)>::Scalar;
      const Quat<S> q_S(S(q.w()), S(q.x()), S(q.y()), S(q.z()));
      return log_quaternion(Quat<S>(exp_quaternion(Vec3<S>(dtheta)) * q_S));
    };
    const auto log_moved_matrix = [&](const auto& dtheta) {
      using S = typename std::decay_t<decltype(dtheta)>::Scalar;
      return log_so3(Mat3<S>(exp_so3(Vec3<S>(dtheta)) * exp_so3(w).template cast<S>()));
    };
    const Vec3<double> zero = Vec3<double>::Zero();
    const Mat3<double> J_inverse = left_jacobian_inverse_so3(w);
    CAPTURE(w, w.norm());
    REQUIRE(test::close(J_inverse, test::jet_jacobian(log_moved, zero), 0, 1e-14));
    REQUIRE(test::close(J_inverse, test::jet_jacobian(log_moved_matrix, zero), 0,
                        3e-13));  // R repeats itself: 1e-16/t
    REQUIRE(test::close(J_inverse, test::fd_jacobian(log_moved, zero, 1e-5), 0, 3e-10));
  });
}

TEST_CASE("lie: the left Jacobian and its inverse are inverse up to 2 pi", "[engine][property]") {
  for_each_rotation(48, [](const Vec3<double>& w) {
    CAPTURE(w, w.norm());
    REQUIRE(
        test::close(left_jacobian_so3(w) * left_jacobian_inverse_so3(w), Mat3<double>::Identity(), 0, 3e-15));
    REQUIRE(test::close(left_jacobian_so3(Vec3<double>(-w)), left_jacobian_so3(w).transpose(), 0, 1e-15));
    REQUIRE(test::close(exp_so3(w) * left_jacobian_so3(Vec3<double>(-w)), left_jacobian_so3(w), 0,
                        2e-15));  // J_l = R J_r
    const Vec3<double> beyond = 1.9 * w;
    REQUIRE(test::close(left_jacobian_so3(beyond) * left_jacobian_inverse_so3(beyond),
                        Mat3<double>::Identity(), 0, 1e-13));
  });
}

TEST_CASE("lie: second derivatives exist at zero", "[engine][derivative]") {
  using D = Dual<Dual<double, 3>, 3>;
  const auto variable = [](int i, double x) { return D::variable(Dual<double, 3>::variable(x, i), i); };
  const Vec3<D> w(variable(0, 0.0), variable(1, 0.0), variable(2, 0.0));
  const Mat3<D> R = exp_so3(w);
  // Exp(w) = I + W + W^2/2 + ...: the second derivatives of W^2/2 = (w w^T - w.w I)/2.
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      Mat3<double> expected = Mat3<double>::Zero();
      expected(Eigen::Index(i), Eigen::Index(j)) += 0.5;
      expected(Eigen::Index(j), Eigen::Index(i)) += 0.5;
      if (i == j) expected -= Mat3<double>::Identity();
      for (int row = 0; row < 3; ++row) {
        for (int col = 0; col < 3; ++col)
          CHECK(test::close(R(row, col).d[i].d[j], expected(row, col), 0, 1e-16));
      }
    }
  }
}

TEST_CASE("lie: the left Jacobian of SE(3) and its inverse are inverse", "[engine][property]") {
  Random random(49);
  for_each_rotation(50, [&](const Vec3<double>& w) {
    Vec6<double> x;
    x << w, test::random_vector(random, 2.0);
    CAPTURE(x, w.norm());
    REQUIRE(
        test::close(left_jacobian_se3(x) * left_jacobian_inverse_se3(x), Mat6<double>::Identity(), 0, 1e-14));
  });
}

TEST_CASE("lie: coefficients are continuous across the switch from series to closed form",
          "[engine][value]") {
  const AngleFunctions<double> below(std::nextafter(1.0, 0.0)), above(1.0);
  CHECK(test::close(below.sinc(), above.sinc(), 1e-15, 0));
  CHECK(test::close(below.versine(), above.versine(), 1e-15, 0));
  CHECK(test::close(below.cubic(), above.cubic(), 2e-15, 0));
  CHECK(test::close(below.quartic(), above.quartic(), 1e-14, 0));
  CHECK(test::close(below.quintic(), above.quintic(), 1e-13,
                    0));  // 2t - 3 sin t + t cos t is 1/60 of its terms here
  CHECK(test::close(below.inverse_quadratic(), above.inverse_quadratic(), 1e-14, 0));
}

TEST_CASE("lie: float and Pack agree with double", "[engine][batch]") {
  using P = Pack<double, 4>;
  Random random(51);
  for (int k = 0; k < 200; ++k) {
    Vec3<double> w[4];
    Vec3<P> w_pack;
    for (int lane = 0; lane < 4; ++lane) {  // near and far lanes beside each other
      w[lane] =
          test::random_rotation_vector(random, lane == 0 ? 0.0 : std::pow(10.0, random.uniform(-9.0, 0.49)));
      for (int i = 0; i < 3; ++i) w_pack[i].set_lane(lane, w[lane][i]);
    }
    const Mat3<P> R = exp_so3(w_pack), J = left_jacobian_so3(w_pack);
    const Quat<P> q = exp_quaternion(w_pack);
    for (int lane = 0; lane < 4; ++lane) {
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          REQUIRE(test::close(R(i, j)[lane], exp_so3(w[lane])(i, j), 0, 1e-15));
          REQUIRE(test::close(J(i, j)[lane], left_jacobian_so3(w[lane])(i, j), 0, 1e-15));
        }
      }
      REQUIRE(test::close(q.w()[lane], exp_quaternion(w[lane]).w(), 0, 1e-15));
      const Vec3<float> single = w[lane].cast<float>();
      REQUIRE(test::close(exp_so3(single).cast<double>(), exp_so3(w[lane]), 0, 5e-7));
      REQUIRE(test::close(log_quaternion(exp_quaternion(single)).cast<double>(), w[lane], 1e-5,
                          1e-6 * w[lane].norm()));
    }
  }
}

}  // namespace abut
