#include "engine/body_builder.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include <catch2/catch.hpp>

#include "engine/mass_properties.h"
#include "engine/mesh_shapes.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"

using namespace abut;
using std::numbers::pi;

namespace {

double total_area(const Body& body) {
  return std::accumulate(body.contact_areas.begin(), body.contact_areas.end(), 0.0);
}

Primitive superquadric(double a, double b, double c, double eps1, double eps2) {
  Primitive primitive;
  primitive.parameters = {a, b, c, eps1, eps2};
  return primitive;
}

BodyDescription brick() {
  BodyDescription description;
  description.name = "brick";
  description.shape.primitives = {superquadric(1, 2, 3, 0.1, 0.1)};
  description.mesh = box_mesh({1, 2, 3}, 2);
  description.mass_or_density = Density{10.0};
  return description;
}

}  // namespace

TEST_CASE("make_sphere: touches with its centre", "[engine][value]") {
  const Body body = make_sphere(0.2, 500.0);
  CHECK(body.contact_points.cols() == 1);
  CHECK(body.contact_points.col(0).norm() == 0.0);
  CHECK(body.contact_radius == 0.2);
  CHECK_FALSE(body.contact_points_on_surface);
  CHECK(test::close(total_area(body), 4 * pi * 0.04, 1e-14, 0));
  CHECK(test::close(body.mass, 500.0 * 4 / 3 * pi * 0.008, 1e-14, 0));
  CHECK(test::close(body.mass / body.volume, 500.0, 1e-14, 0));
  CHECK(body.size == 0.4);
  CHECK(test::close(body.shape.union_smoothing, 0.002 * 0.4, 1e-14, 0));
  CHECK(body.p_BA.norm() == 0.0);
  CHECK_FALSE(body.fixed);
  CHECK_NOTHROW(require_closed_surface(body.mesh, "sphere"));
}

TEST_CASE("body_builder: the default union smoothing is bounded by the thinnest part", "[engine][value]") {
  Shape shape;
  shape.primitives = {{PrimitiveKind::rounded_box, PrimitiveOperation::add, {0.5, 0.4, 0.3, 0.01}, {}}};
  CHECK(default_union_smoothing(shape, 1.0) == 0.002);
  shape.primitives.push_back({PrimitiveKind::capsule, PrimitiveOperation::add, {0.005, 0.1}, {}});
  CHECK(default_union_smoothing(shape, 1.0) == Approx(0.02 * 0.005));
  shape.primitives.push_back({PrimitiveKind::torus, PrimitiveOperation::subtract, {0.1, 0.002}, {}});
  CHECK(default_union_smoothing(shape, 1.0) == Approx(0.02 * 0.002));
  shape.primitives = {shape.primitives[0], shape.primitives[0]};
  CHECK(default_union_smoothing(shape, 1.0) == 0.002);
}

TEST_CASE("make_capsule: touches with points along its segment, at most a radius apart", "[engine][value]") {
  for (const double half_length : {0.0, 0.05, 0.1, 0.51}) {
    const Body body = make_capsule(0.1, half_length, 1000.0);
    CAPTURE(half_length);
    const Points& p = body.contact_points;
    CHECK(p.topRows(2).cwiseAbs().maxCoeff() == 0.0);
    CHECK(p(2, 0) == -half_length);
    CHECK(p(2, p.cols() - 1) == half_length);
    for (Eigen::Index i = 1; i < p.cols(); ++i) CHECK(p(2, i) - p(2, i - 1) <= 0.1 * (1 + 1e-12));
    CHECK(body.contact_radius == 0.1);
    CHECK(test::close(total_area(body), 4 * pi * 0.1 * (0.1 + half_length), 1e-14, 0));
    CHECK(test::close(body.size, 2 * (half_length + 0.1), 1e-14, 0));
  }
  CHECK(make_capsule(0.1, 0.1, 1.0).contact_points.cols() == 3);
  CHECK_THROWS_WITH(make_capsule(1e-6, 1.0, 1.0), Catch::Contains("contact points"));
}

TEST_CASE("make_box: touches with balls at the vertices of its inner box", "[engine][value]") {
  const Vec3<double> h(0.1, 0.2, 0.3);
  const Body rounded = make_box(h, 0.02, 1000.0);
  CHECK(rounded.contact_points.cols() == 98);
  CHECK(rounded.contact_points == rounded.mesh.vertices);
  CHECK(test::close(rounded.contact_points.rowwise().maxCoeff(), Vec3<double>(0.08, 0.18, 0.28), 1e-14, 0));
  CHECK(rounded.contact_radius == 0.02);
  CHECK_FALSE(rounded.contact_points_on_surface);
  CHECK(test::close(rounded.volume, rounded_box_mass_properties(h, 0.02, 1.0).volume, 1e-14, 0));
  CHECK(test::close(rounded.size, 0.6, 1e-14, 0));
  const Body sharp = make_box(h, 0.0, 2, 1000.0);
  CHECK(sharp.contact_points.cols() == 26);
  CHECK(sharp.contact_points_on_surface);
  CHECK(test::close(total_area(sharp), 8 * (0.1 * 0.2 + 0.2 * 0.3 + 0.3 * 0.1), 1e-14, 0));
  CHECK(test::close(sharp.mass, 1000.0 * 8 * h.prod(), 1e-14, 0));
}

TEST_CASE("make_half_space: is fixed and endless", "[engine][value]") {
  const Body body = make_half_space();
  CHECK(body.fixed);
  CHECK(body.contact_points.cols() == 0);
  CHECK(body.contact_areas.empty());
  CHECK(body.mesh.vertex_count() == 0);
  CHECK(std::isinf(body.size));
  CHECK(is_unbounded(body.shape));
  CHECK(body.shape.union_smoothing > 0.0);
}

TEST_CASE("make_body: puts the origin at the centre of mass, wherever the asset was", "[engine][property]") {
  const std::uint64_t seed = GENERATE(1, 2, 3);
  CAPTURE(seed);
  Random random(seed);
  const Pose<double> X_AP = test::random_pose(random, 2.0);
  TriangleMesh mesh = box_mesh({1, 2, 3}, 2);
  for (Eigen::Index i = 0; i < mesh.vertices.cols(); ++i) {
    mesh.vertices.col(i) = X_AP * Vec3<double>(mesh.vertices.col(i));
  }
  Shape shape;
  shape.primitives = {superquadric(1, 2, 3, 0.1, 0.1)};
  shape.primitives[0].X_BP = X_AP;
  const Body body = make_body("brick", shape, mesh, Density{10.0});
  CHECK(test::close(body.p_BA, -X_AP.p, 0, 1e-14));
  CHECK(test::close(body.shape.primitives[0].X_BP.p, Vec3<double>::Zero(), 0, 1e-14));
  CHECK(body.shape.primitives[0].X_BP.q.coeffs() == X_AP.q.coeffs());
  CHECK(mass_properties(body.mesh, 1.0).center_of_mass.norm() < 1e-14);
  CHECK(test::close(body.inertia, transformed(X_AP, mass_properties(box_mesh({1, 2, 3}), 10.0)).inertia,
                    1e-12, 1e-10));
  CHECK(test::close(body.mass, 480.0, 1e-13, 0));
  CHECK(body.contact_points == body.mesh.vertices);
  CHECK(body.contact_radius == 0.0);
  CHECK(body.contact_points_on_surface);
  CHECK(test::close(total_area(body), 88.0, 1e-13, 0));

  // Given a mass instead of a density.
  const Body heavy = make_body("brick", shape, mesh, Mass{960.0});
  CHECK(test::close(heavy.inertia, (2.0 * body.inertia).eval(), 1e-12, 1e-10));
}

TEST_CASE("make_capsule: friction against spinning on its side is that of an even line load",
          "[engine][value]") {
  const double r = 0.1, half_length = GENERATE(0.01, 0.1, 0.12, 0.25, 0.4, 1.0);
  CAPTURE(half_length);
  const Body body = make_capsule(r, half_length, 1000.0);
  double area = 0.0, moment = 0.0;
  for (std::size_t i = 0; i < body.contact_areas.size(); ++i) {
    area += body.contact_areas[i];
    moment += body.contact_areas[i] * std::abs(body.contact_points(2, static_cast<Eigen::Index>(i)));
  }
  CHECK(area == Approx(4.0 * std::numbers::pi * r * (r + half_length)).epsilon(1e-12));
  CHECK(moment == Approx(0.5 * half_length * area).epsilon(1e-12));
}

TEST_CASE("make_body: a posed capsule has its inertia and contact points turned", "[engine][value]") {
  BodyDescription description;
  description.name = "rod";
  Primitive primitive;
  primitive.kind = PrimitiveKind::capsule;
  primitive.parameters = {0.1, 0.5};
  primitive.X_BP = {Quat<double>(std::sqrt(0.5), 0, std::sqrt(0.5), 0), Vec3<double>(3, 0, 1)};  // z -> x
  description.shape.primitives = {primitive};
  description.mass_or_density = Mass{2.0};
  const Body body = make_body(description), upright = make_capsule(0.1, 0.5, 1.0);
  CHECK(test::close(body.p_BA, Vec3<double>(-3, 0, -1), 1e-15, 0));
  CHECK(test::close(body.contact_points.row(0).maxCoeff(), 0.5, 1e-14, 0));
  CHECK(body.contact_points.row(2).cwiseAbs().maxCoeff() < 1e-15);
  CHECK(test::close(body.inertia(0, 0) / body.mass, upright.inertia(2, 2) / upright.mass, 1e-13, 0));
  CHECK(test::close(body.inertia(2, 2) / body.mass, upright.inertia(0, 0) / upright.mass, 1e-13, 0));
  CHECK(test::close(body.mesh.vertices.row(0).maxCoeff(), 0.6, 1e-14, 0));
}

TEST_CASE("make_body: what is given goes before what is computed", "[engine][value]") {
  BodyDescription description = brick();
  description.volume = 40.0;
  description.center_of_mass = Vec3<double>(0.1, 0.2, 0.3);
  description.inertia = Vec3<double>(5, 6, 7).asDiagonal();
  description.contact_points = Points(Vec3<double>(1, 2, 3));
  description.contact_radius = 0.25;
  const Body body = make_body(description);
  CHECK(body.mass == 400.0);
  CHECK(body.inertia(1, 1) == 6.0);
  CHECK(body.p_BA == Vec3<double>(-0.1, -0.2, -0.3));
  CHECK(test::close(body.contact_points, Vec3<double>(0.9, 1.8, 2.7), 1e-15, 0));
  CHECK(test::close(total_area(body), 88.0, 1e-13, 0));
  CHECK_FALSE(body.contact_points_on_surface);
}

TEST_CASE("set_mass, set_density: scale the inertia", "[engine][value]") {
  Body body = make_sphere(1.0, 1.0);
  const double inertia = body.inertia(0, 0);
  set_density(body, 3.0);
  CHECK(test::close(body.inertia(0, 0), 3.0 * inertia, 1e-14, 0));
  set_mass(body, 5.0);
  CHECK(test::close(body.inertia(0, 0), 0.4 * 5.0, 1e-14, 0));
  CHECK_THROWS_AS(set_mass(body, 0.0), std::invalid_argument);
  CHECK_THROWS_AS(set_density(body, std::nan("")), std::invalid_argument);
}

TEST_CASE("make_body: rejects what makes no sense, by name and cause", "[engine][value]") {
  CHECK_THROWS_WITH(make_sphere(0.0, 1.0), Catch::Contains("radius = 0"));
  CHECK_THROWS_WITH(make_sphere(1.0, -1.0), Catch::Contains("density = -1"));
  CHECK_THROWS_WITH(make_box({1, 1, 1}, 1.0, 1.0), Catch::Contains("edge_radius = 1"));
  CHECK_THROWS_WITH(make_box({1, 1, 1}, 0.0, 0, 1.0), Catch::Contains("subdivisions = 0"));
  const auto rejected = [](const auto& change, const char* cause) {
    BodyDescription description = brick();
    change(description);
    CHECK_THROWS_WITH(make_body(description), Catch::StartsWith("brick: ") && Catch::Contains(cause));
  };
  rejected([](auto& d) { d.shape.primitives.clear(); }, "at least one added primitive");
  rejected([](auto& d) { d.shape.primitives[0].operation = PrimitiveOperation::subtract; },
           "added primitive");
  rejected([](auto& d) { d.shape.primitives[0].parameters[3] = 1.95; },
           "exponent = 1.95, allowed: in [0.02, 1.9]");
  rejected([](auto& d) { d.shape.primitives[0].parameters[4] = 0.01; }, "exponent = 0.01");
  rejected([](auto& d) { d.shape.primitives[0].parameters[1] = std::nan(""); }, "semi-axis = nan");
  rejected([](auto& d) { d.shape.primitives[0].X_BP.q.w() = 2.0; }, "length of the orientation");
  rejected([](auto& d) { d.shape.primitives[0].X_BP.p.x() = std::nan(""); }, "position = nan");
  rejected([](auto& d) { d.shape.union_smoothing = -1.0; }, "union_smoothing = -1");
  rejected([](auto& d) { d.mesh.triangles.pop_back(); }, "open at the edge");
  rejected(
      [](auto& d) {
        for (auto& t : d.mesh.triangles) std::swap(t[0], t[1]);
      },
      "face inwards");
  rejected([](auto& d) { d.mesh = {}; }, "a mesh is needed");
  rejected([](auto& d) { d.mass_or_density.reset(); }, "a mass or a density is needed");
  rejected([](auto& d) { d.mass_or_density = Mass{0.0}; }, "mass = 0");
  rejected([](auto& d) { d.inertia = Mat3<double>::Identity(); }, "come together");
  rejected(
      [](auto& d) {
        d.center_of_mass = Vec3<double>::Zero();
        d.inertia = Vec3<double>(1, 1, 3).asDiagonal();
      },
      "exceeds the sum");
  rejected([](auto& d) { d.contact_areas = std::vector<double>{1.0}; }, "1 contact area for 26");
  rejected([](auto& d) { d.contact_radius = -1.0; }, "contact radius -1");
  rejected([](auto& d) { d.material.friction = -1.0; }, "friction = -1");
  rejected([](auto& d) { d.shape.primitives[0].kind = PrimitiveKind::half_space; },
           "a half-space has no mesh");
}

TEST_CASE(
    "make_body: vertices of a closed mesh have area vectors that add up to nothing, other points have none",
    "[engine][property]") {
  const Body box = make_box({0.1, 0.06, 0.04}, 0.002, 3, 1000.0);
  REQUIRE(box.contact_area_vectors.cols() == box.contact_points.cols());
  CHECK(box.contact_area_vectors.rowwise().sum().norm() < 1e-15);
  for (Eigen::Index i = 0; i < box.contact_points.cols(); ++i) {
    CHECK(box.contact_area_vectors.col(i).norm() <=
          box.contact_areas[static_cast<std::size_t>(i)] * (1.0 + 1e-12));
    CHECK(box.contact_area_vectors.col(i).dot(box.contact_points.col(i)) > 0.0);
  }
  CHECK(make_capsule(0.02, 0.1, 1000.0).contact_area_vectors.cols() == 0);  // it has a mesh, for pictures
  CHECK(make_sphere(0.02, 1000.0).contact_area_vectors.cols() == 0);
}
