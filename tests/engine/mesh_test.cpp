#include "engine/mesh.h"

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include <catch2/catch.hpp>

#include "engine/mass_properties.h"
#include "engine/mesh_shapes.h"
#include "tests/support/close.h"

using namespace abut;

namespace {

std::string complaint(const TriangleMesh& mesh) {
  try {
    require_closed_surface(mesh, "part");
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("require_closed_surface: accepts closed meshes and names what is wrong with others",
          "[engine][value]") {
  CHECK(complaint(box_mesh({1, 2, 3})) == "");
  CHECK(complaint(sphere_mesh(1.0)) == "");

  struct Case {
    std::string name;
    std::function<void(TriangleMesh&)> damage;
    std::string element, cause;
  };
  const Case cases[] = {
      {"too few", [](TriangleMesh& m) { m.vertices.conservativeResize(3, 3); }, "3 vertices", "at least 4"},
      {"nan", [](TriangleMesh& m) { m.vertices(1, 5) = std::nan(""); }, "vertex 5", "not finite"},
      {"inf", [](TriangleMesh& m) { m.vertices(2, 7) = std::numeric_limits<double>::infinity(); }, "vertex 7",
       "not finite"},
      {"index", [](TriangleMesh& m) { m.triangles[2][1] = 99; }, "triangle 2",
       "has vertex 99, allowed: 0 to 7"},
      {"negative", [](TriangleMesh& m) { m.triangles[2][1] = -1; }, "triangle 2", "has vertex -1"},
      {"repeated", [](TriangleMesh& m) { m.triangles[4][0] = m.triangles[4][1]; }, "triangle 4",
       "degenerate"},
      {"flipped", [](TriangleMesh& m) { std::swap(m.triangles[3][0], m.triangles[3][1]); }, "and 3",
       "flipped"},
      {"hole", [](TriangleMesh& m) { m.triangles.erase(m.triangles.begin() + 6); }, "of triangle",
       "open at the edge"},
      {"twice", [](TriangleMesh& m) { m.triangles.push_back(m.triangles[0]); }, "triangles 0 and 12",
       "flipped"},
      {"unused",
       [](TriangleMesh& m) {
         m.vertices.conservativeResize(3, 9);
         m.vertices.col(8).setZero();
       },
       "vertex 8", "belongs to no triangle"},
  };
  for (const Case& c : cases) {
    TriangleMesh mesh = box_mesh({1, 2, 3}, 1);
    c.damage(mesh);
    const std::string message = complaint(mesh);
    CAPTURE(c.name, message);
    CHECK(message.starts_with("part: "));
    CHECK(message.find(c.element) != std::string::npos);
    CHECK(message.find(c.cause) != std::string::npos);
  }
}

TEST_CASE("vertex_areas: sum to the surface area, and are equal at equal corners of a box",
          "[engine][value]") {
  const Vec3<double> half_extents(0.5, 1.0, 2.0);
  const TriangleMesh mesh = box_mesh(half_extents);
  const std::vector<double> areas = vertex_areas(mesh);
  CHECK(test::close(std::accumulate(areas.begin(), areas.end(), 0.0), 8.0 * (0.5 + 1.0 + 2.0), 1e-14, 0));
  const auto corner_area = [&](const Vec3<double>& corner) {
    for (int i = 0; i < mesh.vertex_count(); ++i) {
      if (mesh.vertices.col(i) == corner) return areas[static_cast<std::size_t>(i)];
    }
    return -1.0;
  };
  const double first = corner_area(half_extents);
  CHECK(first > 0.0);
  for (const double x : {-0.5, 0.5}) {
    for (const double y : {-1.0, 1.0}) {
      for (const double z : {-2.0, 2.0}) CHECK(test::close(corner_area({x, y, z}), first, 1e-14, 0));
    }
  }
}

TEST_CASE("mesh_shapes: are closed, outward, of the promised size and count", "[engine][value]") {
  CHECK(box_mesh({1, 1, 1}).vertex_count() == 98);
  for (const int n : {1, 2, 3, 4, 7}) {
    const TriangleMesh mesh = box_mesh({0.1, 0.2, 0.3}, n);
    CAPTURE(n);
    CHECK(mesh.vertex_count() == 6 * n * n + 2);
    CHECK(complaint(mesh) == "");
    CHECK(test::close(mass_properties(mesh, 1.0).volume, 8 * 0.1 * 0.2 * 0.3, 1e-13, 0));
  }
  for (const int n : {0, 1, 4}) {
    const TriangleMesh mesh = sphere_mesh(2.0, n);
    CAPTURE(n);
    CHECK(mesh.vertex_count() == 10 * (1 << (2 * n)) + 2);
    CHECK(complaint(mesh) == "");
    CHECK((mesh.vertices.colwise().norm().array() - 2.0).abs().maxCoeff() < 1e-14);
    CHECK(mass_properties(mesh, 1.0).volume > 0.0);
  }
  for (const int n : {4, 8, 24}) {
    for (const double half_length : {0.0, 0.7}) {
      const TriangleMesh mesh = capsule_mesh(0.3, half_length, n);
      CAPTURE(n, half_length);
      CHECK(complaint(mesh) == "");
      CHECK(mass_properties(mesh, 1.0).volume > 0.0);
      CHECK(test::close(mesh.vertices.row(2).maxCoeff(), half_length + 0.3, 1e-15, 0));
    }
  }
  CHECK_THROWS_AS(box_mesh({1, 0, 1}), std::invalid_argument);
  CHECK_THROWS_AS(box_mesh({1, 1, 1}, 0), std::invalid_argument);
  CHECK_THROWS_AS(sphere_mesh(-1.0), std::invalid_argument);
  CHECK_THROWS_AS(capsule_mesh(1.0, -1.0), std::invalid_argument);
  CHECK_THROWS_AS(capsule_mesh(1.0, 1.0, 6), std::invalid_argument);
}
