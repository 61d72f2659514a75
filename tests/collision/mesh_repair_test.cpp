#include "collision/fitting/mesh_repair.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "collision/fitting/mesh_cleaning.h"
#include "engine/mass_properties.h"
#include "engine/mesh_shapes.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/meshes.h"
#include "tests/support/samples.h"

using namespace abut;

namespace {

/// The mesh with some of its triangles turned, each with the given probability.
TriangleMesh with_turned(TriangleMesh mesh, Random& random, double probability) {
  for (Eigen::Vector3i& t : mesh.triangles) {
    if (random.uniform() < probability) std::swap(t[1], t[2]);
  }
  return mesh;
}

bool is_in(const RepairedMesh& repaired, const Vec3<double>& p) {
  return repaired.bvh.winding_number(p) > 0.5;
}

bool has_note(const RepairReport& report, const std::string& part) {
  return std::any_of(report.notes.begin(), report.notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

/// The six faces of the cube [-1, 1]^3, each a mesh of n x n squares of its own, `gap` smaller on every side.
std::vector<TriangleMesh> cube_faces(int n, double gap) {
  std::vector<TriangleMesh> faces;
  for (int side = 0; side < 6; ++side) {
    TriangleMesh face;
    const int axis = side / 2;
    const double sign = side % 2 == 0 ? 1.0 : -1.0;
    face.vertices.resize(3, (n + 1) * (n + 1));
    const auto coordinate = [&](int i) { return (1.0 - gap) * (2.0 * i / n - 1.0); };
    for (int i = 0; i <= n; ++i) {
      for (int j = 0; j <= n; ++j) {
        Vec3<double> x;
        x[axis] = sign;
        x[(axis + 1) % 3] = coordinate(i);
        x[(axis + 2) % 3] = sign * coordinate(j);
        face.vertices.col(i * (n + 1) + j) = x;
        if (i == n || j == n) continue;
        const int a = i * (n + 1) + j, b = a + n + 1;
        face.triangles.emplace_back(a, b, b + 1);
        face.triangles.emplace_back(a, b + 1, a + 1);
      }
    }
    faces.push_back(face);
  }
  return faces;
}

/// A height field z = height(x, y) over [-1, 1]^2.
template <typename Height>
TriangleMesh sheet(int n, const Height& height) {
  TriangleMesh mesh = cube_faces(n, 0.0)[4];
  for (int v = 0; v < mesh.vertex_count(); ++v)
    mesh.vertices(2, v) = height(mesh.vertices(0, v), mesh.vertices(1, v));
  return mesh;
}

/// A band of n squares that is turned by half a revolution.
TriangleMesh moebius_band(int n) {
  TriangleMesh mesh;
  mesh.vertices.resize(3, 2 * n);
  for (int i = 0; i < n; ++i) {
    const double u = 2.0 * std::numbers::pi * i / n;
    for (int j = 0; j < 2; ++j) {
      const double w = 0.3 * (2 * j - 1), ring = 1.0 + w * std::cos(0.5 * u);
      mesh.vertices.col(2 * i + j) =
          Vec3<double>(ring * std::cos(u), ring * std::sin(u), w * std::sin(0.5 * u));
    }
    const bool last = i == n - 1;
    const int a = 2 * i, b = 2 * i + 1, c = last ? 1 : a + 2, d = last ? 0 : a + 3;
    mesh.triangles.emplace_back(a, c, d);
    mesh.triangles.emplace_back(a, d, b);
  }
  return mesh;
}

/// By the definition: some side of one passes through the other. For triangles without a common corner.
bool plain_intersects(const TriangleMesh& mesh, int s, int t) {
  const auto corner = [&](int triangle, int i) -> Vec3<double> {
    return mesh.vertices.col(mesh.triangles[at(triangle)][i % 3]);
  };
  for (const auto& [u, v] : {std::pair(s, t), std::pair(t, s)}) {
    for (int i = 0; i < 3; ++i) {
      const Vec3<double> p = corner(u, i), d = corner(u, i + 1) - p;
      Mat3<double> columns;
      columns << corner(v, 1) - corner(v, 0), corner(v, 2) - corner(v, 0), -d;
      if (columns.determinant() == 0.0) continue;
      const Vec3<double> x = columns.inverse() * (p - corner(v, 0));
      if (x[0] > 0.0 && x[1] > 0.0 && x[0] + x[1] < 1.0 && x[2] > 0.0 && x[2] < 1.0) return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("repair_mesh: a closed mesh stays as it is, and its measures are exact", "[collision][value]") {
  const TriangleMesh box = box_mesh({0.5, 1.0, 1.5}, 3);
  const RepairedMesh repaired = repair_mesh(box);
  const RepairReport& report = repaired.report;
  CHECK(repaired.mesh.triangles == box.triangles);
  CHECK(repaired.mesh.vertices == box.vertices);
  CHECK(report.notes.empty());
  CHECK(report.closed);
  CHECK(report.shells == 1);
  CHECK(report.open_shells + report.cavities + report.boundary_edges + report.holes == 0);
  CHECK(report.non_manifold_edges + report.twisted_edges + report.intersecting_triangles == 0);
  CHECK(report.size == 3.0);
  CHECK(test::close(report.volume, 6.0, 1e-13, 0.0));
  CHECK(test::close(report.area, 22.0, 1e-13, 0.0));
  CHECK(report.enclosure > 0.98);
  CHECK(report.input_triangles == report.triangles);
  CHECK(report.input_vertices == report.vertices);
}

TEST_CASE(
    "repair_mesh: triangles with vertices of their own are welded, to the vertices within the tolerance",
    "[collision][value]") {
  Random random(1);
  const TriangleMesh torus = test::torus_mesh(0.3, 24, 12);
  TriangleMesh soup = test::soup_of(torus);
  for (int v = 0; v < soup.vertex_count(); ++v)
    soup.vertices.col(v) += 0.9e-6 * 0.5 * random.uniform() * random.unit_vector();  // size 2.6
  std::shuffle(soup.triangles.begin(), soup.triangles.end(), std::minstd_rand(5));
  const RepairedMesh repaired = repair_mesh(soup);
  CHECK(repaired.report.closed);
  CHECK(repaired.report.vertices == torus.vertex_count());
  CHECK(repaired.report.welded_vertices == soup.vertex_count() - torus.vertex_count());
  CHECK(repaired.report.triangles == torus.triangle_count());
  CHECK(has_note(repaired.report, "one with another"));
  CHECK_NOTHROW(require_closed_surface(repaired.mesh, "mesh"));

  const RepairedMesh strict = repair_mesh(soup, {.weld_tolerance = 0.0});  // hardly any two coordinates agree
  CHECK(strict.report.vertices == soup.vertex_count());
  CHECK(strict.report.shells == torus.triangle_count());
  const RepairedMesh exact = repair_mesh(test::soup_of(torus), {.weld_tolerance = 0.0});  // all do
  CHECK(exact.report.vertices == torus.vertex_count());
  CHECK(exact.report.closed);
}

TEST_CASE("clean_mesh: no vertex moves beyond the tolerance, no two are left within it",
          "[collision][property]") {
  const double tolerance = GENERATE(0.03, 0.1, 0.3);
  CAPTURE(tolerance);
  Random random(2);
  const TriangleMesh soup = test::random_soup(random, 300, 0.2);
  CleaningCounts counts;
  const TriangleMesh cleaned = clean_mesh(soup, tolerance, counts);
  CHECK(counts.welded_vertices > 3);
  for (int v = 0; v < cleaned.vertex_count(); ++v) {
    double nearest = k_infinity;
    for (int w = 0; w < v; ++w)
      nearest = std::min(nearest, (cleaned.vertices.col(v) - cleaned.vertices.col(w)).norm());
    REQUIRE(nearest > tolerance);
  }
  // Corners of a triangle that is left are near those of a triangle of the input.
  int found = 0;
  for (const Eigen::Vector3i& t : cleaned.triangles) {
    for (const Eigen::Vector3i& u : soup.triangles) {
      bool near = true;
      for (int i = 0; i < 3; ++i)
        near = near && (cleaned.vertices.col(t[i]) - soup.vertices.col(u[i])).norm() <= tolerance;
      if (!near) continue;
      ++found;
      break;
    }
  }
  CHECK(found == cleaned.triangle_count());
  CHECK(cleaned.triangle_count() > 0);
}

TEST_CASE("repair_mesh: triangles without area, copies and unused vertices go", "[collision][value]") {
  const TriangleMesh sphere = sphere_mesh(1.0, 2);
  TriangleMesh mesh = test::joined(sphere, sphere);  // two copies: 162 more vertices
  mesh.triangles.emplace_back(3, 3, 7);
  mesh.triangles.emplace_back(3, 3 + sphere.vertex_count(), 8);
  const RepairReport report = repair_mesh(mesh).report;
  CHECK(report.closed);
  CHECK(report.duplicate_triangles == sphere.triangle_count());
  CHECK(report.degenerate_triangles == 2);
  CHECK(report.welded_vertices == sphere.vertex_count());
  CHECK(report.triangles == sphere.triangle_count());
  CHECK(test::close(report.volume, mass_properties(sphere, 1.0).volume, 1e-12, 0.0));

  TriangleMesh unused = sphere;
  unused.vertices.conservativeResize(Eigen::NoChange, sphere.vertex_count() + 2);
  unused.vertices.rightCols(2).setConstant(50.0);
  const RepairReport without = repair_mesh(unused).report;
  CHECK(without.unused_vertices == 2);
  CHECK(without.size < 2.1);

  // A sliver between two others is kept, for it closes the slit between them; one that hangs in the air is
  // not.
  TriangleMesh box = box_mesh({1, 1, 1}, 1);
  const Eigen::Vector3i t = box.triangles[0];
  const int middle = box.vertex_count();
  box.vertices.conservativeResize(Eigen::NoChange, middle + 2);
  box.vertices.col(middle) = 0.5 * (box.vertices.col(t[0]) + box.vertices.col(t[1]));
  box.vertices.col(middle + 1) = Vec3<double>(0, 0, 3);
  box.triangles[0] = {middle, t[1], t[2]};
  box.triangles.emplace_back(t[0], middle, t[2]);
  box.triangles.emplace_back(t[0], t[1], middle);
  const RepairReport kept = repair_mesh(box).report;
  CHECK(kept.closed);
  CHECK(kept.degenerate_triangles == 0);
  CHECK(kept.unused_vertices == 1);
  box.vertices.col(middle + 1) = Vec3<double>(0.25 * box.vertices.col(t[0]) + 0.75 * box.vertices.col(t[1]));
  box.triangles.emplace_back(t[0], middle, middle + 1);
  const RepairReport dropped = repair_mesh(box).report;
  CHECK(dropped.closed);
  CHECK(dropped.degenerate_triangles == 1);
}

TEST_CASE("repair_mesh: of two blocks side by side the common face goes", "[collision][value]") {
  const TriangleMesh block = box_mesh({1, 1, 1}, 2);
  // Mirrored, so that the faces have the same triangles.
  TriangleMesh mirrored = block;
  mirrored.vertices.row(0) *= -1.0;
  mirrored = test::translated(test::inverted(mirrored), {2, 0, 0});
  const RepairedMesh repaired = repair_mesh(test::joined(block, mirrored));
  CHECK(repaired.report.cancelled_triangles == 16);
  CHECK(repaired.report.closed);
  CHECK(repaired.report.shells == 1);
  CHECK(test::close(repaired.report.volume, 16.0, 1e-12, 0.0));
  CHECK(test::close(repaired.bvh.nearest({1, 0, 0}).distance, 1.0, 1e-12, 0.0));
  CHECK_NOTHROW(require_closed_surface(repaired.mesh, "mesh"));

  // A surface written once for each of its sides is all pairs; half of them stay.
  const TriangleMesh sphere = sphere_mesh(1.0, 2);
  const RepairReport twice = repair_mesh(test::joined(test::inverted(sphere), sphere)).report;
  CHECK(twice.closed);
  CHECK(twice.triangles == sphere.triangle_count());
  CHECK(twice.cancelled_triangles == 0);
  CHECK(twice.volume > 4.0);
}

TEST_CASE("repair_mesh: triangles that face any way are turned outwards", "[collision][value]") {
  const double probability = GENERATE(0.1, 0.5, 0.9, 1.0);
  CAPTURE(probability);
  Random random(3);
  const TriangleMesh torus = test::torus_mesh(0.3, 32, 16);
  const TriangleMesh turned = with_turned(torus, random, probability);
  int expected = 0;
  for (int t = 0; t < torus.triangle_count(); ++t)
    expected += turned.triangles[at(t)] != torus.triangles[at(t)];
  const RepairedMesh repaired = repair_mesh(turned);
  CHECK(repaired.report.closed);
  CHECK(repaired.report.turned_triangles == expected);
  CHECK(repaired.mesh.triangles == torus.triangles);
  CHECK(has_note(repaired.report,
                 probability == 1.0 ? "whole mesh faced inwards" : "turned, to face outwards"));
  CHECK(is_in(repaired, {1, 0, 0}));
  CHECK_FALSE(is_in(repaired, {0, 0, 0}));
}

TEST_CASE("repair_mesh: hollows stay hollow, and inverted pieces become solid", "[collision][value]") {
  const TriangleMesh large = sphere_mesh(2.0, 3), middle = sphere_mesh(1.5, 3), small = sphere_mesh(0.5, 2);
  const bool is_inverted = GENERATE(false, true);
  CAPTURE(is_inverted);
  const auto repaired = [&](TriangleMesh mesh) {
    return repair_mesh(is_inverted ? test::inverted(mesh) : mesh);
  };
  const Vec3<double> core(0, 0, 0.1), gap(0, 0, 1.0), wall(0, 0, 1.75), outside(0, 0, 2.5);

  // A hollow with an island in it; the order of the pieces does not matter.
  for (const TriangleMesh& mesh : {test::joined(large, test::joined(test::inverted(middle), small)),
                                   test::joined(small, test::joined(test::inverted(middle), large))}) {
    const RepairedMesh nested = repaired(mesh);
    CHECK(nested.report.closed);
    CHECK(nested.report.shells == 3);
    CHECK(nested.report.cavities == 1);
    CHECK(nested.report.turned_triangles == (is_inverted ? mesh.triangle_count() : 0));
    CHECK(is_in(nested, core));
    CHECK_FALSE(is_in(nested, gap));
    CHECK(is_in(nested, wall));
    CHECK_FALSE(is_in(nested, outside));
  }
  // A ball within a ball that faces the same way is solid.
  const RepairedMesh filled = repaired(test::joined(middle, large));
  CHECK(filled.report.cavities == 0);
  for (const Vec3<double>& p : {core, gap, wall}) CHECK(is_in(filled, p));
  // An inverted ball in a hollow, where there is nothing for it to be a hollow of.
  const RepairedMesh island = repaired(test::joined(large, test::inverted(test::joined(middle, small))));
  CHECK(island.report.cavities == 1);
  CHECK(is_in(island, core));
  CHECK_FALSE(is_in(island, gap));
  // Beside each other.
  const RepairedMesh beside =
      repaired(test::joined(small, test::inverted(test::translated(small, {1.2, 0, 0}))));
  CHECK(beside.report.cavities == 0);
  CHECK(is_in(beside, core));
  CHECK(is_in(beside, {1.2, 0, 0}));
  CHECK(beside.report.turned_triangles == small.triangle_count());
}

TEST_CASE("repair_mesh: holes leave the inside where it was", "[collision][value]") {
  Random random(4);
  const TriangleMesh torus = test::torus_mesh(0.4, 64, 32);
  // Two holes: one at the rim, a fifth of the tube; one at the top.
  const Vec3<double> first(1.4, 0, 0), second(0, 1, 0.4);
  const TriangleMesh open = with_turned(
      test::without(
          torus,
          [&](const Vec3<double>& x) { return (x - first).norm() < 0.2 || (x - second).norm() < 0.1; }),
      random, GENERATE(0.0, 0.3, 1.0));
  const RepairedMesh repaired = repair_mesh(open);
  const RepairReport& report = repaired.report;
  CHECK_FALSE(report.closed);
  CHECK(report.holes == 2);
  CHECK(report.open_shells == 1);
  CHECK(report.boundary_edges > 10);
  CHECK(report.enclosure > 0.9);
  CHECK(report.enclosure < 0.99);
  CHECK(has_note(report, "2 holes"));
  CHECK(test::close(report.volume, 2.0 * std::pow(std::numbers::pi * 0.4, 2), 0.02, 0.0));
  int inside = 0, outside = 0, wrong = 0;
  for (int i = 0; i < 3000; ++i) {
    const Vec3<double> p = test::random_vector(random, 1.5);
    if ((p - first).norm() < 0.3 || (p - second).norm() < 0.15) continue;
    const double distance = std::hypot(std::hypot(p.x(), p.y()) - 1.0, p.z()) - 0.4;
    if (std::abs(distance) < 5e-3) continue;
    ++(distance < 0.0 ? inside : outside);
    wrong += is_in(repaired, p) != (distance < 0.0) ? 1 : 0;
  }
  CHECK(inside > 300);
  CHECK(outside > 300);
  CHECK(wrong == 0);
}

TEST_CASE("repair_mesh: faces that do not meet, and face any way, make a solid",
          "[collision][value][nightly]") {
  constexpr int k_turned[] = {0, 1, 5, 21, 42, 63};  // a bit for each face
  const int turned = k_turned[GENERATE(filter(test::is_drawn, range(std::size_t{0}, std::size_t{6})))];
  CAPTURE(turned);
  TriangleMesh mesh;
  const std::vector<TriangleMesh> faces = cube_faces(5, 1e-3);
  for (std::size_t i = 0; i < faces.size(); ++i)
    mesh = test::joined(mesh, turned >> i & 1 ? test::inverted(faces[i]) : faces[i]);
  const RepairedMesh repaired = repair_mesh(mesh);
  CHECK(repaired.report.shells == 6);
  CHECK(repaired.report.open_shells == 6);
  CHECK(repaired.report.holes == 6);
  CHECK(repaired.report.enclosure > 0.95);
  CHECK(repaired.report.turned_triangles == 50 * std::popcount(static_cast<unsigned>(turned)));
  Random random(5);
  int inside = 0;
  for (int i = 0; i < 500; ++i) {
    const Vec3<double> p = test::random_vector(random, 1.5);
    const double distance = p.cwiseAbs().maxCoeff() - 1.0;
    if (std::abs(distance) < 0.02) continue;
    REQUIRE(is_in(repaired, p) == (distance < 0.0));
    inside += distance < 0.0 ? 1 : 0;
  }
  CHECK(inside > 50);
}

TEST_CASE("repair_mesh: a hopeless mesh is refused with the reason", "[collision][value]") {
  const auto refused_with = [](const TriangleMesh& mesh, const char* reason) {
    CHECK_THROWS_WITH(repair_mesh(mesh), Catch::Contains(reason));
    CHECK_THROWS_AS(repair_mesh(mesh), std::invalid_argument);
  };
  refused_with(TriangleMesh(), "no triangles");
  TriangleMesh mesh = sphere_mesh(1.0, 1);
  mesh.triangles[2][0] = -1;
  refused_with(mesh, "triangle 2 has vertex -1");
  mesh = sphere_mesh(1.0, 1);
  mesh.vertices(2, 4) = std::numeric_limits<double>::infinity();
  refused_with(mesh, "vertex 4 is not finite");
  mesh.vertices.setConstant(3.0);
  refused_with(mesh, "no extent");
  mesh = sphere_mesh(1.0, 1);
  mesh.vertices.array() += 1e10;
  refused_with(mesh, "move it to the origin");
  mesh.vertices.resize(3, 4);  // a tetrahedron, but flat
  mesh.vertices << 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0;
  mesh.triangles = {{0, 1, 2}, {1, 0, 3}, {2, 1, 3}, {0, 2, 3}};
  refused_with(mesh, "flat");
  mesh = sphere_mesh(1.0, 1);
  mesh.vertices.bottomRows(2).setZero();
  refused_with(mesh, "in a line");
  mesh.vertices = sphere_mesh(1.0, 1).vertices;
  mesh.triangles = {{0, 1, 1}, {2, 2, 3}};
  refused_with(mesh, "none of the 2 triangles");
  refused_with(sheet(10, [](double, double) { return 0.0; }), "open sheet");
  refused_with(sheet(10, [](double x, double y) { return 0.2 * (x * x + y * y); }), "open sheet");
  refused_with(sheet(40, [](double x, double y) { return 0.1 * std::sin(9 * x) * std::cos(7 * y); }),
               "open sheet");
  refused_with(test::joined(sheet(5, [](double, double) { return 0.0; }),
                            test::inverted(sheet(5, [](double, double) { return 0.0; }))),
               "open sheet");  // both sides of it
  refused_with(moebius_band(40), "open sheet");
  CHECK_THROWS_WITH(repair_mesh(sphere_mesh(1.0, 1), {.weld_tolerance = 0.5}),
                    Catch::Contains("weld_tolerance"));

  // What is open by less is not refused: half a sphere, and a plate a thousandth as thick as it is long.
  const RepairReport bowl = repair_mesh(test::without(sphere_mesh(1.0, 4), [](const Vec3<double>& x) {
                              return x.z() > 0.0;
                            })).report;
  CHECK(bowl.enclosure > 0.75);
  CHECK(test::close(bowl.volume, 2.0 / 3.0 * std::numbers::pi, 0.02, 0.0));
  CHECK(repair_mesh(box_mesh({1, 1, 1e-3}, 4)).report.enclosure > 0.98);
}

TEST_CASE("repair_mesh: damaged meshes are repaired or refused, and winding numbers stay finite",
          "[collision][property]") {
  int repaired = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    TriangleMesh mesh = test::torus_mesh(0.4, 3 + static_cast<int>(random.integer(8)),
                                         3 + static_cast<int>(random.integer(6)));
    const auto vertex = [&] {
      return static_cast<int>(random.integer(static_cast<std::uint64_t>(mesh.vertex_count())));
    };
    for (std::uint64_t change = random.integer(30); change > 0 && mesh.triangle_count() > 1; --change) {
      const std::size_t t = random.integer(mesh.triangles.size());
      Eigen::Vector3i& triangle = mesh.triangles[t];
      const std::uint64_t kind = random.integer(6);
      if (kind == 0) std::swap(triangle[0], triangle[1]);
      if (kind == 1) triangle[static_cast<int>(random.integer(3))] = vertex();
      if (kind == 2) mesh.vertices.col(vertex()) = mesh.vertices.col(vertex()).eval();
      if (kind == 3) mesh.vertices.col(vertex()) *= std::pow(10.0, random.uniform(-9, 9));
      if (kind == 4) mesh.triangles.push_back(Eigen::Vector3i(triangle));
      if (kind == 5) mesh.triangles.erase(mesh.triangles.begin() + static_cast<std::ptrdiff_t>(t));
    }
    try {
      const RepairedMesh result = repair_mesh(mesh);
      ++repaired;
      REQUIRE(result.report.triangles <= mesh.triangle_count());
      if (result.report.closed) REQUIRE(result.report.volume > 0.0);  // cones over holes may be anywhere
      for (int i = 0; i < 20; ++i) {
        const Vec3<double> p = result.report.size * test::random_vector(random);
        REQUIRE(std::isfinite(result.bvh.winding_number(p)));
        REQUIRE(std::isfinite(result.bvh.nearest(p).distance));
      }
    } catch (const std::invalid_argument& error) {
      ++refused;
      REQUIRE(std::string(error.what()).find("the mesh") != std::string::npos);
    }
  }
  CHECK(repaired > 50);
  CHECK(refused > 20);
}

TEST_CASE("repair_mesh: a surface with one side is reported", "[collision][value]") {
  const TriangleMesh band = test::translated(moebius_band(40), {5, 0, 0});
  const RepairReport report = repair_mesh(test::joined(sphere_mesh(3.0, 3), band)).report;
  CHECK(report.twisted_edges > 0);
  CHECK(report.holes == 1);
  CHECK(has_note(report, "one side only"));
}

TEST_CASE("repair_mesh: edges of more than two triangles are counted, and do not turn a solid",
          "[collision][value]") {
  const TriangleMesh block = box_mesh({1, 1, 1}, 1);
  const RepairedMesh repaired =
      repair_mesh(test::joined(test::inverted(block), test::translated(block, {2, 2, 0})));
  CHECK(repaired.report.non_manifold_edges == 1);
  CHECK(repaired.report.closed);
  CHECK(repaired.report.turned_triangles == 12);
  CHECK(test::close(repaired.report.volume, 16.0, 1e-12, 0.0));
  CHECK(is_in(repaired, {0.9, 0.9, 0}));
  CHECK(is_in(repaired, {1.1, 1.1, 0}));
  CHECK_FALSE(is_in(repaired, {1.1, 0.9, 0}));
}

TEST_CASE(
    "count_intersecting_triangles: as many as a comparison of all pairs finds, on any number of threads",
    "[collision][value]") {
  Random random(6);
  const TriangleMesh soup = test::random_soup(random, 3000, 0.05);
  std::vector<char> intersects(at(soup.triangle_count()), 0);
  for (int s = 0; s < soup.triangle_count(); ++s) {
    for (int t = 0; t < s; ++t) {
      if (plain_intersects(soup, s, t)) intersects[at(s)] = intersects[at(t)] = 1;
    }
  }
  const auto expected = std::count(intersects.begin(), intersects.end(), 1);
  CHECK(expected > 100);
  const TriangleBvh bvh(soup);
  for (const int threads : {1, 2, 3})
    CHECK(count_intersecting_triangles(soup, bvh, 1e-12, threads) == expected);

  CHECK(repair_mesh(test::torus_mesh(0.3, 48, 24)).report.intersecting_triangles == 0);
  const TriangleMesh block = box_mesh({1, 1, 1}, 1);
  const RepairReport crossing =
      repair_mesh(test::joined(block, test::translated(block, {0.5, 0.6, 0.7}))).report;
  CHECK(crossing.intersecting_triangles > 4);
  CHECK(has_note(crossing, "pass through others"));
  // Faces that only touch, and one vertex in common.
  CHECK(repair_mesh(test::joined(block, test::translated(block, {2, 0.5, 0.5})))
            .report.intersecting_triangles == 0);
  CHECK(repair_mesh(test::joined(block, test::translated(block, {2, 2, 2}))).report.intersecting_triangles ==
        0);
  // A corner pushed through the opposite face: its triangles share vertices with the others.
  TriangleMesh dented = block;
  for (int v = 0; v < dented.vertex_count(); ++v) {
    if ((dented.vertices.col(v) - Vec3<double>::Ones()).norm() < 1e-9)
      dented.vertices.col(v) = Vec3<double>(-0.5, -0.4, -1.5);
  }
  CHECK(repair_mesh(dented).report.intersecting_triangles > 0);
}
