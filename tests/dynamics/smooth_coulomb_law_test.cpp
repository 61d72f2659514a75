#include "dynamics/contact_laws/smooth_coulomb.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "engine/random.h"
#include "tests/support/close.h"
#include "tests/support/contact_law_cases.h"
#include "tests/support/gradient_check.h"

namespace {

using namespace abut;
using smooth_coulomb::Settings;
using test::around, test::Jet, test::ramp;

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

}  // namespace

TEST_CASE("normal_target: value and derivatives are those of the formula, tails and cap included",
          "[dynamics][derivative]") {
  Random random(1);
  int capped = 0;
  for (int i = 0; i < 2000; ++i) {
    const Settings s = test::random_law_settings(random);
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

TEST_CASE("normal_impulse: value and derivatives are those of the formula, tails included",
          "[dynamics][derivative]") {
  Random random(2);
  int disagreements = 0, vanishing = 0;
  for (int i = 0; i < 1000; ++i) {
    const Settings s = test::random_law_settings(random);
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

TEST_CASE("normal_impulse: a contact that takes part by q has R + W (1/q - 1) in place of R",
          "[dynamics][value]") {
  Random random(14);
  for (int i = 0; i < 200; ++i) {
    const Settings s = test::random_law_settings(random);
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
    const Settings s = test::random_law_settings(random);
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
    const Settings s = test::random_law_settings(random);
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
