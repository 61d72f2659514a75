#include "collision/convex/support.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "collision/sdf/shape_sdf.h"
#include "engine/primitive_builder.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/convex_parts.h"
#include "tests/support/gradient_check.h"

namespace abut {
namespace {

using test::close;

Vec3<double> support_at(const ConvexPart<double>& part, const Vec3<double>& n) {
  int vertex = -1;
  return core_support(part, n, vertex);
}

/// One of each kind, with corners and rims, flat sides and ridges.
std::vector<ConvexPart<double>> all_parts() {
  Random random(3);
  return {test::sphere_part(0.4),
          test::capsule_part(0.2, 0.5),
          test::box_part({0.3, 0.4, 0.5}),
          test::box_part({0.3, 0.4, 0.5}, 0.1),
          test::superquadric_part({0.3, 0.4, 0.5}),
          test::superquadric_part({0.3, 0.4, 0.5}, 0.1, 0.3),
          test::superquadric_part({0.3, 0.4, 0.5}, 1.8, 0.5),
          test::superquadric_part({0.3, 0.4, 0.5}, 0.02, 0.02),
          test::superquadric_part({0.3, 0.4, 0.5}, 1.9, 1.9),
          test::cone_part(0.4, 0.2, 0.5),
          test::cone_part(0.4, 0.0, 0.5),
          test::cone_part(0.3, 0.3, 0.5),
          test::make_hull_part(random, 12),
          test::make_hull_part(random, 200)};
}

TEST_CASE("support: no support point reaches farther than that of its own direction",
          "[collision][property]") {
  Random random(1);
  for (const ConvexPart<double>& part : all_parts()) {
    CAPTURE(int(part.core), part.eps1);
    for (int i = 0; i < 2000; ++i) {
      Vec3<double> n = random.unit_vector(), m = random.unit_vector();
      if (i % 3 == 1) n[static_cast<int>(random.integer(3))] = 0.0;  // planes and axes of symmetry
      if (i % 3 == 2) n = Vec3<double>::Unit(static_cast<int>(random.integer(3)));
      const Vec3<double> x = support_at(part, n);
      REQUIRE(x.allFinite());
      REQUIRE(n.dot(support_at(part, m)) <= n.dot(x) + 1e-14);
      REQUIRE(x.norm() <= part.size + 1e-14);
      REQUIRE(close(support_at(part, 1e-3 * n), x, 1e-9, 1e-12));  // whatever the length of the direction
    }
  }
}

TEST_CASE("support: points lie on the surface that the signed distance function has", "[collision][value]") {
  const auto kind = GENERATE(PrimitiveKind::sphere, PrimitiveKind::capsule, PrimitiveKind::rounded_box,
                             PrimitiveKind::superquadric, PrimitiveKind::cone, PrimitiveKind::padded_polygon);
  Primitive primitive = test::primitive_of(kind, {});
  double tolerance = 1e-12;
  switch (kind) {
    case PrimitiveKind::sphere:
      primitive.parameters = {0.4};
      break;
    case PrimitiveKind::capsule:
      primitive.parameters = {0.2, 0.5};
      tolerance = 1e-4;  // seams of the signed distance function
      break;
    case PrimitiveKind::rounded_box:
      primitive.parameters = {0.3, 0.4, 0.5, 0.1};
      tolerance = 1e-4;
      break;
    case PrimitiveKind::superquadric:
      primitive.parameters = {0.3, 0.4, 0.5, 0.4, 0.7};
      break;
    case PrimitiveKind::padded_polygon:
      primitive.parameters = {0.2};
      primitive.values = {0.0, 0.0, 0.5, 0.1, 0.3, 0.6};
      break;
    default:
      primitive.parameters = {0.4, 0.2, 0.5, 1e-4};
      tolerance = 1.2e-4;  // the smoothing of its edges, where three faces meet at most
  }
  Random random(5);
  primitive.X_BP = test::random_pose(random);
  const ConvexPart<double> part = make_convex_part(primitive);
  Shape shape;
  shape.primitives.push_back(primitive);
  const ShapeSdf sdf(shape);
  for (int i = 0; i < 300; ++i) {
    const Vec3<double> n = random.unit_vector();
    const Vec3<double> x_B = part.X_BP * Vec3<double>(support_at(part, n) + part.radius * n);
    CAPTURE(int(kind), n.transpose());
    REQUIRE(std::abs(sdf.distance(x_B)) <= tolerance);
  }
}

TEST_CASE("support: a polyhedron's edges lead to the vertex that a search of all finds",
          "[collision][value]") {
  Random random(7);
  const ConvexPart<double> part = test::make_hull_part(random, 200);
  const PolyhedronGraph<double>& graph = *part.polyhedron;
  REQUIRE(graph.is_complete);
  REQUIRE(graph.vertex_count() > k_least_graph_search);
  int vertex = -1;
  for (int i = 0; i < 2000; ++i) {
    const Vec3<double> n = random.unit_vector();
    double highest = -1.0;
    for (const Vec3<double>& x : graph.vertices) highest = std::max(highest, n.dot(x));
    const Vec3<double> x = core_support(part, n, vertex);  // from the vertex of the last direction
    REQUIRE(n.dot(x) == highest);
    REQUIRE(graph.vertices[at(vertex)] == x);
  }
}

TEST_CASE("support: edges lead to the highest vertex also of faces that are coplanar but for rounding",
          "[collision][value]") {
  // A box whose faces are dented by 1e-8 to 1e-7 of its size: corners of several faces at once.
  Random random(8);
  Points points(3, 400);
  for (int i = 0; i < 400; ++i) {
    Vec3<double> x(random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0));
    const int axis = static_cast<int>(random.integer(3));
    const double bulge = 1e-7 * (1.0 - 0.5 * (x.squaredNorm() - x[axis] * x[axis]));
    x[axis] = std::copysign(1.0 + bulge, x[axis]);
    points.col(i) = x;
  }
  const ConvexPart<double> part = make_convex_part(points);
  const PolyhedronGraph<double>& graph = *part.polyhedron;
  CAPTURE(graph.vertex_count(), graph.face_count());
  CHECK(graph.vertex_count() > 200);
  CHECK(graph.is_complete);
  int vertex = -1;
  for (int i = 0; i < 2000; ++i) {
    Vec3<double> n = random.unit_vector();
    if (i % 2 == 0) n = Vec3<double>::Unit(i % 3) + 1e-7 * n;
    double highest = -1.0;
    for (const Vec3<double>& x : graph.vertices) highest = std::max(highest, n.dot(x));
    REQUIRE(n.dot(core_support(part, n, vertex)) == Approx(highest).epsilon(1e-15));
  }
}

TEST_CASE("support: a cube's graph has its faces, edges and corners", "[collision][value]") {
  Points corners(3, 9);
  for (int i = 0; i < 8; ++i) corners.col(i) << (i & 1 ? 1 : -1), (i & 2 ? 1 : -1), (i & 4 ? 1 : -1);
  corners.col(8).setZero();  // no corner
  const PolyhedronGraph<double> graph = make_polyhedron_graph(corners);
  CHECK(graph.is_complete);
  CHECK(graph.vertex_count() == 8);
  CHECK(graph.face_count() == 6);
  CHECK(graph.neighbours.size() == 24);
  for (int f = 0; f < graph.face_count(); ++f) {
    const int first = graph.first_corner[at(f)];
    REQUIRE(graph.first_corner[at(f) + 1] - first == 4);
    const auto x = [&](int k) { return graph.vertices[at(graph.corners[at(first + k)])]; };
    CHECK((x(1) - x(0)).cross(x(2) - x(1)).dot(graph.face_normals[at(f)]) == Approx(4.0));
  }
  for (int i = 0; i < graph.vertex_count(); ++i) {
    const int first = graph.first_face[at(i)], end = graph.first_face[at(i) + 1];
    REQUIRE(end - first == 3);
    CHECK(std::is_sorted(graph.faces.begin() + first, graph.faces.begin() + end));
    for (int k = first; k < end; ++k)
      CHECK(graph.face_normals[at(graph.faces[at(k)])].dot(graph.vertices[at(i)]) == Approx(1.0));
  }
}

TEST_CASE("support: the planes of a primitive give the hull of its corners", "[collision][value]") {
  Random random(11);
  const Points points = test::random_hull_points(random, 20);
  Primitive primitive = make_convex_hull_polyhedron(points);
  const ConvexPart<double> part = make_convex_part(primitive), hull = make_convex_part(points);
  for (int i = 0; i < 200; ++i) {
    const Vec3<double> n = random.unit_vector();
    REQUIRE(close(n.dot(part.X_BP * support_at(part, n)), n.dot(support_at(hull, n)), 0.0, 1e-9));
  }
}

TEST_CASE("support: the Jacobian of the support point agrees with differences", "[collision][derivative]") {
  const double eps1 = GENERATE(1.0, 0.3, 1.7), eps2 = GENERATE(1.0, 0.6);
  const ConvexPart<double> superquadric = test::superquadric_part({0.3, 0.4, 0.5}, eps1, eps2);
  const ConvexPart<double> cone = test::cone_part(0.4, 0.2, 0.5);
  Random random(13);
  for (int i = 0; i < 50; ++i) {
    const Vec3<double> n = random.unit_vector();
    for (const ConvexPart<double>* part : {&superquadric, &cone}) {
      if (part == &superquadric && n.cwiseAbs().minCoeff() < 0.05) continue;  // curvature varies fast there
      const Mat3<double> W = core_support_jacobian(*part, n);
      const auto differences =
          test::fd_jacobian([&](const Vec3<double>& m) { return support_at(*part, m); }, n, 1e-6);
      CAPTURE(int(part->core), eps1, eps2, n.transpose());
      CHECK(W.norm() > 1e-6);
      CHECK(close(W, differences, 1e-6, 1e-7));
      CHECK(close(W * n, Vec3<double>::Zero(), 0.0, 1e-12));
      CHECK(close(W, W.transpose(), 1e-13, 1e-15));
    }
  }
  // On an axis of symmetry it stays finite, though a flat side's radii are not.
  for (int axis = 0; axis < 3; ++axis)
    CHECK(core_support_jacobian(superquadric, Vec3<double>(Vec3<double>::Unit(axis))).allFinite());
}

TEST_CASE("support: of an ellipsoid along its axes the radii are those of its ellipses",
          "[collision][value]") {
  const Mat3<double> W = core_support_jacobian(test::superquadric_part({0.3, 0.4, 0.5}), {0.0, 0.0, 1.0});
  Mat3<double> expected = Mat3<double>::Zero();
  expected(0, 0) = 0.3 * 0.3 / 0.5;
  expected(1, 1) = 0.4 * 0.4 / 0.5;
  CHECK(close(W, expected, 1e-12, 1e-12));
}

TEST_CASE("support: shapes that are not convex are refused, with what there is instead",
          "[collision][value]") {
  const auto kind = GENERATE(PrimitiveKind::torus, PrimitiveKind::oriented_point_cloud,
                             PrimitiveKind::extruded_superquadric);
  CHECK_THROWS_WITH(make_convex_part(test::primitive_of(kind, {0.5, 0.1})), Catch::Contains("superquadrics"));
  CHECK_THROWS_AS(
      make_convex_part(test::primitive_of(PrimitiveKind::superquadric, {1.0, 1.0, 1.0, 2.0, 1.0})),
      std::invalid_argument);
  Shape shape;
  shape.primitives = {test::primitive_of(PrimitiveKind::sphere, {0.5}),
                      test::primitive_of(PrimitiveKind::sphere, {0.2})};
  CHECK(make_convex_parts(shape).size() == 2);
  shape.primitives[1].operation = PrimitiveOperation::subtract;
  CHECK_THROWS_WITH(make_convex_parts(shape), Catch::Contains("subtracted"));
}

}  // namespace
}  // namespace abut
