#include "engine/convex_hull.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/mesh_io.h"
#include "engine/mesh_shapes.h"
#include "engine/primitive_builder.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"

namespace abut {
namespace {

/// By how much the worst point is outside of the hull [m].
double worst_excess(const ConvexHull& hull, const Points& points) {
  double worst = -1e300;
  for (std::size_t i = 0; i < hull.offsets.size(); ++i) {
    const Vec3<double> n = hull.normals.col(static_cast<Eigen::Index>(i));
    worst = std::max(worst, (n.transpose() * points).maxCoeff() - hull.offsets[i]);
  }
  return worst;
}

TEST_CASE("convex_hull: that of a subdivided box has its six faces and eight corners", "[engine][value]") {
  const Vec3<double> half(0.3, 0.2, 0.1);
  Points points = box_mesh(half, 5).vertices;
  Random random(1);
  const Pose<double> X = test::random_pose(random, 1.0);
  for (Eigen::Index i = 0; i < points.cols(); ++i) points.col(i) = X * Vec3<double>(points.col(i));
  const ConvexHull hull = convex_hull(points);
  REQUIRE(hull.offsets.size() == 6);
  CHECK(worst_excess(hull, points) <= 1e-15);
  for (int axis = 0; axis < 3; ++axis) {
    for (const double sign : {-1.0, 1.0}) {
      const Vec3<double> n = sign * X.rotation().col(axis);
      int found = 0;
      for (std::size_t i = 0; i < 6; ++i) {
        if ((hull.normals.col(static_cast<Eigen::Index>(i)) - n).norm() > 1e-12) continue;
        ++found;
        CHECK(test::close(hull.offsets[i], half[axis] + n.dot(X.p), 1e-13, 1e-14));
      }
      CHECK(found == 1);
    }
  }
  // The corners are among the vertices: points of a face that Qhull kept may be there too.
  CHECK(hull.vertices.cols() >= 8);
}

TEST_CASE("convex_hull: its triangles are a closed surface, seen counter-clockwise from outside",
          "[engine][value]") {
  const Vec3<double> half(0.3, 0.2, 0.1);
  const ConvexHull hull = convex_hull(box_mesh(half, 5).vertices);
  double volume = 0.0;
  std::set<std::pair<int, int>> sides;
  for (const Eigen::Vector3i& t : hull.triangles) {
    const Vec3<double> a = hull.vertices.col(t[0]), b = hull.vertices.col(t[1]), c = hull.vertices.col(t[2]);
    volume += a.dot(b.cross(c)) / 6.0;
    for (int i = 0; i < 3; ++i) CHECK(sides.emplace(t[i], t[(i + 1) % 3]).second);
  }
  for (const auto& [from, to] : sides) CHECK(sides.count({to, from}) == 1);
  CHECK(test::close(volume, 8.0 * half.prod(), 1e-13, 0.0));
}

TEST_CASE("convex_hull: it contains random points, touches them in every facet and is no larger than needed",
          "[engine][property]") {
  Random random(2);
  for (int i = 0; i < 50; ++i) {
    const int count = 4 + static_cast<int>(random.integer(60));
    Points points(3, count);
    const double size = std::pow(10.0, random.uniform(-4.0, 4.0));
    for (int k = 0; k < count; ++k) points.col(k) = size * test::random_vector(random);
    const ConvexHull hull = convex_hull(points, 0.0);
    CAPTURE(i, count, size);
    CHECK(worst_excess(hull, points) <= 1e-14 * size);
    for (std::size_t f = 0; f < hull.offsets.size(); ++f) {
      const Vec3<double> n = hull.normals.col(static_cast<Eigen::Index>(f));
      CHECK(test::close(n.norm(), 1.0, 1e-14, 0));
      const auto heights = (n.transpose() * points).eval();
      CHECK((heights.array() >= hull.offsets[f] - 1e-10 * size).count() >= 3);
    }
    // The corners of the planes are the hull's vertices again.
    const Vec3<double> inside = hull.vertices.rowwise().mean();
    std::vector<double> offsets = hull.offsets;
    for (std::size_t f = 0; f < offsets.size(); ++f) {
      offsets[f] -= hull.normals.col(static_cast<Eigen::Index>(f)).dot(inside);
    }
    const Points corners = polyhedron_vertices(hull.normals, offsets).colwise() + inside;
    for (Eigen::Index c = 0; c < corners.cols(); ++c) {
      CHECK((hull.vertices.colwise() - corners.col(c)).colwise().norm().minCoeff() <= 1e-6 * size);
    }
    for (Eigen::Index v = 0; v < hull.vertices.cols(); ++v) {
      CHECK((corners.colwise() - hull.vertices.col(v)).colwise().norm().minCoeff() <= 1e-6 * size);
    }
  }
}

TEST_CASE("convex_hull: merging facets simplifies the armadillo's hull, which still contains it",
          "[engine][property]") {
  const Points points =
      read_mesh(std::string(ABUT_SOURCE_DIR) + "/assets/bodies/armadillo/mesh.obj").vertices;
  const double size = (points.rowwise().maxCoeff() - points.rowwise().minCoeff()).maxCoeff();
  std::size_t last = std::numeric_limits<std::size_t>::max();
  for (const double angle : {0.0, 1e-4, 0.1, 0.3}) {
    const ConvexHull hull = convex_hull(points, angle);
    CAPTURE(angle, hull.offsets.size());
    CHECK(worst_excess(hull, points) <= 1e-14 * size);
    CHECK(hull.offsets.size() <= last);
    CHECK(hull.offsets.size() >= 10);
    last = hull.offsets.size();
  }
  CHECK(last < convex_hull(points).offsets.size() / 2);
  const Primitive primitive = make_convex_hull_polyhedron(points);
  CHECK(primitive.values.size() == convex_hull(points).offsets.size());
  CHECK(test::close(primitive.parameters[0], 0.002 * size, 1e-6, 0));
}

TEST_CASE("convex_hull: what has no solid hull is refused", "[engine][value]") {
  Points flat = Points::Random(3, 20);
  CHECK_THROWS_WITH(convex_hull(flat.leftCols(3)), Catch::Contains("at least 4 points, not 3"));
  flat.row(2).setZero();
  CHECK_THROWS_WITH(convex_hull(flat), Catch::Contains("one plane"));
  CHECK_THROWS_WITH(convex_hull(Points::Ones(3, 10)), Catch::Contains("one plane"));
  flat(0, 0) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(convex_hull(flat), Catch::Contains("finite"));

  Points normals(3, 6);
  normals << Mat3<double>::Identity(), -Mat3<double>::Identity();
  const std::vector<double> ones(6, 1.0);
  CHECK(polyhedron_vertices(normals, ones).cols() == 8);
  CHECK_THROWS_WITH(polyhedron_vertices(normals.leftCols(5), std::vector<double>(5, 1.0)),
                    Catch::Contains("leave the solid open"));
  Points prism = normals;  // no top and no bottom
  prism.col(2) = prism.col(5) = Vec3<double>(1, 1, 0).normalized();
  CHECK_THROWS_WITH(polyhedron_vertices(prism, ones), Catch::Contains("leave the solid open"));
  std::vector<double> outside = ones;
  outside[3] = -0.5;
  CHECK_THROWS_WITH(polyhedron_vertices(normals, outside), Catch::Contains("offset of plane 3 is -0.5"));
}

TEST_CASE("mean_spacing: that of a grid is its spacing, and of random points that of a plain search",
          "[engine][value]") {
  CHECK(test::close(mean_spacing(box_mesh({0.5, 0.5, 0.5}, 10).vertices), 0.1, 1e-12, 0));
  Random random(3);
  Points points(3, 300);
  for (int i = 0; i < 300; ++i) points.col(i) = test::random_vector(random);
  double sum = 0.0;
  for (int i = 0; i < 300; ++i) {
    double nearest = 1e300;
    for (int k = 0; k < 300; ++k) {
      if (k != i) nearest = std::min(nearest, (points.col(k) - points.col(i)).norm());
    }
    sum += nearest;
  }
  CHECK(test::close(mean_spacing(points), sum / 300.0, 1e-13, 0));
}

TEST_CASE("make_oriented_point_cloud: a mesh gives its vertices and outward normals", "[engine][value]") {
  const Primitive cloud = make_oriented_point_cloud(sphere_mesh(0.5, 3));
  for (Eigen::Index i = 0; i < cloud.directions.cols(); ++i) {
    const auto k = static_cast<std::size_t>(3 * i);
    const Vec3<double> p(cloud.values[k], cloud.values[k + 1], cloud.values[k + 2]);
    CHECK(cloud.directions.col(i).dot(p.normalized()) > 0.999);
  }
  CHECK(cloud.parameters[0] == 1.5 * mean_spacing(sphere_mesh(0.5, 3).vertices));
}

TEST_CASE("primitive builders: what makes no solid is refused with its cause", "[engine][value]") {
  Points normals(3, 6);
  normals << Mat3<double>::Identity(), -Mat3<double>::Identity();
  const std::vector<double> ones(6, 1.0);
  CHECK_THROWS_WITH(make_convex_polyhedron(normals, ones, 0.6),
                    Catch::Contains("smoothing = 0.6, allowed: < 0.558"));
  CHECK_THROWS_WITH(make_convex_polyhedron(normals, ones, 0.0), Catch::Contains("smoothing = 0"));
  CHECK_THROWS_WITH(make_convex_polyhedron(normals, {1, 1, 1}), Catch::Contains("one offset a normal"));
  Points zero = normals;
  zero.col(2).setZero();
  CHECK_THROWS_WITH(make_convex_polyhedron(zero, ones), Catch::Contains("normal 2 has no direction"));
  CHECK_THROWS_WITH(make_oriented_point_cloud(normals, normals.leftCols(5)),
                    Catch::Contains("6 points have 5 normals"));
  CHECK_THROWS_WITH(make_oriented_point_cloud(normals.leftCols(3), normals.leftCols(3)),
                    Catch::Contains("3 points, allowed: at least 4"));
  CHECK_THROWS_WITH(make_oriented_point_cloud(Points::Ones(3, 6), normals), Catch::Contains("width = 0"));
  const Vec3<double> axes(1, 1, 1);
  CHECK_THROWS_WITH(make_extruded_superquadric(axes, 0.1, 0.1, {0.0}, {}),
                    Catch::Contains("1 cuts have 0 offsets"));
  CHECK_THROWS_WITH(make_extruded_superquadric(axes, 0.1, 0.1, {0.0}, {0.0}),
                    Catch::Contains("offset of cut 0 is 0"));
  CHECK_THROWS_WITH(make_extruded_superquadric(axes, 0.1, 0.1, {}, {}, 2.0),
                    Catch::Contains("profile power = 2"));
  CHECK_THROWS_WITH(make_extruded_superquadric(axes, 0.1, 2.0, {}, {}), Catch::Contains("exponent = 2"));
  CHECK_THROWS_WITH(make_extruded_superquadric({1, 0, 1}, 0.1, 1.0, {}, {}),
                    Catch::Contains("semi-axis = 0"));
}

}  // namespace
}  // namespace abut
