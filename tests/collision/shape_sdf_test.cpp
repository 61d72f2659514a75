#include "collision/sdf/shape_sdf.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <variant>
#include <vector>

#include "engine/dual.h"
#include "engine/pack.h"
#include "engine/primitive_builder.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/convex_polygon.h"
#include "tests/support/gradient_check.h"

namespace abut {
namespace {

using test::close;

Primitive random_primitive(Random& random, PrimitiveKind kind, double spread) {
  Primitive p;
  p.kind = kind;
  const auto length = [&] { return random.uniform(0.1, 0.4); };
  const auto exponent = [&] {
    return random.uniform() < 0.3 ? random.uniform(1.05, 1.9) : random.uniform(0.1, 0.95);
  };
  switch (kind) {
    case PrimitiveKind::superquadric:
      p.parameters = {length(), length(), length(), exponent(), exponent()};
      break;
    case PrimitiveKind::half_space:
      break;
    case PrimitiveKind::sphere:
      p.parameters = {length()};
      break;
    case PrimitiveKind::capsule:
      p.parameters = {length(), length()};
      break;
    case PrimitiveKind::rounded_box:
      p.parameters = {length(), length(), length(), 0.05};
      break;
    case PrimitiveKind::cone:
      p.parameters = {length(), random.uniform() < 0.3 ? 0.01 : length(), length(),
                      random.uniform(0.002, 0.008)};
      break;
    case PrimitiveKind::torus:
      p.parameters = {random.uniform(0.2, 0.4), random.uniform(0.05, 0.15)};
      break;
    case PrimitiveKind::padded_polygon:
      p = make_padded_polygon(
          test::random_convex_polygon(random, 3 + static_cast<int>(random.integer(5)), 0.3),
          random.uniform(0.05, 0.2));
      break;
    case PrimitiveKind::convex_polyhedron: {
      Points points(3, 12);
      for (int i = 0; i < 12; ++i) points.col(i) = length() * random.unit_vector();
      p = make_convex_hull_polyhedron(points, random.uniform(0.002, 0.008));
      break;
    }
    case PrimitiveKind::oriented_point_cloud: {
      const Vec3<double> axes(length(), length(), length());
      Points points(3, 150), normals(3, 150);
      for (int i = 0; i < 150; ++i) {
        const Vec3<double> u = random.unit_vector();
        points.col(i) = u.cwiseProduct(axes);
        normals.col(i) = u.cwiseQuotient(axes);
      }
      p = make_oriented_point_cloud(points, normals, random.uniform(0.04, 0.08));
      break;
    }
    case PrimitiveKind::extruded_superquadric: {
      std::vector<double> angles, offsets;
      for (int i = 0; i < 3; ++i) {
        angles.push_back(random.uniform(-4.0, 4.0));
        offsets.push_back(length());
      }
      p = make_extruded_superquadric({length(), length(), length()}, exponent(), exponent(), angles, offsets,
                                     random.uniform(3.0, 20.0));
      break;
    }
  }
  p.X_BP = test::random_pose(random, spread);
  return p;
}

constexpr int k_kinds = std::variant_size_v<PreparedPrimitive<double>::Solid>;

/// `count` primitives of all kinds within about a metre; every fourth is subtracted, if so wished.
Shape random_shape(Random& random, int count, bool subtract, DistanceMode mode = DistanceMode::taubin) {
  Shape shape;
  shape.union_smoothing = 0.01;
  shape.distance_mode = mode;
  for (int i = 0; i < count; ++i) {
    const auto kind = random.uniform() < 0.6 ? PrimitiveKind::superquadric
                                             : static_cast<PrimitiveKind>(1 + random.integer(k_kinds - 1));
    shape.primitives.push_back(random_primitive(random, kind, 0.4));
    if (subtract && i % 4 == 3) shape.primitives.back().operation = PrimitiveOperation::subtract;
  }
  return shape;
}

/// A single primitive of a shape as a shape.
Shape alone(const Shape& shape, std::size_t i) {
  Shape one = shape;
  one.primitives = {shape.primitives[i]};
  one.primitives[0].operation = PrimitiveOperation::add;
  return one;
}

/// Distance of the union of the primitives of one operation, by plain logsumexp.
double plain_union(const Shape& shape, PrimitiveOperation operation, const Vec3<double>& x) {
  std::vector<double> distances;
  for (std::size_t i = 0; i < shape.primitives.size(); ++i) {
    if (shape.primitives[i].operation == operation)
      distances.push_back(ShapeSdf(alone(shape, i)).distance(x));
  }
  return softmin(distances, shape.union_smoothing);
}

const auto normal_of = [](const ShapeSdf& sdf) {
  return [&sdf](const auto& y) {
    using S = std::remove_cvref_t<decltype(y[0])>;
    return Vec3<S>(sdf.evaluate_normal<S>(y).normal);
  };
};
const auto distance_of = [](const ShapeSdf& sdf) {
  return [&sdf](const auto& y) { return sdf.distance<std::remove_cvref_t<decltype(y[0])>>(y); };
};

TEST_CASE("ShapeSdf: one primitive is that primitive", "[collision][value]") {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const auto kind = static_cast<PrimitiveKind>(random.integer(k_kinds));
    Shape shape;
    shape.union_smoothing = 0.01;
    shape.primitives = {random_primitive(random, kind, 0.4)};
    const ShapeSdf sdf(shape);
    const Vec3<double> x = test::random_vector(random, 1.0);
    const auto s = sdf.evaluate_jacobian(x);
    const auto p = primitive_sample<SdfOrder::jacobian, double>(
        PreparedPrimitive<double>(shape.primitives[0], shape.primitives[0].parameters, 0.01),
        DistanceMode::taubin, x);
    CHECK(s.distance == p.distance);
    CHECK(s.normal == p.normal);
    const bool is_potential = kind == PrimitiveKind::convex_polyhedron || kind == PrimitiveKind::cone ||
                              kind == PrimitiveKind::oriented_point_cloud;  // n is shorter by 5e-13/|grad|^2
    const double shortening = is_potential ? 3e-12 : 0.0;
    CHECK(close(s.normal.norm(), 1.0, 1e-14 + shortening, 0));
    CHECK(s.normal_jacobian == p.normal_jacobian);

    // The union's mathematics, with a second primitive too far away to matter, gives the same.
    shape.primitives.emplace_back();
    shape.primitives[1].kind = PrimitiveKind::sphere;
    shape.primitives[1].parameters = {0.1};
    shape.primitives[1].X_BP.p = {1e4, 0, 0};
    const auto u = ShapeSdf(shape).evaluate_jacobian(x);
    CHECK(close(u.distance, s.distance, 0, 1e-15));
    CHECK(close(u.normal, s.normal, 0, 1e-14 + shortening));
    CHECK(close(u.gradient, s.gradient, 1e-14, 1e-14));
    CHECK(test::relative_error(u.normal_jacobian, s.normal_jacobian, 1.0) <= 1e-13 + shortening);
  }
}

TEST_CASE(
    "ShapeSdf: the union is logsumexp of its primitives, between the least less tau log L and the least",
    "[collision][value]") {
  Random random(2);
  for (int i = 0; i < 300; ++i) {
    const auto mode = static_cast<DistanceMode>(random.integer(3));
    const Shape shape = random_shape(random, 2 + static_cast<int>(random.integer(20)), false, mode);
    const ShapeSdf sdf(shape);
    const Vec3<double> x = test::random_vector(random, 1.0);
    double least = 1e300;
    for (std::size_t k = 0; k < shape.primitives.size(); ++k)
      least = std::min(least, ShapeSdf(alone(shape, k)).distance(x));
    const double d = sdf.distance(x),
                 most = shape.union_smoothing * std::log(static_cast<double>(shape.primitives.size()));
    CAPTURE(i, x.transpose());
    CHECK(close(d, plain_union(shape, PrimitiveOperation::add, x), 1e-13,
                1e-15));  // whatever the bounds left out
    CHECK(d <= least + 1e-15);
    CHECK(d >= least - most - 1e-15);
  }
  // The lower bound is reached where all are the same.
  Shape shape = random_shape(random, 1, false);
  for (int k = 0; k < 4; ++k) shape.primitives.push_back(shape.primitives[0]);
  const Vec3<double> x(0.3, -0.2, 0.5);
  CHECK(close(ShapeSdf(shape).distance(x), ShapeSdf(alone(shape, 0)).distance(x) - 0.01 * std::log(5.0),
              1e-13, 0));
}

TEST_CASE("ShapeSdf: no smoothing means the hard minimum, finite all over", "[collision][value]") {
  Random random(12);
  for (int i = 0; i < 100; ++i) {
    Shape shape = random_shape(random, 5, false);
    shape.union_smoothing = 0.0;
    const Vec3<double> x = test::random_vector(random, 1.0);
    double least = 1e300;
    for (std::size_t k = 0; k < 5; ++k) least = std::min(least, ShapeSdf(alone(shape, k)).distance(x));
    const auto s = ShapeSdf(shape).evaluate_jacobian(x);
    CHECK(close(s.distance, least, 0, 1e-8));
    CHECK(close(s.normal.norm(), 1.0, 1e-9, 0));
    CHECK(s.normal_jacobian.allFinite());
  }
}

TEST_CASE("ShapeSdf: subtraction is a smooth max with minus the subtracted union", "[collision][value]") {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const Shape shape = random_shape(random, 4 + static_cast<int>(random.integer(10)), true);
    const ShapeSdf sdf(shape);
    const Vec3<double> x = test::random_vector(random, 1.0);
    const double plus = plain_union(shape, PrimitiveOperation::add, x),
                 minus = plain_union(shape, PrimitiveOperation::subtract, x);
    const double d = sdf.distance(x);
    CHECK(close(d, smooth_max(plus, -minus, shape.union_smoothing), 1e-13, 1e-14));
    CHECK(d >= std::max(plus, -minus) - 1e-15);
    CHECK(d <= std::max(plus, -minus) + shape.union_smoothing * std::log(2.0) + 1e-15);
  }
  // A ball with a hole: a point in the hole is outside, and the way out of the solid leads into the hole.
  Shape shell;
  shell.union_smoothing = 1e-3;
  shell.primitives.resize(2);
  for (Primitive& p : shell.primitives) p.kind = PrimitiveKind::sphere;
  shell.primitives[0].parameters = {1.0};
  shell.primitives[1].parameters = {0.8};
  shell.primitives[1].operation = PrimitiveOperation::subtract;
  const ShapeSdf sdf(shell);
  CHECK(close(sdf.distance(Vec3<double>(0.5, 0, 0)), 0.3, 1e-12, 0));
  CHECK(close(sdf.distance(Vec3<double>(0.85, 0, 0)), -0.05, 1e-12, 0));
  const auto wall = sdf.evaluate(Vec3<double>(0.81, 0, 0));
  CHECK(close(wall.normal, Vec3<double>(-1, 0, 0), 0, 1e-12));
  CHECK(close(wall.gradient, Vec3<double>(-1, 0, 0), 0, 1e-12));
}

TEST_CASE("ShapeSdf: gradient and normal Jacobian agree with Jet and differences in every mode",
          "[collision][derivative]") {
  const auto mode = static_cast<DistanceMode>(GENERATE(0, 1, 2));
  const bool subtract = GENERATE(false, true);
  Random random(4);
  std::vector<double> differences;
  for (int i = 0; i < 250; ++i) {
    const Shape shape = random_shape(random, 1 + static_cast<int>(random.integer(8)), subtract, mode);
    const ShapeSdf sdf(shape);
    const Vec3<double> x = test::random_vector(random, 0.8);
    const auto s = sdf.evaluate_jacobian(x);
    CAPTURE(static_cast<int>(mode), subtract, i, x.transpose());
    REQUIRE(s.normal.norm() > 1e-3);
    CHECK(test::relative_error(s.gradient, test::jet_gradient(distance_of(sdf), x)) <= 1e-12);
    CHECK(test::relative_error(s.normal_jacobian, test::jet_jacobian(normal_of(sdf), x), 1.0) <= 1e-12);
    const auto value = sdf.evaluate_normal(x);
    CHECK(value.distance == s.distance);
    CHECK(value.normal == s.normal);
    CHECK(sdf.distance(x) == s.distance);
    const double h = 1e-6;
    differences.push_back(
        std::max({test::relative_error(s.gradient, test::fd_gradient(distance_of(sdf), x, h), 1.0),
                  test::relative_error(s.normal_jacobian, test::fd_jacobian(normal_of(sdf), x, h), 1.0)}));
  }
  std::sort(differences.begin(), differences.end());
  // Left out: medial planes of boxes and seams of capsules and boxes within the step, where there is a kink.
  CHECK(differences[245] <= 1e-6);
}

TEST_CASE("ShapeSdf: parameter_vjp agrees with differences of the whole shape", "[collision][derivative]") {
  const auto mode = static_cast<DistanceMode>(GENERATE(0, 1, 2));
  const bool subtract = GENERATE(false, true);
  Random random(6);
  std::vector<double> errors;
  int not_zero = 0;
  for (int i = 0; i < 60; ++i) {
    const Shape shape = random_shape(random, 1 + static_cast<int>(random.integer(6)), subtract, mode);
    const ShapeSdf sdf(shape);
    // Near the surface, where several primitives matter.
    Vec3<double> x = test::random_vector(random, 0.6);
    for (int k = 0; k < 8; ++k) {
      const auto s = sdf.evaluate(x);
      x -= 0.5 * s.distance * s.gradient / (s.gradient.squaredNorm() + 0.1);
    }
    const double distance_bar = random.normal();
    const Vec3<double> normal_bar = test::random_vector(random, 1.0);
    const auto loss = [&](const Shape& moved) {
      const auto s = ShapeSdf(moved).evaluate_normal(x);
      return distance_bar * s.distance + normal_bar.dot(s.normal);
    };
    std::vector<PrimitiveGradient> bar(shape.primitives.size());
    bar[0].parameters[0] = 7.0;  // it adds
    sdf.parameter_vjp(x, distance_bar, normal_bar, bar);
    bar[0].parameters[0] -= 7.0;
    for (std::size_t k = 0; k < shape.primitives.size(); ++k) {
      const Primitive& p = shape.primitives[k];
      CAPTURE(static_cast<int>(mode), subtract, i, k, static_cast<int>(p.kind), x.transpose());
      const auto check = [&](double by, const auto& moved, double h) {
        const auto f = [&](double step) {
          Shape changed = shape;
          moved(changed.primitives[k], step);
          return loss(changed);
        };
        const double differences = test::fd_derivative(f, 0.0, h);
        errors.push_back(std::abs(by - differences) / std::max(1.0, std::abs(differences)));
        if (std::abs(by) > 1e-6) ++not_zero;
      };
      for (auto q = static_cast<std::size_t>(parameter_count(p.kind)); q < 5; ++q) {
        CHECK(bar[k].parameters[q] == 0.0);
      }
      if (bar[k].values.empty()) bar[k].values.resize(p.values.size());  // too far away to matter
      REQUIRE(bar[k].values.size() == p.values.size());
      const std::size_t stride = p.kind == PrimitiveKind::oriented_point_cloud ? 11 : 1;
      for (std::size_t q = 0; q < parameter_count(p); q += stride) {
        check(
            shape_parameter(bar[k], p.kind, q),
            [&](Primitive& changed, double step) { shape_parameter(changed, p.kind, q) += step; }, 1e-6);
      }
      for (int q = 0; q < 6; ++q) {
        check(
            bar[k].pose[q],
            [&](Primitive& changed, double step) {
              Vec6<double> tangent = Vec6<double>::Zero();
              tangent[q] = step;
              changed.X_BP = retract(changed.X_BP, tangent);
            },
            1e-6);
      }
    }
  }
  std::sort(errors.begin(), errors.end());
  CHECK(not_zero > 200);
  CHECK(errors[errors.size() / 2] <= 1e-10);
  CHECK(errors[errors.size() * 99 / 100] <= 1e-7);
  CHECK(errors.back() <= 1e-4);
}

TEST_CASE("ShapeSdf: lanes of a pack do not depend on each other, and are single numbers to rounding",
          "[collision][batch]") {
  using P = Pack<double, 4>;
  using Q = Pack<float, 8>;
  Random random(7);
  for (int i = 0; i < 100; ++i) {
    const Shape shape = random_shape(random, 1 + static_cast<int>(random.integer(20)), i % 2 == 1);
    const ShapeSdf sdf(shape);
    Vec3<P> x, shifted;
    Vec3<Q> y;
    for (int lane = 0; lane < 8; ++lane) {
      const Vec3<double> point = test::random_vector(random, lane % 2 == 0 ? 0.5 : 3.0);
      for (int k = 0; k < 3; ++k) {
        if (lane < 4)
          x[k].set_lane(lane, point[k]), shifted[k].set_lane((lane + 1) % 4, lane == 3 ? 0.1 : point[k]);
        y[k].set_lane(lane, static_cast<float>(point[k]));
      }
    }
    const auto s = sdf.evaluate_jacobian<P>(x), t = sdf.evaluate_jacobian<P>(shifted);
    const auto f = sdf.evaluate_jacobian<Q>(y);
    for (int lane = 0; lane < 3; ++lane) {
      CAPTURE(i, lane);
      const auto one = sdf.evaluate_jacobian(Vec3<double>(x[0][lane], x[1][lane], x[2][lane]));
      CHECK(s.distance[lane] == t.distance[lane + 1]);
      CHECK(close(s.distance[lane], one.distance, 1e-13, 1e-14));
      for (int r = 0; r < 3; ++r) {
        CHECK(s.normal[r][lane] == t.normal[r][lane + 1]);
        CHECK(s.gradient[r][lane] == t.gradient[r][lane + 1]);
        CHECK(close(s.normal[r][lane], one.normal[r], 0, 1e-12));
        CHECK(close(s.gradient[r][lane], one.gradient[r], 1e-11, 1e-12));
        for (int c = 0; c < 3; ++c) {
          CHECK(s.normal_jacobian(r, c)[lane] == t.normal_jacobian(r, c)[lane + 1]);
          CHECK(close(s.normal_jacobian(r, c)[lane], one.normal_jacobian(r, c), 1e-10, 1e-9));
        }
      }
    }
    for (int lane = 0; lane < 8; ++lane) {  // single precision
      const Vec3<double> point(y[0][lane], y[1][lane], y[2][lane]);
      const auto one = sdf.evaluate(point);
      CAPTURE(i, lane, point.transpose());
      CHECK(close(f.distance[lane], one.distance, 1e-5, 1e-6));
      // The normal of a union turns with 1/tau = 100/m, more where primitives oppose each other.
      for (int r = 0; r < 3; ++r) CHECK(close(f.normal[r][lane], one.normal[r], 0, 2e-3));
    }
  }
}

TEST_CASE("ShapeSdf: moving the shape moves its function", "[collision][property]") {
  Random random(8);
  for (int i = 0; i < 200; ++i) {
    const Shape in_B = random_shape(random, 6, i % 2 == 1);
    const Pose<double> X_AB = test::random_pose(random);
    Shape in_A = in_B;
    for (Primitive& p : in_A.primitives) p.X_BP = X_AB * p.X_BP;
    const Vec3<double> x_B = test::random_vector(random, 0.8);
    const auto b = ShapeSdf(in_B).evaluate_jacobian(x_B);
    const auto a = ShapeSdf(in_A).evaluate_jacobian<double>(X_AB * x_B);
    const Mat3<double> R_AB = X_AB.rotation();
    CAPTURE(i, x_B.transpose());
    CHECK(close(a.distance, b.distance, 1e-12, 1e-14));
    CHECK(close(a.normal, Vec3<double>(R_AB * b.normal), 0, 1e-11));
    CHECK(close(a.gradient, Vec3<double>(R_AB * b.gradient), 1e-10, 1e-10));
    CHECK(test::relative_error(a.normal_jacobian, Mat3<double>(R_AB * b.normal_jacobian * R_AB.transpose()),
                               1.0) <= 1e-9);
  }
}

TEST_CASE("ShapeSdf: opposing primitives make a short normal, smoothly, and never a made-up one",
          "[collision][value]") {
  Shape gap;  // two half-spaces that face each other, 2 cm apart
  gap.union_smoothing = 0.01;
  gap.primitives.resize(2);
  for (Primitive& p : gap.primitives) p.kind = PrimitiveKind::half_space;
  gap.primitives[0].X_BP.p = {0, 0, -0.01};
  gap.primitives[1].X_BP = {Quat<double>(0, 1, 0, 0), {0, 0, 0.01}};
  const ShapeSdf sdf(gap);
  CHECK(close(sdf.evaluate(Vec3<double>(0.3, 0.2, 0)).normal, Vec3<double>(0, 0, 0), 0, 1e-15));
  double last = 2.0;
  for (const double z : {-1.0, -0.03, -0.01, -0.003, -0.001, 0.0}) {
    const Vec3<double> n = sdf.evaluate(Vec3<double>(0.3, 0.2, z)).normal;
    CHECK(n.z() < last);
    CHECK(n.z() >= 0.0);
    last = n.z();
  }
  CHECK(close(sdf.evaluate(Vec3<double>(0, 0, -1)).normal.z(), 1.0, 1e-14, 0));
  CHECK(sdf.bounds().min().z() == -std::numeric_limits<double>::infinity());
}

TEST_CASE("ShapeSdf: the bounds contain the solid, and distances to them bound the function",
          "[collision][property]") {
  Random random(9);
  int inside = 0;
  for (int i = 0; i < 100; ++i) {
    Shape shape = random_shape(random, 1 + static_cast<int>(random.integer(6)), i % 2 == 1,
                               static_cast<DistanceMode>(i % 3));
    for (Primitive& p : shape.primitives) {
      if (p.kind == PrimitiveKind::half_space) p = random_primitive(random, PrimitiveKind::superquadric, 0.4);
    }
    const ShapeSdf sdf(shape);
    const int added = static_cast<int>(
        std::count_if(shape.primitives.begin(), shape.primitives.end(),
                      [](const Primitive& p) { return p.operation == PrimitiveOperation::add; }));
    const double lift = shape.union_smoothing * std::log(static_cast<double>(added));
    REQUIRE(sdf.distance_ratio() >= 1.0);
    REQUIRE(sdf.bounds().sizes().allFinite());
    for (int k = 0; k < 300; ++k) {
      const Vec3<double> x = test::random_vector(random, k % 3 == 0 ? 4.0 : 1.2);
      const double d = sdf.distance(x), outside = sdf.bounds().exteriorDistance(x);
      CAPTURE(i, k, x.transpose(), d, outside, sdf.distance_ratio());
      if (d <= 0.0) {
        ++inside;
        CHECK(sdf.bounds().contains(x));
      }
      if (outside > 0.0) CHECK(d >= outside / sdf.distance_ratio() - lift - 1e-12);
    }
  }
  CHECK(inside > 300);
  // And tightly: the box of one superquadric touches it on all sides.
  for (int i = 0; i < 50; ++i) {
    Shape shape;
    shape.primitives = {random_primitive(random, PrimitiveKind::superquadric, 0.4)};
    const Primitive& p = shape.primitives[0];
    if (p.parameters[3] > 1.0 || p.parameters[4] > 1.0) continue;  // rounded ridges: inside by 1.5 delta^2
    const ShapeSdf sdf(shape);
    Eigen::AlignedBox3d box;
    for (int k = 0; k < 20000; ++k) {
      const Vec3<double> r = random.unit_vector();
      box.extend(Vec3<double>(
          p.X_BP.p +
          r / gauge_point(Superquadric<double>(p.parameters, p.X_BP, 0.0), Vec3<double>(p.X_BP.p + r)).F));
    }
    CHECK((sdf.bounds().sizes() - box.sizes()).maxCoeff() <= 0.03 * sdf.bounds().sizes().maxCoeff());
    CHECK((sdf.bounds().sizes() - box.sizes()).minCoeff() >= 0.0);
  }
}

TEST_CASE("ShapeSdf: nothing is infinite or NaN for any finite point", "[collision][value]") {
  Random random(10);
  for (int i = 0; i < 300; ++i) {
    const Shape shape = random_shape(random, 1 + static_cast<int>(random.integer(8)), i % 2 == 1,
                                     static_cast<DistanceMode>(i % 3));
    const ShapeSdf sdf(shape);
    std::vector<Vec3<double>> points{Vec3<double>::Zero()};
    for (const Primitive& p : shape.primitives) points.push_back(p.X_BP.p);
    for (int k = 0; k < 8; ++k) {
      points.emplace_back(test::random_magnitude(random, -10, 6), test::random_magnitude(random, -10, 6),
                          test::random_magnitude(random, -10, 6));
    }
    for (const Vec3<double>& x : points) {
      CAPTURE(i, x.transpose());
      const auto s = sdf.evaluate_jacobian(x);
      CHECK((std::isfinite(s.distance) && s.normal.allFinite() && s.gradient.allFinite() &&
             s.normal_jacobian.allFinite()));
      CHECK(s.normal.norm() <= 1.0 + 1e-12);
      const auto f = sdf.evaluate_jacobian<float>(x.cast<float>());
      CHECK((std::isfinite(f.distance) && f.normal.allFinite() && f.gradient.allFinite() &&
             f.normal_jacobian.allFinite()));
      std::vector<PrimitiveGradient> bar(shape.primitives.size());
      sdf.parameter_vjp(x, 1.0, Vec3<double>(1, 2, 3), bar);
      for (const PrimitiveGradient& b : bar) {
        CHECK(b.pose.allFinite());
        for (const double parameter : b.parameters) CHECK(std::isfinite(parameter));
        for (const double value : b.values) CHECK(std::isfinite(value));
      }
    }
  }
}

TEST_CASE("ShapeSdf: a shape without added primitives is nowhere", "[collision][value]") {
  const ShapeSdf sdf{Shape{}};
  const auto s = sdf.evaluate_jacobian(Vec3<double>(1, 2, 3));
  CHECK(s.distance == 1e30);
  CHECK(s.normal.isZero(0));
  CHECK(sdf.bounds().isEmpty());
  CHECK(sdf.distance_ratio() == 1.0);
  sdf.parameter_vjp(Vec3<double>(1, 2, 3), 1.0, Vec3<double>(1, 1, 1), {});
}

TEST_CASE("ShapeSdf: what makes no solid is refused", "[collision][value]") {
  Random random(11);
  const Shape good = random_shape(random, 2, false);
  CHECK_NOTHROW(ShapeSdf(good));
  Shape bad = good;
  bad.union_smoothing = -1.0;
  CHECK_THROWS_AS(ShapeSdf(bad), std::invalid_argument);
  bad = good;
  bad.primitives[1] = random_primitive(random, PrimitiveKind::superquadric, 0.4);
  for (const std::size_t k : {0u, 1u, 2u, 3u, 4u}) {
    for (const double value : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
      Shape broken = bad;
      broken.primitives[1].parameters[k] = value;
      CHECK_THROWS_WITH(ShapeSdf(broken), Catch::Contains("primitive 1"));
    }
  }
  bad.primitives[1] = Primitive();
  bad.primitives[1].kind = PrimitiveKind::rounded_box;
  bad.primitives[1].parameters = {1.0, 0.1, 1.0, 0.2};
  CHECK_THROWS_AS(ShapeSdf(bad), std::invalid_argument);
}

}  // namespace
}  // namespace abut
