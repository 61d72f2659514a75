#include "engine/pose.h"

#include <catch2/catch.hpp>

#include <cmath>

#include "engine/pack.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace abut {
namespace {

constexpr double k_pi = 3.14159265358979323846;

Mat4<double> homogeneous(const Pose<double>& X) {
  Mat4<double> M = Mat4<double>::Identity();
  M.topLeftCorner<3, 3>() = X.rotation();
  M.topRightCorner<3, 1>() = X.p;
  return M;
}

/// X moved by a tangent of any scalar: how Jet and differences see a pose.
template <typename Tangent>
auto moved(const Pose<double>& X, const Tangent& tangent) {
  using S = typename Tangent::Scalar;
  return retract(X.cast<S>(), Vec6<S>(tangent));
}

}  // namespace

TEST_CASE("pose: composition, inverse and action are those of homogeneous matrices", "[engine][value]") {
  Random random(61);
  for (int k = 0; k < 100; ++k) {
    const Pose<double> X_AB = test::random_pose(random), X_BC = test::random_pose(random);
    const Vec3<double> p_B = test::random_vector(random);
    REQUIRE(test::close(homogeneous(X_AB * X_BC), homogeneous(X_AB) * homogeneous(X_BC), 0, 1e-15));
    REQUIRE(test::close(homogeneous(X_AB.inverse()), homogeneous(X_AB).inverse(), 0, 3e-15));
    REQUIRE(test::close(X_AB * p_B, X_AB.rotation() * p_B + X_AB.p, 0, 1e-15));
    REQUIRE(test::close(X_AB * (p_B + p_B), X_AB.rotation() * 2.0 * p_B + X_AB.p, 0,
                        2e-15));  // takes expressions
    REQUIRE(test::close(inverse_point(X_AB, Vec3<double>(X_AB * p_B)), p_B, 0, 2e-15));
    REQUIRE(test::close(X_AB.inverse() * (X_AB * p_B), p_B, 0, 2e-15));
  }
  const Pose<double> identity;
  CHECK(homogeneous(identity) == Mat4<double>::Identity());
}

TEST_CASE("pose: normalized restores the unit quaternion and keeps the rotation", "[engine][value]") {
  Random random(62);
  Pose<double> X = test::random_pose(random);
  const Mat3<double> R = X.rotation();
  X.q.coeffs() *= 1.01;
  CHECK(test::close(X.normalized().q.norm(), 1.0, 1e-15, 0));
  CHECK(test::close(X.normalized().rotation(), R, 0, 1e-15));
  CHECK(X.normalized().p == X.p);
}

TEST_CASE("pose: difference undoes retract, and retract difference, up to pi", "[engine][property]") {
  Random random(63);
  for (int k = 0; k < 500; ++k) {
    const Pose<double> X0 = test::random_pose(random), X1 = test::random_pose(random);
    REQUIRE(test::close(homogeneous(retract(X0, difference(X1, X0))), homogeneous(X1), 0, 2e-15));
    const double angle =
        k % 2 == 0 ? random.uniform(0.0, k_pi - 1e-6) : std::pow(10.0, random.uniform(-12.0, -3.0));
    const Vec6<double> tangent =
        stack(test::random_rotation_vector(random, angle), test::random_vector(random));
    REQUIRE(test::close(difference(retract(X0, tangent), X0), tangent, 0, 3e-15));
  }
  const Pose<double> X = test::random_pose(random);
  CHECK(difference(X, X).norm() == 0.0);
}

TEST_CASE("pose: retract perturbs on the left and leaves the origin to the translation", "[engine][value]") {
  Random random(64);
  const Pose<double> X = test::random_pose(random);
  const Vec6<double> tangent = test::random_vector<6>(random);
  const Pose<double> Y = retract(X, tangent);
  CHECK(test::close(Y.rotation(), exp_so3<double>(tangent.head<3>()) * X.rotation(), 0, 1e-15));
  CHECK(test::close(Y.p, X.p + tangent.tail<3>(), 0, 1e-16));
}

TEST_CASE("pose: every JVP is the derivative by the tangent and the point", "[engine][derivative]") {
  Random random(65);
  for (int k = 0; k < 100; ++k) {
    const Pose<double> X = test::random_pose(random), X_BC = test::random_pose(random);
    const Vec3<double> p = test::random_vector(random), dp = test::random_vector(random);
    const Vec6<double> tangent = test::random_vector<6>(random), tangent_BC = test::random_vector<6>(random);
    CAPTURE(k);
    // Along the line t -> (X moved by t tangent, p + t dp), at t = 0; every component.
    for (int i = 0; i < 3; ++i) {
      const auto along = [&](const auto& f) {
        return [&, f](auto t) {
          using S = decltype(t);
          return f(moved(X, (t * tangent.cast<S>()).eval()), Vec3<S>(p.cast<S>() + t * dp.cast<S>()))[i];
        };
      };
      const auto check = [&](const auto& f, double derivative) {
        REQUIRE(test::close(derivative, test::jet_derivative(along(f), 0.0), 1e-13, 1e-14));
        REQUIRE(test::close(derivative, test::fd_derivative(along(f), 0.0, 1e-5), 1e-8, 1e-9));
      };
      check([](const auto& Y, const auto& q) { return (Y * q).eval(); }, point_jvp(X, p, tangent, dp)[i]);
      check([](const auto& Y, const auto& q) { return inverse_point(Y, q); },
            inverse_point_jvp(X, p, tangent, dp)[i]);
      check([](const auto& Y, const auto& q) { return (Y.q * q).eval(); }, vector_jvp(X, p, tangent, dp)[i]);
    }
    const auto composed = [&](auto t) {
      using S = decltype(t);
      return difference(
          Pose<S>(moved(X, (t * tangent.cast<S>()).eval()) * moved(X_BC, (t * tangent_BC.cast<S>()).eval())),
          (X * X_BC).template cast<S>());
    };
    const Vec6<double> d = compose_jvp(X, X_BC, tangent, tangent_BC);
    for (int i = 0; i < 6; ++i) {
      REQUIRE(
          test::close(d[i], test::jet_derivative([&](auto t) { return composed(t)[i]; }, 0.0), 1e-13, 1e-13));
      REQUIRE(test::close(d[i], test::fd_derivative([&](auto t) { return composed(t)[i]; }, 0.0, 1e-5), 1e-8,
                          1e-9));
    }
  }
}

TEST_CASE("pose: every VJP is the transpose of its JVP", "[engine][derivative]") {
  Random random(66);
  for (int k = 0; k < 200; ++k) {
    const Pose<double> X = test::random_pose(random), X_BC = test::random_pose(random);
    const Vec3<double> p = test::random_vector(random), dp = test::random_vector(random),
                       bar = test::random_vector(random);
    const Vec6<double> tangent = test::random_vector<6>(random), tangent_BC = test::random_vector<6>(random);
    const Vec6<double> pose_bar = test::random_vector<6>(random);
    const auto check = [&](const Vec3<double>& jvp, const PosePointBar<double>& vjp) {
      REQUIRE(test::close(bar.dot(jvp), vjp.pose.dot(tangent) + vjp.point.dot(dp), 1e-13, 1e-14));
    };
    check(point_jvp(X, p, tangent, dp), point_vjp(X, p, bar));
    check(inverse_point_jvp(X, p, tangent, dp), inverse_point_vjp(X, p, bar));
    check(vector_jvp(X, p, tangent, dp), vector_vjp(X, p, bar));
    const ComposeBar<double> vjp = compose_vjp(X, X_BC, pose_bar);
    REQUIRE(test::close(pose_bar.dot(compose_jvp(X, X_BC, tangent, tangent_BC)),
                        vjp.X_WB.dot(tangent) + vjp.X_BC.dot(tangent_BC), 1e-13, 1e-14));
    const Vec3<double> force = bar, r = p;  // power of a force is that of its wrench
    REQUIRE(test::close(force.dot(point_velocity(tangent, r)), wrench_of_force(r, force).dot(tangent), 1e-13,
                        1e-14));
  }
}

TEST_CASE("pose: Log of SE(3) undoes Exp from 0 to pi", "[engine][value]") {
  Random random(67);
  for (int k = 0; k < 500; ++k) {
    const double angle = k == 0       ? 0.0
                         : k % 2 == 0 ? random.uniform(0.0, k_pi - 1e-6)
                                      : std::pow(10.0, random.uniform(-12.0, -3.0));
    const Vec6<double> x =
        stack(test::random_rotation_vector(random, angle), test::random_vector(random, 2.0));
    CAPTURE(k, x);
    REQUIRE(test::close(log_se3(exp_se3(x)), x, 0, 1e-14));
    const Pose<double> X = test::random_pose(random);
    REQUIRE(test::close(homogeneous(exp_se3(log_se3(X))), homogeneous(X), 0, 1e-14));
  }
}

TEST_CASE("pose: Exp of SE(3) follows a constant twist, so halves compose", "[engine][property]") {
  Random random(68);
  const Vec6<double> x = test::random_vector<6>(random), half = 0.5 * x;
  CHECK(test::close(homogeneous(exp_se3(half) * exp_se3(half)), homogeneous(exp_se3(x)), 0, 1e-15));
  Mat4<double> sum = Mat4<double>::Identity(), term = sum,
               generator = Mat4<double>::Zero();  // the power series
  generator.topLeftCorner<3, 3>() = skew<double>(x.head<3>());
  generator.topRightCorner<3, 1>() = x.tail<3>();
  for (int k = 1; k < 30; ++k) sum += term = term * generator / k;
  CHECK(test::close(homogeneous(exp_se3(x)), sum, 0, 2e-15));
}

TEST_CASE("pose: derivative of Exp of SE(3) is the left Jacobian", "[engine][derivative]") {
  Random random(69);
  for (int k = 0; k < 200; ++k) {
    const double angle = k == 0       ? 0.0
                         : k % 2 == 0 ? random.uniform(0.0, 3.0)
                                      : std::pow(10.0, random.uniform(-12.0, 0.1));
    const Vec6<double> x =
        stack(test::random_rotation_vector(random, angle), test::random_vector(random, 2.0));
    // Exp(x + dx) Exp(x)^-1 = Exp(J dx)
    const auto left = [&](const auto& y) {
      using S = typename std::decay_t<decltype(y)>::Scalar;
      return log_se3(Pose<S>(exp_se3(Vec6<S>(y)) * exp_se3(x).inverse().template cast<S>()));
    };
    const Mat6<double> J = left_jacobian_se3(x);
    CAPTURE(k, x);
    REQUIRE(test::close(J, test::jet_jacobian(left, x), 0, 3e-14));
    REQUIRE(test::close(J, test::fd_jacobian(left, x, 1e-5), 0, 1e-9));
  }
}

TEST_CASE("pose: a Pack of poses is the poses", "[engine][batch]") {
  using P = Pack<double, 4>;
  Random random(70);
  Pose<double> X[4];
  Vec3<double> p[4];
  Pose<P> X_pack;
  Vec3<P> p_pack;
  for (int lane = 0; lane < 4; ++lane) {
    X[lane] = test::random_pose(random);
    p[lane] = test::random_vector(random);
    for (int i = 0; i < 4; ++i) X_pack.q.coeffs()[i].set_lane(lane, X[lane].q.coeffs()[i]);
    for (int i = 0; i < 3; ++i)
      X_pack.p[i].set_lane(lane, X[lane].p[i]), p_pack[i].set_lane(lane, p[lane][i]);
  }
  const Vec3<P> moved_pack = (X_pack * X_pack).normalized() * p_pack + inverse_point(X_pack, p_pack);
  const PosePointBar<P> bar = inverse_point_vjp(X_pack, p_pack, moved_pack);
  for (int lane = 0; lane < 4; ++lane) {
    const Vec3<double> one = (X[lane] * X[lane]).normalized() * p[lane] + inverse_point(X[lane], p[lane]);
    const PosePointBar<double> bar_one = inverse_point_vjp(X[lane], p[lane], one);
    for (int i = 0; i < 3; ++i) CHECK(test::close(moved_pack[i][lane], one[i], 1e-14, 1e-15));
    for (int i = 0; i < 6; ++i) CHECK(test::close(bar.pose[i][lane], bar_one.pose[i], 1e-14, 1e-15));
  }
}

}  // namespace abut
