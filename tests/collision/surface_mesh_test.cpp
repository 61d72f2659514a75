#include "collision/fitting/surface_mesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <catch2/catch.hpp>

#include "collision/fitting/editable_mesh.h"
#include "collision/fitting/marching_cubes.h"
#include "collision/fitting/simplify_mesh.h"
#include "collision/fitting/triangle_bvh.h"
#include "collision/fitting/triangle_corners.h"
#include "collision/fitting/triangle_geometry.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/mass_properties.h"
#include "engine/mesh_shapes.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/meshes.h"

using namespace abut;

namespace {

SurfaceField field_at(const ShapeSdf& sdf) {
  return [&sdf](const Vec3<double>& x) { return sdf.evaluate<double>(x); };
}

TriangleMesh fine_mesh(const ShapeSdf& sdf, int resolution) {
  return marching_cubes(field_of(sdf), grid_around(sdf.bounds(), resolution));
}

/// A chain of superquadrics of any form, each centred near the surface of the one before: limbs, creases,
/// holes.
Shape random_union(Random& random, int count) {
  Shape shape;
  Vec3<double> p = Vec3<double>::Zero();
  for (int i = 0; i < count; ++i) {
    Primitive primitive;
    for (std::size_t k = 0; k < 3; ++k) primitive.parameters[k] = random.uniform(0.15, 0.5);
    for (std::size_t k = 3; k < 5; ++k) primitive.parameters[k] = random.uniform(0.1, 1.6);
    primitive.X_BP = {random.quaternion(), p};
    shape.primitives.push_back(primitive);
    p += random.uniform(0.2, 0.5) * random.unit_vector();
  }
  shape.union_smoothing = 0.004;
  return shape;
}

/// A ball with a thin arm.
Shape ball_with_arm() {
  Primitive ball, arm;
  ball.kind = PrimitiveKind::sphere;
  ball.parameters = {0.5};
  arm.kind = PrimitiveKind::capsule;
  arm.parameters = {0.05, 0.5};
  arm.X_BP.p = {0.0, 0.0, 0.7};
  Shape shape;
  shape.primitives = {ball, arm};
  shape.union_smoothing = 0.003;
  return shape;
}

SdfSample<double> torus(const Vec3<double>& x) {
  const double ring = std::hypot(x.x(), x.y()), r = std::hypot(ring - 1.0, x.z());
  const Vec3<double> n((ring - 1.0) / r * x.x() / ring, (ring - 1.0) / r * x.y() / ring, x.z() / r);
  return {r - 0.3, n, n};
}

}  // namespace

TEST_CASE("EditableMesh: any sequence of allowed changes leaves a closed manifold of the same kind",
          "[collision][value]") {
  const int seed = GENERATE(range(0, 4));
  CAPTURE(seed);
  Random random(static_cast<std::uint64_t>(seed));
  EditableMesh mesh(sphere_mesh(1.0, 2));
  int changes = 0;
  for (int i = 0; i < 600; ++i) {
    const auto edges = mesh.edges();
    const auto [a, b] = edges[random.integer(edges.size())];
    const auto what = random.integer(3);
    if (what == 0 && mesh.can_collapse(a, b)) {
      mesh.collapse(a, b);
      ++changes;
    } else if (what == 1 && mesh.can_flip(a, b)) {
      mesh.flip(a, b);
      ++changes;
    } else if (what == 2) {
      mesh.split(a, b, 0.5 * (mesh.position(a) + mesh.position(b)));
      ++changes;
    }
    if (i % 50 != 0) continue;
    const TriangleMesh now = mesh.mesh();
    REQUIRE_NOTHROW(require_closed_surface(now, "mesh"));
    REQUIRE(now.vertex_count() == mesh.vertex_count());
    REQUIRE(abut::test::euler_characteristic(now) == 2);
  }
  CHECK(changes > 400);

  // What the link condition is for: a tetrahedron has no edge to spare, a neck of three edges must not be
  // pinched.
  EditableMesh smallest(simplify_mesh(sphere_mesh(1.0, 1), 4));
  CHECK(smallest.vertex_count() == 4);
  for (const auto& [a, b] : smallest.edges()) CHECK_FALSE(smallest.can_collapse(a, b));
}

TEST_CASE("triangle_geometry: distances are those of a fine sampling, quality is 1 for the equilateral",
          "[collision][value]") {
  CHECK(test::close(triangle_quality({1, 0, 0}, {0, 1, 0}, {0, 0, 1}), 1.0, 1e-15, 0.0));
  CHECK(triangle_quality({0, 0, 0}, {1, 0, 0}, {2, 0, 0}) == 0.0);
  CHECK(triangle_quality({1, 1, 1}, {1, 1, 1}, {1, 1, 1}) == 0.0);
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    const Vec3<double> a = test::random_vector(random), b = test::random_vector(random),
                       c = test::random_vector(random), p = test::random_vector(random, 2.0);
    double least = 1e9;
    constexpr int n = 200;
    for (int u = 0; u <= n; ++u) {
      for (int v = 0; u + v <= n; ++v) {
        least = std::min(least, (p - a - (b - a) * u / n - (c - a) * v / n).norm());
      }
    }
    const double distance = std::sqrt(squared_distance_to_triangle(p, a, b, c));
    CAPTURE(i);
    CHECK(distance <= least + 1e-12);
    CHECK(distance >= least - 0.02);
  }
}

TEST_CASE("project_to_surface: gets to the zero set from nearby, creases of a union included",
          "[collision][value]") {
  Random random(11);
  const ShapeSdf sdf(random_union(random, 6));
  const TriangleMesh fine = fine_mesh(sdf, 48);
  int failures = 0;
  double largest = 0.0;
  for (int v = 0; v < fine.vertex_count(); ++v) {
    Vec3<double> x = Vec3<double>(fine.vertices.col(v)) + test::random_vector(random, 0.01);
    if (!project_to_surface(field_at(sdf), x, 1e-12)) ++failures;
    largest = std::max(largest, std::abs(sdf.distance(x)));
  }
  CHECK(failures == 0);
  CHECK(largest < 1e-9);
  Vec3<double> centre = Vec3<double>::Zero();
  CHECK_FALSE(project_to_surface(
      [](const Vec3<double>&) {
        return SdfSample<double>{1.0, {0, 0, 0}, {0, 0, 0}};
      },
      centre, 1e-12));
}

TEST_CASE("connected_components: parts come apart whole, the largest first", "[collision][value]") {
  Primitive small, large;
  small.kind = large.kind = PrimitiveKind::sphere;
  small.parameters = {0.1};
  large.parameters = {0.3};
  small.X_BP.p = {-0.5, 0, 0};
  Shape shape;
  shape.primitives = {small, large};
  shape.union_smoothing = 0.001;
  const ShapeSdf sdf(shape);
  const TriangleMesh both = fine_mesh(sdf, 40);
  const std::vector<TriangleMesh> parts = connected_components(both);
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].vertex_count() + parts[1].vertex_count() == both.vertex_count());
  CHECK(parts[0].triangle_count() + parts[1].triangle_count() == both.triangle_count());
  for (const TriangleMesh& part : parts) CHECK_NOTHROW(require_closed_surface(part, "part"));
  CHECK(test::close(mass_properties(parts[0], 1.0).volume, 4.0 / 3.0 * std::numbers::pi * 0.027, 0.02, 0.0));
  CHECK(test::close(mass_properties(parts[1], 1.0).volume, 4.0 / 3.0 * std::numbers::pi * 0.001, 0.05, 0.0));
}

TEST_CASE("simplify_mesh: random unions keep their topology and stay near", "[collision][value]") {
  const int seed = GENERATE(range(0, 12));
  CAPTURE(seed);
  Random random(static_cast<std::uint64_t>(100 + seed));
  const ShapeSdf sdf(random_union(random, 2 + seed % 5));
  const TriangleMesh fine = connected_components(fine_mesh(sdf, 32))[0];
  for (const int target : {400, 100, 40}) {
    const TriangleMesh coarse = simplify_mesh(fine, target);
    CAPTURE(target);
    REQUIRE_NOTHROW(require_closed_surface(coarse, "mesh"));
    CHECK(coarse.vertex_count() == target);
    CHECK(abut::test::euler_characteristic(coarse) == abut::test::euler_characteristic(fine));
    const SurfaceReport report = inspect_surface(field_at(sdf), coarse, fine);
    CHECK(report.mean_distance < (target == 400 ? 0.005 : target == 100 ? 0.02 : 0.05) * report.size);
  }
}

TEST_CASE(
    "make_surface_mesh: random unions get closed meshes on their zero set, near the surface, without slivers",
    "[collision][value]") {
  const int seed = GENERATE(range(0, 8));
  CAPTURE(seed);
  Random random(static_cast<std::uint64_t>(200 + seed));
  const ShapeSdf sdf(random_union(random, 1 + seed % 6));
  const TriangleMesh fine = connected_components(fine_mesh(sdf, 32))[0];
  SurfaceMeshOptions options;
  options.vertices = 120;
  options.rounds = 4;
  const TriangleMesh mesh = make_surface_mesh(field_at(sdf), fine, options);
  const SurfaceReport report = inspect_surface(field_at(sdf), mesh, fine);
  CAPTURE(report.max_sag / report.size, report.mean_distance / report.size, report.max_distance / report.size,
          report.min_angle);
  CHECK(report.closed);
  CHECK(std::abs(report.vertices - options.vertices) <= 2);
  CHECK(report.euler_characteristic == abut::test::euler_characteristic(fine));
  CHECK(report.max_vertex_distance < 1e-9 * report.size);
  CHECK(report.mean_distance < 0.012 * report.size);
  CHECK(report.max_distance < 0.06 * report.size);
  CHECK(report.min_angle > 2.0 * std::numbers::pi / 180.0);
  CHECK(test::close(mass_properties(mesh, 1.0).volume, mass_properties(fine, 1.0).volume, 0.08, 0.0));
  CHECK(make_surface_mesh(field_at(sdf), fine, options).vertices == mesh.vertices);  // bit for bit
}

TEST_CASE("make_surface_mesh: more vertices come closer, with the square of the edge", "[collision][value]") {
  const ShapeSdf sdf(ball_with_arm());
  const TriangleMesh fine = fine_mesh(sdf, 96);
  SurfaceMeshOptions options;
  options.rounds = 5;
  double previous = 0.0;
  for (const int vertices : {60, 120, 240}) {
    options.vertices = vertices;
    const SurfaceReport report =
        inspect_surface(field_at(sdf), make_surface_mesh(field_at(sdf), fine, options), fine);
    CAPTURE(vertices, report.mean_distance, report.max_distance);
    CHECK(report.max_distance < 0.05 * report.size);  // and so none has lost the arm
    if (previous > 0.0) CHECK(previous / report.mean_distance > 1.5);
    previous = report.mean_distance;
  }
}

TEST_CASE("make_surface_mesh: edges of a box with a notch stay, and triangles do not cross them",
          "[collision][value]") {
  Primitive box, notch;  // a block of 1 x 0.6 x 0.4, and a channel across its top
  box.kind = notch.kind = PrimitiveKind::rounded_box;
  box.parameters = {0.5, 0.3, 0.2, 0.004};
  notch.parameters = {0.15, 0.4, 0.1, 0.004};
  notch.operation = PrimitiveOperation::subtract;
  notch.X_BP.p = {0.0, 0.0, 0.2};
  Shape shape;
  shape.primitives = {box, notch};
  shape.union_smoothing = 0.002;
  const ShapeSdf sdf(shape);
  const TriangleMesh fine = fine_mesh(sdf, 64);
  struct Edges {
    double farthest;    // of their points from the mesh [m]
    double along_axes;  // share of the area whose normal is within 10 degrees of an axis
  };
  const auto edges_of = [&](const TriangleMesh& mesh) {
    const TriangleBvh bvh(mesh);
    Edges edges{0.0, 0.0};
    for (const double x : {-0.5, -0.15, 0.15, 0.5}) {
      for (const double z : {std::abs(x) > 0.2 ? -0.2 : 0.1, 0.2}) {
        for (double y = -0.28; y <= 0.281; y += 0.02)
          edges.farthest = std::max(edges.farthest, bvh.nearest(Vec3<double>(x, y, z)).distance);
      }
    }
    double area = 0.0;
    for (int t = 0; t < mesh.triangle_count(); ++t) {
      const Vec3<double> n = TriangleCorners(mesh, t).area_vector();
      area += n.norm();
      if (n.cwiseAbs().maxCoeff() > std::cos(10.0 * std::numbers::pi / 180.0) * n.norm())
        edges.along_axes += n.norm();
    }
    edges.along_axes /= area;
    return edges;
  };
  SurfaceMeshOptions options;
  options.vertices = 200;
  options.rounds = 6;
  const Edges edges = edges_of(make_surface_mesh(field_at(sdf), fine, options));
  const TriangleMesh coarse = fine_mesh(sdf, 8);  // about as many vertices, wherever the edges are
  const Edges cut = edges_of(coarse);
  CAPTURE(edges.farthest, edges.along_axes, coarse.vertex_count(), cut.farthest, cut.along_axes);
  CHECK(edges.farthest < 0.025);
  CHECK(edges.along_axes > 0.93);
  CHECK(cut.farthest > 0.025);
  CHECK(cut.along_axes < 0.93);
}

TEST_CASE("make_surface_mesh: vertices are dense where the surface bends", "[collision][value]") {
  // Bends at the rounded edges of nearly a box, and at the ends of a long ellipsoid.
  const bool is_box = GENERATE(true, false);
  Primitive primitive;
  primitive.parameters = is_box ? std::array{0.5, 0.4, 0.3, 0.2, 0.2} : std::array{0.5, 0.12, 0.12, 1.0, 1.0};
  Shape shape;
  shape.primitives = {primitive};
  shape.union_smoothing = 0.002;
  const ShapeSdf sdf(shape);
  SurfaceMeshOptions options;
  options.vertices = 200;
  options.rounds = 6;
  const TriangleMesh mesh = make_surface_mesh(field_at(sdf), fine_mesh(sdf, 64), options);
  const Vec3<double> axes(primitive.parameters.data());
  const auto bends = [&](const Vec3<double>& p) {
    const Vec3<double> q = p.cwiseAbs().cwiseQuotient(axes);
    return is_box ? (q.array() > 0.8).count() >= 2 : q.x() > 0.8;
  };
  double bent_area = 0.0, other_area = 0.0;
  for (int t = 0; t < mesh.triangle_count(); ++t) {
    const TriangleCorners corners(mesh, t);
    (bends(corners.centroid()) ? bent_area : other_area) += corners.area_vector().norm();
  }
  int bent = 0;
  for (int v = 0; v < mesh.vertex_count(); ++v) bent += bends(mesh.vertices.col(v)) ? 1 : 0;
  const double bent_density = bent / bent_area,
               other_density = (mesh.vertex_count() - bent) / other_area;  // [1/m^2]
  CAPTURE(is_box, bent, bent_area, other_area, bent_density / other_density);
  CHECK(bent_density > (is_box ? 3.0 : 1.8) * other_density);
}

TEST_CASE("make_surface_mesh: a torus stays a torus", "[collision][value]") {
  const Eigen::AlignedBox3d box(Vec3<double>(-1.3, -1.3, -0.3), Vec3<double>(1.3, 1.3, 0.3));
  const TriangleMesh fine =
      marching_cubes(field_of([](const Vec3<double>& x) { return torus(x).distance; }), grid_around(box, 48));
  SurfaceMeshOptions options;
  options.vertices = 150;
  options.rounds = 4;
  const SurfaceReport report = inspect_surface(torus, make_surface_mesh(torus, fine, options), fine);
  CHECK(report.closed);
  CHECK(report.euler_characteristic == 0);
  CHECK(report.max_vertex_distance < 1e-9);
  CHECK(report.min_angle > 15.0 * std::numbers::pi / 180.0);
  CHECK(report.max_sag < 0.06);
}

TEST_CASE("inspect_surface: measures what is known of an icosahedron and of a mesh with a hole",
          "[collision][value]") {
  const SurfaceField ball = [](const Vec3<double>& x) {
    return SdfSample<double>{x.norm() - 1.0, x.normalized(), x.normalized()};
  };
  TriangleMesh mesh = sphere_mesh(1.0, 0);
  SurfaceReport report = inspect_surface(ball, mesh, sphere_mesh(1.0, 4));
  CHECK(report.vertices == 12);
  CHECK(report.triangles == 20);
  CHECK(report.euler_characteristic == 2);
  CHECK(report.closed);
  CHECK(report.max_vertex_distance < 1e-15);
  const double inner_radius =
      std::sqrt((5.0 + 2.0 * std::sqrt(5.0)) / 15.0);  // of the icosahedron, about 0.7947
  CHECK(test::close(report.max_sag, 1.0 - inner_radius, 1e-12, 0.0));
  // The finer mesh has a vertex near the middle of each face, not in it.
  CHECK(test::close(report.max_distance, 1.0 - inner_radius, 1e-2, 0.0));
  CHECK(test::close(report.min_angle, std::numbers::pi / 3.0, 1e-12, 0.0));

  mesh.triangles.pop_back();
  CHECK_FALSE(inspect_surface(ball, mesh).closed);
  CHECK(inspect_surface(ball, mesh).euler_characteristic == 1);
}
