#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <catch2/catch.hpp>

#include "apps/picture/surface.h"
#include "collision/sdf/exact_primitives.h"
#include "engine/mesh_shapes.h"
#include "tests/support/close.h"
#include "tests/support/scenes.h"

namespace abut::test {
namespace {

ShapeSdf sdf_of(const Primitive& primitive) {
  Shape shape;
  shape.primitives = {primitive};
  shape.union_smoothing = 1e-3;
  return ShapeSdf(shape);
}

Primitive sphere(double radius, const Vec3<double>& centre = Vec3<double>::Zero()) {
  Primitive p;
  p.kind = PrimitiveKind::sphere;
  p.parameters[0] = radius;
  p.X_BP.p = centre;
  return p;
}

/// Volume that the triangles enclose; positive if they look outwards [m^3].
double volume(const Surface& surface) {
  double sum = 0.0;
  for (std::size_t t = 0; t < surface.triangles.size(); t += 3) {
    const Vec3<double> a = surface.positions[surface.triangles[t]].cast<double>(),
                       b = surface.positions[surface.triangles[t + 1]].cast<double>(),
                       c = surface.positions[surface.triangles[t + 2]].cast<double>();
    sum += a.dot(b.cross(c)) / 6.0;
  }
  return sum;
}

double largest_unit_error(const Surface& surface) {
  double largest = 0.0;
  for (const Eigen::Vector3f& normal : surface.normals) {
    const double error = std::abs(double(normal.norm()) - 1.0);
    if (!(error <= largest)) largest = error;  // NaN too
  }
  return largest;
}

TEST_CASE("mesh_surface: a box keeps its sharp edges and a fine sphere has none", "[viewer][value]") {
  const TriangleMesh box = box_mesh({0.1, 0.2, 0.3}, 1);
  const SharedSurface sharp = mesh_surface(box);
  REQUIRE(sharp);
  CHECK(sharp->positions.size() == 24);  // each corner once a face
  CHECK(sharp->triangles.size() == 3 * box.triangles.size());
  CHECK(volume(*sharp) == Approx(8 * 0.1 * 0.2 * 0.3));
  for (std::size_t t = 0; t < sharp->triangles.size(); ++t) {
    const Eigen::Vector3f& normal = sharp->normals[sharp->triangles[t]];
    CHECK(normal.cwiseAbs().maxCoeff() == Approx(1.0));  // that of a face
    CHECK(normal.dot(sharp->positions[sharp->triangles[t]]) > 0.0f);
  }

  const SharedSurface smooth = mesh_surface(box, std::numbers::pi);
  CHECK(smooth->positions.size() == 8);
  for (const Eigen::Vector3f& normal : smooth->normals) {  // by angle, however faces are cut
    CHECK(close(normal.cwiseAbs().eval(), Eigen::Vector3f::Constant(1.0f / std::sqrt(3.0f)), 0, 1e-6));
  }

  const TriangleMesh ball = sphere_mesh(0.5, 3);
  const SharedSurface round = mesh_surface(ball);
  CHECK(round->positions.size() == static_cast<std::size_t>(ball.vertex_count()));
  for (std::size_t i = 0; i < round->positions.size(); ++i) {
    CHECK(round->normals[i].dot(round->positions[i].normalized()) > 0.9999f);
  }
}

TEST_CASE("mesh_surface: an edge is sharp from the crease angle on", "[viewer][value]") {
  TriangleMesh roof;  // of two triangles that turn by 0.5 rad at the edge 0 1
  roof.vertices.resize(3, 4);
  roof.vertices.col(0) << 0, 0, 0;
  roof.vertices.col(1) << 0, 1, 0;
  roof.vertices.col(2) << 1, 0, 0;
  roof.vertices.col(3) << -std::cos(0.5), 0, -std::sin(0.5);
  roof.triangles = {{0, 2, 1}, {0, 1, 3}};
  CHECK(mesh_surface(roof, 0.51)->positions.size() == 4);
  CHECK(mesh_surface(roof, 0.49)->positions.size() == 6);
}

TEST_CASE("mesh_surface: triangles without area give no NaN and take no part in their neighbours' normals",
          "[viewer][value]") {
  TriangleMesh mesh;
  mesh.vertices.resize(3, 5);
  mesh.vertices.col(0) << 0, 0, 0;
  mesh.vertices.col(1) << 1, 0, 0;
  mesh.vertices.col(2) << 0, 1, 0;
  mesh.vertices.col(3) << 0.5, 0, 0;  // on the edge 0 1
  mesh.vertices.col(4) << 0, 0, 0;    // at 0
  mesh.triangles = {{0, 1, 2}, {0, 3, 1}, {0, 4, 3}};
  const SharedSurface surface = mesh_surface(mesh);
  REQUIRE(surface);
  CHECK(largest_unit_error(*surface) < 1e-6);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(close(surface->normals[surface->triangles[i]], Eigen::Vector3f::UnitZ(), 0, 1e-6));
  }
  CHECK(mesh_surface(TriangleMesh{}) == nullptr);
}

TEST_CASE("rounded_box_surface: is closed, and on the surface of the box with its edge radius",
          "[viewer][value]") {
  Primitive box;
  box.kind = PrimitiveKind::rounded_box;
  box.parameters = {0.3, 0.2, 0.1, 0.04, 0.0};
  box.X_BP = {Quat<double>(0.8, 0.0, 0.6, 0.0), {0.1, 0.2, -0.3}};
  const SharedSurface surface = rounded_box_surface(box);
  const ShapeSdf sdf = sdf_of(box);
  for (std::size_t i = 0; i < surface->positions.size(); ++i) {
    const auto at = sdf.evaluate<double>(surface->positions[i].cast<double>());
    REQUIRE(std::abs(at.distance) < 1e-6);
    // At a seam the normal of the distance is tilted by 0.16 k_seam, at a corner by two.
    REQUIRE(close(surface->normals[i].cast<double>(), at.normal, 0, 1e-3 + 0.25 * k_seam));
  }
  const double pi = std::numbers::pi, r = 0.04, a = 2 * 0.26, b = 2 * 0.16, c = 2 * 0.06;
  const double exact =
      a * b * c + 2 * r * (a * b + b * c + c * a) + pi * r * r * (a + b + c) + 4.0 / 3.0 * pi * r * r * r;
  CHECK(close(volume(*surface), exact, 1e-3, 0));  // of cylinders and balls made of flat triangles
}

TEST_CASE("iso_surface: of a sphere it has the radius r + level, and its normals are radial",
          "[viewer][value]") {
  const Vec3<double> centre(0.4, -0.2, 0.1);
  const double radius = 0.3;
  const ShapeSdf sdf = sdf_of(sphere(radius, centre));
  for (const double level : {-0.2, -0.05, 0.0, 0.05, 0.6}) {
    const SharedSurface surface = iso_surface(sdf, level, 24);
    CAPTURE(level);
    REQUIRE(surface);
    REQUIRE(surface->normals.size() == surface->positions.size());
    CHECK(surface->colours.empty());
    for (std::size_t i = 0; i < surface->positions.size(); ++i) {
      const Vec3<double> r = surface->positions[i].cast<double>() - centre;
      REQUIRE(close(r.norm(), radius + level, 1e-5, 0));
      REQUIRE(close(surface->normals[i].cast<double>(), r.normalized(), 0, 1e-3));
    }
    const double exact = 4.0 / 3.0 * std::numbers::pi * std::pow(radius + level, 3);
    CHECK(close(volume(*surface), exact, 0.15, 0));
  }
}

TEST_CASE("iso_surface: of SDFs whose distances are none of the metric kind all of it is found",
          "[viewer][property]") {
  const Primitive flat = superquadric({0.5, 0.3, 0.02}, 0.1, 1.6);
  for (const auto mode : {DistanceMode::taubin, DistanceMode::radial, DistanceMode::projected}) {
    Shape shape;
    shape.primitives = {flat, sphere(0.1, {0.3, 0, 0})};
    shape.union_smoothing = 0.01;
    shape.distance_mode = mode;
    const ShapeSdf sdf(shape);
    for (const double level : {0.0, 0.01, 0.1}) {
      const SharedSurface surface = iso_surface(sdf, level, 32);
      CAPTURE(static_cast<int>(mode), level);
      REQUIRE(surface);
      CHECK(volume(*surface) > 0.0);
      CHECK(largest_unit_error(*surface) < 1e-5);
      for (std::size_t i = 0; i < surface->positions.size(); i += 17) {
        const double phi = sdf.distance<double>(surface->positions[i].cast<double>());
        REQUIRE(std::abs(phi - level) < 1e-5);
      }
    }
  }
}

TEST_CASE("iso_surface: null of what is unbounded, of nothing, and of a level inside of everything",
          "[viewer][value]") {
  CHECK(iso_surface(ShapeSdf(make_half_space().shape), 0.0) == nullptr);
  CHECK(iso_surface(ShapeSdf(Shape{}), 0.0) == nullptr);
  CHECK(iso_surface(sdf_of(sphere(0.1)), -0.2, 16) == nullptr);
}

TEST_CASE("primitive_surface: one primitive alone, as if it were added", "[viewer][value]") {
  Body body = sphere_of_mass(0.1, 1.0);
  Primitive hole = sphere(0.05, {0.1, 0, 0});
  hole.operation = PrimitiveOperation::subtract;
  body.shape.primitives = {sphere(0.1), hole};
  body.shape.union_smoothing = 1e-3;
  const SharedSurface surface = primitive_surface(body, 1, 16);
  REQUIRE(surface);
  for (const Eigen::Vector3f& position : surface->positions) {
    REQUIRE(close((position.cast<double>() - Vec3<double>(0.1, 0, 0)).norm(), 0.05, 1e-5, 0));
  }
  CHECK(volume(*surface) > 0.0);
  CHECK(primitive_surface(make_half_space(), 0) == nullptr);
}

TEST_CASE("discrepancy_surface: colours and numbers are those of phi at the vertices", "[viewer][value]") {
  const double radius = 0.2;
  TriangleMesh mesh = sphere_mesh(radius, 2);
  const int n = mesh.vertex_count();
  mesh.vertices.col(5) *= 1.1;   // 20 mm outside
  mesh.vertices.col(9) *= 0.95;  // 10 mm inside
  const DiscrepancySurface result = discrepancy_surface(mesh, sdf_of(sphere(radius)));
  CHECK(result.largest == Approx(0.02));
  CHECK(result.mean == Approx(0.03 / n));
  REQUIRE(result.surface);
  REQUIRE(result.surface->colours.size() == result.surface->positions.size());
  int outside = 0, inside = 0;
  for (std::size_t i = 0; i < result.surface->positions.size(); ++i) {
    const double phi = double(result.surface->positions[i].norm()) - radius;
    const Colour& colour = result.surface->colours[i];
    REQUIRE((colour - diverging_colour(phi / 0.02)).norm() < 1e-3f);
    outside += colour.x() > colour.z() + 0.3f;
    inside += colour.z() > colour.x() + 0.2f;
  }
  CHECK(outside > 0);
  CHECK(inside > 0);
  CHECK(discrepancy_surface(TriangleMesh{}, sdf_of(sphere(1.0))).surface == nullptr);
}

TEST_CASE("discrepancy_surface: between vertices that lie on the surface, triangles lie inside of it",
          "[viewer][value]") {
  const double radius = 0.2;
  const TriangleMesh icosahedron = sphere_mesh(radius, 0);
  const ShapeSdf sdf = sdf_of(sphere(radius));
  const DiscrepancySurface result = discrepancy_surface(icosahedron, sdf);
  CHECK(result.largest < 1e-12);
  // The middles of its edges and faces, of which the latter are the nearest to its centre.
  CHECK(result.between > (1.0 - 0.8507) * radius);
  CHECK(result.between < (1.0 - 0.7946) * radius);
  REQUIRE(result.surface);
  double area = 0.0;
  for (std::size_t t = 0; t < result.surface->triangles.size(); t += 3) {
    const auto corner = [&](std::size_t k) -> Vec3<double> {
      return result.surface->positions[result.surface->triangles[t + k]].cast<double>();
    };
    const Vec3<double> twice = (corner(1) - corner(0)).cross(corner(2) - corner(0));
    CHECK(twice.dot(corner(0)) > 0.0);  // outwards
    area += 0.5 * twice.norm();
  }
  const double edge = radius / std::sin(0.4 * std::numbers::pi);
  CHECK(area == Approx(5.0 * std::sqrt(3.0) * edge * edge).epsilon(1e-5));
  for (std::size_t i = 0; i < result.surface->positions.size(); ++i) {
    const double phi = double(result.surface->positions[i].norm()) - radius;
    CHECK((result.surface->colours[i] - diverging_colour(phi / result.between)).norm() < 1e-3f);
  }

  // Seen at the vertices alone it is on the surface, and rounding is not coloured.
  const DiscrepancySurface corners = discrepancy_surface(icosahedron, sdf, 1);
  REQUIRE(corners.surface);
  CHECK(corners.between < 1e-12);
  CHECK(corners.surface->triangles.size() == 3 * icosahedron.triangles.size());
  for (const Colour& colour : corners.surface->colours) CHECK(colour == diverging_colour(0.0));
}

}  // namespace
}  // namespace abut::test
