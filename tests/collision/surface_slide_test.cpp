// Vertices of round bodies slide to where the surface has a given normal.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "collision/fitting/make_body.h"
#include "collision/manifold/sliding_points.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/body_io.h"
#include "engine/dual.h"
#include "engine/mesh_shapes.h"
#include "engine/primitive_builder.h"
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

namespace {

/// A union, or one primitive.
Body body_of_parts(const std::vector<std::pair<Primitive, double>>& parts_at_heights) {
  Shape shape;
  for (const auto& [part, height] : parts_at_heights) {
    shape.primitives.push_back(part);
    shape.primitives.back().X_BP.p.z() = height;
  }
  return make_meshed_body(shape, {}).body;
}
Primitive part_of(PrimitiveKind kind, const std::array<double, 5>& parameters) {
  Primitive primitive;
  primitive.kind = kind;
  primitive.parameters = parameters;
  return primitive;
}

}  // namespace

TEST_CASE("slide: seeds on parts and patches reach the surface of their body, and nothing beyond it",
          "[collision][property]") {
  using enum PrimitiveKind;
  const Primitive ball = part_of(sphere, {0.05}),
                  flange = part_of(superquadric, {0.05, 0.05, 0.01, 0.05, 1.0}),
                  core = part_of(superquadric, {0.02, 0.02, 0.05, 0.05, 1.0});
  struct SeededBody {
    std::string name;
    Body body;
    double tolerance;  // of the size
    int reached;       // of 200 directions
  };
  const SeededBody cases[] = {
      {"dumb-bell", body_of_parts({{ball, -0.06}, {ball, 0.06}, {core, 0.0}}), 1e-6, 200},
      {"spool", body_of_parts({{flange, -0.03}, {flange, 0.03}, {core, 0.0}}), 1e-6, 200},
      {"wheel with hub", body_of_parts({{flange, 0.0}, {core, 0.0}}), 1e-6, 200},
      // None have patches next to the circle where a cap begins.
      {"ball with poles", body_of_parts({{ball, 0.0}, {part_of(capsule, {0.03, 0.05}), 0.0}}), 1e-5, 190},
      {"half-round extrusion",
       body_of_parts({{make_extruded_superquadric({0.05, 0.05, 0.02}, 0.05, 1.0, {0.0}, {0.03}), 0.0}}), 1e-5,
       80},
      // As bumpy as the cloud's own surface is.
      {"point cloud", body_of_parts({{make_oriented_point_cloud(sphere_mesh(0.05, 3)), 0.0}}), 1e-3, 200}};
  for (const SeededBody& of : cases) {
    const SlidingPoints<double> points = sliding_points<double>(of.body);
    CAPTURE(of.name);
    REQUIRE(points.slide);
    const ShapeSdf sdf(of.body.shape);
    Random random(1);
    double farthest_out = 0.0, farthest_off = 0.0;
    int reached = 0;
    for (int i = 0; i < 200; ++i) {
      const Vec3<double> m = random.unit_vector();
      double deepest = -1.0, off = 0.0;
      for (int k = 0; k < points.seeds.stride; ++k) {
        if (!points.slides(k)) continue;
        const SlidPoint<double> point = slide(seed_at(points, k), m);
        if (point.reaches < 0.01) continue;
        const double distance = sdf.distance<double>(point.x);
        farthest_out = std::max(farthest_out, distance);
        if (m.dot(point.x) > deepest) {
          deepest = m.dot(point.x);
          off = std::abs(distance);
        }
      }
      reached += static_cast<int>(deepest > 0.0);
      farthest_off = std::max(farthest_off, off);
    }
    CAPTURE(farthest_out / of.body.size, farthest_off / of.body.size);
    CHECK(reached >= of.reached);
    CHECK(farthest_out < of.tolerance * of.body.size);
    CHECK(farthest_off < of.tolerance * of.body.size);
  }
}

TEST_CASE("slide: boxes, rough bodies and rings with thin walls have no seeds", "[collision][property]") {
  using enum PrimitiveKind;
  const Primitive box = part_of(superquadric, {0.05, 0.04, 0.03, 0.05, 0.05});
  Primitive hole = part_of(superquadric, {0.03, 0.03, 0.1, 0.05, 1.0});
  hole.operation = PrimitiveOperation::subtract;
  const Primitive disc = part_of(superquadric, {0.05, 0.05, 0.02, 0.05, 1.0});
  CHECK_FALSE(sliding_points<double>(body_of_parts({{box, 0.0}, {box, 0.05}})).slide);
  CHECK_FALSE(sliding_points<double>(body_of_parts({{disc, 0.0}, {hole, 0.0}})).slide);
  for (const char* const name : {"armadillo", "spot", "mustard_bottle", "power_drill", "hex_nut", "plate"}) {
    CAPTURE(name);
    CHECK(read_body(std::string(ABUT_SOURCE_DIR) + "/assets/bodies/" + name + "/body.toml")
              .seeds.normals.cols() == 0);
  }
}

}  // namespace abut::test
