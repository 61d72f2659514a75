#include "collision/fitting/fit_mesh.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>

#include <catch2/catch.hpp>

#include "collision/fitting/fit_quality.h"
#include "collision/fitting/make_body.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/body_builder.h"
#include "engine/mass_properties.h"
#include "engine/mesh_shapes.h"
#include "tests/support/close.h"
#include "tests/support/meshes.h"
#include "tests/support/solids.h"

namespace abut::test {
namespace {

struct SuiteCase {
  std::string name;
  Solid solid;
  double least_iou, most_volume_error;
};

const std::vector<SuiteCase>& suite() {
  static const std::vector<SuiteCase> cases = {
      {"box",
       [](const Vec3<double>& p) {
         return block(p, {0, 0, 0}, {0.8, 0.5, 0.3});
       },
       0.97, 0.02},
      {"L",
       [](const Vec3<double>& p) {
         return std::min(block(p, {0, -0.5, 0}, {0.8, 0.25, 0.3}),
                         block(p, {-0.55, 0.1, 0}, {0.25, 0.8, 0.3}));
       },
       0.95, 0.03},
      {"cross",
       [](const Vec3<double>& p) {
         return std::min({block(p, {0, 0, 0}, {0.8, 0.2, 0.2}), block(p, {0, 0, 0}, {0.2, 0.8, 0.2}),
                          block(p, {0, 0, 0}, {0.2, 0.2, 0.8})});
       },
       0.95, 0.03},
      {"cylinder", [](const Vec3<double>& p) { return cylinder(p, 0.5, -0.8, 0.8); }, 0.97, 0.02},
      {"table",
       [](const Vec3<double>& p) {
         const Vec3<double> q(std::abs(p.x()), std::abs(p.y()), p.z());
         return std::min(block(q, {0, 0, 0.6}, {0.9, 0.9, 0.12}),
                         block(q, {0.7, 0.7, -0.1}, {0.12, 0.12, 0.75}));
       },
       0.93, 0.04},
      {"torus", [](const Vec3<double>& p) { return torus(p, 0.65, 0.22); }, 0.9, 0.05},
      {"chain link",
       [](const Vec3<double>& p) {
         const Vec3<double> q(p.x() - std::clamp(p.x(), -0.4, 0.4), p.y(), p.z());
         return torus(q, 0.4, 0.16);
       },
       0.9, 0.05},
      {"plate",
       [](const Vec3<double>& p) {
         return block(p, {0, 0, 0}, {0.9, 0.6, 0.1});
       },
       0.93, 0.05},
      {"plate of 2.2 spacings",
       [](const Vec3<double>& p) {
         return block(p, {0, 0, 0}, {0.9, 0.6, 0.05});
       },
       0.9, 0.1},
      {"mug with a handle, solid",
       [](const Vec3<double>& p) {
         const Vec3<double> q(p.x() - 0.3, p.z(), p.y());
         return std::min(cylinder(p + Vec3<double>(0.25, 0, 0), 0.5, -0.6, 0.6), torus(q, 0.4, 0.11));
       },
       0.93, 0.04},
      {"dumbbell",
       [](const Vec3<double>& p) {
         const Vec3<double> q(std::abs(p.x()), p.y(), p.z());
         return std::min((q - Vec3<double>(0.6, 0, 0)).norm() - 0.35, block(q, {0, 0, 0}, {0.6, 0.1, 0.1}));
       },
       0.96, 0.03},
      {"bowl", bowl, 0.93, 0.04},
      {"mug with a handle", mug, 0.93, 0.04},
      {"tube",
       [](const Vec3<double>& p) { return std::max(cylinder(p, 0.6, -0.8, 0.8), 0.4 - p.head<2>().norm()); },
       0.95, 0.03},
      {"box with a hole",
       [](const Vec3<double>& p) {
         return std::max(block(p, {0, 0, 0}, {0.8, 0.6, 0.3}), 0.3 - p.head<2>().norm());
       },
       0.96, 0.03},
      {"channel",
       [](const Vec3<double>& p) {
         return std::max(block(p, {0, 0, 0}, {0.9, 0.5, 0.4}), -block(p, {0, 0, 0.4}, {1.0, 0.3, 0.6}));
       },
       0.95, 0.03},
      {"washer",
       [](const Vec3<double>& p) { return std::max(cylinder(p, 0.9, -0.1, 0.1), 0.45 - p.head<2>().norm()); },
       0.93, 0.05},
      {"hammer",
       [](const Vec3<double>& p) {
         const Vec3<double> q(p.z(), p.y(), p.x());
         return std::min(cylinder(p, 0.12, -0.9, 0.7),
                         cylinder(q - Vec3<double>(0.65, 0, 0), 0.22, -0.5, 0.4));
       },
       0.93, 0.04},
      {"screw",
       [](const Vec3<double>& p) {
         const double phase = std::atan2(p.y(), p.x()) - 2.0 * std::numbers::pi * p.z() / 0.3;
         const double thread =
             std::max(p.head<2>().norm() - 0.25 - 0.04 * std::cos(phase), std::abs(p.z()) - 0.8);
         return std::min(thread, cylinder(p, 0.5, 0.6, 0.9));
       },
       0.92, 0.04},
      {"cone",
       [](const Vec3<double>& p) {
         return std::max(p.head<2>().norm() - 0.35 * (0.9 - p.z()), -0.8 - p.z());
       },
       0.93, 0.04}};
  return cases;
}

MeshFitOptions coarse_fit() {
  MeshFitOptions options;
  options.method = FitMethod::superquadrics;
  options.resolution = 40;
  return options;
}

MeshedBody body_of(const FittedMesh& fitted) {
  MeshedBodyOptions options;
  options.union_smoothing = fitted.shape.union_smoothing;
  options.resolution = 64;
  options.mesh.vertices = 120;
  options.mesh.rounds = 2;
  return make_meshed_body(fitted.shape, options);
}

TEST_CASE("fit_mesh: solids of many kinds are fitted well, as the simulation sees them",
          "[collision][value][suite]") {
  const std::size_t index = GENERATE(range(std::size_t{0}, std::size_t{20}));
  REQUIRE(suite().size() == 20);
  const SuiteCase& c = suite()[index];
  const FittedMesh fitted = fit_mesh(mesh_of(c.solid), coarse_fit());
  const MeshedBody made = body_of(fitted);
  const FitQuality q = fit_quality(made, fitted.repaired, fitted.grid);
  const double size = fitted.repaired.report.size;
  CAPTURE(c.name, q.iou, q.occupancy_iou, q.volume_error, q.center_error / size, q.inertia_error,
          fitted.shape.primitives.size(), fitted.growth.subtracted, fitted.growth.rounds,
          fitted.refinement.iou_before);
  CHECK(q.occupancy_iou >= c.least_iou);
  CHECK(std::abs(q.volume_error) <= c.most_volume_error);
  CHECK(q.center_error <= 0.01 * size);
  CHECK(q.inertia_error <= 2.0 * c.most_volume_error);
  CHECK(q.mesh_to_zero_set.mean <= 0.01 * size);
  CHECK(made.report.closed);
  CHECK(made.report.max_vertex_distance <= 1e-6 * size);
}

TEST_CASE("fit_mesh: cavities are cut out", "[collision][value][suite]") {
  const Solid solid = GENERATE(Solid(bowl), Solid(mug));
  const FittedMesh fitted = fit_mesh(mesh_of(solid), coarse_fit());
  CHECK(fitted.growth.subtracted > 0);
  const ShapeSdf sdf(fitted.shape);
  CHECK(sdf.distance<double>(Vec3<double>(-0.1, 0, -0.2)) > 0.1);  // inside of either
}

TEST_CASE("fit_mesh: by itself fits walls of bowls and mugs, which polyhedra fill",
          "[collision][value][suite]") {
  const Solid solid = GENERATE(Solid(bowl), Solid(mug));
  MeshFitOptions options = coarse_fit();
  options.method = FitMethod::automatic;
  const FittedMesh fitted = fit_mesh(mesh_of(solid), options);
  const FitQuality q = fit_quality(body_of(fitted), fitted.repaired, fitted.grid);
  CAPTURE(q.occupancy_iou, q.volume_error);
  CHECK(fitted.method == FitMethod::superquadrics);
  CHECK(q.occupancy_iou >= 0.93);
  CHECK(std::abs(q.volume_error) <= 0.04);
}

TEST_CASE("fit_mesh: by itself mixes exact kinds with superquadrics where they are worth it",
          "[collision][value][suite]") {
  const Solid dumbbell = suite()[10].solid;
  MeshFitOptions options = coarse_fit();
  const FittedMesh superquadrics = fit_mesh(mesh_of(dumbbell), options);
  options.method = FitMethod::automatic;
  const FittedMesh mixed = fit_mesh(mesh_of(dumbbell), options);
  CHECK(superquadrics.exact_kinds.replaced == 0);
  CHECK(mixed.method == FitMethod::superquadrics);
  CHECK(mixed.exact_kinds.replaced == 3);  // two balls and a bar
  const auto iou_of = [](const FittedMesh& fitted) {
    return fit_quality(body_of(fitted), fitted.repaired, fitted.grid).occupancy_iou;
  };
  CHECK(iou_of(mixed) > iou_of(superquadrics) - 1.2e-3);  // three times what exact kinds save
}

TEST_CASE("fit_mesh: what a single superquadric cannot fit is poor, and the quality says so",
          "[collision][value][suite]") {
  MeshFitOptions options;
  options.resolution = 24;
  options.max_primitives = 1;
  const FittedMesh fitted = fit_mesh(mesh_of(bowl, 40), options);
  const FitQuality q = fit_quality(body_of(fitted), fitted.repaired, fitted.grid);
  CAPTURE(q.iou, q.volume_error);
  CHECK(q.iou < 0.8);
  CHECK(q.occupancy_iou < 0.8);
  CHECK(std::abs(q.volume_error) > 0.05);
}

TEST_CASE("fit_mesh: an open sheet is refused", "[collision][value][suite]") {
  TriangleMesh sheet;
  sheet.vertices.resize(3, 4);
  sheet.vertices << 0, 1, 1, 0, 0, 0, 1, 1, 0, 0.1, 0, 0.1;
  sheet.triangles = {{0, 1, 2}, {0, 2, 3}};
  CHECK_THROWS_AS(fit_mesh(sheet, coarse_fit()), std::invalid_argument);
}

TEST_CASE("fit_mesh: fewer superquadrics where a limit or a tolerance asks for them", "[collision][value]") {
  const TriangleMesh mesh = mesh_of(suite()[4].solid);
  const FittedMesh all = fit_mesh(mesh, coarse_fit());
  MeshFitOptions options = coarse_fit();
  options.max_primitives = 2;
  CHECK(fit_mesh(mesh, options).shape.primitives.size() <= 2);

  options = coarse_fit();
  options.tolerance = 0.05;
  const FittedMesh rough = fit_mesh(mesh, options);
  CHECK(rough.mean_distance <= 0.05 * rough.repaired.report.size);
  CHECK(rough.shape.primitives.size() < all.shape.primitives.size());
  CHECK(rough.refinement.thinned_out > 0);

  options.tolerance = 0.0;
  CHECK_THROWS_AS(fit_mesh(mesh, options), std::invalid_argument);
  options = coarse_fit();
  options.max_primitives = 0;
  CHECK_THROWS_AS(fit_mesh(mesh, options), std::invalid_argument);
  options = coarse_fit();
  options.resolution = 4;
  CHECK_THROWS_AS(fit_mesh(mesh, options), std::invalid_argument);
}

TEST_CASE("surface_samples: are spread by area and lie on the triangles", "[collision][value]") {
  const TriangleMesh mesh = torus_mesh(0.3, 40, 20);
  const SurfaceSamples samples = surface_samples(mesh, 4000);
  CHECK(std::abs(static_cast<double>(samples.points.cols()) - 4000.0) <= 2.0);
  const TriangleBvh bvh(mesh);
  double outer = 0.0;
  for (Eigen::Index i = 0; i < samples.points.cols(); ++i) {
    const Vec3<double> p = samples.points.col(i);
    REQUIRE(bvh.nearest(p).distance < 1e-12);
    const double ring = p.head<2>().norm();
    const Vec3<double> outwards(p.x() * (ring - 1.0) / ring, p.y() * (ring - 1.0) / ring, p.z());
    REQUIRE(samples.normals.col(i).dot(outwards.normalized()) > 0.95);
    outer += ring > 1.0 ? 1.0 : 0.0;
  }
  // The outer half of a torus of radii 1, r has pi + 2 r of every 2 pi of its area.
  CHECK(close(outer / static_cast<double>(samples.points.cols()), 0.5 + 0.3 / std::numbers::pi, 0.02, 0.0));
}

TEST_CASE("fit_quality: a body with a regular mesh is compared like any other", "[collision][value]") {
  const RepairedMesh mesh = repair_mesh(sphere_mesh(1.0, 4));
  const DistanceGrid grid = signed_distance_grid(mesh, cube_around(mesh.bvh.bounds(), 41));
  MeshedBodyOptions options;
  options.resolution = 64;
  const MeshedBody made = make_meshed_body(make_sphere(1.0, 1.0).shape, options);
  CHECK(made.surface.triangle_count() > 1000);
  const FitQuality q = fit_quality(made, mesh, grid);
  CHECK(q.occupancy_iou > 0.99);
  CHECK(q.mesh_to_zero_set.max < 5e-3);
  CHECK(std::abs(q.volume_error) < 0.01);
}

TEST_CASE("mass_properties_of_inside: are exact where the mesh allows it, and count an overlap once",
          "[collision][value]") {
  const TriangleMesh ball = sphere_mesh(0.5, 4);
  const auto inside_of = [](const TriangleMesh& mesh) {
    const RepairedMesh repaired = repair_mesh(mesh);
    return mass_properties_of_inside(repaired,
                                     signed_distance_grid(repaired, cube_around(repaired.bvh.bounds(), 61)));
  };
  CHECK(close(inside_of(ball).volume, mass_properties(ball, 1.0).volume, 1e-12, 0.0));
  const MassProperties two = inside_of(joined(ball, translated(ball, {0.5, 0, 0})));
  // Two balls of radius r at a distance r share pi 5 r^3/12.
  const double r3 = 0.125, expected = std::numbers::pi * r3 * (8.0 / 3.0 - 5.0 / 12.0);
  CHECK(close(two.volume, expected, 0.01, 0.0));
  CHECK(close(two.center_of_mass, Vec3<double>(0.25, 0, 0), 0.0, 2e-3));
}

}  // namespace
}  // namespace abut::test
