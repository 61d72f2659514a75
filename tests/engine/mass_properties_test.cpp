#include "engine/mass_properties.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include <catch2/catch.hpp>

#include "engine/mesh_shapes.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"

using namespace abut;
using std::numbers::pi;

namespace {

TriangleMesh tetrahedron(const Vec3<double>& a, const Vec3<double>& b, const Vec3<double>& c,
                         const Vec3<double>& d) {
  TriangleMesh mesh;
  mesh.vertices.resize(3, 4);
  mesh.vertices << a, b, c, d;
  mesh.triangles = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  return mesh;
}

TriangleMesh moved(const Pose<double>& X, TriangleMesh mesh) {
  for (Eigen::Index i = 0; i < mesh.vertices.cols(); ++i) {
    mesh.vertices.col(i) = X * Vec3<double>(mesh.vertices.col(i));
  }
  return mesh;
}

/// A closed mesh without any symmetry: a sphere dented by smooth random waves.
TriangleMesh potato(Random& random) {
  TriangleMesh mesh = sphere_mesh(1.0, 2);
  const Vec3<double> a = test::random_vector(random, 2.0), b = test::random_vector(random, 2.0);
  for (Eigen::Index i = 0; i < mesh.vertices.cols(); ++i) {
    const Vec3<double> p = mesh.vertices.col(i);
    mesh.vertices.col(i) *= 1.0 + 0.3 * std::sin(a.dot(p) + 0.5) + 0.2 * std::cos(b.dot(p));
  }
  return mesh;
}

void check_same(const MassProperties& a, const MassProperties& b, double rtol, double length) {
  CHECK(test::close(a.volume, b.volume, rtol, 0));
  CHECK(test::close(a.mass, b.mass, rtol, 0));
  CHECK(test::close(a.center_of_mass, b.center_of_mass, rtol, rtol * length));
  CHECK(test::close(a.inertia, b.inertia, rtol, rtol * b.inertia.cwiseAbs().maxCoeff()));
}

/// How much smaller the error of a mesh against the closed form gets from a coarse to a mesh of half the edge
/// length.
double improvement(const MassProperties& coarse, const MassProperties& fine, const MassProperties& exact) {
  return (coarse.inertia - exact.inertia).norm() / (fine.inertia - exact.inertia).norm();
}

}  // namespace

TEST_CASE("mass_properties: of a box mesh are those of the box", "[engine][value]") {
  const Vec3<double> h(0.1, 0.25, 0.7);
  const double density = 730.0, mass = density * 8.0 * h.prod();
  const MassProperties m = mass_properties(box_mesh(h, 3), density);
  CHECK(test::close(m.volume, 8.0 * h.prod(), 1e-14, 0));
  CHECK(test::close(m.mass, mass, 1e-14, 0));
  CHECK(m.center_of_mass.norm() < 1e-15);
  Mat3<double> inertia = Mat3<double>::Zero();
  for (int i = 0; i < 3; ++i) {
    inertia(i, i) = mass / 3.0 * (h.squaredNorm() - h[i] * h[i]);
  }
  CHECK(test::close(m.inertia, inertia, 1e-13, 1e-14));
}

TEST_CASE("mass_properties: of a tetrahedron are the textbook's", "[engine][value]") {
  // With corners at the origin and at a, b, c on the axes: V = abc/6, centre (a, b, c)/4, and about the
  // origin int x^2 = V a^2/10, int xy = V ab/20.
  const double a = 1.0, b = 2.0, c = 3.0, V = a * b * c / 6.0;
  const MassProperties m = mass_properties(tetrahedron({0, 0, 0}, {a, 0, 0}, {0, b, 0}, {0, 0, c}), 2.0);
  CHECK(test::close(m.volume, V, 1e-14, 0));
  CHECK(test::close(m.center_of_mass, Vec3<double>(a, b, c) / 4.0, 1e-14, 0));
  Mat3<double> about_origin;
  // clang-format off
  about_origin << (b * b + c * c) / 10, -a * b / 20, -a * c / 20,
                  -a * b / 20, (a * a + c * c) / 10, -b * c / 20,
                  -a * c / 20, -b * c / 20, (a * a + b * b) / 10;
  // clang-format on
  CHECK(test::close(inertia_about(m, Vec3<double>::Zero()), 2.0 * V * about_origin, 1e-13, 0));
}

TEST_CASE("mass_properties: closed forms are the limits of fine meshes", "[engine][value]") {
  const double density = 3.0;
  SECTION("sphere") {
    const MassProperties exact = sphere_mass_properties(0.4, density);
    CHECK(test::close(exact.inertia(0, 0), 0.4 * exact.mass * 0.16, 1e-14, 0));
    check_same(mass_properties(sphere_mesh(0.4, 5), density), exact, 2e-3, 1.0);
    CHECK(improvement(mass_properties(sphere_mesh(0.4, 3), density),
                      mass_properties(sphere_mesh(0.4, 4), density), exact) == Approx(4.0).margin(0.1));
  }
  SECTION("capsule") {
    const MassProperties exact = capsule_mass_properties(0.3, 0.8, density);
    CHECK(test::close(exact.volume, pi * 0.09 * (1.6 + 0.4), 1e-14, 0));
    check_same(mass_properties(capsule_mesh(0.3, 0.8, 200), density), exact, 1e-3, 1.0);
    CHECK(improvement(mass_properties(capsule_mesh(0.3, 0.8, 48), density),
                      mass_properties(capsule_mesh(0.3, 0.8, 96), density),
                      exact) == Approx(4.0).margin(0.1));
    check_same(capsule_mass_properties(0.3, 0.0, density), sphere_mass_properties(0.3, density), 1e-14, 1.0);
  }
  SECTION("rounded box: an inner box mesh inflated along the normals of a sphere") {
    // Every vertex of a fine sphere, moved by the inner box's corner of its octant, plus the box in between.
    const Vec3<double> h(0.5, 0.7, 0.9);
    const double r = 0.2;
    const MassProperties exact = rounded_box_mass_properties(h, r, density);
    const auto inflated = [&](int n) {
      TriangleMesh mesh = box_mesh({1, 1, 1}, n);
      const Vec3<double> inner = h.array() - r;
      for (Eigen::Index i = 0; i < mesh.vertices.cols(); ++i) {
        // The direction picks the octant (even n: the mesh has vertices on the planes between them); a
        // coordinate in the middle third of the cube stays on the flat part.
        Vec3<double> outside, core;
        for (int k = 0; k < 3; ++k) {
          const double x = mesh.vertices(k, i), flat = 1.0 / 2.0;
          core[k] = inner[k] * std::clamp(x / flat, -1.0, 1.0);
          outside[k] = x > flat ? (x - flat) / (1 - flat) : x < -flat ? (x + flat) / (1 - flat) : 0.0;
        }
        for (int k = 0; k < 3; ++k) outside[k] = std::tan(outside[k] * pi / 4);
        mesh.vertices.col(i) = core + r * outside.normalized();
      }
      return mass_properties(mesh, density);
    };
    check_same(inflated(64), exact, 1e-3, 1.0);
    CHECK(improvement(inflated(16), inflated(32), exact) == Approx(4.0).margin(0.3));
  }
  SECTION("rounded box: its limits") {
    const Vec3<double> h(0.5, 0.7, 0.9);
    check_same(rounded_box_mass_properties(h, 0.0, density), mass_properties(box_mesh(h), density), 1e-13,
               1.0);
    const double r = 0.4, almost = r * (1 + 1e-13);
    check_same(rounded_box_mass_properties({almost, almost, almost}, r, density),
               sphere_mass_properties(r, density), 1e-12, 1.0);
    check_same(rounded_box_mass_properties({almost, almost, almost + 0.6}, r, density),
               capsule_mass_properties(r, 0.6, density), 1e-12, 1.0);
  }
}

TEST_CASE("mass_properties: follow the body through rotations and translations", "[engine][property]") {
  const std::uint64_t seed = GENERATE(1, 2, 3, 4, 5);
  Random random(seed);
  CAPTURE(seed);
  const TriangleMesh mesh = potato(random);
  const MassProperties at_home = mass_properties(mesh, 5.0);
  const Pose<double> X = test::random_pose(random, 3.0);
  check_same(mass_properties(moved(X, mesh), 5.0), transformed(X, at_home), 1e-12, 1.0);
  // Far away, the coordinates themselves have lost 1e-16 * 1e4 of the size; no more than that may be lost.
  const Pose<double> X_far{X.q, 1e4 * random.unit_vector()};
  check_same(mass_properties(moved(X_far, mesh), 5.0), transformed(X_far, at_home), 1e-11, 1.0);
  CHECK_NOTHROW(require_physical(at_home.mass, at_home.inertia, "potato"));
}

TEST_CASE("mass_properties: two halves combine to the whole", "[engine][property]") {
  // A box from x = -1 to 3, cut at x = 0.5.
  const auto box = [](double from, double to) {
    return transformed({Quat<double>::Identity(), Vec3<double>(0.5 * (from + to), 0.2, -0.3)},
                       mass_properties(box_mesh({0.5 * (to - from), 0.4, 0.6}), 2.0));
  };
  check_same(combined(box(-1, 0.5), box(0.5, 3)), box(-1, 3), 1e-13, 1.0);
}

TEST_CASE("mass_properties: a mass scales the inertia, parallel_axis is the textbook's", "[engine][value]") {
  const MassProperties m = with_mass(sphere_mass_properties(0.5, 10.0), 7.0);
  CHECK(m.mass == 7.0);
  CHECK(test::close(m.inertia(1, 1), 0.4 * 7.0 * 0.25, 1e-14, 0));
  Mat3<double> expected;
  // clang-format off
  expected << 13, -2, -3,
              -2, 10, -6,
              -3, -6, 5;
  // clang-format on
  CHECK(parallel_axis(1.0, {1, 2, 3}) == expected);
}

TEST_CASE("mass_properties: reject what encloses nothing or is impossible", "[engine][value]") {
  TriangleMesh inside_out = box_mesh({1, 1, 1});
  for (Eigen::Vector3i& t : inside_out.triangles) std::swap(t[0], t[1]);
  CHECK_THROWS_WITH(mass_properties(inside_out, 1.0), Catch::Contains("face inwards"));
  TriangleMesh flat = box_mesh({1, 1, 1});
  flat.vertices.row(2).setZero();
  CHECK_THROWS_WITH(mass_properties(flat, 1.0), Catch::Contains("flat"));
  CHECK_THROWS_WITH(mass_properties(TriangleMesh{}, 1.0), Catch::Contains("no triangles"));
  CHECK_THROWS_WITH(mass_properties(box_mesh({1, 1, 1}), 0.0), Catch::Contains("density = 0"));
  CHECK_THROWS_AS(sphere_mass_properties(std::nan(""), 1.0), std::invalid_argument);
  CHECK_THROWS_AS(capsule_mass_properties(1.0, -0.1, 1.0), std::invalid_argument);
  CHECK_THROWS_WITH(rounded_box_mass_properties({1, 1, 0.5}, 0.5, 1.0), Catch::Contains("edge_radius = 0.5"));
  CHECK_THROWS_AS(with_mass(sphere_mass_properties(1, 1), -2.0), std::invalid_argument);
}

TEST_CASE("require_physical: knows what no body can have", "[engine][value]") {
  const Mat3<double> good = Vec3<double>(1, 2, 2.5).asDiagonal();
  CHECK_NOTHROW(require_physical(1.0, good, "part"));
  CHECK_NOTHROW(require_physical(1.0, Mat3<double>(Vec3<double>(1, 2, 3).asDiagonal()), "a flat plate"));
  CHECK_THROWS_WITH(require_physical(0.0, good, "part"), Catch::Contains("part: mass = 0"));
  CHECK_THROWS_WITH(require_physical(std::nan(""), good, "part"), Catch::Contains("mass = nan"));
  CHECK_THROWS_WITH(require_physical(1.0, Mat3<double>(Vec3<double>(1, 2, 3.1).asDiagonal()), "part"),
                    Catch::Contains("exceeds the sum"));
  CHECK_THROWS_WITH(require_physical(1.0, Mat3<double>(Vec3<double>(-1, 2, 2).asDiagonal()), "part"),
                    Catch::Contains("positive definite"));
  Mat3<double> skewed = good;
  skewed(0, 1) = 0.5;
  CHECK_THROWS_WITH(require_physical(1.0, skewed, "part"), Catch::Contains("not symmetric"));
  skewed(1, 0) = std::nan("");
  CHECK_THROWS_WITH(require_physical(1.0, skewed, "part"), Catch::Contains("not finite"));
}
