// Vertices of round bodies slide to where the surface has a given normal.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "collision/fitting/make_body.h"
#include "collision/manifold/sliding_points.h"
#include "engine/dual.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace abut::test {
namespace {

struct RoundBody {
  PrimitiveKind kind;
  std::array<double, 5> parameters;
  Body body;
  SlidingPoints<double> points;
};

/// A cylinder, a thin disc, a long ellipsoid, a pillow and two rings, as scenes make them.
const std::vector<RoundBody>& round_bodies() {
  static const std::vector<RoundBody> all = [] {
    using enum PrimitiveKind;
    std::vector<RoundBody> bodies;
    for (const auto& [kind, parameters] :
         {std::pair{superquadric, std::array{0.05, 0.05, 0.02, 0.05, 1.0}},
          std::pair{superquadric, std::array{0.0375, 0.0375, 0.0005, 0.05, 1.0}},
          std::pair{superquadric, std::array{0.1, 0.02, 0.02, 1.0, 1.0}},
          std::pair{superquadric, std::array{0.05, 0.04, 0.03, 0.5, 0.5}},
          std::pair{torus, std::array{0.035, 0.015, 0.0, 0.0, 0.0}},
          std::pair{torus, std::array{0.05, 0.005, 0.0, 0.0, 0.0}}}) {
      Shape shape;
      shape.primitives.emplace_back();
      shape.primitives.front().kind = kind;
      shape.primitives.front().parameters = parameters;
      bodies.push_back({kind, parameters, make_meshed_body(shape, {}).body, {}});
      bodies.back().points = sliding_points<double>(bodies.back().body);
    }
    return bodies;
  }();
  return all;
}

SlidingSeed<double> seed_of_point(const SlidingPoints<double>& points, int i) {
  return seed_of<double>([&](int c) { return points.seeds.column(c)[i]; });
}

/// The norm (|x|^p + |y|^p)^(1/p).
double p_norm(double x, double y, double p) {
  const double larger = std::max(std::abs(x), std::abs(y));
  return larger * std::pow(std::pow(std::abs(x) / larger, p) + std::pow(std::abs(y) / larger, p), 1.0 / p);
}

/// How far the surface reaches along m [m].
double support(const RoundBody& round, const Vec3<double>& m) {
  const auto& q = round.parameters;
  if (round.kind == PrimitiveKind::torus) return q[0] * std::hypot(m.x(), m.y()) + q[1];
  return p_norm(p_norm(q[0] * m.x(), q[1] * m.y(), 2.0 / (2.0 - q[4])), q[2] * m.z(), 2.0 / (2.0 - q[3]));
}

/// A random direction; two in four are nearly along the axis or across it.
Vec3<double> direction(Random& random, int i) {
  Vec3<double> m = random.unit_vector();
  if (i % 4 == 0) m.z() *= 1e-3;
  if (i % 4 == 1) m.head<2>() *= 1e-3;
  return m.normalized();
}

}  // namespace

TEST_CASE("slide: of every direction some seed reaches the true point, and none gets beyond it",
          "[collision][property]") {
  for (const RoundBody& round : round_bodies()) {
    const double size = round.body.size;
    REQUIRE(round.points.slide);
    Random random(1);
    double worst = 0.0;
    for (int i = 0; i < 1000; ++i) {
      const Vec3<double> m = direction(random, i);
      const double reach = support(round, m);
      double farthest = -1.0;
      for (int k = 0; k < round.points.seeds.stride; ++k) {
        const SlidPoint<double> point = slide(round.points.surface, seed_of_point(round.points, k), m);
        REQUIRE(m.dot(point.x) < reach + 1e-12 * size);
        if (point.reaches > 0.01) farthest = std::max(farthest, m.dot(point.x));
      }
      worst = std::max(worst, reach - farthest);
    }
    CAPTURE(round.parameters, worst / size);
    // Where seeds of flat parts begin to move, at psi, the ends of a thin disc reach farther by psi times their cells.
    CHECK(worst < (round.parameters[2] < 0.001 && round.kind != PrimitiveKind::torus ? 2e-4 : 2e-5) * size);
  }
}

TEST_CASE("slide: a seed stays where its own normal is looked for", "[collision][value]") {
  for (const RoundBody& round : round_bodies()) {
    for (int k = 0; k < round.points.seeds.stride; ++k) {
      const SlidingSeed<double> seed = seed_of_point(round.points, k);
      const SlidPoint<double> point = slide(round.points.surface, seed, Vec3<double>(2.0 * seed.n));
      const Vec3<double> v =
          round.points.R_BP.transpose() * (round.body.contact_points.col(k) - round.points.p_BP);
      REQUIRE(close(point.x, v, 1e-3, 1e-4 * round.body.size));  // as far as the mesh lies off the surface
      REQUIRE(point.turn.norm() < 1e-9);
      REQUIRE(point.reaches == 1.0);
    }
  }
}

TEST_CASE("slide: derivatives by Dual agree with differences", "[collision][derivative]") {
  Random random(2);
  int moving = 0;
  for (const RoundBody& round : round_bodies()) {
    for (int i = 0; i < 300; ++i) {
      const auto k = static_cast<int>(random.integer(static_cast<std::uint64_t>(round.points.seeds.stride)));
      const SlidingSeed<double> seed = seed_of_point(round.points, k);
      const Vec3<double> m = (seed.n + 0.2 * random_vector(random)).normalized(),
                         along = random_vector(random);
      using D = Dual<double, 1>;
      const auto moved = [&](const auto& t) {
        using S = std::decay_t<decltype(t)>;
        return slide<S>(round.points.surface.cast<S>(), seed.cast<S>(),
                        {S(m[0]) + t * S(along[0]), S(m[1]) + t * S(along[1]), S(m[2]) + t * S(along[2])});
      };
      const SlidPoint<D> dual = moved(D::variable(0.0, 0));
      for (int axis = 0; axis < 3; ++axis) {
        const auto x = fd_sweep([&](double t) { return moved(t).x[axis]; }, 0.0, 1e-3, 1e-7, 1e-8);
        const auto turn = fd_sweep([&](double t) { return moved(t).turn[axis]; }, 0.0, 1e-3, 1e-7, 1e-8);
        CAPTURE(round.parameters, k, axis, x.error);
        if (!x.disagrees_with_itself)
          REQUIRE(close(dual.x[axis].d[0], x.value, 1e-4, 1e-5 * round.body.size));
        if (!turn.disagrees_with_itself) REQUIRE(close(dual.turn[axis].d[0], turn.value, 1e-4, 1e-5));
      }
      moving += static_cast<int>(std::abs(dual.x[0].d[0]) > 1e-3);
    }
  }
  CHECK(moving > 200);
}

}  // namespace abut::test
