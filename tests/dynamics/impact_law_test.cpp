#include "dynamics/contact_laws/impact.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "engine/random.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace {

using namespace abut;

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
  CHECK(impact::effect({0.5 * h, -0.02 * s.speed_scale}, s, 0) == 0.0);
  CHECK(impact::effect({0.5 * h, -1.02 * s.speed_scale}, s, 0) == 1.0);
  CHECK(impact::effect({h, -1.02 * s.speed_scale}, s, 0) == 0.0);
  // The pair has just closed twice.
  CHECK(impact::effect({0.5 * h, -0.059 * s.speed_scale, true}, s, 2) > 0.0);
  CHECK(impact::effect({0.5 * h, -0.059 * s.speed_scale, false}, s, 2) == 0.0);
  CHECK(impact::effect({0.5 * h, -1.06 * s.speed_scale, false}, s, 2) == 1.0);
  CHECK_FALSE(impact::is_impact(-0.02 * s.speed_scale, s));
  CHECK(impact::is_impact(-0.021 * s.speed_scale, s));
}

TEST_CASE("impact: share and effect fall with the velocity, and have the slopes of differences",
          "[dynamics][derivative]") {
  const impact::Settings s{0.01, 0.01, 0.3, 0.1};
  double previous_share = 1.0, previous_effect = 1.0;
  int sloped = 0;
  const int closings = GENERATE(0, 3);
  for (int i = -60; i <= 10; ++i) {
    const double u = 0.01 * i + 1e-3;
    CAPTURE(u);
    CHECK(impact::share(u, s) <= previous_share);
    const impact::Closing at{0.95 * s.h, u, false};
    CHECK(impact::effect(at, s, closings) <= previous_effect);
    previous_share = impact::share(u, s);
    previous_effect = impact::effect(at, s, closings);
    const auto share_of = [&](double x) { return impact::share(x, s); };
    const auto effect_of = [&](double x) { return impact::effect({at.time, x, false}, s, closings); };
    const auto effect_at = [&](double t) { return impact::effect({t, u, false}, s, closings); };
    CHECK(test::close(impact::share_slope(u, s), test::fd_derivative(share_of, u, 1e-5), 1e-6, 1e-5));
    const impact::Closing gradient = impact::effect_gradient(at, s, closings);
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
        REQUIRE(std::abs(impact::closing(at, s, -s.h).time - since) <
                1e-3 * s.h);  // across the hard test alone
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
