#include "dynamics/contact_laws/penalty.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <Eigen/Eigenvalues>

#include "engine/random.h"
#include "tests/support/close.h"
#include "tests/support/contact_law_cases.h"
#include "tests/support/gradient_check.h"

namespace {

using namespace abut;
using test::around, test::Jet, test::ramp;

}  // namespace

TEST_CASE("penalty: value and derivatives are those of the formula, tails included",
          "[dynamics][derivative]") {
  Random random(7);
  const auto force_of = [](const auto& u_n, const auto& d, const auto& k, const auto& tau_d, double w) {
    using S = std::decay_t<decltype(u_n)>;
    using std::exp;
    const S x = -d / w;
    const S gate = x > S(0) ? S(S(1) / (S(1) + exp(-x))) : S(exp(x) / (S(1) + exp(x)));
    const S y = ramp(S(-d), S(w)) - tau_d * u_n * gate, t = y / w;
    const S c = t < S(0) ? S(0) : t > S(1) ? S(1) : t;
    return S(k * y * c * c * c * (S(10) + c * (S(6) * c - S(15))));
  };
  int pulling = 0;
  for (int i = 0; i < 1000; ++i) {
    const double w = std::pow(10.0, random.uniform(-6.0, -3.0)), k = std::pow(10.0, random.uniform(2.0, 6.0));
    const double tau_d = random.uniform(0.0, 0.1);
    const double d = around(random, w), u_n = around(random, 3.0 * w / 0.1);
    CAPTURE(i, d, u_n, tau_d, w, k);
    using J = Jet<4>;
    const J exact = force_of(J(u_n, 0), J(d, 1), J(k, 2), J(tau_d, 3), w);
    const penalty::Force f = penalty::normal_force(u_n, d, k, tau_d, w);
    const double unit = k * w, noise = 1e-11;
    REQUIRE(f.value >= 0.0);
    REQUIRE(test::close(f.value, exact.a, noise, 1e-14 * unit));
    REQUIRE(test::close(f.d_velocity, exact.v[0], noise, 1e-13 * unit * tau_d / w));
    REQUIRE(test::close(f.d_distance, exact.v[1], noise, 1e-13 * unit / w));
    REQUIRE(test::close(f.d_stiffness, exact.v[2], noise, 1e-14 * unit / k));
    REQUIRE(test::close(f.d_dissipation_time, exact.v[3], noise, 1e-13 * k * std::abs(u_n)));
    if (d < -w && tau_d * u_n > -d) ++pulling;
    const auto fd = test::fd_sweep([&](double x) { return penalty::normal_force(u_n, x, k, tau_d, w).value; },
                                   d, w, 1e-6, 1e-8 * unit / w);
    // C^2 only, where y passes 0 and w; there differences of high order do not converge.
    if (!fd.disagrees_with_itself)
      REQUIRE(test::close(f.d_distance, fd.value, 1e-5, 1e-7 * unit / w * (1.0 + tau_d * std::abs(u_n) / w)));
  }
  CHECK(pulling >= 10);  // where a damper alone would pull, there are cases
}

TEST_CASE(
    "penalty: the spring of a step is that of the material, damped by some, up to what the step can follow",
    "[dynamics][derivative]") {
  const auto soft_minimum = [](const auto& x, const auto& m) {
    using S = std::decay_t<decltype(x)>;
    using std::pow;
    const S r = x / m;
    return S(x / pow(S(1) + r * r * r * r, 0.25));
  };
  Random random(8);
  for (int i = 0; i < 1000; ++i) {
    const double h = std::pow(10.0, random.uniform(-4.0, -2.0)),
                 W = std::pow(10.0, random.uniform(-3.0, 3.0));
    const double k = 0.2 / (h * h * W) * std::pow(10.0, random.uniform(-3.0, 3.0));
    const double tau_d = random.uniform() < 0.2 ? 0.0 : h * std::pow(10.0, random.uniform(-3.0, 3.0));
    CAPTURE(i, k, tau_d, W, h);
    using J = Jet<3>;
    const J k_J(k, 0), tau_J(tau_d, 1), W_J(W, 2), h_J(h);
    const J stiffness = soft_minimum(k_J, J(0.2 / (h_J * h_J * W_J)));
    const bool shares = random.uniform() < 0.5;
    const J shortest = J(0.5) / sqrt(stiffness * W_J), ratio = tau_J / shortest, fourth = pow(ratio, 4);
    const J damped = shares ? J(shortest * pow(J(1) + fourth * fourth, 0.125)) : tau_J;
    const J time = soft_minimum(damped, J(0.14 / (h_J * stiffness * W_J)));
    const penalty::Spring spring = penalty::stable_spring(k, tau_d, shares, W, h);
    REQUIRE(test::close(spring.stiffness, stiffness.a, 1e-12, 0));
    // Far beyond the limit the oracle's derivatives are differences of numbers of order 1.
    REQUIRE(test::close(spring.stiffness_by_stiffness, stiffness.v[0], 1e-11, 1e-15));
    REQUIRE(test::close(spring.stiffness_by_inverse_mass, stiffness.v[2], 1e-11, 1e-14 * k / W));
    REQUIRE(test::close(spring.dissipation_time, time.a, 1e-12, 0));
    REQUIRE(test::close(spring.time_by_time, time.v[1], 1e-11, 1e-15));
    REQUIRE(test::close(spring.time_by_stiffness, time.v[0], 1e-11, 1e-14 * time.a / k));
    REQUIRE(test::close(spring.time_by_inverse_mass, time.v[2], 1e-11, 1e-14 * time.a / W));
    REQUIRE(test::close(spring.stiffness_by_compliance, -k * k * spring.stiffness_by_stiffness, 1e-12, 0));
    REQUIRE(test::close(spring.time_by_compliance, -k * k * spring.time_by_stiffness, 1e-12, 0));
    // h^2 k w + 2 h k tau_d w < 4 with levers and loads that make w = 8 W_c.
    REQUIRE(8.0 * W * h * spring.stiffness * (h + 2.0 * spring.dissipation_time) < 4.0);
  }
  for (const double k : {1e20, 1e100, 1e300}) {  // as stiff as the step can follow, and no stiffer
    const penalty::Spring stiff = penalty::stable_spring(k, 1e-4, true, 1.0, 2e-3);
    CHECK(test::close(stiff.stiffness, 0.2 / (2e-3 * 2e-3), 1e-12, 0));
    CHECK(stiff.stiffness_by_compliance <= 0.0);
    CHECK(test::close(stiff.stiffness_by_compliance, 0.0, 0, 1e-3));
    CHECK(std::isfinite(stiff.time_by_compliance));
  }
  const penalty::Spring soft = penalty::stable_spring(1e4, 1e-4, false, 1.0, 2e-3);  // h = 0.2 sqrt(m/k)
  CHECK(test::close(soft.stiffness, 1e4, 1e-3, 0));
  CHECK(test::close(soft.dissipation_time, 1e-4, 1e-3, 0));
  CHECK(penalty::stable_spring(1e4, 0.0, false, 1.0, 1e-4).dissipation_time == 0.0);
  const penalty::Spring shared = penalty::stable_spring(1e4, 0.0, true, 1.0, 1e-4);
  CHECK(test::close(shared.dissipation_time, 5e-3, 1e-3, 0));  // a quarter of the critical damping
}

TEST_CASE("penalty: levers add at least what an impulse in any direction meets, and 9 % more at most",
          "[dynamics][derivative]") {
  Random random(10);
  for (int i = 0; i < 300; ++i) {
    const Mat3<double> R = random.quaternion().toRotationMatrix();
    Vec3<double> moments;  // of a solid: none above the sum of the others
    for (double& x : moments) x = std::pow(10.0, random.uniform(-4.0, 0.0));
    moments = Vec3<double>::Constant(moments.sum()) - moments;
    const Mat3<double> I = R * moments.asDiagonal() * R.transpose(), A = I.inverse();
    const Vec3<double> r = std::pow(10.0, random.uniform(-3.0, 1.0)) * random.unit_vector();
    const double value = penalty::lever_inverse_mass(r, A);
    const Mat3<double> L = skew<double>(r) * A * skew<double>(r).transpose();
    const double largest = Eigen::SelfAdjointEigenSolver<Mat3<double>>(L).eigenvalues().maxCoeff();
    CAPTURE(i, value, largest);
    REQUIRE(value >= largest * (1.0 - 1e-12));
    REQUIRE(value <= std::pow(2.0, 0.125) * largest * (1.0 + 1e-12));
    for (int k = 0; k < 5; ++k) {
      const Vec3<double> arm = r.cross(random.unit_vector());
      REQUIRE(arm.dot(A * arm) <= value * (1.0 + 1e-12));
    }

    using J = Jet<12>;
    Vec3<J> r_J;
    Mat3<J> I_J;
    for (int a = 0; a < 3; ++a) {
      r_J[a] = J(r[a], a);
      for (int b = 0; b < 3; ++b) I_J(a, b) = J(I(a, b), 3 + 3 * a + b);
    }
    const Mat3<J> arm_J = skew<J>(r_J), L_J = arm_J * I_J.inverse() * arm_J.transpose(), L_2 = L_J * L_J,
                  L_4 = L_2 * L_2, L_8 = L_4 * L_4;
    const J exact = pow(L_8.trace(), 0.125);
    const penalty::LeverGradient by = penalty::lever_inverse_mass_gradient(r, A);
    REQUIRE(test::close(value, exact.a, 1e-11, 0));
    REQUIRE(test::close(by.r, Vec3<double>(exact.v.head<3>()), 1e-9, 1e-11 * value / r.norm()));
    const Mat3<double> dI = Eigen::Map<const Mat3<double>>(exact.v.tail<9>().data()).transpose();
    REQUIRE(
        test::close(by.inertia, Mat3<double>(0.5 * (dI + dI.transpose())), 1e-8, 1e-10 * value * A.norm()));
  }
  const Mat3<double> A = Vec3<double>(1.0, 2.0, 3.0).asDiagonal();
  CHECK(penalty::lever_inverse_mass(Vec3<double>::Zero(), A) == 0.0);
  CHECK(penalty::lever_inverse_mass_gradient(Vec3<double>::Zero(), A).r.isZero(0.0));
  CHECK(penalty::lever_inverse_mass_gradient(Vec3<double>::Zero(), A).inertia.isZero(0.0));
}

TEST_CASE("penalty: a step limits contacts by their masses, or by levers and loads where these are large",
          "[dynamics][derivative]") {
  Random random(11);
  for (int i = 0; i < 300; ++i) {
    const double W = std::pow(10.0, random.uniform(-3.0, 3.0)),
                 levers = W * std::pow(10.0, random.uniform(-1.0, 3.0)),
                 load = i % 10 == 0 ? 0.0 : random.uniform(0.0, 6.0);
    CAPTURE(i, W, levers, load);
    using J = Jet<3>;
    const J W_J(W, 0), w = W_J + J(levers, 1), S(load, 2);
    const J exact = pow(pow(W_J, 8) + pow(w / 6.0, 8) + pow(S * w / 8.0, 8), 0.125);
    const penalty::LimitingInverseMass limiting = penalty::limiting_inverse_mass(W, levers, load);
    REQUIRE(test::close(limiting.value, exact.a, 1e-11, 0));
    REQUIRE(test::close(limiting.d_inverse_mass, exact.v[0], 1e-10, 0));
    REQUIRE(test::close(limiting.d_levers, exact.v[1], 1e-10, 0));
    if (load > 0.0) REQUIRE(test::close(limiting.d_load, exact.v[2], 1e-10, 1e-300));
    REQUIRE(8.0 * limiting.value >= load * (W + levers) * (1.0 - 1e-12));
  }
  // A ball, and the corner of a cube, alone on a floor: masses decide.
  CHECK(
      test::close(penalty::limiting_inverse_mass(1.0, 2.5 * std::pow(2.0, 0.125), 1.0).value, 1.0, 0.01, 0));
  CHECK(
      test::close(penalty::limiting_inverse_mass(1.0, 4.5 * std::pow(2.0, 0.125), 1.0).value, 1.0, 0.09, 0));
}

TEST_CASE("penalty: is a spring and damper once deep, nothing when apart, and grows with depth",
          "[dynamics][property]") {
  const double w = 1e-4, k = 1e4;
  CHECK(test::close(penalty::normal_force(-0.3, -5e-3, k, 0.01, w).value, k * (5e-3 + 0.01 * 0.3), 1e-12, 0));
  CHECK(penalty::normal_force(0.0, 40.0 * w, k, 0.0, w).value < 1e-50);
  CHECK(penalty::normal_force(2.0, -5e-3, k, 0.01, w).value ==
        0.0);  // parting faster than the spring follows
  double previous = -1.0;
  for (double d = 5e-4; d > -5e-3; d -= 1e-6) {
    const double value = penalty::normal_force(0.0, d, k, 0.01, w).value;
    REQUIRE(value >= previous);
    REQUIRE(value - previous <=
            2.0 * k * 1e-6 + 1.0 * (previous < 0.0));  // no jump, nor a slope above twice k
    previous = value;
  }
}

TEST_CASE("penalty: the stiction speed is that of the settings, or what friction turns round in a step",
          "[dynamics][derivative]") {
  Random random(9);
  for (int i = 0; i < 300; ++i) {
    const double least = std::pow(10.0, random.uniform(-4.0, 0.0));
    const double reached = i == 0 ? 0.0 : least * std::pow(10.0, random.uniform(-2.0, 4.0));
    using J = Jet<1>;
    const J x(reached / least, 0);
    const J exact = least * pow(J(1) + pow(x / 0.2, 8), 0.125);
    const penalty::StictionSpeed v = penalty::stable_stiction_speed(least, reached);
    CAPTURE(i, least, reached);
    REQUIRE(test::close(v.value, exact.a, 1e-12, 0));
    REQUIRE(test::close(v.d_force, exact.v[0] / least, 1e-11, 1e-300));
    REQUIRE(v.value >= std::max(least, reached / 0.2));
  }
  CHECK(penalty::stable_stiction_speed(0.1, 1e300).value == 1e300 / 0.2);
}
