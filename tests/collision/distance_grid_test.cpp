#include "collision/fitting/distance_grid.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/mass_properties.h"
#include "engine/mesh_io.h"
#include "engine/mesh_shapes.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/meshes.h"
#include "tests/support/reference_data.h"

using namespace abut;

namespace {

/// Calls check(value, point) for each corner of the grid.
template <typename Check>
void for_each_point(const DistanceGrid& grid, const Check& check) {
  const Eigen::Vector3i n = grid.points();
  for (int k = 0; k < n.z(); ++k) {
    for (int j = 0; j < n.y(); ++j) {
      for (int i = 0; i < n.x(); ++i) check(grid.value(i, j, k), grid.point(i, j, k));
    }
  }
}

double box_distance(const Vec3<double>& p, const Vec3<double>& half) {
  const Vec3<double> q = p.cwiseAbs() - half;
  return q.cwiseMax(0.0).norm() + std::min(q.maxCoeff(), 0.0);
}

TriangleMesh holed_torus() {
  return test::without(test::torus_mesh(0.4, 48, 24),
                       [](const Vec3<double>& x) { return (x - Vec3<double>(1.4, 0, 0)).norm() < 0.15; });
}

}  // namespace

TEST_CASE(
    "signed_distance_grid: of a box it is the formula, exact in the band and within the tolerance beyond",
    "[collision][value]") {
  const Vec3<double> half(0.5, 0.8, 0.3);
  const RepairedMesh box = repair_mesh(box_mesh(half, 6));
  SampleGrid grid{Vec3<double>(-1.0, -1.25, -0.8), 0.06, {33, 40, 27}};  // blocks at the end are not full
  const DistanceGrid exact = signed_distance_grid(box, grid, {.exact_band = 0.0, .far_tolerance = 0.0});
  REQUIRE(exact.values.size() == 34u * 41u * 28u);
  double error = 0.0;
  int inside = 0;
  for_each_point(exact, [&](double value, const Vec3<double>& p) {
    error = std::max(error, std::abs(value - box_distance(p, half)));
    inside += value < 0.0 ? 1 : 0;
  });
  CHECK(error < 1e-14);
  CHECK(inside > 1000);

  const DistanceGridOptions options{.exact_band = 2.0, .far_tolerance = 0.1};
  const DistanceGrid banded = signed_distance_grid(box, grid, options);
  int near = 0, inexact = 0;
  for (std::size_t i = 0; i < exact.values.size(); ++i) {
    const double truth = exact.values[i], value = banded.values[i];
    REQUIRE((truth < 0.0) == (value < 0.0));
    if (std::abs(truth) < 2.0 * grid.cell_size) {
      ++near;
      REQUIRE(value == truth);
    }
    REQUIRE(std::abs(value) >= std::abs(truth));
    REQUIRE(std::abs(value) <= 1.1 * std::abs(truth));
    inexact += value != truth ? 1 : 0;
  }
  CHECK(near > 1000);
  CHECK(inexact > 50);
}

TEST_CASE("signed_distance_grid: of spheres and tori it is theirs, less what the mesh sags",
          "[collision][value]") {
  const double sag = 0.01;
  const DistanceGridOptions exact{.far_tolerance = 0.0};
  const RepairedMesh sphere = repair_mesh(sphere_mesh(1.0, 4));
  for_each_point(
      signed_distance_grid(sphere, padded_grid(sphere.bvh.bounds(), 21), exact),
      [&](double value, const Vec3<double>& p) { REQUIRE(test::close(value, p.norm() - 1.0, 0.0, sag)); });
  const RepairedMesh torus = repair_mesh(test::torus_mesh(0.4, 96, 48));
  int inside = 0;
  for_each_point(signed_distance_grid(torus, padded_grid(torus.bvh.bounds(), 21, 0.7), exact),
                 [&](double value, const Vec3<double>& p) {
                   const double truth = std::hypot(std::hypot(p.x(), p.y()) - 1.0, p.z()) - 0.4;
                   REQUIRE(test::close(value, truth, 0.0, sag));
                   inside += value < 0.0 ? 1 : 0;
                 });
  CHECK(inside > 100);
}

TEST_CASE("signed_distance_grid: equal bit for bit for any number of threads", "[collision][determinism]") {
  for (const TriangleMesh& mesh : {test::torus_mesh(0.4, 48, 24), holed_torus()}) {
    const RepairedMesh repaired = repair_mesh(mesh);
    const SampleGrid grid = padded_grid(repaired.bvh.bounds(), 37);
    const DistanceGrid one = signed_distance_grid(repaired, grid, {.far_tolerance = 0.05, .threads = 1});
    for (const int threads : {2, 3, 8}) {
      CAPTURE(threads);
      CHECK(signed_distance_grid(repaired, grid, {.far_tolerance = 0.05, .threads = threads}).values ==
            one.values);
    }
  }
}

TEST_CASE("signed_distance_grid: signs taken from neighbours are those of winding numbers",
          "[collision][property]") {
  // Thin walls and narrow gaps, of the size of a cell and less.
  TriangleMesh mesh;
  for (int i = 0; i < 6; ++i)
    mesh = test::joined(mesh, test::translated(box_mesh({0.5, 0.5, 0.01 * (i + 1)}, 3), {0, 0, 0.15 * i}));
  const RepairedMesh repaired = repair_mesh(mesh);
  REQUIRE(repaired.report.closed);
  const DistanceGrid grid = signed_distance_grid(repaired, padded_grid(repaired.bvh.bounds(), 40));
  int inside = 0;
  for_each_point(grid, [&](double value, const Vec3<double>& p) {
    REQUIRE((value < 0.0) == (repaired.bvh.winding_number(p, 8.0) > 0.5));
    inside += value < 0.0 ? 1 : 0;
  });
  CHECK(inside > 500);
}

TEST_CASE("signed_distance_grid: a hole changes signs near it only", "[collision][property]") {
  const RepairedMesh whole = repair_mesh(test::torus_mesh(0.4, 48, 24)), holed = repair_mesh(holed_torus());
  REQUIRE(holed.report.holes == 1);
  const SampleGrid grid = padded_grid(whole.bvh.bounds(), 33);
  const DistanceGrid a = signed_distance_grid(whole, grid), b = signed_distance_grid(holed, grid);
  int differ = 0;
  for_each_point(b, [&](double value, const Vec3<double>& p) {
    const double truth = std::hypot(std::hypot(p.x(), p.y()) - 1.0, p.z()) - 0.4;
    if (std::abs(truth) > 0.01 && (p - Vec3<double>(1.4, 0, 0)).norm() > 0.2)
      REQUIRE((value < 0.0) == (truth < 0.0));
  });
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    REQUIRE(std::abs(b.values[i]) >= (1.0 - 0.021) * std::abs(a.values[i]));  // a part of the surface
    differ += a.values[i] != b.values[i] ? 1 : 0;
  }
  CHECK(differ > 10);
}

TEST_CASE("field_of: marching cubes on a repaired mesh give a closed surface of its volume",
          "[collision][value]") {
  const RepairedMesh torus = repair_mesh(test::inverted(test::soup_of(test::torus_mesh(0.4, 48, 24))));
  const TriangleMesh surface = marching_cubes(field_of(torus), grid_around(torus.bvh.bounds(), 32));
  CHECK_NOTHROW(require_closed_surface(surface, "surface"));
  CHECK(surface.vertex_count() == surface.triangle_count() / 2);  // genus 1
  CHECK(test::close(mass_properties(surface, 1.0).volume, torus.report.volume, 0.01, 0.0));
}

TEST_CASE("padded_grid: a box lies in the middle, with the same margin on all sides", "[collision][value]") {
  const Eigen::AlignedBox3d box(Vec3<double>(1, 2, 3), Vec3<double>(2, 6, 3.5));
  const SampleGrid grid = padded_grid(box, 11, 0.5);
  CHECK(grid.cells == Eigen::Vector3i(8, 10, 6));  // margins of 2.2, 2 and 2.15 m: 10 less an even number
  CHECK(test::close(grid.cell_size, 0.8, 1e-14, 0.0));
  CHECK(test::close(grid.lower, Vec3<double>(-1.7, 0, 0.85), 1e-14, 1e-14));

  const SampleGrid cube = padded_grid({Vec3<double>(0, 0, 0), Vec3<double>(3, 3, 3)}, 101);
  CHECK(cube.cells == Eigen::Vector3i(100, 100, 100));
  CHECK_THROWS_AS(padded_grid(box, 1), std::invalid_argument);
  CHECK_THROWS_AS(padded_grid(box, 11, 1.5), std::invalid_argument);
  CHECK_THROWS_AS(padded_grid(Eigen::AlignedBox3d(), 11), std::invalid_argument);
  CHECK_THROWS_AS(padded_grid({Vec3<double>::Zero(), Vec3<double>::Zero()}, 11), std::invalid_argument);
}

TEST_CASE("signed_distance_grid: options and grids that are none are errors", "[collision][value]") {
  const RepairedMesh sphere = repair_mesh(sphere_mesh(1.0, 1));
  const SampleGrid grid = padded_grid(sphere.bvh.bounds(), 5);
  const auto refused = [&](const SampleGrid& g, const DistanceGridOptions& options, const char* reason) {
    CHECK_THROWS_WITH(signed_distance_grid(sphere, g, options), Catch::Contains(reason));
  };
  refused(grid, {.exact_band = -1.0}, "exact_band");
  refused(grid, {.far_tolerance = 1.5}, "far_tolerance");
  refused(grid, {.opening = 0.5}, "opening");
  refused(grid, {.threads = -1}, "threads");
  refused({grid.lower, 0.0, grid.cells}, {}, "without points or spacing");
  refused({grid.lower, 1.0, {-1, 3, 3}}, {}, "without points or spacing");
  refused({grid.lower, 1.0, {2000, 2000, 2000}}, {}, "2^31");
  CHECK(signed_distance_grid(sphere, {Vec3<double>::Zero(), 1.0, {0, 0, 0}}).values.size() == 1);
}

TEST_CASE("signed_distance_grid: scanned and modelled meshes have the volume of their grid",
          "[collision][value]") {
  for (const char* name :
       {"armadillo.obj", "power_drill.obj", "mustard_bottle.obj", "banana.obj", "spot.obj"}) {
    ABUT_REFERENCE_DATA_OR_SKIP(path, name);
    CAPTURE(name);
    const RepairedMesh repaired = repair_mesh(read_mesh(path));
    CHECK(repaired.report.closed);
    CHECK(repaired.report.shells == 1);
    const DistanceGrid grid = signed_distance_grid(repaired, padded_grid(repaired.bvh.bounds(), 64));
    const auto inside =
        std::count_if(grid.values.begin(), grid.values.end(), [](double d) { return d < 0.0; });
    const double volume = static_cast<double>(inside) * std::pow(grid.grid.cell_size, 3);
    CHECK(test::close(volume, repaired.report.volume, 0.01, 0.0));
  }
}
