#include "collision/sdf/extruded_superquadric.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <Eigen/Eigenvalues>
#include <catch2/catch.hpp>

#include "collision/sdf/shape_sdf.h"
#include "engine/primitive_builder.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/test_bodies.h"

namespace abut {
namespace {

using test::close;

Primitive random_extruded(Random& random, int cuts) {
  const auto exponent = [&] {
    return random.uniform() < 0.4 ? random.uniform(1.05, 1.9) : random.uniform(0.1, 1.0);
  };
  std::vector<double> angles, offsets;
  for (int i = 0; i < cuts; ++i) {
    angles.push_back(random.uniform(-4.0, 4.0));
    offsets.push_back(random.uniform(0.1, 0.4));
  }
  const Vec3<double> axes(random.uniform(0.1, 0.4), random.uniform(0.1, 0.4), random.uniform(0.1, 0.4));
  return make_extruded_superquadric(axes, exponent(), exponent(), angles, offsets, random.uniform(3.0, 30.0));
}

Primitive hexagon(double apothem, double half_height, double power) {
  std::vector<double> angles;
  for (int i = 0; i < 6; ++i) angles.push_back(i * std::numbers::pi / 3.0);
  return make_extruded_superquadric({4.0 * apothem, 4.0 * apothem, half_height}, 0.05, 1.0, angles,
                                    std::vector<double>(6, apothem), power);
}

TEST_CASE("ExtrudedSuperquadric: without cuts, or with one far away, it is the superquadric",
          "[collision][value]") {
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    Primitive extruded = random_extruded(random, 0);
    extruded.X_BP = test::random_pose(random, 0.3);
    Primitive superquadric = extruded;
    superquadric.kind = PrimitiveKind::superquadric;
    superquadric.values.clear();
    if (i % 2 == 1) extruded.values = {30.0, 0.7, 20.0};
    const double scale = i % 10 == 0 ? 0.0 : 1.0;  // also at the centre, and on axes
    Vec3<double> x_P = scale * test::random_vector(random, 0.6);
    if (i % 7 == 0) x_P[i % 3] = 0.0;
    if (i % 21 == 0) x_P[(i + 1) % 3] = 0.0;
    const Vec3<double> x = extruded.X_BP * x_P;
    const auto a = ShapeSdf(test::single_primitive(extruded)).evaluate_jacobian(x);
    const auto b = ShapeSdf(test::single_primitive(superquadric)).evaluate_jacobian(x);
    CAPTURE(i, x_P.transpose(), extruded.parameters[3], extruded.parameters[4]);
    CHECK(close(a.distance, b.distance, 1e-12, 1e-15));
    CHECK(close(a.normal, b.normal, 0, 1e-12));
    const double bend = std::max(1.0, b.normal_jacobian.cwiseAbs().maxCoeff());
    if (scale == 0.0) continue;  // where the shortest axis is z, the normal along it has a Jacobian made up
    CHECK(close(a.gradient, b.gradient, 0, 1e-11 * bend));
    // On the z axis curvature goes with |t|^(2/eps1 - 2) at t = 0, which both take at a small t of their own.
    if (x_P[0] == 0.0 && x_P[1] == 0.0) continue;
    CHECK(close(a.normal_jacobian, b.normal_jacobian, 0, 1e-10 * bend));
  }
}

TEST_CASE("ExtrudedSuperquadric: six cuts make a hexagonal prism", "[collision][value]") {
  const double apothem = 0.2, half_height = 0.1;
  Random random(2);
  for (const double power : {20.0, 100.0}) {
    const ShapeSdf sdf(test::single_primitive(hexagon(apothem, half_height, power)));
    const double corner = std::exp2(-1.0 / power);
    for (int i = 0; i < 6; ++i) {
      const double angle = i * std::numbers::pi / 3.0;
      const Vec3<double> n(std::cos(angle), std::sin(angle), 0.0);
      // The middle of a face is on the surface, and distances before and behind it are the plane's.
      for (const double depth : {-0.02, 0.0, 0.03}) {
        const auto s = sdf.evaluate(Vec3<double>((apothem + depth) * n));
        CHECK(close(s.distance, depth, 2e-3, 1e-6));
        CHECK(close(s.normal, n, 0, 1e-6));
      }
      // A corner is rounded off by 2^(-1/p3).
      const double between = angle + std::numbers::pi / 6.0;
      const Vec3<double> edge = apothem / std::cos(std::numbers::pi / 6.0) *
                                Vec3<double>(std::cos(between), std::sin(between), 0.0);
      CHECK(close(sdf.distance(Vec3<double>(corner * edge)), 0.0, 0, 1e-6));
      CHECK(sdf.distance(edge) > 0.0);
    }
    CHECK(close(sdf.distance(Vec3<double>(0.05, 0.02, half_height)), 0.0, 0, 1e-6));
    // The exact prism contains it, and misses it by no more than the rounding of corners and rims.
    for (int i = 0; i < 3000; ++i) {
      const Vec3<double> x = test::random_vector(random, 0.25);
      double gauge = std::abs(x.z()) / half_height;
      for (int k = 0; k < 6; ++k) {
        const double angle = k * std::numbers::pi / 3.0;
        gauge = std::max(gauge, (x.x() * std::cos(angle) + x.y() * std::sin(angle)) / apothem);
      }
      const double d = sdf.distance(x);
      CAPTURE(power, i, x.transpose(), gauge, d);
      if (d <= 0.0) CHECK(gauge <= 1.0);
      if (gauge <= std::exp2(-1.0 / power - 0.5 * 0.05)) CHECK(d <= 1e-12);
    }
  }
}

TEST_CASE("ExtrudedSuperquadric: F is homogeneous, its gradient and curvature are those of a gauge",
          "[collision][property]") {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const Primitive primitive = random_extruded(random, static_cast<int>(random.integer(6)));
    const ExtrudedSuperquadric<double> solid(primitive, primitive.parameters, 5e-3);
    const Vec3<double> x = test::random_vector(random, 0.5);
    const auto g = gauge_point(solid, x), twice = gauge_point(solid, Vec3<double>(2.0 * x));
    const Mat3<double> FH = curvature_matrix(solid, gauge_curvature(solid, g));
    CAPTURE(i, x.transpose());
    CHECK(close(twice.F, 2.0 * g.F, 1e-13, 0));
    CHECK(close(x.dot(g.F_gradient), g.F * g.F, 1e-12, 0));
    CHECK((FH * x).norm() <= 1e-10 * FH.norm() * x.norm() + 1e-12);
    const Eigen::SelfAdjointEigenSolver<Mat3<double>> eigen(FH);
    CHECK(eigen.eigenvalues().minCoeff() >= -1e-10 * std::max(1.0, eigen.eigenvalues().maxCoeff()));
    CHECK(g.F_gradient.norm() / g.F <= 1.0 / solid.steepest);
    // And convex: no higher at the middle than the mean of the ends.
    const Vec3<double> y = test::random_vector(random, 0.5);
    CHECK(gauge_point(solid, Vec3<double>(0.5 * (x + y))).F <=
          0.5 * (g.F + gauge_point(solid, y).F) * (1.0 + 1e-12));
    const auto bounds = distance_bounds(solid, x);
    const double d = taubin_sample<SdfOrder::distance, double>(solid, x).distance;
    CHECK(bounds.lower <= d + 1e-12);
    CHECK(bounds.upper >= d - 1e-12);
  }
}

}  // namespace
}  // namespace abut
