#include "dynamics/contact_laws/convex_cone.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <Eigen/Eigenvalues>

#include "dynamics/contact_laws/impedance.h"
#include "engine/lie.h"
#include "engine/pack.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace {

using namespace abut;
using convex_cone::Cone;
using convex_cone::ConeOf;
using convex_cone::Zone;
using test::Jet;

/// A contact in any of the zones, unit normals in three cases of four.
struct Case {
  Vec3<double> u, n;
  convex_cone::Parameters<double> c;

  explicit Case(Random& random) {
    n = (random.uniform() < 0.25 ? random.uniform(0.2, 1.0) : 1.0) * random.unit_vector();
    c.friction = random.uniform() < 0.1 ? 0.0 : random.uniform(0.05, 1.5);
    c.ratio = std::pow(10.0, random.uniform(-3.0, 1.0));
    c.scale = std::pow(10.0, random.uniform(-2.0, 4.0));
    const double speed = std::pow(10.0, random.uniform(-6.0, 1.0));
    // T over N from well inside the sticking zone to well outside, and N of either sign.
    const double slip = speed * std::pow(10.0, random.uniform(-2.0, 1.0)) * std::max(c.ratio, 0.01);
    c.target = random.uniform(-1.0, 1.0) * speed;
    const Vec3<double> tangent = n.cross(random.unit_vector());
    u = random.uniform(-1.0, 1.0) * speed * n + slip * tangent.normalized();
  }
  [[nodiscard]] Cone cone() const { return {u, n, c}; }
  /// Distance in velocity to the nearest seam.
  [[nodiscard]] double clearance() const {
    const double N = c.target - n.dot(u), T = (u - n.dot(u) * n).norm();
    return std::min(std::abs(N + c.friction * T), std::abs(T - c.friction * c.ratio * N));
  }
};

/// x = (u, n, target, scale, ratio, mu): the impulse by the zones' formulas.
template <typename S>
Vec3<S> impulse_of(const Eigen::Matrix<S, 10, 1>& x) {
  using std::sqrt;
  const Vec3<S> u = x.template head<3>(), n = x.template segment<3>(3);
  const S &target = x[6], &scale = x[7], &ratio = x[8], &mu = x[9];
  const Vec3<S> u_t = u - n * n.dot(u);
  const S N = target - n.dot(u), T = sqrt(u_t.dot(u_t));
  const Vec3<S> P_u_t = u_t - n * n.dot(u_t);
  if (N + mu * T <= S(0)) return Vec3<S>(S(0), S(0), S(0));
  if (T <= mu * ratio * N) return n * (scale * N) - P_u_t * (scale / ratio);
  const S gamma = scale * (N + mu * T) / (S(1) + mu * mu * ratio);
  return n * gamma - P_u_t * (mu * gamma / T);
}

Eigen::Matrix<double, 10, 1> inputs(const Case& c) {
  Eigen::Matrix<double, 10, 1> x;
  x << c.u, c.n, c.c.target, c.c.scale, c.c.ratio, c.c.friction;
  return x;
}

int index_of(Zone zone) { return static_cast<int>(zone); }

}  // namespace

// The cone --------------------------------------------------------------------------------------------------

TEST_CASE("Cone: the impulse is the nearest point of the friction cone in the metric of R",
          "[dynamics][value]") {
  Random random(1);
  std::array<int, 3> zones{};
  for (int i = 0; i < 3000; ++i) {
    Case c(random);
    c.n.normalize();
    const Cone cone = c.cone();
    const Vec3<double> gamma = cone.impulse(), n = c.n;
    ++zones[static_cast<std::size_t>(index_of(cone.zone()))];
    const double R_n = 1.0 / c.c.scale, R_t = c.c.ratio * R_n, mu = c.c.friction;
    const auto tangential = [&](const Vec3<double>& x) -> Vec3<double> { return x - n.dot(x) * n; };
    const double gamma_n = n.dot(gamma), gamma_t = tangential(gamma).norm();
    // The residual R (gamma - y) = R gamma - (v_hat - u) lies in the dual cone mu |r_t| <= r_n, and is
    // orthogonal to gamma: which is the nearest point and no other.
    const Vec3<double> r = R_n * gamma_n * n + R_t * tangential(gamma) - c.c.target * n + c.u;
    const double r_n = n.dot(r), r_t = tangential(r).norm();
    const double speed = std::abs(c.c.target) + c.u.norm() + 1e-3 * R_t * gamma_t;
    CAPTURE(i, index_of(cone.zone()), mu, c.c.ratio);
    REQUIRE(gamma_n >= 0.0);
    REQUIRE(test::close(cone.normal_impulse(), gamma_n, 1e-12, 1e-14 * c.c.scale * speed));
    REQUIRE(gamma_t <= mu * gamma_n * (1.0 + 1e-10) + 1e-13 * c.c.scale * speed);
    REQUIRE(mu * r_t <= r_n + 1e-12 * speed * (1.0 + mu));
    REQUIRE(std::abs(r.dot(gamma)) <= 1e-11 * speed * gamma.norm() * (1.0 + mu));
    // l = 1/2 gamma R gamma
    REQUIRE(test::close(cone.potential(), 0.5 * (R_n * gamma_n * gamma_n + R_t * gamma_t * gamma_t), 1e-9,
                        1e-13 * c.c.scale * speed * speed));
  }
  for (const int count : zones) CHECK(count >= 300);
}

TEST_CASE("Cone: impulse is minus the potential's gradient and resistance minus its Jacobian, PSD",
          "[dynamics][derivative]") {
  Random random(2);
  std::array<int, 3> zones{};
  for (int i = 0; i < 2000; ++i) {
    const Case c(random);
    const Cone cone = c.cone();
    ++zones[static_cast<std::size_t>(index_of(cone.zone()))];
    const auto at = [&](const auto& u) {
      using S = std::decay_t<decltype(u[0])>;
      return ConeOf<S>(u, c.n.cast<S>(), {S(c.c.target), S(c.c.scale), S(c.c.ratio), S(c.c.friction)});
    };
    const double unit = c.c.scale * (1.0 + 1.0 / c.c.ratio), speed = std::abs(c.c.target) + c.u.norm();
    CAPTURE(i, index_of(cone.zone()), c.c.friction, c.c.ratio, c.c.scale);
    const Vec3<double> gradient = test::jet_gradient([&](const auto& u) { return at(u).potential(); }, c.u);
    REQUIRE(test::close(cone.impulse(), -gradient, 1e-9, 1e-12 * unit * speed));
    const Mat3<double> K = cone.resistance();
    const Mat3<double> J = test::jet_jacobian([&](const auto& u) { return at(u).impulse(); }, c.u);
    REQUIRE(test::close(K, -J, 1e-9, 1e-11 * unit));
    REQUIRE(K == K.transpose());
    const Eigen::SelfAdjointEigenSolver<Mat3<double>> eigen(K);
    REQUIRE(eigen.eigenvalues().minCoeff() >= -1e-14 * unit);
    REQUIRE(eigen.eigenvalues().maxCoeff() <= unit * (1.0 + 1e-12));
    // Straight differences, inside the zone.
    if (c.clearance() < 1e-3 * speed) continue;
    const Mat3<double> fd = test::fd_jacobian(
        [&](const Vec3<double>& u) { return Cone(u, c.n, c.c).impulse(); }, c.u, 1e-5 * c.clearance());
    REQUIRE(test::close(K, -fd, 1e-5, 1e-5 * unit));
  }
  for (const int count : zones) CHECK(count >= 200);
}

TEST_CASE("Cone: VJP agrees with Jet on the zones' formulas and with differences, in every input",
          "[dynamics][derivative]") {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const Case c(random);
    const Vec3<double> lambda = test::random_vector(random);
    const auto f = [&](const auto& x) {
      using S = std::decay_t<decltype(x[0])>;
      const Vec3<S> gamma = impulse_of<S>(x);
      return S(gamma[0] * S(lambda[0]) + gamma[1] * S(lambda[1]) + gamma[2] * S(lambda[2]));
    };
    const auto x = inputs(c);
    const Cone::Bar bar = c.cone().vjp(lambda);
    Eigen::Matrix<double, 10, 1> analytic;
    analytic << bar.u, bar.n, bar.target, bar.scale, bar.ratio, bar.friction;
    const Eigen::Matrix<double, 10, 1> exact = test::jet_gradient(f, x);
    CAPTURE(i, index_of(c.cone().zone()), x.transpose(), analytic.transpose(), exact.transpose());
    REQUIRE(
        test::close(c.cone().impulse().dot(lambda), f(x), 1e-10, 1e-13 * c.c.scale * c.u.norm() / c.c.ratio));
    const double speed = std::abs(c.c.target) + c.u.norm(), unit = c.c.scale * (1.0 + 1.0 / c.c.ratio);
    Eigen::Matrix<double, 10, 1> size;  // of each derivative, in its units
    size << Vec3<double>::Constant(unit), Vec3<double>::Constant(unit * speed), unit,
        unit * speed / c.c.scale, unit * speed / c.c.ratio, unit * speed;
    REQUIRE((analytic - exact).cwiseQuotient(size).cwiseAbs().maxCoeff() <= 1e-11);

    if (c.clearance() < 1e-2 * speed) continue;
    for (Eigen::Index k = 0; k < 10; ++k) {
      const auto along = [&](double t) {
        auto moved = x;
        moved[k] += t;
        const Vec3<double> u = moved.head<3>(), n = moved.segment<3>(3);
        return Cone(u, n, {moved[6], moved[7], moved[8], moved[9]}).impulse().dot(lambda);
      };
      const double reach = k < 3 || k == 6 ? speed : k < 6 || k == 9 ? 1.0 : x[k];
      const double fd = test::fd_derivative(along, 0.0, 1e-6 * reach);
      CAPTURE(k, fd);
      REQUIRE(std::abs(fd - analytic[k]) <= 1e-4 * size[k]);
    }
  }
}

TEST_CASE("Cone: impulses are continuous across the seams", "[dynamics][property]") {
  Random random(4);
  for (int i = 0; i < 300; ++i) {
    Case c(random);
    const double unit = c.c.scale * (1.0 + 1.0 / c.c.ratio);
    Vec3<double> before = c.cone().impulse();
    const Vec3<double> from = c.u, direction = 4.0 * std::abs(c.c.target) * random.unit_vector();
    constexpr int k_steps = 400;
    for (int k = 1; k <= k_steps; ++k) {
      c.u = from + k * direction / k_steps;
      const Vec3<double> now = c.cone().impulse();
      REQUIRE((now - before).norm() <= 1.01 * unit * direction.norm() / k_steps);
      before = now;
    }
  }
}

TEST_CASE("Cone: turning everything turns the impulse, and lanes give what single numbers give",
          "[dynamics][batch]") {
  using Lanes = Pack<double, 8>;
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    Vec3<Lanes> u, n;
    convex_cone::Parameters<Lanes> parameters{};
    std::vector<Case> cases;
    alignas(64) double numbers[10][8];
    for (int lane = 0; lane < 8; ++lane) {
      cases.emplace_back(random);
      const auto x = inputs(cases.back());
      for (int k = 0; k < 10; ++k) numbers[k][lane] = x[k];
    }
    for (int k = 0; k < 3; ++k) {
      u[k] = Lanes::load(numbers[k]);
      n[k] = Lanes::load(numbers[3 + k]);
    }
    parameters = {Lanes::load(numbers[6]), Lanes::load(numbers[7]), Lanes::load(numbers[8]),
                  Lanes::load(numbers[9])};
    const ConeOf<Lanes> lanes(u, n, parameters);
    const Vec3<Lanes> impulses = lanes.impulse();
    const Mat3<Lanes> resistances = lanes.resistance();
    const Quat<double> R = random.quaternion();
    for (int lane = 0; lane < 8; ++lane) {
      const Case& c = cases[static_cast<std::size_t>(lane)];
      const Cone cone = c.cone();
      const Vec3<double> impulse = cone.impulse();
      const Mat3<double> resistance = cone.resistance();
      const double unit = c.c.scale * (1.0 + 1.0 / c.c.ratio), speed = std::abs(c.c.target) + c.u.norm();
      CAPTURE(i, lane, index_of(cone.zone()));
      // Sums are rounded in another order, and N + mu T may cancel.
      for (int k = 0; k < 3; ++k)
        REQUIRE(test::close(impulses[k][lane], impulse[k], 1e-10, 1e-14 * unit * speed));
      for (int k = 0; k < 9; ++k)
        REQUIRE(test::close(resistances(k % 3, k / 3)[lane], resistance(k % 3, k / 3), 1e-10, 1e-14 * unit));
      if (c.clearance() < 1e-12 * speed) continue;
      REQUIRE(test::close(Cone(R * c.u, R * c.n, c.c).impulse(), R * impulse, 1e-9, 1e-12 * unit * speed));
    }
  }
}

TEST_CASE("Cone: no slip, no friction and no weight are no trouble", "[dynamics][value]") {
  const Vec3<double> n = Vec3<double>::UnitZ(), zero = Vec3<double>::Zero();
  for (const double mu : {0.0, 0.5}) {
    for (const double target : {-1.0, 0.0, 1.0}) {
      for (const Vec3<double>& u : {zero, Vec3<double>(0.1, 0.0, 0.0), Vec3<double>(1e-160, 0.0, 0.0)}) {
        const Cone cone(u, n, {target, 2.0, 1e-3, mu});
        CAPTURE(mu, target, u.transpose());
        CHECK(cone.impulse().allFinite());
        CHECK(cone.resistance().allFinite());
        const Cone::Bar bar = cone.vjp({1.0, 2.0, 3.0});
        CHECK((bar.u.allFinite() && bar.n.allFinite() && std::isfinite(bar.ratio) &&
               std::isfinite(bar.friction)));
        if (u.norm() < 1e-100)
          CHECK(test::close(cone.impulse(), 2.0 * std::max(target, 0.0) * n, 1e-15, 1e-150));
        CHECK(Cone(u, n, {target, 0.0, 1e-3, mu}).impulse().isZero(0.0));
        CHECK(Cone(u, n, {target, 0.0, 1e-3, mu}).resistance().isZero(0.0));
      }
    }
  }
  // Without friction nothing acts along the surface, at no speed.
  CHECK(Cone({0.3, 0.0, -1.0}, n, {0.0, 2.0, 1e-3, 0.0}).impulse() == Vec3<double>(0.0, 0.0, 2.0));
  CHECK(Cone({0.3, 0.0, -1.0}, n, {std::nan(""), 2.0, 1e-3, 0.4}).impulse().hasNaN());
}

TEST_CASE("Cone: a contact is near a kink where a small change of velocity brings it across a seam",
          "[dynamics][value]") {
  const Vec3<double> n = Vec3<double>::UnitZ();
  const double mu = 0.5, rho = 0.1, scale = 2.0, change = 1e-3, response = 3.0;
  const auto near = [&](double slip, double target, double friction) {
    return Cone({slip, 0.0, 0.0}, n, {target, scale, rho, friction}).is_near_kink(change, response);
  };
  const double bound = mu * rho * 0.4;  // slip at which it begins to slide, at target 0.4 m/s
  const double share = change / (1.0 + response * scale / rho);  // of the change, where the contact sticks
  CHECK_FALSE(near(bound - 1.1 * share, 0.4, mu));
  CHECK(near(bound - 0.9 * share, 0.4, mu));
  CHECK(near(bound + 0.9 * change, 0.4, mu));
  CHECK_FALSE(near(bound + 1.1 * change, 0.4, mu));
  CHECK_FALSE(near(0.0, -1.1 * change, mu));  // open
  CHECK(near(0.0, -0.9 * change, mu));
  CHECK(near(0.0, 0.9 * change / (1.0 + response * scale), 0.0));  // hardly pushes
  CHECK_FALSE(near(0.0, 1.1 * change / (1.0 + response * scale), 0.0));
  CHECK_FALSE(near(0.0, 0.4, 0.0));  // nothing sticks, so nothing begins to slide
}

// Drake's parameters ----------------------------------------------------------------------------------------

TEST_CASE("convex_cone: parameters and their VJP are those of the formulas", "[dynamics][derivative]") {
  Random random(6);
  for (int i = 0; i < 300; ++i) {
    smooth_coulomb::Settings s;
    s.h = std::pow(10.0, random.uniform(-3.5, -1.5));
    s.near_rigid = 2.5e-4;
    s.velocity_smoothing = 0.02 * 9.81 * s.h;
    s.push_out_speed = 50.0 * 9.81 * s.h;
    const double sigma = 1e-3, length = s.velocity_smoothing * s.h;
    const smooth_coulomb::Parameters c{random.uniform(-3.0, 3.0) * length, random.uniform(0.1, 1.0),
                                       random.uniform(0.1, 10.0), std::pow(10.0, random.uniform(-6.0, -3.0)),
                                       s.h * random.uniform(0.1, 20.0)};
    const auto p = convex_cone::parameters_of(c, 0.7, sigma, s);
    const double R_n =
        (c.compliance / (s.h * (s.h + c.dissipation_time)) + s.near_rigid * c.inverse_mass) / c.weight;
    CHECK(test::close(p.scale, 1.0 / R_n, 1e-13, 0));
    CHECK(test::close(p.ratio * R_n, sigma * c.inverse_mass / c.weight, 1e-13, 0));
    CHECK(p.friction == 0.7);
    const double a = random.uniform(-1.0, 1.0), b = random.uniform(-1.0, 1.0), e = random.uniform(-1.0, 1.0);
    const auto bar = convex_cone::parameters_vjp(c, sigma, s, a, b, e);
    const auto compare = [&](double smooth_coulomb::Parameters::*member, double slope, double reach) {
      const auto fd = test::fd_sweep(
          [&](double t) {
            smooth_coulomb::Parameters moved = c;
            moved.*member += t;
            const auto q = convex_cone::parameters_of(moved, 0.7, sigma, s);
            return a * q.target + b * q.scale + e * q.ratio;
          },
          0.0, reach, 1e-7, 1e-9 * p.scale / reach);
      CAPTURE(i, slope, fd.value, fd.error);
      REQUIRE(test::close(slope, fd.value, 1e-6, 1e-8 * (p.scale + p.ratio) / reach));
    };
    using P = smooth_coulomb::Parameters;
    compare(&P::distance, bar.distance, 0.5 * length);
    compare(&P::weight, bar.weight, 0.05 * c.weight);
    compare(&P::inverse_mass, bar.inverse_mass, 0.1 * c.inverse_mass);
    compare(&P::compliance, bar.compliance, 0.1 * c.compliance);
    compare(&P::dissipation_time, bar.dissipation_time, 0.1 * c.dissipation_time);
  }
}

TEST_CASE("convex_cone: a loaded contact that slides level floats at mu h times its speed",
          "[dynamics][value]") {
  smooth_coulomb::Settings s;
  s.h = 2e-3;
  s.near_rigid = 2.5e-4;
  s.velocity_smoothing = 1e-6;  // a sharp knee, so that the smoothing does not show
  s.push_out_speed = 1.0;
  const double mass = 3.0, tau_d = 0.02, speed = GENERATE(0.2, 2.0), mu = GENERATE(0.1, 0.6);
  const Vec3<double> n = Vec3<double>::UnitZ(), u(speed, 0.0, 0.0);
  double low = -0.01, high = 0.01;
  for (int k = 0; k < 100; ++k) {
    const double d = 0.5 * (low + high);
    const Cone cone(u, n, convex_cone::parameters_of({d, 1.0, 1.0 / mass, 0.0, tau_d}, mu, 1e-3, s));
    (cone.normal_impulse() > mass * 9.81 * s.h ? low : high) = d;
  }
  // What pushes is (1 + mu^2 rho) R gamma_n above that: below 1e-5 m/s.
  CHECK(test::close(low, mu * s.h * speed, 1e-3, 0));
}

// MuJoCo's parameters ---------------------------------------------------------------------------------------

TEST_CASE("impedance: value and derivative are those of the published curve", "[dynamics][derivative]") {
  Random random(7);
  for (int i = 0; i < 500; ++i) {
    const double d_0 = random.uniform() < 0.3 ? 0.0 : random.uniform(0.0, 0.9),
                 d_w = random.uniform(0.5, 0.99);
    const double width = std::pow(10.0, random.uniform(-4.0, -2.0)), mid = random.uniform(0.1, 0.9);
    const double power = random.uniform() < 0.3 ? 1.0 : random.uniform(1.0, 4.0);
    const auto s = impedance::settings_of({{0.02, 1.0}, {d_0, d_w, width, mid, power}, 1.0}, 2e-3);
    const double d = width * random.uniform(-1.3, 0.3);
    CAPTURE(i, d / width, mid, power);
    const auto I = impedance::impedance(d, s);
    const double x = std::min(-d / width, 1.0);
    const double y = x <= mid ? std::pow(x, power) / std::pow(mid, power - 1.0)
                              : 1.0 - std::pow(1.0 - x, power) / std::pow(1.0 - mid, power - 1.0);
    REQUIRE(test::close(I.value, d < 0.0 ? d_0 + y * (d_w - d_0) : 0.0, 1e-12, 1e-14));
    const double clearance = std::min({std::abs(d), std::abs(d + width), std::abs(d + mid * width)});
    if (clearance < 1e-3 * width) continue;
    const auto fd = test::fd_sweep([&](double at) { return impedance::impedance(at, s).value; }, d,
                                   0.5 * clearance, 1e-7, 1e-9 / width);
    REQUIRE(test::close(I.d_distance, fd.value, 1e-6, 1e-8 / width));
    const double weight = random.uniform(0.1, 1.0), W = random.uniform(0.1, 10.0),
                 a = random.uniform(-1.0, 1.0), b = random.uniform(-1.0, 1.0);
    const auto bar = impedance::response_vjp(d, weight, W, s, a, b);
    const auto f = [&](const auto& q) {
      const auto r = impedance::response(q[0], q[1], q[2], s);
      return a * r.target + b * r.scale;
    };
    const Vec3<double> exact = test::jet_gradient(f, Vec3<double>(d, weight, W));
    REQUIRE(
        test::close(Vec3<double>(bar.distance, bar.weight, bar.inverse_mass), exact, 1e-9, 1e-12 / width));
  }
}

TEST_CASE("impedance: K, b and the limits of the time constant", "[dynamics][value]") {
  const double h = 2e-3;
  const ImpedanceConfig config{{0.02, 0.5}, {0.9, 0.95, 1e-3, 0.5, 2.0}, 4.0};
  const auto s = impedance::settings_of(config, h);
  CHECK(test::close(s.stiffness, 1.0 / (0.95 * 0.95 * 0.02 * 0.02 * 0.5 * 0.5), 1e-14, 0));
  CHECK(test::close(s.carry, 1.0 - h * 2.0 / (0.95 * 0.02), 1e-14, 0));
  CHECK(s.ratio == 0.25);
  ImpedanceConfig short_one = config, least = config;
  short_one.solref[0] = 1e-3;
  least.solref[0] = 2.0 * h;
  CHECK(impedance::settings_of(short_one, h).stiffness == impedance::settings_of(least, h).stiffness);
  CHECK(impedance::settings_of({{0.02, 1.0}, {1.0, 1.0, 1e-3, 0.5, 2.0}, 1.0}, h).end == 0.9999);
}

TEST_CASE("impedance: with MuJoCo's defaults a load sags by 0.367 mm, whatever its mass",
          "[dynamics][value]") {
  const double mass = GENERATE(1e-3, 1.0, 1e4), h = GENERATE(1e-3, 5e-3);
  const auto s = impedance::settings_of({{0.02, 1.0}, {0.9, 0.95, 1e-3, 0.5, 2.0}, 1.0}, h);
  double low = 0.0, high = 1e-3;
  for (int k = 0; k < 100; ++k) {
    const double sag = 0.5 * (low + high);
    const auto r = impedance::response(-sag, 1.0, 1.0 / mass, s);
    const Cone cone(Vec3<double>::Zero(), Vec3<double>::UnitZ(), {r.target, r.scale, s.ratio, 0.5});
    (cone.normal_impulse() < mass * 9.81 * h ? low : high) = sag;
  }
  CHECK(test::close(low, 0.367e-3, 1e-3, 0));
}

TEST_CASE("impedance: forces set in continuously where d_0 is 0, and jump where it is not",
          "[dynamics][value]") {
  const double eps = 1e-9;
  const auto scale = [&](double d_0, double distance) {
    const auto s = impedance::settings_of({{0.02, 1.0}, {d_0, 0.95, 1e-3, 0.5, 2.0}, 1.0}, 2e-3);
    return impedance::response(distance, 1.0, 1.0, s).scale;
  };
  CHECK(scale(0.0, eps) == 0.0);
  CHECK(scale(0.9, eps) == 0.0);
  CHECK(scale(0.0, -eps) < 1e-10);
  CHECK(test::close(scale(0.9, -eps), 9.0, 1e-6, 0));
}
