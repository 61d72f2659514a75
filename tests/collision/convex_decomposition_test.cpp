#include "collision/fitting/convex_decomposition.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "collision/fitting/fit_mesh.h"
#include "collision/fitting/fit_quality.h"
#include "collision/fitting/grid_rows.h"
#include "collision/fitting/make_body.h"
#include "collision/fitting/shape_on_grid.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/mesh_shapes.h"
#include "tests/support/close.h"
#include "tests/support/furniture.h"
#include "tests/support/meshes.h"
#include "tests/support/samples.h"
#include "tests/support/solids.h"

namespace abut::test {
namespace {

double distance(const Boxes& solid, const Vec3<double>& p) {
  double least = k_infinity;
  for (const auto& [lower, upper] : solid.boxes)
    least = std::min(least, block(p, 0.5 * (lower + upper), 0.5 * (upper - lower)));
  return least;
}

/// Of points anywhere, those inside both by those inside either, where it is clear by more than `margin`.
double sampled_iou(const Boxes& solid, const ShapeSdf& sdf, const Pose<double>& X, double margin) {
  Random random(7);
  int both = 0, either = 0;
  for (int i = 0; i < 60'000; ++i) {
    const Vec3<double> p(random.uniform(-0.55, 1.05), random.uniform(-0.55, 0.85),
                         random.uniform(-0.55, 1.05));
    const double d = distance(solid, p);
    if (std::abs(d) < margin) continue;
    const bool in_fit = sdf.distance<double>(X * p) < 0.0;
    both += d < 0.0 && in_fit ? 1 : 0;
    either += d < 0.0 || in_fit ? 1 : 0;
  }
  return static_cast<double>(both) / either;
}

MeshFitOptions convex_fit(int resolution = 64) {
  MeshFitOptions options;
  options.method = FitMethod::convex;
  options.resolution = resolution;
  return options;
}

TEST_CASE("decompose: boxes glued together become these boxes, however they are turned",
          "[collision][value][nightly]") {
  const Boxes& solid = furniture()[GENERATE(filter(is_drawn, range(std::size_t{0}, std::size_t{7})))];
  const bool is_turned = GENERATE(false, true);
  const Pose<double> X = is_turned
                             ? Pose<double>{Quat<double>(0.8, 0.36, 0.288, 0.384).normalized(), {0.1, 0, 0}}
                             : Pose<double>{};
  const FittedMesh fitted = fit_mesh(moved(mesh_of(solid), X), convex_fit());
  const ShapeSdf sdf(fitted.shape);
  const double iou = sampled_iou(solid, sdf, X, 0.004);
  CAPTURE(solid.name, is_turned, iou, fitted.shape.primitives.size(), fitted.decomposition.pieces,
          fitted.decomposition.planes);
  CHECK(fitted.method == FitMethod::convex);
  CHECK(iou >= 0.99);
  CHECK(fitted.shape.primitives.size() >= 2);
  CHECK(fitted.shape.primitives.size() <= (is_turned ? 3 : 1) * solid.parts);
  CHECK(fitted.decomposition.planes <= 8 * static_cast<int>(fitted.shape.primitives.size()));
  // No slit between parts: what is deeper than a spacing and a half is inside.
  for (int i = 0; i < 4000; ++i) {
    Random random(static_cast<std::uint64_t>(i));
    const auto& [lower, upper] = solid.boxes[static_cast<std::size_t>(i) % solid.boxes.size()];
    const Vec3<double> p =
        lower + (upper - lower)
                    .cwiseProduct(Vec3<double>(random.uniform(0.0, 1.0), random.uniform(0.0, 1.0),
                                               random.uniform(0.0, 1.0)));
    if (fitted.repaired.bvh.nearest(X * p).distance > 0.01) REQUIRE(sdf.distance<double>(X * p) < 0.0);
  }
}

TEST_CASE("decompose: the same for any number of threads", "[collision][determinism]") {
  const TriangleMesh mesh = test::mesh_of(bowl, 40);
  const RepairedMesh repaired = repair_mesh(mesh);
  const DistanceGrid grid = signed_distance_grid(repaired, padded_grid(repaired.bvh.bounds(), 41));
  ConvexDecompositionOptions options;
  options.max_parts = 8;
  options.threads = 1;
  const ConvexDecomposition one = decompose(repaired.mesh, grid, options);
  options.threads = 4;
  const ConvexDecomposition four = decompose(repaired.mesh, grid, options);
  REQUIRE(one.parts.size() == four.parts.size());
  for (std::size_t i = 0; i < one.parts.size(); ++i) {
    CHECK(one.parts[i].values == four.parts[i].values);
    CHECK(one.parts[i].directions == four.parts[i].directions);
    CHECK(one.parts[i].X_BP.p == four.parts[i].X_BP.p);
  }
}

TEST_CASE("decompose: a convex solid is one part, a hollow one several that leave the cavity open",
          "[collision][value][nightly]") {
  const FittedMesh box = fit_mesh(box_mesh({0.15, 0.1, 0.05}, 1), convex_fit());
  REQUIRE(box.shape.primitives.size() == 1);
  CHECK(box.shape.primitives[0].values.size() == 6);
  const Solid solid =
      Solid(GENERATE(filter(is_drawn, range(std::size_t{0}, std::size_t{2}))) == 0 ? mug : bowl);
  const FittedMesh hollow = fit_mesh(test::mesh_of(solid), convex_fit());
  CHECK(hollow.shape.primitives.size() > 4);
  CHECK(hollow.shape.primitives.size() <= 30);
  const ShapeSdf sdf(hollow.shape);
  CHECK(sdf.distance<double>(Vec3<double>(-0.1, 0, -0.2)) > 0.1);
  const double iou =
      occupancy_iou(hollow.grid, distances_on_grid(sdf, hollow.grid, hollow.grid.grid.cell_size));
  CAPTURE(iou);
  CHECK(iou > 0.85);
}

TEST_CASE("fit_mesh: fewer convex polyhedra where a limit or a tolerance asks for them",
          "[collision][value]") {
  const TriangleMesh mesh = mesh_of(furniture()[4]);  // staircase
  const FittedMesh all = fit_mesh(mesh, convex_fit(40));
  MeshFitOptions options = convex_fit(40);
  options.max_primitives = 2;
  const FittedMesh two = fit_mesh(mesh, options);
  CHECK(two.shape.primitives.size() <= 2);
  CHECK(two.mean_distance > all.mean_distance);
  options = convex_fit(40);
  options.tolerance = 0.1;
  const FittedMesh rough = fit_mesh(mesh, options);
  CHECK(rough.mean_distance <= 0.1 * rough.repaired.report.size);
  CHECK(rough.shape.primitives.size() < all.shape.primitives.size());
  options.max_primitives = 0;
  CHECK_THROWS_AS(fit_mesh(mesh, options), std::invalid_argument);
}

TEST_CASE("fit_mesh: by itself takes convex polyhedra for boxes glued together, and not for a round solid",
          "[collision][value]") {
  MeshFitOptions options;
  options.resolution = 64;
  const FittedMesh chair = fit_mesh(mesh_of(furniture()[6]), options);
  CHECK(chair.method == FitMethod::convex);
  CHECK(chair.shape.primitives.size() == 6);
  CHECK(chair.decomposition.planes == 36);
  options.resolution = 40;
  const FittedMesh ring = fit_mesh(torus_mesh(0.3, 60, 30), options);
  CHECK(ring.method == FitMethod::superquadrics);
  CHECK(ring.decomposition.planes == 0);
}

TEST_CASE("decompose: bodies of its parts have closed collision meshes, and the mesh's volume and centre",
          "[collision][value]") {
  for (const std::size_t i : {0u, 4u, 6u}) {
    const FittedMesh fitted = fit_mesh(mesh_of(furniture()[i]), convex_fit());
    MeshedBodyOptions options;
    options.union_smoothing = fitted.shape.union_smoothing;
    options.resolution = 96;
    const MeshedBody made = make_meshed_body(fitted.shape, options);
    const FitQuality q = fit_quality(made, fitted.repaired, fitted.grid);
    const double size = fitted.repaired.report.size;
    double volume = 0.0;
    for (const auto& [lower, upper] : furniture()[i].boxes) volume += (upper - lower).prod();
    CAPTURE(furniture()[i].name, q.iou, q.volume_error);
    CHECK(made.report.closed);
    CHECK(made.notes.empty());
    CHECK(close(made.body.volume, volume, 0.02, 0.0));
    CHECK(q.center_error <= 0.005 * size);
    CHECK(q.collision_mesh_to_mesh.mean <= 0.003 * size);
    CHECK(made.report.max_vertex_distance <= 1e-6 * size);
  }
}

TEST_CASE("decompose: damaged meshes are covered or refused, never worse", "[collision][value]") {
  const Boxes& chair = furniture()[6];
  const TriangleMesh mesh = mesh_of(chair);
  const auto covers = [&](const TriangleMesh& damaged) {
    const FittedMesh fitted = fit_mesh(damaged, convex_fit(40));
    return sampled_iou(chair, ShapeSdf(fitted.shape), {}, 0.01);
  };
  CHECK(covers(soup_of(mesh)) > 0.97);
  CHECK(covers(inverted(mesh)) > 0.97);
  CHECK(covers(joined(mesh, mesh)) > 0.97);
  TriangleMesh triangle;
  triangle.vertices.resize(3, 3);
  triangle.vertices << 0, 1, 0, 0, 0, 1, 0, 0, 0;
  triangle.triangles = {{0, 1, 2}};
  CHECK_THROWS_AS(fit_mesh(triangle, convex_fit()), std::invalid_argument);
  TriangleMesh flat = mesh;
  flat.vertices.row(1).setZero();
  CHECK_THROWS_AS(fit_mesh(flat, convex_fit()), std::invalid_argument);
  TriangleMesh infinite = mesh;
  infinite.vertices(0, 5) = std::nan("");
  CHECK_THROWS_AS(fit_mesh(infinite, convex_fit()), std::invalid_argument);
  Random random(3);
  const TriangleMesh soup = random_soup(random, 60, 0.5);
  try {
    const FittedMesh fitted = fit_mesh(soup, convex_fit(16));
    CHECK(fitted.shape.primitives.size() <= 30);
  } catch (const std::invalid_argument&) {  // no inside
  }
}

TEST_CASE("GridRows: a solid flush with a mesh has no excess, one that is larger by two spacings its shell",
          "[collision][value]") {
  const TriangleMesh box = box_mesh({0.5, 0.3, 0.2}, 1);
  const RepairedMesh repaired = repair_mesh(box);
  const DistanceGrid grid = signed_distance_grid(repaired, padded_grid(repaired.bvh.bounds(), 51));
  const GridRows rows(grid);
  const auto solid = [&](double by) {
    HalfSpaces planes;
    Eigen::AlignedBox3d around;
    const Vec3<double> half = Vec3<double>(0.5, 0.3, 0.2) / rows.spacing() + Vec3<double>::Constant(by);
    const Vec3<double> middle = rows.in_spacings(Points::Zero(3, 1)).col(0);
    for (int axis = 0; axis < 3; ++axis) {
      for (const double side : {-1.0, 1.0}) {
        const Vec3<double> n = side * Vec3<double>::Unit(axis);
        planes.add(n, n.dot(middle) + half[axis]);
      }
    }
    around.extend(Vec3<double>(middle - half));
    around.extend(Vec3<double>(middle + half));
    return rows.excess(planes, around);
  };
  CHECK(solid(-0.01) == 0.0);
  CHECK(solid(0.01) < 0.01 * 3000.0);
  const Vec3<double> inner = Vec3<double>(1.0, 0.6, 0.4) / rows.spacing(),
                     outer = inner + Vec3<double>::Constant(4.0);
  CHECK(close(solid(2.0), outer.prod() - inner.prod(), 0.35, 0.0));
  double volume = 0.0;
  for (const RowRun& run : rows.inside()) volume += run.length();
  CHECK(close(volume, inner.prod(), 0.15, 0.0));
  for (const RowRun& run : rows.inside()) REQUIRE(close(run.length(), inner.x(), 0.0, 0.1));
}

}  // namespace
}  // namespace abut::test
