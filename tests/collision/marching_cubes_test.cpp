#include "collision/fitting/marching_cubes.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

#include "collision/fitting/surface_mesh.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/mass_properties.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/meshes.h"

using namespace abut;

namespace {

Shape single_superquadric(const Vec3<double>& axes, double eps1, double eps2) {
  Primitive primitive;
  primitive.parameters = {axes.x(), axes.y(), axes.z(), eps1, eps2};
  Shape shape;
  shape.primitives = {primitive};
  shape.union_smoothing = 1e-3 * axes.maxCoeff();
  return shape;
}

/// 2 a b c eps1 eps2 B(eps1/2 + 1, eps1) B(eps2/2, eps2/2).
double superquadric_volume(const Vec3<double>& axes, double eps1, double eps2) {
  return 2.0 * axes.prod() * eps1 * eps2 * std::beta(0.5 * eps1 + 1.0, eps1) *
         std::beta(0.5 * eps2, 0.5 * eps2);
}

double volume_of(const Shape& shape, int resolution) {
  const ShapeSdf sdf(shape);
  return mass_properties(marching_cubes(field_of(sdf), grid_around(sdf.bounds(), resolution)), 1.0).volume;
}

/// A ring of capsules around the z axis.
Shape ring_of_capsules(int count) {
  Shape shape;
  for (int i = 0; i < count; ++i) {
    const double angle = 2.0 * std::numbers::pi * i / count;
    Primitive capsule;
    capsule.kind = PrimitiveKind::capsule;
    capsule.parameters = {0.2, std::tan(std::numbers::pi / count)};
    capsule.X_BP.p = {std::cos(angle), std::sin(angle), 0.0};
    capsule.X_BP.q = Quat<double>(Eigen::AngleAxisd(angle, Vec3<double>::UnitZ()) *
                                  Eigen::AngleAxisd(-0.5 * std::numbers::pi, Vec3<double>::UnitX()));
    shape.primitives.push_back(capsule);
  }
  shape.union_smoothing = 0.01;
  return shape;
}

}  // namespace

TEST_CASE("marching_cubes: random signs at the corners of the grid always give a closed, oriented manifold",
          "[collision][value]") {
  // Of 4000 cubes with random corners, every one of the 256 cases occurs many times, next to every other.
  constexpr int n = 18;
  const int seed = GENERATE(range(0, 5));
  CAPTURE(seed);
  Random random(static_cast<std::uint64_t>(seed));
  std::vector<double> values(static_cast<std::size_t>((n + 1) * (n + 1) * (n + 1)));
  const auto at = [&](int i, int j, int k) -> double& {
    return values[static_cast<std::size_t>((k * (n + 1) + j) * (n + 1) + i)];
  };
  std::set<int> cases;
  for (int k = 0; k <= n; ++k) {
    for (int j = 0; j <= n; ++j) {
      for (int i = 0; i <= n; ++i) {
        const bool border = std::min({i, j, k}) == 0 || std::max({i, j, k}) == n;
        at(i, j, k) = border ? 1.0 : random.uniform(-1.0, 1.0);
      }
    }
  }
  const ScalarField trilinear = field_of([&](const Vec3<double>& x) {
    double sum = 0.0;
    const Eigen::Array3i cell = x.array().floor().cast<int>().min(n - 1);
    const Vec3<double> t = x - cell.matrix().cast<double>();
    for (int c = 0; c < 8; ++c) {
      const int dx = c & 1, dy = c >> 1 & 1, dz = c >> 2 & 1;
      sum += (dx ? t.x() : 1 - t.x()) * (dy ? t.y() : 1 - t.y()) * (dz ? t.z() : 1 - t.z()) *
             at(cell.x() + dx, cell.y() + dy, cell.z() + dz);
    }
    return sum;
  });
  for (int k = 0; k < n; ++k) {
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        int inside = 0;
        for (int c = 0; c < 8; ++c)
          inside |= (at(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2 & 1)) < 0.0) << c;
        cases.insert(inside);
      }
    }
  }
  CHECK(cases.size() == 256);

  const TriangleMesh mesh = marching_cubes(trilinear, {Vec3<double>::Zero(), 1.0, {n, n, n}});
  CHECK_NOTHROW(require_closed_surface(mesh, "mesh"));
  CHECK(mass_properties(mesh, 1.0).volume > 0.0);
  std::vector<double> at_vertices(static_cast<std::size_t>(mesh.vertex_count()));
  trilinear(mesh.vertices, at_vertices);
  for (int v = 0; v < mesh.vertex_count(); ++v) {
    REQUIRE(std::abs(at_vertices[static_cast<std::size_t>(v)]) < 1e-11);
    const Vec3<double> x = mesh.vertices.col(v);  // on an edge of the grid: two whole coordinates
    REQUIRE((x.array() - x.array().round() == 0.0).count() >= 2);
  }
}

TEST_CASE("marching_cubes: the volume of a sphere converges with the square of the cell",
          "[collision][value]") {
  const ScalarField sphere = field_of([](const Vec3<double>& x) { return x.norm() - 0.7; });
  const Eigen::AlignedBox3d box(Vec3<double>::Constant(-0.7), Vec3<double>::Constant(0.7));
  const double exact = 4.0 / 3.0 * std::numbers::pi * 0.7 * 0.7 * 0.7;
  double previous = 0.0;
  for (const int resolution : {10, 20, 40, 80}) {
    const TriangleMesh mesh = marching_cubes(sphere, grid_around(box, resolution));
    CHECK_NOTHROW(require_closed_surface(mesh, "mesh"));
    CHECK(abut::test::euler_characteristic(mesh) == 2);
    const double error =
        exact - mass_properties(mesh, 1.0).volume;  // vertices on a convex surface: too small
    CAPTURE(resolution, error);
    CHECK(error > 0.0);
    if (previous > 0.0) CHECK(test::close(previous / error, 4.0, 0.1, 0.0));
    previous = error;
  }
}

TEST_CASE("marching_cubes: the volume of superquadrics is the analytic one", "[collision][value]") {
  const Vec3<double> axes(0.5, 0.4, 0.3);
  for (const auto& [eps1, eps2, tolerance] : std::vector<std::array<double, 3>>{
           {1.0, 1.0, 1e-3},
           {0.5, 0.7, 1e-3},
           {0.1, 0.1, 2e-3},
           {0.3, 1.0, 1e-3},
           {0.02, 0.02, 2e-3},
           {1.5, 0.6, 5e-3},
           {0.8, 1.9, 5e-3}}) {  // above 1 the ridges are rounded, which takes some away
    CAPTURE(eps1, eps2);
    const double exact = superquadric_volume(axes, eps1, eps2);
    CHECK(test::close(volume_of(single_superquadric(axes, eps1, eps2), 64), exact, tolerance, 0.0));
  }
  CHECK(test::close(superquadric_volume(axes, 1.0, 1.0), 4.0 / 3.0 * std::numbers::pi * axes.prod(), 1e-14,
                    0.0));
}

TEST_CASE("marching_cubes: a ring has genus one, whether a formula or a smooth union", "[collision][value]") {
  const ScalarField torus =
      field_of([](const Vec3<double>& x) { return std::hypot(std::hypot(x.x(), x.y()) - 1.0, x.z()) - 0.3; });
  const Eigen::AlignedBox3d box(Vec3<double>(-1.3, -1.3, -0.3), Vec3<double>(1.3, 1.3, 0.3));
  const TriangleMesh from_formula = marching_cubes(torus, grid_around(box, 48));
  CHECK(abut::test::euler_characteristic(from_formula) == 0);
  CHECK(test::close(mass_properties(from_formula, 1.0).volume, 2.0 * std::pow(std::numbers::pi * 0.3, 2),
                    1e-2, 0.0));

  const ShapeSdf ring(ring_of_capsules(7));
  const TriangleMesh from_union = marching_cubes(field_of(ring), grid_around(ring.bounds(), 40));
  CHECK_NOTHROW(require_closed_surface(from_union, "mesh"));
  CHECK(abut::test::euler_characteristic(from_union) == 0);
}

TEST_CASE("marching_cubes: triangles face the way of the gradient", "[collision][value]") {
  const ShapeSdf sdf(ring_of_capsules(5));
  const TriangleMesh mesh = marching_cubes(field_of(sdf), grid_around(sdf.bounds(), 64));
  int inwards = 0;
  for (const Eigen::Vector3i& t : mesh.triangles) {
    const Vec3<double> a = mesh.vertices.col(t[0]), b = mesh.vertices.col(t[1]), c = mesh.vertices.col(t[2]);
    const Vec3<double> gradient = sdf.evaluate<double>(Vec3<double>((a + b + c) / 3.0)).gradient;
    if ((b - a).cross(c - a).dot(gradient) < 0.0) ++inwards;
  }
  CHECK(mesh.triangle_count() > 1000);
  CHECK(inwards == 0);
}

TEST_CASE("field_of: an SDF on packs is the SDF point by point, for any number of points",
          "[collision][batch]") {
  const ShapeSdf sdf(ring_of_capsules(5));
  Random random(3);
  for (const int count : {1, 7, 8, 9, 100}) {
    Points points(3, count);
    for (int i = 0; i < count; ++i) points.col(i) = test::random_vector(random, 1.5);
    std::vector<double> values(static_cast<std::size_t>(count)), one_by_one(values);
    field_of(sdf)(points, values);
    field_of([&](const Vec3<double>& x) { return sdf.distance(x); })(points, one_by_one);
    for (std::size_t i = 0; i < values.size(); ++i)
      CHECK(test::close(values[i], one_by_one[i], 1e-12, 1e-13));
  }
}

TEST_CASE("marching_cubes: a surface that leaves the grid, a NaN and an empty grid are errors",
          "[collision][value]") {
  const SampleGrid grid{Vec3<double>::Constant(-1.0), 0.25, {8, 8, 8}};
  CHECK_THROWS_AS(marching_cubes(field_of([](const Vec3<double>& x) { return x.norm() - 1.1; }), grid),
                  std::invalid_argument);
  CHECK_THROWS_AS(
      marching_cubes(field_of([](const Vec3<double>& x) { return x.x() > 0.1 ? std::nan("") : 1.0; }), grid),
      std::invalid_argument);
  CHECK(marching_cubes(field_of([](const Vec3<double>&) { return 1.0; }), grid).triangle_count() == 0);
  CHECK_THROWS_AS(marching_cubes(field_of([](const Vec3<double>&) { return 1.0; }), SampleGrid{}),
                  std::invalid_argument);
  const double inf = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(grid_around({Vec3<double>::Constant(-inf), Vec3<double>::Constant(inf)}, 32),
                  std::invalid_argument);
  CHECK_THROWS_AS(grid_around(Eigen::AlignedBox3d(), 32), std::invalid_argument);
  CHECK_THROWS_AS(grid_around({Vec3<double>::Zero(), Vec3<double>::Ones()}, 3), std::invalid_argument);
}
