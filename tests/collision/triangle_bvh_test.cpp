#include "collision/fitting/triangle_bvh.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/mesh_shapes.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/meshes.h"
#include "tests/support/no_alloc.h"

using namespace abut;

namespace {

// What the tree answers, by other formulas and without a tree.

double distance_to_segment(const Vec3<double>& p, const Vec3<double>& a, const Vec3<double>& b) {
  const double length2 = (b - a).squaredNorm();
  const double t = length2 > 0.0 ? std::clamp((p - a).dot(b - a) / length2, 0.0, 1.0) : 0.0;
  return (p - a - t * (b - a)).norm();
}

/// By the projection onto the plane if that lies in the triangle, and by its sides.
double plain_distance(const Vec3<double>& p, const TriangleMesh& mesh, int triangle) {
  const Eigen::Vector3i& t = mesh.triangles[at(triangle)];
  const Vec3<double> a = mesh.vertices.col(t[0]), b = mesh.vertices.col(t[1]), c = mesh.vertices.col(t[2]);
  const double sides =
      std::min({distance_to_segment(p, a, b), distance_to_segment(p, b, c), distance_to_segment(p, c, a)});
  const Vec3<double> n = (b - a).cross(c - a);
  if (!(n.norm() > 1e-12 * (b - a).norm() * (c - a).norm())) return sides;
  const Vec3<double> q = p - n.dot(p - a) / n.squaredNorm() * n;
  const bool is_above = n.dot((b - a).cross(q - a)) >= 0.0 && n.dot((c - b).cross(q - b)) >= 0.0 &&
                        n.dot((a - c).cross(q - c)) >= 0.0;
  return is_above ? std::min(sides, std::abs(n.normalized().dot(p - a))) : sides;
}

double plain_distance(const Vec3<double>& p, const TriangleMesh& mesh) {
  double least = k_infinity;
  for (int t = 0; t < mesh.triangle_count(); ++t) least = std::min(least, plain_distance(p, mesh, t));
  return least;
}

/// The spherical excess of each triangle by L'Huilier's formula, with the sign of its side.
double plain_winding_number(const Vec3<double>& p, const TriangleMesh& mesh) {
  const auto angle = [](const Vec3<double>& u, const Vec3<double>& v) {
    return std::atan2(u.cross(v).norm(), u.dot(v));
  };
  double sum = 0.0;
  for (const Eigen::Vector3i& t : mesh.triangles) {
    const Vec3<double> u = Vec3<double>(mesh.vertices.col(t[0])) - p,
                       v = Vec3<double>(mesh.vertices.col(t[1])) - p,
                       w = Vec3<double>(mesh.vertices.col(t[2])) - p;
    const double a = angle(v, w), b = angle(w, u), c = angle(u, v), s = 0.5 * (a + b + c);
    const double product =
        std::tan(0.5 * s) * std::tan(0.5 * (s - a)) * std::tan(0.5 * (s - b)) * std::tan(0.5 * (s - c));
    sum += std::copysign(4.0 * std::atan(std::sqrt(std::max(product, 0.0))), u.dot(v.cross(w)));
  }
  return sum / (4.0 * std::numbers::pi);
}

/// By Cramer's rule for origin + t direction = a + u (b - a) + v (c - a).
int plain_crossings(const Vec3<double>& origin, const Vec3<double>& direction, const TriangleMesh& mesh,
                    double& first) {
  int count = 0;
  first = k_infinity;
  for (const Eigen::Vector3i& t : mesh.triangles) {
    const Vec3<double> a = mesh.vertices.col(t[0]), b = mesh.vertices.col(t[1]), c = mesh.vertices.col(t[2]);
    Mat3<double> columns;
    columns << b - a, c - a, -direction;
    const double determinant = columns.determinant();
    const auto replaced = [&](int k) {
      Mat3<double> other = columns;
      other.col(k) = origin - a;
      return other.determinant() / determinant;
    };
    if (replaced(0) < 0.0 || replaced(1) < 0.0 || replaced(0) + replaced(1) > 1.0 || replaced(2) <= 0.0)
      continue;
    ++count;
    first = std::min(first, replaced(2));
  }
  return count;
}

}  // namespace

TEST_CASE("TriangleBvh: the nearest point is that of a search through all triangles", "[collision][value]") {
  const int seed = GENERATE(range(0, 4));
  const double scale = GENERATE(1e-6, 1.0, 1e5);
  CAPTURE(seed, scale);
  Random random(static_cast<std::uint64_t>(seed));
  TriangleMesh mesh = test::random_soup(random, 700, std::pow(0.2, seed));
  for (int i = 0; i < 20; ++i) {  // without area: a segment, a point
    mesh.vertices.col(3 * i) = 0.5 * (mesh.vertices.col(3 * i + 1) + mesh.vertices.col(3 * i + 2));
    mesh.vertices.col(100 + 3 * i) = mesh.vertices.col(101 + 3 * i) = mesh.vertices.col(99 + 3 * i);
  }
  const Vec3<double> offset = test::random_vector(random, 3.0);
  mesh = test::translated(mesh, offset);
  mesh.vertices *= scale;
  const TriangleBvh bvh(mesh);
  REQUIRE(bvh.triangle_count() == 700);
  std::set<int> found;
  for (int i = 0; i < 200; ++i) {
    const double reach = i % 10 == 0 ? 100.0 : 1.5;  // some far away
    const Vec3<double> p = scale * (offset + test::random_vector(random, reach));
    const TriangleBvh::Nearest nearest = bvh.nearest(p);
    CAPTURE(i);
    REQUIRE(test::close(nearest.distance, plain_distance(p, mesh), 1e-12, 1e-14 * scale));
    REQUIRE(test::close(nearest.distance, plain_distance(p, mesh, nearest.triangle), 1e-12, 1e-14 * scale));
    REQUIRE(test::close((p - nearest.point).norm(), nearest.distance, 1e-12, 1e-13 * scale));
    REQUIRE(plain_distance(nearest.point, mesh, nearest.triangle) < 1e-13 * scale * reach);
    found.insert(nearest.triangle);
  }
  CHECK(found.size() > 50);
}

TEST_CASE("TriangleBvh: hints change no distance, a tolerance only what lies beyond the exact band",
          "[collision][property]") {
  Random random(7);
  const TriangleMesh mesh = test::torus_mesh(0.3, 40, 20);
  const TriangleBvh bvh(mesh);
  int inexact = 0;
  for (int i = 0; i < 2000; ++i) {
    const Vec3<double> p = test::random_vector(random, 2.0);
    const double exact = bvh.nearest(p).distance;
    std::array<int, 3> hints;
    for (int& hint : hints) hint = static_cast<int>(random.integer(1601)) - 1;
    REQUIRE(bvh.nearest(p, {}, hints).distance == exact);
    const double banded = bvh.nearest(p, {0.2, 0.3}, hints).distance;
    if (exact < 0.2) REQUIRE(banded == exact);
    REQUIRE(banded >= exact);
    REQUIRE(banded <= 1.3 * exact);
    inexact += banded != exact ? 1 : 0;
  }
  CHECK(inexact > 100);  // the tolerance is made use of
}

TEST_CASE("TriangleBvh: the winding number without expansion is the sum of solid angles",
          "[collision][value]") {
  const int seed = GENERATE(range(0, 4));
  CAPTURE(seed);
  Random random(static_cast<std::uint64_t>(seed));
  const double size = std::pow(0.3, seed);
  const TriangleMesh mesh = test::random_soup(random, 600, size);
  const TriangleBvh bvh(mesh);
  double largest = 0.0;
  for (int i = 0; i < 100; ++i) {
    const Vec3<double> p = test::random_vector(random, 1.2);
    const double exact = plain_winding_number(p, mesh);
    REQUIRE(test::close(bvh.winding_number(p, 1e6), exact, 1e-9, 1e-11));
    largest = std::max(largest, std::abs(exact));
  }
  CHECK(largest >
        (seed == 0 ? 1.0 : 0.02 * size));  // triangles that wind more than once: the turns are counted
}

TEST_CASE("TriangleBvh: the error of the expansion falls with the square of the opening",
          "[collision][value]") {
  Random random(3);
  const TriangleMesh mesh = test::random_soup(random, 5000, 0.1);
  const TriangleBvh bvh(mesh);
  const std::vector<double> openings{1.5, 3.0, 6.0, 12.0};
  std::vector<double> errors(openings.size(), 0.0);
  double mean_square = 0.0;
  for (int i = 0; i < 300; ++i) {
    const Vec3<double> p = test::random_vector(random, 1.2);
    const double exact = plain_winding_number(p, mesh);
    mean_square += exact * exact;
    for (std::size_t k = 0; k < openings.size(); ++k)
      errors[k] += std::pow(bvh.winding_number(p, openings[k]) - exact, 2);
  }
  for (double& error : errors) error = std::sqrt(error / mean_square);
  CAPTURE(errors);
  CHECK(errors[0] < 0.1);
  for (std::size_t k = 1; k < errors.size(); ++k) CHECK(errors[k] < 0.4 * errors[k - 1]);
}

TEST_CASE("TriangleBvh: of closed meshes the winding number is 1 inside and 0 outside, whatever their size",
          "[collision][value]") {
  const double scale = GENERATE(1e-30, 1.0, 1e30);
  CAPTURE(scale);
  Random random(11);
  TriangleMesh mesh = test::torus_mesh(0.4, 96, 48);
  mesh.vertices *= scale;
  const TriangleBvh bvh(mesh);
  int inside = 0;
  double worst = 0.0;
  for (int i = 0; i < 1000; ++i) {
    const Vec3<double> p = test::random_vector(random, 1.5);
    const double distance = std::hypot(std::hypot(p.x(), p.y()) - 1.0, p.z()) - 0.4;
    if (std::abs(distance) < 2e-3) continue;  // the mesh is not the torus
    const double w = bvh.winding_number(scale * p);
    worst = std::max(worst, std::abs(w - (distance < 0.0 ? 1.0 : 0.0)));
    inside += distance < 0.0 ? 1 : 0;
    REQUIRE(bvh.crossings(scale * p, Vec3<double>(0.48, 0.6, 0.64)).count % 2 == (distance < 0.0 ? 1 : 0));
  }
  CHECK(inside > 100);
  CHECK(worst < 0.1);
  CHECK(worst > 1e-6);  // the expansion is made use of
  CHECK(std::abs(bvh.winding_number(scale * Vec3<double>(1e9, 2e9, 3e9))) < 1e-6);
  CHECK(test::close(bvh.nearest(scale * Vec3<double>(1e9, 0, 0)).distance, 1e9 * scale, 1e-8, 0.0));
}

TEST_CASE("TriangleBvh: rays cross the triangles that a search through all of them finds",
          "[collision][value]") {
  Random random(5);
  const TriangleMesh mesh = test::random_soup(random, 500, 0.3);
  const TriangleBvh bvh(mesh);
  int crossed = 0;
  for (int i = 0; i < 500; ++i) {
    const Vec3<double> p = test::random_vector(random, 1.5);
    Vec3<double> direction = random.uniform(0.1, 10.0) * random.unit_vector();
    if (i % 4 == 0) direction[i / 4 % 3] = 0.0;
    double first = 0.0;
    const int count = plain_crossings(p, direction, mesh, first);
    const TriangleBvh::Crossings crossings = bvh.crossings(p, direction);
    CAPTURE(i);
    REQUIRE(crossings.count == count);
    REQUIRE(test::close(crossings.first, first, 1e-9, 1e-12));
    crossed += count;
  }
  CHECK(crossed > 300);
}

TEST_CASE("TriangleBvh: every triangle whose box meets another is visited, once", "[collision][value]") {
  Random random(6);
  const TriangleMesh mesh = test::random_soup(random, 400, 0.2);
  const TriangleBvh bvh(mesh);
  int meetings = 0, visits = 0;
  for (int i = 0; i < 100; ++i) {
    const Vec3<double> a = test::random_vector(random), b = test::random_vector(random, 0.3);
    const Eigen::AlignedBox3d box(a - b.cwiseAbs(), a + b.cwiseAbs());
    std::multiset<int> visited;
    bvh.visit_overlaps(box, [&](int t) { visited.insert(t); });
    for (int t = 0; t < mesh.triangle_count(); ++t) {
      Eigen::AlignedBox3d of_triangle;
      for (const int v : mesh.triangles[at(t)]) of_triangle.extend(Vec3<double>(mesh.vertices.col(v)));
      REQUIRE(visited.count(t) <= 1);
      if (!box.intersects(of_triangle)) continue;
      REQUIRE(visited.count(t) == 1);
      ++meetings;
    }
    visits += static_cast<int>(visited.size());
  }
  CHECK(meetings > 300);
  CHECK(visits < 4 * meetings);  // leaves of four triangles
}

TEST_CASE("TriangleBvh: distance and winding number move with the mesh", "[collision][property]") {
  Random random(8);
  const TriangleMesh mesh = test::random_soup(random, 300, 0.3);
  const Pose<double> X = test::random_pose(random, 5.0);
  const TriangleBvh bvh(mesh), moved(test::moved(mesh, X));
  for (int i = 0; i < 200; ++i) {
    const Vec3<double> p = test::random_vector(random, 1.5);
    REQUIRE(test::close(moved.nearest(X * p).distance, bvh.nearest(p).distance, 1e-12, 1e-14));
    REQUIRE(test::close(moved.winding_number(X * p, 1e6), bvh.winding_number(p, 1e6), 1e-9, 1e-11));
  }
}

TEST_CASE("TriangleBvh: meshes that divide badly do not make it deep, and answers are exact all the same",
          "[collision][value]") {
  Random random(9);
  TriangleMesh equal, shrinking;
  for (int i = 0; i < 3000; ++i) {  // the same triangle; triangles ever closer to a point
    equal = i == 0 ? test::random_soup(random, 1, 0.5) : equal;
    if (i > 0) equal.triangles.push_back(equal.triangles[0]);
  }
  shrinking = test::random_soup(random, 20000, 0.3);
  for (int t = 0; t < 20000; ++t) {
    for (int i = 0; i < 3; ++i) shrinking.vertices.col(3 * t + i) *= std::pow(0.998, t);
  }
  for (const TriangleMesh& mesh : {equal, shrinking}) {
    const TriangleBvh bvh(mesh);
    for (int i = 0; i < 20; ++i) {
      const Vec3<double> p = test::random_vector(random) * std::pow(0.1, i);
      REQUIRE(test::close(bvh.nearest(p).distance, plain_distance(p, mesh), 1e-12, 1e-15));
    }
  }
}

TEST_CASE("TriangleBvh: queries allocate nothing", "[collision][property]") {
  const TriangleBvh bvh(sphere_mesh(1.0, 3));
  const Vec3<double> p(0.1, 0.2, 0.3);
  double sum = 0.0;
  test::NoAlloc guard;
  for (int i = 0; i < 100; ++i) {
    sum += bvh.nearest(0.03 * i * p).distance + bvh.winding_number(0.03 * i * p);
    sum += bvh.crossings(p, p).first;
    bvh.visit_overlaps({-p, p}, [&](int t) { sum += t; });
  }
  const auto allocations = guard.allocations();
  CHECK(allocations == 0);
  CHECK(sum > 0.0);
}

TEST_CASE("TriangleBvh: a NaN finds nothing, a mesh that is not one is an error", "[collision][value]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const TriangleBvh bvh(sphere_mesh(1.0, 1));
  CHECK(bvh.nearest(Vec3<double>::Constant(nan)).triangle == -1);
  CHECK(bvh.nearest(Vec3<double>::Constant(nan)).distance == k_infinity);
  CHECK(TriangleBvh().nearest(Vec3<double>::Zero()).triangle == -1);
  CHECK(TriangleBvh().winding_number(Vec3<double>::Zero()) == 0.0);
  TriangleMesh mesh = sphere_mesh(1.0, 1);
  mesh.triangles[3][1] = 42;
  CHECK_THROWS_WITH(TriangleBvh(mesh), Catch::Contains("triangle 3 has vertex 42"));
  mesh = sphere_mesh(1.0, 1);
  mesh.vertices(1, 5) = nan;
  CHECK_THROWS_WITH(TriangleBvh(mesh), Catch::Contains("vertex 5 is not finite"));
  CHECK_THROWS_AS(TriangleBvh(TriangleMesh()), std::invalid_argument);
}

TEST_CASE("TriangleBvh: the winding number is 1 as near to the middle of a mesh as can be",
          "[collision][value]") {
  const TriangleBvh bvh(box_mesh({0.15, 0.1, 0.05}, 1));
  for (const double x : {0.0, 1e-300, 1e-30, 1e-19, 1e-16, 1e-12, 1e-6}) {
    CAPTURE(x);
    CHECK(test::close(bvh.winding_number({x, 0.0, 0.0}), 1.0, 0.0, 1e-6));
    CHECK(test::close(bvh.winding_number({-x, 0.5 * x, x}), 1.0, 0.0, 1e-6));
  }
}
