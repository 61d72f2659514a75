#include "collision/sdf/convex_polyhedron.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "collision/sdf/shape_sdf.h"
#include "engine/convex_hull.h"
#include "engine/mesh_io.h"
#include "engine/primitive_builder.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/test_bodies.h"

namespace abut {
namespace {

using test::close;

Primitive cube(const Vec3<double>& half, double smoothing) {
  Points normals(3, 6);
  normals << Mat3<double>::Identity(), -Mat3<double>::Identity();
  return make_convex_polyhedron(normals, {half[0], half[1], half[2], half[0], half[1], half[2]}, smoothing);
}

Primitive random_hull(Random& random, int points, double smoothing) {
  Points p(3, points);
  for (int i = 0; i < points; ++i) p.col(i) = random.uniform(0.3, 0.6) * random.unit_vector();
  return make_convex_hull_polyhedron(p, smoothing);
}

/// The exact signed distance [m]: inside the least plane distance; outside the closest of the projections to
/// faces, edges and corners that do not leave the polyhedron. Everything relative to the primitive's frame.
double exact_distance(const Primitive& polyhedron, const Vec3<double>& x) {
  const auto count = static_cast<int>(polyhedron.values.size());
  const auto plane = [&](int i, const Vec3<double>& y) {
    return polyhedron.directions.col(i).dot(y) - polyhedron.values[static_cast<std::size_t>(i)];
  };
  const auto largest = [&](const Vec3<double>& y) {
    double most = -1e300;
    for (int i = 0; i < count; ++i) most = std::max(most, plane(i, y));
    return most;
  };
  if (largest(x) <= 0.0) return largest(x);
  double closest = 1e300;
  const auto try_planes = [&](const std::vector<int>& active) {
    Eigen::MatrixXd A(active.size(), 3);
    Eigen::VectorXd excess(active.size());
    for (std::size_t k = 0; k < active.size(); ++k) {
      A.row(static_cast<Eigen::Index>(k)) = polyhedron.directions.col(active[k]).transpose();
      excess[static_cast<Eigen::Index>(k)] = plane(active[k], x);
    }
    const Vec3<double> y = x - A.completeOrthogonalDecomposition().solve(excess);
    if (largest(y) <= 1e-9) closest = std::min(closest, (x - y).norm());
  };
  for (int i = 0; i < count; ++i) {
    try_planes({i});
    for (int j = 0; j < i; ++j) {
      try_planes({i, j});
      for (int k = 0; k < j; ++k) try_planes({i, j, k});
    }
  }
  return closest;
}

TEST_CASE("ConvexPolyhedron: a cube is the exact box inside and before faces, within tau log N",
          "[collision][value]") {
  Random random(1);
  const Vec3<double> half(0.5, 0.4, 0.3);
  for (const double tau : {1e-5, 1e-3, 0.02}) {
    Shape polyhedron = test::single_primitive(cube(half, tau)), box;
    polyhedron.primitives[0].X_BP = test::random_pose(random, 1.0);
    box.primitives.resize(1);
    box.primitives[0].kind = PrimitiveKind::rounded_box;
    box.primitives[0].parameters = {half[0], half[1], half[2], 0.0};
    box.primitives[0].X_BP = polyhedron.primitives[0].X_BP;
    const ShapeSdf sdf(polyhedron), exact(box);
    int inside = 0, before_face = 0, corner = 0;
    for (int i = 0; i < 2000; ++i) {
      const Vec3<double> x_P = test::random_vector(random, 0.8), x = polyhedron.primitives[0].X_BP * x_P;
      const double d = sdf.distance(x), truth = exact.distance(x);
      const auto beyond = ((x_P.cwiseAbs() - half).array() > 0.0).count();
      CAPTURE(tau, i, x_P.transpose(), d, truth);
      CHECK(d <= truth + tau * std::log(6.0));
      if (beyond <= 1) {
        (beyond == 0 ? inside : before_face) += 1;
        CHECK(d >= truth - 1e-14 - 1e-5 * std::max(truth, 0.0));  // the box is that much beyond at its seams
      } else {
        ++corner;
        CHECK(d >= truth / std::sqrt(3.0) - 1e-14);
      }
    }
    CHECK(std::min({inside, before_face, corner}) > 100);
    CHECK(close(sdf.distance_ratio(), std::sqrt(3.0), 1e-9, 0));
    // The bias is reached: at a corner three planes count, at the centre of a cube all six.
    const Pose<double>& X = polyhedron.primitives[0].X_BP;
    CHECK(close(sdf.distance<double>(X * half), tau * std::log(3.0), 1e-9, 1e-15));
    const ShapeSdf regular(test::single_primitive(cube({0.5, 0.5, 0.5}, tau)));
    const auto centre = regular.evaluate_jacobian(Vec3<double>(0, 0, 0));
    CHECK(close(centre.distance, -0.5 + tau * std::log(6.0), 1e-13, 0));
    CHECK(close(centre.normal, Vec3<double>(0, 0, 0), 0, 1e-15));
    CHECK(centre.normal_jacobian.allFinite());
  }
}

TEST_CASE("ConvexPolyhedron: d agrees with the exact projected distance within its bounds",
          "[collision][value]") {
  struct Row {
    int points;  // whose hull it is
    double tau;  // [m]
  };
  const auto row = GENERATE(Row{4, 1e-4}, Row{6, 1e-3}, Row{8, 5e-3}, Row{10, 1e-3});
  Random random(static_cast<std::uint64_t>(row.points));
  int before_face = 0;
  for (int shape = 0; shape < 4; ++shape) {
    const Primitive polyhedron = random_hull(random, row.points, row.tau);
    const ShapeSdf sdf(test::single_primitive(polyhedron));
    const double excess = row.tau * std::log(static_cast<double>(polyhedron.values.size()));
    for (int i = 0; i < 60; ++i) {
      const Vec3<double> x_P = test::random_vector(random, 1.0), x = polyhedron.X_BP * x_P;
      const double truth = exact_distance(polyhedron, x_P);
      const auto s = sdf.evaluate(x);
      CAPTURE(row.points, row.tau, shape, i, x_P.transpose(), truth, s.distance);
      REQUIRE(truth < 1e300);
      CHECK(s.distance <= truth + excess + 1e-9);
      CHECK(s.distance >= (truth > 0.0 ? truth / sdf.distance_ratio() : truth) - 1e-9);
      // Where the closest point is on a face, d is metric there too.
      double most = -1e300;
      for (std::size_t k = 0; k < polyhedron.values.size(); ++k) {
        most = std::max(
            most, polyhedron.directions.col(static_cast<Eigen::Index>(k)).dot(x_P) - polyhedron.values[k]);
      }
      if (std::abs(most - truth) > 1e-9) continue;
      ++before_face;
      CHECK(std::abs(s.distance - truth) <= excess + 1e-9);
    }
  }
  CHECK(before_face > 8);
}

TEST_CASE("ConvexPolyhedron: derivatives by smoothing and offsets are those known at a corner",
          "[collision][derivative]") {
  const double tau = 0.01;
  const ShapeSdf sdf(test::single_primitive(cube({0.5, 0.5, 0.5}, tau)));
  std::vector<PrimitiveGradient> bar(1);
  sdf.parameter_vjp(Vec3<double>(0.5, 0.5, 0.5), 2.0, Vec3<double>::Zero(), bar);
  REQUIRE(bar[0].values.size() == 6);
  CHECK(close(bar[0].parameters[0], 2.0 * std::log(3.0), 1e-12, 0));
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(close(bar[0].values[i], i < 3 ? -2.0 / 3.0 : 0.0, 1e-12, 1e-15));
  }
  const auto s = sdf.evaluate(Vec3<double>(0.5, 0.5, 0.5));
  CHECK(close(s.gradient.norm(), 1.0 / std::sqrt(3.0), 1e-12, 0));  // shorter than 1 before an edge
  CHECK(close(s.normal.norm(), 1.0, 1e-11, 0));
}

TEST_CASE("ConvexPolyhedron: the hull of the armadillo contains its mesh, and its planes touch it",
          "[collision][value]") {
  const Points points =
      read_mesh(std::string(ABUT_SOURCE_DIR) + "/assets/bodies/armadillo/mesh.obj").vertices;
  const Primitive hull = make_convex_hull_polyhedron(points);
  const ShapeSdf sdf(test::single_primitive(hull));
  const double excess = hull.parameters[0] * std::log(static_cast<double>(hull.values.size()));
  double largest = -1e300;
  for (Eigen::Index i = 0; i < points.cols(); ++i) {
    const double d = sdf.distance<double>(points.col(i));
    largest = std::max(largest, d);
    CHECK(d <= excess);
    CHECK(sdf.bounds().exteriorDistance(points.col(i)) <= 1e-12);
  }
  CHECK(largest > 0.0);  // corners stick out by tau log k
  const Vec3<double> size = points.rowwise().maxCoeff() - points.rowwise().minCoeff();
  CHECK(close(Vec3<double>(sdf.bounds().sizes()), size, 1e-6, 0));
}

}  // namespace
}  // namespace abut
