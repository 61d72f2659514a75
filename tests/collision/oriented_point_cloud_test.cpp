#include "collision/sdf/oriented_point_cloud.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <catch2/catch.hpp>

#include "collision/sdf/shape_sdf.h"
#include "engine/primitive_builder.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/no_alloc.h"
#include "tests/support/test_bodies.h"

namespace abut {
namespace {

using test::close;

/// Points all over a sphere, evenly: on a spiral with the golden angle.
Points spiral(int count) {
  Points points(3, count);
  for (int i = 0; i < count; ++i) {
    const double z = 1.0 - (2.0 * i + 1.0) / count, r = std::sqrt(1.0 - z * z);
    const double angle = i * std::numbers::pi * (3.0 - std::sqrt(5.0));
    points.col(i) = Vec3<double>(r * std::cos(angle), r * std::sin(angle), z);
  }
  return points;
}

Primitive sphere_cloud(int count, double radius) {
  const Points u = spiral(count);
  return make_oriented_point_cloud(radius * u, u);
}

/// The sum over all points, in the plainest way.
double plain_mean(const Primitive& cloud, const Vec3<double>& x) {
  const double h = cloud.parameters[0];
  double least = 1e300, weight = 0.0, sum = 0.0;
  for (const bool is_sum : {false, true}) {
    for (Eigen::Index i = 0; i < cloud.directions.cols(); ++i) {
      const auto k = static_cast<std::size_t>(3 * i);
      const Vec3<double> n = cloud.directions.col(i);
      const Vec3<double> r = x - Vec3<double>(cloud.values[k], cloud.values[k + 1], cloud.values[k + 2]);
      const double along = n.dot(r), across = (r - along * n).squaredNorm();
      const double exponent = 0.5 * (across / (h * h) + along * along / (4.0 * h * h));
      if (!is_sum) {
        least = std::min(least, exponent);
      } else {
        weight += std::exp(least - exponent);
        sum += std::exp(least - exponent) * along;
      }
    }
  }
  return sum / weight;
}

TEST_CASE("OrientedPointCloud: points all over a sphere are that sphere", "[collision][value]") {
  const double R = 0.5;
  Random random(1);
  double last_error = 1e300;
  for (const int count : {300, 1200, 4800}) {
    const Primitive cloud = sphere_cloud(count, R);
    const ShapeSdf sdf(test::single_primitive(cloud));
    const double h = cloud.parameters[0];
    double near_error = 0.0, tilt = 0.0;
    for (int i = 0; i < 300; ++i) {
      const Vec3<double> u = random.unit_vector();
      // The planes of neighbours pass below the surface: phi is lower by about h^2 times the curvature.
      const double depth = random.uniform(-2.0, 2.0) * h;
      const auto s = sdf.evaluate(Vec3<double>((R + depth) * u));
      near_error = std::max(near_error, std::abs(s.distance - depth));
      tilt = std::max(tilt, (s.normal - u).norm());
      for (const double r : {0.3 * R, 2.0 * R, 20.0 * R}) {
        CAPTURE(count, i, r);
        CHECK(std::abs(sdf.distance(Vec3<double>(r * u)) - (r - R)) <= 3.0 * h * h / R);
      }
    }
    CAPTURE(count, h, near_error, tilt);
    CHECK(near_error <= 3.0 * h * h / R);
    const double on_surface = sdf.distance(Vec3<double>(R * random.unit_vector()));
    CHECK(close(on_surface, -h * h / R, 0.05 + 4.0 * h * h / (R * R), 0));
    CHECK(near_error <= 0.5 * last_error);
    CHECK(tilt <= 0.02);
    last_error = near_error;
  }
}

TEST_CASE("OrientedPointCloud: what the tree leaves out is below rounding", "[collision][value]") {
  Random random(2);
  for (int i = 0; i < 40; ++i) {
    const int count = 4 + static_cast<int>(random.integer(500));
    Points points(3, count), normals(3, count);
    for (int k = 0; k < count; ++k) {
      const Vec3<double> u = random.unit_vector();
      points.col(k) = u.cwiseProduct(Vec3<double>(0.5, 0.3, 0.2));
      // Some with normals that say nothing: the cones of the tree must take any.
      normals.col(k) =
          i % 3 == 0 ? random.unit_vector() : Vec3<double>(u.cwiseQuotient(Vec3<double>(0.5, 0.3, 0.2)));
    }
    Primitive cloud = make_oriented_point_cloud(points, normals, random.uniform(0.02, 0.2));
    const OrientedPointCloud<double> prepared(cloud, cloud.parameters);
    for (int k = 0; k < 30; ++k) {
      const Vec3<double> x =
          k < 3 ? Vec3<double>(points.col(k)) : test::random_vector(random, k % 2 == 0 ? 0.5 : 3.0);
      CAPTURE(i, k, count, x.transpose());
      CHECK(close(cloud_mean(prepared, x).value, plain_mean(cloud, x), 1e-11, 1e-13));
    }
  }
}

TEST_CASE("OrientedPointCloud: points of a plane with its normal are that plane", "[collision][value]") {
  Random random(3);
  Points points(3, 400), normals(3, 400);
  for (int i = 0; i < 400; ++i) {
    const int row = i / 20, column = i % 20;
    points.col(i) = Vec3<double>(column, row, 0.0) / 19.0;
    normals.col(i) = Vec3<double>::UnitZ();
  }
  const Primitive patch = make_oriented_point_cloud(points, normals);
  const ShapeSdf sdf(test::single_primitive(patch));
  const double h = patch.parameters[0];
  for (int i = 0; i < 200; ++i) {
    const Vec3<double> x(random.uniform(0.0, 1.0), random.uniform(0.0, 1.0), random.uniform(-0.1, 1.0) * h);
    const auto s = sdf.evaluate_jacobian(x);
    CHECK(close(s.distance, x.z(), 1e-12, 1e-13));
    CHECK(close(s.normal, Vec3<double>(0, 0, 1), 0, 1e-11));
    CHECK(s.normal_jacobian.cwiseAbs().maxCoeff() <= 1e-9);
  }
  // It encloses nothing, so the box of the points less 4 h does.
  CHECK(close(Vec3<double>(sdf.bounds().sizes()), Vec3<double>(1 + 8 * h, 1 + 8 * h, 8 * h), 1e-9, 0));
  CHECK(close(sdf.distance(Vec3<double>(0.5, 0.5, -3.0)), 3.0 - 4.0 * h, 1e-12, 0));
  CHECK(close(sdf.distance(Vec3<double>(0.5, 0.5, 3.0)), 3.0, 1e-12, 0));
  CHECK(close(sdf.distance(Vec3<double>(6.0, 0.5, -0.1)), 5.0 - 4.0 * h, 1e-3, 0));
  for (int i = 0; i < 500; ++i) {
    const Vec3<double> x = test::random_vector(random, 4.0);
    const double outside = sdf.bounds().exteriorDistance(x);
    if (outside > 0.0) CHECK(sdf.distance(x) >= outside - 1e-12);
  }
}

TEST_CASE(
    "OrientedPointCloud: derivatives by points, width and the box that they make agree with differences",
    "[collision][derivative]") {
  Random random(4);
  Points points(3, 60), normals(3, 60);
  for (int i = 0; i < 60; ++i) {
    points.col(i) = Vec3<double>(random.uniform(), random.uniform(), 0.1 * random.uniform());
    normals.col(i) = Vec3<double>(0.3 * random.normal(), 0.3 * random.normal(), 1.0);
  }
  const Shape shape = test::single_primitive(make_oriented_point_cloud(points, normals, 0.1));
  const ShapeSdf sdf(shape);
  double largest = 0.0;
  // On the patch; below it, where the box is the surface; and where planes and box are equally far.
  for (const Vec3<double>& x : {Vec3<double>(0.4, 0.6, 0.1), Vec3<double>(0.3, 1.8, -1.1),
                                Vec3<double>(0.5, 0.2, -0.2), Vec3<double>(0.45, 0.55, -0.41)}) {
    std::vector<PrimitiveGradient> bar(1);
    const Vec3<double> normal_bar(0.1, -0.2, 0.3);
    sdf.parameter_vjp(x, 0.7, normal_bar, bar);
    for (std::size_t q = 0; q < parameter_count(shape.primitives[0]); ++q) {
      const auto loss = [&](double step) {
        Shape moved = shape;
        shape_parameter(moved.primitives[0], PrimitiveKind::oriented_point_cloud, q) += step;
        const auto s = ShapeSdf(moved).evaluate_normal(x);
        return 0.7 * s.distance + normal_bar.dot(s.normal);
      };
      const double h = 1e-6, slope = (loss(h) - loss(-h)) / (2.0 * h);
      const double by = shape_parameter(bar[0], PrimitiveKind::oriented_point_cloud, q);
      CAPTURE(x.transpose(), q, by, slope);
      CHECK(std::abs(by - slope) <= 1e-7 * std::max(1.0, std::abs(slope)));
      largest = std::max(largest, std::abs(by));
    }
  }
  CHECK(largest > 0.5);
}

TEST_CASE("ShapeSdf: evaluating any kind of primitive allocates nothing", "[collision][value]") {
  Points normals(3, 6);
  normals << Mat3<double>::Identity(), -Mat3<double>::Identity();
  Shape shape = test::single_primitive(sphere_cloud(500, 0.5));
  shape.primitives.push_back(make_convex_polyhedron(normals, {1, 1, 1, 1, 1, 1}));
  shape.primitives.push_back(make_extruded_superquadric({0.5, 0.5, 0.5}, 0.2, 0.5, {0.3, 2.0}, {0.4, 0.3}));
  shape.primitives.back().operation = PrimitiveOperation::subtract;
  const ShapeSdf sdf(shape);
  std::vector<PrimitiveGradient> bar(shape.primitives.size());
  for (std::size_t i = 0; i < bar.size(); ++i) bar[i].values.resize(shape.primitives[i].values.size());
  const test::NoAlloc guard;
  const auto s = sdf.evaluate_jacobian(Vec3<double>(0.4, 0.3, 0.2));
  sdf.parameter_vjp(Vec3<double>(0.4, 0.3, 0.2), 1.0, s.normal, bar);
  const auto count = guard.allocations();
  CHECK(count == 0);
}

}  // namespace
}  // namespace abut
