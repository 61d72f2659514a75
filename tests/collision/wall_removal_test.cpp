#include "collision/fitting/wall_removal.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <catch2/catch.hpp>

#include "collision/fitting/distance_grid.h"
#include "collision/fitting/mesh_repair.h"
#include "engine/mesh_shapes.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/meshes.h"

namespace abut::test {
namespace {

double box_distance(const Vec3<double>& p, const Vec3<double>& half) {
  const Vec3<double> q = p.cwiseAbs() - half;
  return q.cwiseMax(0.0).norm() + std::min(q.maxCoeff(), 0.0);
}

/// A square x = position, |y|, |z| <= half of n x n squares, facing x.
TriangleMesh wall(double position, double half, int n) {
  TriangleMesh mesh;
  mesh.vertices.resize(3, (n + 1) * (n + 1));
  for (int i = 0; i <= n; ++i) {
    for (int j = 0; j <= n; ++j) {
      mesh.vertices.col(i * (n + 1) + j) =
          Vec3<double>(position, half * (2.0 * i / n - 1.0), half * (2.0 * j / n - 1.0));
      if (i == n || j == n) continue;
      const int a = i * (n + 1) + j, b = a + n + 1;
      mesh.triangles.emplace_back(a, b, b + 1);
      mesh.triangles.emplace_back(a, b + 1, a + 1);
    }
  }
  return mesh;
}

bool has_note(const RepairReport& report, const std::string& part) {
  return std::any_of(report.notes.begin(), report.notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

double value_at(const RepairedMesh& mesh, const Vec3<double>& p) {
  double value = 0.0;
  field_of(mesh)(p, {&value, 1});
  return value;
}

/// The largest error of the distance of a repaired mesh from that of a solid, in the cube of side 2 `reach`.
template <typename Distance>
double worst_error(const RepairedMesh& mesh, double reach, const Distance& distance) {
  Random random(11);
  double worst = 0.0;
  for (int i = 0; i < 2000; ++i) {
    const Vec3<double> p = random_vector(random, reach);
    worst = std::max(worst, std::abs(value_at(mesh, p) - distance(p)));
  }
  return worst;
}

}  // namespace

TEST_CASE("repair_mesh: partitions of a solid go, whether they share its edges or hang in it",
          "[collision][value]") {
  const TriangleMesh cube = box_mesh({1, 1, 1}, 4);
  const double half = GENERATE(1.0, 0.9);  // the first with the vertices of the cube
  const int walls = GENERATE(1, 3);
  CAPTURE(half, walls);
  TriangleMesh mesh = cube;
  for (int i = 0; i < walls; ++i)
    mesh = joined(mesh, i % 2 == 0 ? wall(0.5 * (i - walls / 2), half, 4)
                                   : inverted(wall(0.5 * (i - walls / 2), half, 4)));
  const RepairedMesh repaired = repair_mesh(mesh);
  CHECK(repaired.report.inner_sheets == walls);
  CHECK(repaired.report.inner_triangles == 32 * walls);
  CHECK(repaired.report.closed);
  CHECK(repaired.report.shells == 1);
  CHECK(repaired.report.non_manifold_edges == 0);
  CHECK(close(repaired.report.volume, 8.0, 1e-12, 0.0));
  CHECK(has_note(repaired.report, "within the solid dropped"));
  CHECK_FALSE(repaired.trimmed);
  CHECK(worst_error(repaired, 1.5, [](const Vec3<double>& p) { return box_distance(p, {1, 1, 1}); }) < 1e-12);
}

TEST_CASE("repair_mesh: surfaces that can be seen stay, flat and open as they may be", "[collision][value]") {
  // A fin that stands on a cube; a disc in front of a cube; the bottom of a deep hole with a surface of its
  // own; the inner side of a bowl with one of its own.
  const TriangleMesh cube = box_mesh({1, 1, 1}, 4);
  CHECK(repair_mesh(joined(cube, translated(wall(0.0, 0.5, 4), {0, 0, 1.5}))).report.inner_sheets == 0);
  CHECK(repair_mesh(joined(cube, wall(1.5, 0.9, 4))).report.inner_sheets == 0);
  TriangleMesh well =
      without(box_mesh({0.2, 0.2, 1.0}, 1), [](const Vec3<double>& x) { return std::abs(x.z()) > 0.99; });
  TriangleMesh bottom =
      without(box_mesh({0.2, 0.2, 1.0}, 1), [](const Vec3<double>& x) { return x.z() > -0.99; });
  bottom.vertices *= 0.999;
  const TriangleMesh open_cube = without(box_mesh({1, 1, 1.5}, 10), [](const Vec3<double>& x) {
    return x.z() > 1.49 && x.head<2>().cwiseAbs().maxCoeff() < 0.2;
  });
  well = translated(well, {0, 0, 0.5});
  bottom = translated(bottom, {0, 0, 0.5});
  const RepairedMesh holed = repair_mesh(joined(open_cube, joined(inverted(well), inverted(bottom))));
  CHECK(holed.report.inner_sheets == 0);
  CHECK(value_at(holed, {0, 0, 1.0}) > 0.15);
  CHECK(value_at(holed, {0, 0, -1.0}) < -0.3);

  const auto upper = [](const Vec3<double>& x) { return x.z() > 0.0; };
  const TriangleMesh outer = without(sphere_mesh(1.0, 4), upper);
  const TriangleMesh inner = inverted(without(sphere_mesh(0.8, 4), upper));
  const RepairedMesh bowl = repair_mesh(joined(outer, inner));
  CHECK(bowl.report.inner_sheets == 0);
  CHECK(value_at(bowl, {0, 0, -0.9}) < 0.0);
  CHECK(value_at(bowl, {0, 0, -0.5}) > 0.2);
}

TEST_CASE("solid_boundary: of boxes that overlap the distance is that of their union", "[collision][value]") {
  // Twelve triangles each, so that most have parts within the other box.
  const Vec3<double> long_half(1.0, 0.2, 0.2), high_half(0.2, 0.2, 1.0);
  const RepairedMesh cross =
      repair_mesh(joined(box_mesh(long_half, 1), translated(box_mesh(high_half, 1), {0, 0.13, 0})));
  CHECK(cross.report.shells == 2);
  CHECK(cross.report.inner_sheets == 0);
  CHECK(cross.report.inner_triangles >= 8);
  // Of each box 0.4 x 0.27 of two sides and 0.4 x 0.4 of a third.
  CHECK(close(cross.report.inner_area, 2.0 * (2.0 * 0.4 * 0.27 + 0.4 * 0.4), 5e-3, 0.0));
  CHECK(has_note(cross.report, "lies within the solid"));
  REQUIRE(cross.trimmed);
  CHECK(cross.mesh.triangle_count() == 24);
  // The exact distance of the union is the smaller one outside. Inside only a bound: the negative of the
  // distance from what is left of both surfaces, by a fine sampling of them.
  const auto outside = [&](const Vec3<double>& p) {
    return std::min(box_distance(p, long_half), box_distance(p - Vec3<double>(0, 0.13, 0), high_half));
  };
  TriangleMesh fine = joined(box_mesh(long_half, 150), translated(box_mesh(high_half, 150), {0, 0.13, 0}));
  fine = without(fine, [&](const Vec3<double>& x) { return outside(x) < -1e-9; });
  const TriangleBvh visible(fine);
  const double worst = worst_error(cross, 1.2, [&](const Vec3<double>& p) {
    return outside(p) > 0.0 ? outside(p) : -visible.nearest(p).distance;
  });
  CHECK(worst < 0.01);  // 1/256 of the size 2, and of the sampling 0.013 long triangles

  CHECK(cross.surface_bvh().nearest({0, 0.1, 0}).distance > 0.19);  // the walls are 0.07 from here
  CHECK(cross.bvh.nearest({0, 0.1, 0}).distance < 0.11);
}

TEST_CASE("solid_boundary: boxes side by side with other triangles have no wall between them",
          "[collision][value]") {
  const Vec3<double> half(0.5, 0.5, 0.5);
  const double gap = GENERATE(0.0, 1e-5, -1e-5);
  CAPTURE(gap);
  const RepairedMesh repaired = repair_mesh(
      joined(translated(box_mesh(half, 3), {-0.5, 0, 0}), translated(box_mesh(half, 4), {0.5 + gap, 0, 0})));
  REQUIRE(repaired.trimmed);
  CHECK(close(repaired.report.inner_area, 2.0, 0.01, 0.0));
  CHECK(worst_error(repaired, 1.2, [](const Vec3<double>& p) {
          return box_distance(p, {1.0, 0.5, 0.5});
        }) < 0.01);
}

TEST_CASE("solid_boundary: a solid within a solid goes, a cavity stays", "[collision][value]") {
  const TriangleMesh large = sphere_mesh(2.0, 4), small = sphere_mesh(0.5, 3);
  const RepairedMesh filled = repair_mesh(joined(large, small));
  CHECK(filled.report.inner_triangles == small.triangle_count());
  CHECK(filled.surface().triangle_count() == large.triangle_count());
  CHECK(worst_error(filled, 2.5, [](const Vec3<double>& p) { return p.norm() - 2.0; }) < 0.01);
  const RepairedMesh hollow = repair_mesh(joined(large, inverted(small)));
  CHECK(hollow.report.inner_triangles == 0);
  CHECK_FALSE(hollow.trimmed);
  CHECK(worst_error(hollow, 2.5,
                    [](const Vec3<double>& p) { return std::max(p.norm() - 2.0, 0.5 - p.norm()); }) < 0.01);
  // Apart from each other, and two of a kind.
  CHECK_FALSE(repair_mesh(joined(small, translated(small, {2, 0, 0}))).trimmed);
  CHECK_FALSE(repair_mesh(large).trimmed);
}

TEST_CASE("solid_boundary: equal for any number of threads", "[collision][determinism]") {
  const TriangleMesh mesh =
      joined(torus_mesh(0.4, 24, 12),
             moved(torus_mesh(0.3, 24, 12),
                   {Quat<double>(std::sqrt(0.5), std::sqrt(0.5), 0, 0), Vec3<double>(0.3, 0, 0)}));
  const RepairedMesh one = repair_mesh(mesh, {.threads = 1});
  REQUIRE(one.trimmed);
  CHECK(one.report.intersecting_triangles > 0);
  for (const int threads : {2, 5}) {
    const RepairedMesh other = repair_mesh(mesh, {.threads = threads});
    CHECK(other.trimmed->mesh.triangles == one.trimmed->mesh.triangles);
    CHECK(other.trimmed->mesh.vertices == one.trimmed->mesh.vertices);
  }
}

}  // namespace abut::test
