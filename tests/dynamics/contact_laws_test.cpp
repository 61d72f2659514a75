#include "dynamics/contact_laws/friction.h"
#include "dynamics/contact_laws/impact.h"
#include "dynamics/contact_laws/penalty.h"
#include "dynamics/contact_laws/smooth_coulomb.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <Eigen/Eigenvalues>

#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace {

using namespace abut;
using smooth_coulomb::Settings;
using test::Jet;

/// tau log(1 + exp(x/tau)), once more and for any scalar, so that the laws below are not checked by
/// themselves.
template <typename S>
S ramp(const S& x, const S& tau) {
  using std::exp, std::log1p;
  return x > S(0) ? S(x + tau * log1p(exp(-x / tau))) : S(tau * log1p(exp(x / tau)));
}

// The normal law as it is written down: v_hat, R and gamma_n.
template <typename S>
S target_of(const S& d, const S& W, const S& compliance, const S& tau_d, const S& h, const Settings& s) {
  const S relaxed = S(1) / (h + tau_d), rigid = s.near_rigid * W;
  const S uncapped = -d / h - (S(1) / h - relaxed) * ramp(S(-d), S(s.velocity_smoothing * h));
  const S cap = s.push_out_speed * (rigid + compliance / (h * (h + tau_d))) / rigid;
  return uncapped - ramp(S(uncapped - cap), S(0.05 * s.push_out_speed));
}

template <typename S>
S impulse_of(const S& u_n, const S& d, const S& weight, const S& W, const S& compliance, const S& tau_d,
             const S& h, const Settings& s) {
  const S R = compliance / (h * (h + tau_d)) + s.near_rigid * W;
  return weight / R * ramp(S(target_of(d, W, compliance, tau_d, h, s) - u_n), S(s.velocity_smoothing));
}

Settings random_settings(Random& random) {
  Settings s;
  s.h = std::pow(10.0, random.uniform(-4.0, -1.5));
  s.near_rigid = 2.5e-4 * std::pow(10.0, random.uniform(-1.0, 1.0));
  s.velocity_smoothing = 0.02 * 9.81 * s.h;
  s.stiction_speed = 0.01 * 9.81 * s.h;
  s.push_out_speed = 50.0 * 9.81 * s.h;
  return s;
}

/// A number of the order of `scale`, in one case of four far out in a tail of either side.
double around(Random& random, double scale) {
  const double x =
      random.uniform() < 0.25 ? test::random_magnitude(random, 0.0, 3.0) : random.uniform(-3.0, 3.0);
  return scale * x;
}

/// A unit normal, or in one case of four a shorter one, as where primitives oppose each other.
Vec3<double> random_normal(Random& random) {
  return (random.uniform() < 0.25 ? random.uniform(0.0, 1.0) : 1.0) * random.unit_vector();
}

}  // namespace

// Normal target --------------------------------------------------------------------------------------------

TEST_CASE("normal_target: value and derivatives are those of the formula, tails and cap included",
          "[dynamics][derivative]") {
  Random random(1);
  int capped = 0;
  for (int i = 0; i < 2000; ++i) {
    const Settings s = random_settings(random);
    smooth_coulomb::Parameters c;
    c.dissipation_time = s.h * std::pow(10.0, random.uniform(-2.0, 2.0));
    c.inverse_mass = std::pow(10.0, random.uniform(-3.0, 3.0));
    const double stretch = s.h * (s.h + c.dissipation_time);
    c.compliance = random.uniform() < 0.3
                       ? 0.0
                       : s.near_rigid * c.inverse_mass * stretch * std::pow(10.0, random.uniform(-2.0, 2.0));
    const double cap =
        s.push_out_speed * smooth_coulomb::normal_resistance(c, s) / (s.near_rigid * c.inverse_mass);
    const double length = s.velocity_smoothing * s.h;
    c.distance = i % 2 == 0 ? around(random, length)
                            : -(cap + s.push_out_speed * random.uniform(-0.5, 0.5)) * stretch / s.h;
    CAPTURE(i, c.distance, c.inverse_mass, c.compliance, c.dissipation_time, s.h);
    using J = Jet<4>;
    const J exact = target_of(J(c.distance, 0), J(c.inverse_mass, 1), J(c.compliance, 2),
                              J(c.dissipation_time, 3), J(s.h), s);
    const auto target = smooth_coulomb::normal_target(c, s);
    // By the cap and by what it lets pass, which may cancel.
    const double by_time = (cap + std::abs(c.distance) / s.h + s.velocity_smoothing) / s.h;
    REQUIRE(test::close(target.value, exact.a, 1e-12, 1e-14 * cap));
    REQUIRE(test::close(target.d_distance, exact.v[0], 1e-11, 1e-13 / s.h));
    REQUIRE(test::close(target.d_inverse_mass, exact.v[1], 1e-11, 1e-12 * cap / c.inverse_mass));
    REQUIRE(test::close(target.d_compliance, exact.v[2], 1e-11,
                        1e-12 * s.push_out_speed / (s.near_rigid * c.inverse_mass * stretch)));
    REQUIRE(test::close(target.d_dissipation_time, exact.v[3], 1e-11, 1e-13 * by_time));
    capped += std::abs(target.d_inverse_mass) > 1e-3 * (cap - s.push_out_speed) / c.inverse_mass &&
              c.compliance > 0.0;
    const double reach = i % 2 == 0 ? length : s.push_out_speed * stretch / s.h;
    const auto fd = test::fd_sweep(
        [&](double x) {
          smooth_coulomb::Parameters moved = c;
          moved.distance = x;
          return smooth_coulomb::normal_target(moved, s).value;
        },
        c.distance, reach, 1e-7, 1e-9 / s.h);
    REQUIRE(!fd.disagrees_with_itself);
    REQUIRE(test::close(target.d_distance, fd.value, 1e-6, 1e-8 / s.h));
  }
  CHECK(capped > 400);
}

TEST_CASE("normal_target: -d/h apart, -d/(h + tau_d) in overlap, never above the push-out speed",
          "[dynamics][value]") {
  Settings s;
  s.h = 2e-3;
  s.near_rigid = 2.5e-4;
  s.velocity_smoothing = 4e-4;
  s.push_out_speed = 1.0;
  const double tau_d = 0.02;
  const auto value = [&](double d) { return smooth_coulomb::normal_target(d, 1.0, 0.0, tau_d, s).value; };
  CHECK(test::close(value(0.01), -5.0, 1e-12, 0));  // a body at 5 m/s may just reach the surface
  CHECK(test::close(value(1e-5), -5e-3, 1e-6, 0));
  CHECK(test::close(value(-1e-4), 1e-4 / 0.022, 1e-6, 0));
  CHECK(test::close(value(-1.0), 1.0, 1e-6, 0));  // deep: the cap
  CHECK(value(-10.0) <= 1.0);
  CHECK(
      test::close(value(-1e-9), value(1e-9), 0, 1.1e-9 * (1.0 / s.h + 1.0 / 0.022)));  // continuous at d = 0
  double previous = value(-0.1);
  for (double d = -0.1; d < 0.1; d += 1e-5) {
    const double now = value(d);
    REQUIRE(now <= previous);
    previous = now;
  }
}

TEST_CASE("normal_target: the cap bounds the impulse of the regularisation, not the force of a spring",
          "[dynamics][value]") {
  Settings s;
  s.h = 1e-4;
  s.near_rigid = 2.5e-4;
  s.velocity_smoothing = 0.02 * 9.81 * s.h;
  s.push_out_speed = 50.0 * 9.81 * s.h;
  const double mass = 2.0, tau_d = 1e-3;
  for (const double stiffness : {1e2, 1e4, 1e6, 1e8, 1e10}) {
    smooth_coulomb::Parameters c{0.0, 1.0, 1.0 / mass, 1.0 / stiffness, tau_d};
    // A spring pressed by 1000 times the weight of what it carries pushes with that.
    const double load = 1000.0 * mass * 9.81;
    c.distance = -load * (c.compliance + s.near_rigid / mass * s.h * (s.h + tau_d));
    CAPTURE(stiffness);
    CHECK(test::close(smooth_coulomb::normal_impulse_derivatives(0.0, c, s).value, load * s.h, 1e-6, 0));
    // However deep, a contact does not push harder than a rigid one at the cap.
    const double cap =
        s.push_out_speed * smooth_coulomb::normal_resistance(c, s) / (s.near_rigid * c.inverse_mass);
    c.distance = -10.0 * cap * (s.h + tau_d);
    CHECK(test::close(smooth_coulomb::normal_impulse_derivatives(0.0, c, s).value,
                      s.push_out_speed * mass / s.near_rigid, 1e-9, 0));
  }
}

// Impacts --------------------------------------------------------------------------------------------------

namespace {

impact::Settings random_impact_settings(Random& random) {
  impact::Settings s;
  s.h = std::pow(10.0, random.uniform(-3.5, -2.0));
  s.nominal_h = s.h * (random.uniform() < 0.5 ? 1.0 : random.uniform(1.0, 3.0));
  s.threshold = 0.05 + 30.0 * s.h;
  s.speed_scale = 9.81 * s.h;
  return s;
}

/// Of a contact that may be open or closed, and that may be hit or not.
impact::Approach random_approach(Random& random, const impact::Settings& s) {
  impact::Approach at;
  at.velocity = -s.threshold * random.uniform(-0.5, 5.0);
  at.acceleration = random.uniform(-20.0, 20.0);
  at.time = s.h * random.uniform(0.0, 0.9);
  at.distance = s.h * s.threshold * random.uniform(-0.5, 3.0);
  return at;
}

/// A direction of an approach, of the size of what it changes.
impact::Approach random_direction(Random& random, const impact::Settings& s) {
  return {s.h * s.threshold * random.uniform(-1, 1), s.threshold * random.uniform(-1, 1),
          20.0 * random.uniform(-1, 1), s.h * random.uniform(-1, 1)};
}

impact::Approach moved_approach(const impact::Approach& at, const impact::Approach& way, double t) {
  return {at.distance + t * way.distance, at.velocity + t * way.velocity,
          at.acceleration + t * way.acceleration, at.time + t * way.time};
}

double inner_product(const impact::Approach& a, const impact::Approach& b) {
  return a.distance * b.distance + a.velocity * b.velocity + a.acceleration * b.acceleration +
         a.time * b.time;
}

}  // namespace

TEST_CASE("impact: a contact at speed is one, a resting contact is exactly none", "[dynamics][value]") {
  const double h = 0.01, g = 9.81;
  const impact::Settings s{h, h, 0.3, g * h};
  CHECK(impact::share(-g * h, s) == 0.0);
  CHECK(impact::share(-0.625 * s.threshold, s) == 0.0);
  CHECK(impact::share(-s.threshold, s) == 0.5);
  CHECK(impact::share(-1.375 * s.threshold, s) == 1.0);
  CHECK(impact::share(-2.0, s) == 1.0);
  CHECK(impact::share(2.0, s) == 0.0);
  CHECK(impact::effect({0.5 * h, -0.02 * s.speed_scale}, s) == 0.0);
  CHECK(impact::effect({0.5 * h, -1.02 * s.speed_scale}, s) == 1.0);
  CHECK(impact::effect({h, -1.02 * s.speed_scale}, s) == 0.0);
  CHECK_FALSE(impact::is_impact(-0.02 * s.speed_scale, s));
  CHECK(impact::is_impact(-0.021 * s.speed_scale, s));
}

TEST_CASE("impact: share and effect fall with the velocity, and have the slopes of differences",
          "[dynamics][derivative]") {
  const impact::Settings s{0.01, 0.01, 0.3, 0.1};
  double previous_share = 1.0, previous_effect = 1.0;
  int sloped = 0;
  for (int i = -60; i <= 10; ++i) {
    const double u = 0.01 * i + 1e-3;
    CAPTURE(u);
    CHECK(impact::share(u, s) <= previous_share);
    const impact::Closing at{0.95 * s.h, u};
    CHECK(impact::effect(at, s) <= previous_effect);
    previous_share = impact::share(u, s);
    previous_effect = impact::effect(at, s);
    const auto share_of = [&](double x) { return impact::share(x, s); };
    const auto effect_of = [&](double x) { return impact::effect({at.time, x}, s); };
    const auto effect_at = [&](double t) { return impact::effect({t, u}, s); };
    CHECK(test::close(impact::share_slope(u, s), test::fd_derivative(share_of, u, 1e-5), 1e-6, 1e-5));
    const impact::Closing gradient = impact::effect_gradient(at, s);
    CHECK(test::close(gradient.velocity, test::fd_derivative(effect_of, u, 1e-5), 1e-6, 1e-5));
    CHECK(test::close(gradient.time, test::fd_derivative(effect_at, at.time, 1e-7), 1e-6, 1e-3));
    sloped += impact::share_slope(u, s) != 0.0 && impact::share(u, s) > 0.01;
  }
  CHECK(sloped > 10);
}

TEST_CASE("impact: a contact closes when and as fast as a ball in free flight", "[dynamics][value]") {
  const double h = 0.01, g = 9.81, u = -2.0;
  const impact::Settings s{h, h, 0.3, g * h};
  // Without acceleration: closes at d/speed with that speed.
  const impact::Approach level{0.005, u, 0.0, 0.0};
  REQUIRE(level.hits(s));
  CHECK(test::close(impact::closing(level, s, 0.0).time, 0.0025, 1e-14, 0));
  CHECK(test::close(impact::closing(level, s, 0.0).velocity, u, 1e-14, 0));
  CHECK_FALSE(impact::Approach{0.1, u, 0.0, 0.0}.hits(s));  // not in this step
  // With gravity: exactly what a ball does, whose velocity at the start is that of the middle less g h/2.
  const double d = 0.004, w = u + 0.5 * g * h;
  const impact::Approach falling{d, u, -g, 0.0};
  REQUIRE(falling.hits(s));
  const double t = (std::sqrt(w * w + 2.0 * g * d) + w) / g;  // 0 = d + w t - g t^2/2
  CHECK(test::close(impact::closing(falling, s, 0.0).time, t, 1e-13, 0));
  CHECK(test::close(impact::closing(falling, s, 0.0).velocity, w - g * t, 1e-13, 0));
  // Evaluated later on the same parabola, it is the same impact; the bow is what positions leave out.
  const double later = 0.4 * t;
  const impact::Approach seen_later{d + u * later, u, -g, later};
  CHECK(test::close(seen_later.gap(s), d + w * later - 0.5 * g * later * later, 1e-13, 0));
  CHECK(test::close(impact::closing(seen_later, s, 0.0).time, t, 1e-12, 0));
  CHECK(test::close(impact::closing(seen_later, s, 0.0).velocity, w - g * t, 1e-13, 0));
  // Evaluated after it has closed, it has closed then, if that was while the velocities hold.
  const double after = 1.3 * t;
  const impact::Approach seen_after{d + u * after, u, -g, after};
  REQUIRE(seen_after.gap(s) < 0.0);
  CHECK(test::close(impact::closing(seen_after, s, 0.0).time, t, 1e-12, 0));
  CHECK(test::close(impact::closing(seen_after, s, 0.0).velocity, w - g * t, 1e-13, 0));
  CHECK(impact::closing(seen_after, s, 1.2 * t).time == after);  // closed already
  CHECK(test::close(impact::closing(seen_after, s, 1.2 * t).velocity, w - g * after, 1e-13, 0));
  const impact::Approach closed{-0.01, u, -g, 0.003};
  CHECK(closed.hits(s));
  CHECK(impact::closing(closed, s, 0.003).time == 0.003);
  CHECK(impact::closing(closed, s, 0.003).velocity == closed.true_velocity(s));
  CHECK_FALSE(impact::Approach{-0.1, 2.0, -g, 0.003}.hits(s));
}

TEST_CASE("impact: the target reverses e times the velocity of a ball at that time", "[dynamics][value]") {
  const double h = 0.01, g = 9.81, e = 0.7;
  const impact::Settings s{h, h, 0.3, g * h};
  // A velocity v of the step is v - g l(t) at t: e times the approach there, and back to that of the step.
  const impact::Approach at{0.0, -2.0, -g, 0.003};
  const double lead = -g * (0.003 - 0.5 * h);
  const impact::Target target = impact::target(at, s, e);
  CHECK(test::close(target.rebound, e * (2.0 - lead), 1e-14, 0));
  CHECK(test::close(target.settle, -lead, 1e-14, 0));
  CHECK(test::close(target.rebound + target.settle + lead, e * (2.0 - lead), 1e-14, 0));
  CHECK(impact::target({0.0, -g * h, 0.0, 0.0}, s, e).rebound == 0.0);  // a rest has no restitution
}

TEST_CASE("impact: VJP and JVP of closing and target agree with differences and each other",
          "[dynamics][derivative]") {
  Random random(12);
  int open = 0, closed = 0, looked_back = 0, shared = 0;
  for (int i = 0; i < 2000; ++i) {
    const impact::Settings s = random_impact_settings(random);
    const impact::Approach at = random_approach(random, s), way = random_direction(random, s);
    if (!at.hits(s) || !impact::is_impact(at.true_velocity(s), s)) continue;
    const double earlier = random.uniform() < 0.5 ? 0.0 : random.uniform(0.0, 0.3) * s.h;
    const bool is_open = impact::closing(at, s, at.time - earlier).was_open;
    (is_open ? open : closed) += 1;
    looked_back += is_open && at.gap(s) < 0.0;
    CAPTURE(i, is_open, earlier, at.distance, at.velocity, at.acceleration, at.time, s.h);
    {
      const double since = at.time - earlier;
      const impact::Closing closing = impact::closing(at, s, since),
                            bar{random.uniform(-1, 1) / s.h, random.uniform(-1, 1) / s.threshold};
      const double slope = inner_product(impact::closing_vjp(at, s, closing, bar), way);
      const impact::Closing dot = impact::closing_jvp(at, s, closing, way);
      CAPTURE(closing.time, closing.velocity);
      REQUIRE(test::close(bar.time * dot.time + bar.velocity * dot.velocity, slope, 1e-11, 1e-11));
      const auto loss = [&](double t) {
        const impact::Approach moved = moved_approach(at, way, t);
        const impact::Closing c = impact::closing(moved, s, moved.time - earlier);
        return bar.time * c.time + bar.velocity * c.velocity;
      };
      const auto fd = test::fd_sweep(loss, 0.0, 1e-4, 1e-8, 1e-8);
      if (fd.disagrees_with_itself) {
        REQUIRE(std::abs(impact::closing(at, s, -s.h).time - since) < 1e-3 * s.h);  // across the hard test alone
      } else {
        REQUIRE(test::close(slope, fd.value, 1e-6, 1e-6));
      }
    }
    const double e = random.uniform(), e_way = random.uniform(-1, 1);
    const impact::Target bar{random.uniform(-1, 1) / s.threshold, random.uniform(-1, 1) / s.threshold};
    double e_bar = 0.0;
    const impact::Approach by = impact::target_vjp(at, s, e, bar, e_bar);
    const double slope = inner_product(by, way) + e_bar * e_way;
    const impact::Target dot = impact::target_jvp(at, s, e, way, e_way);
    REQUIRE(test::close(bar.rebound * dot.rebound + bar.settle * dot.settle, slope, 1e-11, 1e-11));
    const auto loss = [&](double t) {
      const impact::Target x = impact::target(moved_approach(at, way, t), s, e + t * e_way);
      return bar.rebound * x.rebound + bar.settle * x.settle;
    };
    const auto fd = test::fd_sweep(loss, 0.0, 1e-3, 1e-7, 1e-8);
    REQUIRE_FALSE(fd.disagrees_with_itself);
    REQUIRE(test::close(slope, fd.value, 1e-6, 1e-6));
    const double share = impact::share(at.true_velocity(s), s);
    shared += share > 0.0 && share < 1.0;
  }
  CHECK(open > 300);
  CHECK(closed > 50);
  CHECK(looked_back > 20);
  CHECK(shared > 50);
}

// Normal impulse -------------------------------------------------------------------------------------------

TEST_CASE("normal_impulse: value and derivatives are those of the formula, tails included",
          "[dynamics][derivative]") {
  Random random(2);
  int disagreements = 0, vanishing = 0;
  for (int i = 0; i < 1000; ++i) {
    const Settings s = random_settings(random);
    smooth_coulomb::Parameters c;
    c.distance = around(random, s.velocity_smoothing * s.h);
    c.weight = random.uniform();
    c.inverse_mass = std::pow(10.0, random.uniform(-3.0, 3.0));
    c.compliance = random.uniform() < 0.3 ? 0.0 : std::pow(10.0, random.uniform(-7.0, -2.0));
    c.dissipation_time = s.h * std::pow(10.0, random.uniform(-2.0, 2.0));
    const double u_n = smooth_coulomb::normal_target(c, s).value + around(random, s.velocity_smoothing);
    CAPTURE(i, u_n, c.distance, c.weight, c.inverse_mass, c.compliance, c.dissipation_time, s.h);

    using J = Jet<6>;
    const J exact = impulse_of(J(u_n, 0), J(c.distance, 1), J(c.weight, 2), J(c.inverse_mass, 3),
                               J(c.compliance, 4), J(c.dissipation_time, 5), J(s.h), s);
    const smooth_coulomb::NormalImpulse gamma = smooth_coulomb::normal_impulse_derivatives(u_n, c, s);
    // u_n and the target are rounded at the push-out speed's scale; in the tail the impulse itself follows
    // exp of them.
    const double R = smooth_coulomb::normal_resistance(c, s);
    const double unit = s.velocity_smoothing / R, noise = 1e-11;
    REQUIRE(gamma.value >= 0.0);
    REQUIRE(gamma.d_velocity <= 0.0);
    REQUIRE(test::close(gamma.value, exact.a, noise, 0));
    REQUIRE(test::close(gamma.d_velocity, exact.v[0], noise, 0));
    REQUIRE(test::close(gamma.d_distance, exact.v[1], noise,
                        noise * unit * c.weight / (s.velocity_smoothing * s.h)));
    REQUIRE(test::close(gamma.d_weight, exact.v[2], noise, 0));
    REQUIRE(test::close(gamma.d_inverse_mass, exact.v[3], noise, 0));
    REQUIRE(test::close(gamma.d_compliance, exact.v[4], noise, 0));
    // The parts of tau_d by the target and by R may cancel.
    const double by_R = std::abs(gamma.value / R * c.compliance /
                                 (s.h * (s.h + c.dissipation_time) * (s.h + c.dissipation_time)));
    REQUIRE(test::close(gamma.d_dissipation_time, exact.v[5], noise, noise * (by_R + 1e-3 * unit / s.h)));
    if (gamma.value < 1e-9 * unit) ++vanishing;

    const auto fd =
        test::fd_sweep([&](double u) { return smooth_coulomb::normal_impulse_derivatives(u, c, s).value; },
                       u_n, s.velocity_smoothing, 1e-7, 1e-9 / R);
    if (fd.disagrees_with_itself) ++disagreements;
    REQUIRE(test::close(gamma.d_velocity, fd.value, 1e-5, 1e-7 / R));
  }
  CHECK(disagreements <= 10);
  CHECK(vanishing >= 20);  // the far tail is among the cases
}

TEST_CASE("pair_time: is that of the first impact, smoothly, and its derivatives agree with differences",
          "[dynamics][derivative]") {
  const double h = 2e-3, length = 2e-5;
  using Impacts = std::vector<impact::PairImpact>;
  CHECK(impact::pair_time(Impacts{{0.3, 0.7, 0.4 * h, 1.0}}, length) == 0.4 * h);
  CHECK(test::close(impact::pair_time(Impacts{{0.3, 1.0, 0.5 * h, 1.0}, {0.1, 1.0, 0.5 * h, 2.0}}, length),
                    0.5 * h, 1e-14, 0));
  // The first has closed by delta log(1/p) at most, however little it weighs and however fast it is.
  for (const double speed : {0.01, 1.0, 100.0}) {
    for (const double weight : {1.0, 1e-3, 1e-9}) {
      const Impacts impacts{{weight, 1.0, 0.2 * h, speed}, {1.0, 1.0, 0.9 * h, 0.5}};
      const double time = impact::pair_time(impacts, length);
      CHECK(time >= 0.2 * h);
      CHECK(time <= 0.9 * h);
      CHECK((time - 0.2 * h) * speed <= length * std::log((1.0 + weight) / weight) * (1.0 + 1e-12));
    }
  }
  Random random(4);
  for (int i = 0; i < 20; ++i) {
    CAPTURE(i);
    Impacts impacts, way, bars(3);
    for (int k = 0; k < 3; ++k) {
      impacts.push_back({random.uniform(0.1, 1.0), random.uniform(0.1, 1.0), h * random.uniform(0.30, 0.31),
                         random.uniform(0.1, 2.0)});
      way.push_back({random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0), h * random.uniform(-1.0, 1.0),
                     random.uniform(-1.0, 1.0)});
    }
    const double time = impact::pair_time(impacts, length);
    double sum = 0.0, total = 0.0;
    for (const impact::PairImpact& x : impacts) {
      sum += x.weight * x.effect * x.factor(time, length);
      total += x.weight * x.effect;
    }
    CHECK(test::close(sum, total, 1e-13, 0));
    impact::pair_time_vjp(impacts, length, time, 1.0, bars);
    double slope = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
      slope += bars[k].weight * way[k].weight + bars[k].effect * way[k].effect + bars[k].time * way[k].time +
               bars[k].speed * way[k].speed;
    }
    CHECK(test::close(impact::pair_time_jvp(impacts, length, time, way), slope, 1e-12, 1e-15 * h));
    const auto fd = test::fd_sweep(
        [&](double t) {
          Impacts moved = impacts;
          for (std::size_t k = 0; k < 3; ++k) {
            moved[k].weight += t * way[k].weight;
            moved[k].effect += t * way[k].effect;
            moved[k].time += t * way[k].time;
            moved[k].speed += t * way[k].speed;
          }
          return impact::pair_time(moved, length);
        },
        0.0, 1e-4, 1e-6, 1e-9 * h);
    CHECK(test::close(slope, fd.value, 1e-6, 1e-9 * h));
  }
}

TEST_CASE("normal_impulse: a contact that takes part by q has R + W (1/q - 1) in place of R",
          "[dynamics][value]") {
  Random random(14);
  for (int i = 0; i < 200; ++i) {
    const Settings s = random_settings(random);
    smooth_coulomb::Parameters c;
    c.distance = s.h * random.uniform(-1.0, 1.0);
    c.weight = random.uniform(0.1, 1.0);
    c.inverse_mass = std::pow(10.0, random.uniform(-1.0, 1.0));
    c.compliance = s.h * s.h * random.uniform(0.0, 1e-2);
    c.dissipation_time = s.h * random.uniform(0.0, 10.0);
    const double q = random.uniform(0.01, 1.0), W = c.inverse_mass,
                 target = smooth_coulomb::normal_target(c, s).value,
                 u_n = target + s.velocity_smoothing * random.uniform(-5.0, 1.0);
    CAPTURE(i, q, u_n);
    const auto value = [&](const smooth_coulomb::Part& part) {
      return smooth_coulomb::normal_impulse_derivatives(u_n, c, s, part).value;
    };
    const double R = smooth_coulomb::normal_resistance(c, s), others = W * (1.0 / q - 1.0);
    REQUIRE(test::close(value({q, false, 0.0}), value({}) * R / (R + others), 1e-12, 0));
    REQUIRE(value({0.0, false, 0.0}) == 0.0);
    REQUIRE(smooth_coulomb::Part{}.is_ordinary());
    // An impact has no compliance, asks for its own target, and is sharper.
    const double rigid = s.near_rigid * W, width = smooth_coulomb::k_impact_width * s.velocity_smoothing;
    REQUIRE(test::close(value({q, true, u_n + 3.0 * width}),
                        c.weight / (rigid + others) * ramp(3.0 * width, width), 1e-9, 0));
  }
}

TEST_CASE("normal_impulse: of a part of a contact and of an impact, all derivatives agree with differences",
          "[dynamics][derivative]") {
  Random random(13);
  for (int i = 0; i < 500; ++i) {
    const Settings s = random_settings(random);
    smooth_coulomb::Parameters c;
    c.distance = s.h * random.uniform(-1.0, 1.0);
    c.weight = random.uniform(0.1, 1.0);
    c.inverse_mass = std::pow(10.0, random.uniform(-1.0, 1.0));
    c.compliance = s.h * s.h * random.uniform(0.0, 1e-2);
    c.dissipation_time = s.h * random.uniform(0.0, 10.0);
    using smooth_coulomb::Parameters;
    using smooth_coulomb::Part;
    const Part part{random.uniform(0.05, 0.95), i % 3 != 0, s.velocity_smoothing * random.uniform(0.0, 2.0)};
    const smooth_coulomb::NormalLaw law = smooth_coulomb::normal_law(c, s, part);
    const double u_n = law.target + law.width * random.uniform(-3.0, 3.0);
    const smooth_coulomb::NormalImpulse gamma = smooth_coulomb::normal_impulse_derivatives(u_n, c, s, part);
    const auto check = [&](const char* name, double slope, double scale, const auto& move) {
      const auto fd = test::fd_sweep(
          [&](double t) {
            Parameters moved_contact = c;
            Part moved_part = part;
            double u = u_n;
            move(t * scale, u, moved_contact, moved_part);
            return smooth_coulomb::normal_impulse_derivatives(u, moved_contact, s, moved_part).value;
          },
          0.0, 1e-2, 1e-7, 1e-9 * std::abs(gamma.value));
      CAPTURE(i, name, part.hits, part.answers, slope * scale, fd.value, fd.error, gamma.value);
      REQUIRE(test::close(slope * scale, fd.value, 1e-5, 1e-6 * std::abs(gamma.value)));
    };
    check("velocity", gamma.d_velocity, law.width, [](double t, double& u, Parameters&, Part&) { u += t; });
    check("distance", gamma.d_distance, s.velocity_smoothing * s.h,
          [](double t, double&, Parameters& p, Part&) { p.distance += t; });
    check("weight", gamma.d_weight, 0.1 * c.weight,
          [](double t, double&, Parameters& p, Part&) { p.weight += t; });
    check("inverse mass", gamma.d_inverse_mass, 0.1 * c.inverse_mass,
          [](double t, double&, Parameters& p, Part&) { p.inverse_mass += t; });
    check("compliance", gamma.d_compliance, 0.1 * c.compliance,
          [](double t, double&, Parameters& p, Part&) { p.compliance += t; });
    check("dissipation time", gamma.d_dissipation_time, 1e-3 * c.dissipation_time,
          [](double t, double&, Parameters& p, Part&) { p.dissipation_time += t; });
    check("answers", gamma.d_answers, 0.1 * part.answers,
          [](double t, double&, Parameters&, Part& x) { x.answers += t; });
    check("target", gamma.d_target, law.width,
          [](double t, double&, Parameters&, Part& x) { x.target += t; });
  }
}

TEST_CASE("normal_impulse: grows with approach and with depth", "[dynamics][property]") {
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const Settings s = random_settings(random);
    smooth_coulomb::Parameters c{0.0, random.uniform(0.1, 1.0), random.uniform(0.1, 10.0),
                                 1e-5 * random.uniform(), 10.0 * s.h};
    const double tau = s.velocity_smoothing;
    double previous = std::numeric_limits<double>::infinity();
    for (double x = -30.0; x <= 30.0; x += 0.5) {
      const double value = smooth_coulomb::normal_impulse_derivatives(x * tau, c, s).value;
      REQUIRE(value < previous);  // strictly, hence a strictly convex potential
      previous = value;
    }
    previous = std::numeric_limits<double>::infinity();
    for (double x = -30.0; x <= 30.0; x += 0.5) {
      c.distance = x * tau * s.h;
      const double value = smooth_coulomb::normal_impulse_derivatives(0.0, c, s).value;
      REQUIRE(value < previous);
      previous = value;
    }
  }
}

TEST_CASE("normal_impulse: is 0 or linear away from the knee", "[dynamics][value]") {
  const Settings s{2e-3, 2.5e-4, 4e-4, 2e-4, 1.0};
  const smooth_coulomb::Parameters c{-1e-4, 0.25, 2.0, 1e-4, 0.02};
  const double R = 1e-4 / (2e-3 * 0.022) + 2.5e-4 * 2.0, target = 1e-4 / 0.022;
  CHECK(test::close(smooth_coulomb::normal_resistance(c, s), R, 1e-14, 0));
  CHECK(test::close(smooth_coulomb::normal_impulse_derivatives(-0.5, c, s).value, 0.25 * (0.5 + target) / R,
                    1e-6, 0));
  CHECK(smooth_coulomb::normal_impulse_derivatives(0.1, c, s).value < 1e-90);
  CHECK(smooth_coulomb::normal_impulse_derivatives(0.1, c, s).value > 0.0);
}

TEST_CASE("normal_impulse: a static load sags by F over k", "[dynamics][value]") {
  // At rest u_n = 0 and gamma = F h:  v_hat = R F h  ->  d = -(F/k + beta^2/(4 pi^2) W F h (h + tau_d)).
  const Settings s{2e-3, 2.5e-4, 4e-8, 2e-4, 10.0};  // a sharp knee, so that the smoothing does not show
  smooth_coulomb::Parameters c{0.0, 1.0, 0.5, 1e-4, 0.02};
  const double F = 30.0;
  c.distance = -F * (1e-4 + 2.5e-4 * 0.5 * 2e-3 * 0.022);
  CHECK(test::close(smooth_coulomb::normal_impulse_derivatives(0.0, c, s).value, F * s.h, 1e-7,
                    0));  // the far cap's tail: 1e-9 m/s
}

// Friction -------------------------------------------------------------------------------------------------

TEST_CASE("Friction: impulse opposes slip and stays below its bound", "[dynamics][property]") {
  Random random(4);
  for (int i = 0; i < 1000; ++i) {
    const double v_s = std::pow(10.0, random.uniform(-5.0, -1.0)),
                 bound = std::pow(10.0, random.uniform(-6.0, 2.0));
    const Vec3<double> n = random_normal(random), u = std::abs(around(random, v_s)) * random.unit_vector();
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
    const Vec3<double> n = random_normal(random), u = std::abs(around(random, v_s)) * random.unit_vector();
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
    const Vec3<double> n = random_normal(random), u = std::abs(around(random, v_s)) * random.unit_vector();
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

// Penalty --------------------------------------------------------------------------------------------------

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
