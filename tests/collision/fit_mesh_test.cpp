#include "collision/fitting/fit_mesh.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numbers>
#include <string>
#include <string_view>

#include <catch2/catch.hpp>

#include "collision/fitting/fit_quality.h"
#include "collision/fitting/make_body.h"
#include "collision/fitting/single_primitive_fit.h"
#include "collision/fitting/surface_samples.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/body_builder.h"
#include "engine/mass_properties.h"
#include "engine/mesh_shapes.h"
#include "tests/support/close.h"
#include "tests/support/furniture.h"
#include "tests/support/meshes.h"
#include "tests/support/samples.h"
#include "tests/support/solid_suite.h"
#include "tests/support/solids.h"

namespace abut::test {
namespace {

struct SuiteBounds {
  std::string name;
  double least_iou, most_volume_error;
};

/// Of solid_suite(), in its order.
const SuiteBounds k_suite_bounds[] = {
    {"box", 0.97, 0.02},
    {"L", 0.95, 0.03},
    {"cross", 0.95, 0.03},
    {"cylinder", 0.97, 0.02},
    {"table", 0.93, 0.04},
    {"torus", 0.9, 0.05},
    {"chain link", 0.9, 0.05},
    {"plate", 0.93, 0.05},
    {"plate of 2.2 spacings", 0.9, 0.1},
    {"mug with a handle, solid", 0.93, 0.04},
    {"dumbbell", 0.96, 0.03},
    {"bowl", 0.93, 0.04},
    {"mug with a handle", 0.93, 0.04},
    {"tube", 0.95, 0.03},
    {"box with a hole", 0.96, 0.03},
    {"channel", 0.95, 0.03},
    {"washer", 0.93, 0.05},
    {"hammer", 0.93, 0.04},
    {"screw", 0.92, 0.04},
    {"cone", 0.93, 0.04},
};

MeshFitOptions coarse_fit() {
  MeshFitOptions options;
  options.method = FitMethod::superquadrics;
  options.resolution = 40;
  return options;
}

const SuiteBounds& bounds_of(std::string_view name) {
  const auto found = std::find_if(std::begin(k_suite_bounds), std::end(k_suite_bounds),
                                  [&](const SuiteBounds& b) { return b.name == name; });
  REQUIRE(found != std::end(k_suite_bounds));
  return *found;
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
          "[collision][value][suite][nightly]") {
  const auto index = GENERATE(filter(is_drawn, range(std::size_t{0}, std::size(k_suite_bounds))));
  REQUIRE(std::size(k_suite_bounds) == solid_suite().size());
  const SuiteBounds& c = k_suite_bounds[index];
  const FittedMesh fitted = fit_mesh(mesh_of(solid_named(c.name)), coarse_fit());
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

TEST_CASE("fit_mesh: cavities are cut out", "[collision][value][suite][nightly]") {
  const Solid solid =
      Solid(GENERATE(filter(is_drawn, range(std::size_t{0}, std::size_t{2}))) == 0 ? bowl : mug);
  const FittedMesh fitted = fit_mesh(mesh_of(solid), coarse_fit());
  CHECK(fitted.growth.subtracted > 0);
  const ShapeSdf sdf(fitted.shape);
  CHECK(sdf.distance<double>(Vec3<double>(-0.1, 0, -0.2)) > 0.1);  // inside of either
}

TEST_CASE("fit_mesh: by itself fits walls of bowls and mugs, which polyhedra fill",
          "[collision][value][suite][nightly]") {
  const Solid solid =
      Solid(GENERATE(filter(is_drawn, range(std::size_t{0}, std::size_t{2}))) == 0 ? mug : bowl);
  MeshFitOptions options = coarse_fit();
  options.method = FitMethod::automatic;
  const FittedMesh fitted = fit_mesh(mesh_of(solid), options);
  const FitQuality q = fit_quality(body_of(fitted), fitted.repaired, fitted.grid);
  CAPTURE(q.occupancy_iou, q.volume_error);
  CHECK(fitted.method == FitMethod::superquadrics);
  CHECK(q.occupancy_iou >= 0.93);
  CHECK(std::abs(q.volume_error) <= 0.04);
}

TEST_CASE("fit_mesh: by itself stays within the bounds of superquadrics where these are worst",
          "[collision][value][suite][nightly]") {
  const std::string names[] = {"torus", "plate of 2.2 spacings", "hammer", "cone", "washer", "table"};
  const std::string& name = names[GENERATE(filter(is_drawn, range(std::size_t{0}, std::size_t{6})))];
  const SuiteBounds& bounds = bounds_of(name);
  MeshFitOptions options = coarse_fit();
  options.method = FitMethod::automatic;
  const FittedMesh fitted = fit_mesh(mesh_of(solid_named(name)), options);
  const FitQuality q = fit_quality(body_of(fitted), fitted.repaired, fitted.grid);
  CAPTURE(name, fitted.method, q.occupancy_iou, q.volume_error, q.inertia_error);
  CHECK(q.occupancy_iou >= bounds.least_iou);
  CHECK(std::abs(q.volume_error) <= bounds.most_volume_error);
  CHECK(q.inertia_error <= 2.0 * bounds.most_volume_error);
}

TEST_CASE("fit_mesh: a union is smoothed as a shape without a mesh is, so that its bulge is bounded",
          "[collision][value][suite]") {
  const TriangleMesh mesh = mesh_of(solid_named("hammer"));  // a thin handle
  MeshFitOptions options = coarse_fit();
  options.method = GENERATE(FitMethod::superquadrics, FitMethod::convex, FitMethod::automatic);
  options.max_primitives = 6;
  const FittedMesh fitted = fit_mesh(mesh, options);
  const double size = fitted.repaired.report.size, smoothing = fitted.shape.union_smoothing;
  const auto count = static_cast<double>(fitted.shape.primitives.size());
  CAPTURE(options.method, count, smoothing / size);
  REQUIRE(count > 1);
  CHECK(smoothing <= default_union_smoothing(fitted.shape, size));
  CHECK(smoothing < 0.95 * k_union_smoothing_per_size * size);
  const MeshedBody made = body_of(fitted);
  CHECK(made.body.shape.union_smoothing == smoothing);
  CHECK(made.bulge > 0.0);
  CHECK(made.bulge <= smoothing * std::log(count) + 1e-9 * size);

  options.union_smoothing = 0.003 * size;
  CHECK(fit_mesh(mesh, options).shape.union_smoothing == *options.union_smoothing);
}

TEST_CASE("fit_mesh: by itself mixes exact kinds with superquadrics where they are worth it",
          "[collision][value][suite]") {
  const Solid dumbbell = solid_named("dumbbell");
  MeshFitOptions options = coarse_fit();
  const FittedMesh superquadrics = fit_mesh(mesh_of(dumbbell), options);
  options.method = FitMethod::automatic;
  const FittedMesh mixed = fit_mesh(mesh_of(dumbbell), options);
  CHECK(superquadrics.cheaper_kinds.replaced == 0);
  CHECK(mixed.method == FitMethod::superquadrics);
  CHECK(mixed.cheaper_kinds.replaced == 3);  // two balls and a bar
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
  const TriangleMesh mesh = mesh_of(solid_named("table"));
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
  const DistanceGrid grid = signed_distance_grid(mesh, padded_grid(mesh.bvh.bounds(), 41));
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
    return mass_properties_of_inside(repair_mesh(mesh));
  };
  const InsideProperties one = inside_of(ball);
  CHECK(close(one.properties.volume, mass_properties(ball, 1.0).volume, 1e-12, 0.0));
  CHECK(one.volume_deviation == 0.0);
  const InsideProperties two = inside_of(joined(ball, translated(ball, {0.5, 0, 0})));
  // Two balls of radius r at a distance r share pi 5 r^3/12.
  const double r3 = 0.125, expected = std::numbers::pi * r3 * (8.0 / 3.0 - 5.0 / 12.0);
  CHECK(close(two.properties.volume, expected, 5e-3, 0.0));  // 2e-3 of that is the tessellation
  CHECK(close(two.properties.center_of_mass, Vec3<double>(0.25, 0, 0), 0.0, 2e-3));
  CHECK(two.volume_deviation > 0.0);
  CHECK(two.volume_deviation < 2e-3);
}

TEST_CASE("mass_properties_of_inside: are those of thin walls that overlap, and of a mesh with a hole",
          "[collision][value]") {
  const double a = 0.2, t = 1e-3;  // half extents
  const TriangleMesh walls = joined(box_mesh({a, a, t}), box_mesh({a, t, a}));
  const InsideProperties crossed = mass_properties_of_inside(repair_mesh(walls));
  const double expected = 2.0 * 8.0 * a * a * t - 8.0 * a * t * t;
  CAPTURE(crossed.volume_deviation);
  CHECK(close(crossed.properties.volume, expected, 0.01, 0.0));
  CHECK(std::abs(crossed.properties.volume / expected - 1.0) <= 4.0 * crossed.volume_deviation);
  CHECK(close(crossed.properties.center_of_mass, Vec3<double>(0, 0, 0), 0.0, 5e-3 * a));
  // About x both walls are long, across it one of them is.
  const double wall = 8.0 * a * a * t, about_x = 2.0 * wall * a * a / 3.0, about_y = wall * a * a;
  CHECK(close(crossed.properties.inertia(0, 0), about_x, 0.02, 0.0));
  CHECK(close(crossed.properties.inertia(1, 1), about_y, 0.02, 0.0));

  TriangleMesh open = sphere_mesh(0.5, 4);
  std::erase_if(open.triangles,
                [&](const Eigen::Vector3i& triangle) { return open.vertices.col(triangle[0]).z() > 0.45; });
  const InsideProperties capless = mass_properties_of_inside(repair_mesh(open));
  // Less a cap of the height h, as the winding number closes a hole by about its plane.
  const double h = 0.05, ball = 4.0 / 3.0 * std::numbers::pi * 0.125,
               cap = std::numbers::pi * h * h * (0.5 - h / 3.0);
  CHECK(close(capless.properties.volume, ball - cap, 0.01, 0.0));
}

TEST_CASE("fit_quality: a part that the body lacks is lost, and so is a gap that it fills",
          "[collision][value]") {
  const double size = 0.55, t = 1e-3;
  const TriangleMesh block = box_between({-0.2, -0.2, 0}, {0.2, 0.2, 0.4});
  const auto quality_of = [&](const TriangleMesh& mesh, const TriangleMesh& body) {
    const RepairedMesh repaired = repair_mesh(mesh);
    const DistanceGrid grid = signed_distance_grid(repaired, padded_grid(repaired.bvh.bounds(), 41));
    MeshedBodyOptions options;
    options.resolution = 32;
    options.mesh.vertices = 40;
    options.mesh.rounds = 0;
    return fit_quality(make_meshed_body(hull_shape(body), options), repaired, grid);
  };
  const FitQuality whole = quality_of(block, block);
  CHECK(whole.lost_parts.share == 0.0);
  CHECK(whole.filled_gaps.share == 0.0);

  const FitQuality finless =
      quality_of(joined(block, box_between({0.19, -0.1, 0.2}, {0.35, 0.1, 0.2 + t})), block);
  // The fin stands out by 0.15 m, less what is nearer than 0.02 of the size.
  const double fin = 2.0 * 0.2 * (0.15 - 0.02 * size), area = 6.0 * 0.16 + 2.0 * 0.2 * 0.15;
  CHECK(close(finless.lost_parts.share, fin / area, 0.05, 0.0));
  CHECK(close(finless.lost_parts.distance, 0.15, 0.03, 0.0));
  CHECK(close(finless.lost_parts.width, t, 1e-3, 0.0));
  CHECK(finless.lost_parts.farthest.x() > 0.34);
  CHECK(finless.filled_gaps.share == 0.0);

  const TriangleMesh slit = joined(box_between({-0.2, -0.2, 0}, {-0.5 * t, 0.2, 0.4}),
                                   joined(box_between({0.5 * t, -0.2, 0}, {0.2, 0.2, 0.4}),
                                          box_between({-0.1, -0.2, 0}, {0.1, 0.2, 0.05})));
  const FitQuality filled = quality_of(slit, block);
  CHECK(filled.filled_gaps.share > 0.1);
  CHECK(close(filled.filled_gaps.distance, 0.2, 0.1, 0.0));
  CHECK(close(filled.filled_gaps.width, t, 1e-3, 0.0));
  CHECK(filled.lost_parts.share == 0.0);
}

TEST_CASE("fit_mesh: parts of micrometres are fitted, and what is smaller or smoothed too much is refused",
          "[collision][value]") {
  const TriangleMesh table = joined(box_between({-0.6, -0.4, 0.7}, {0.6, 0.4, 0.73}),
                                    box_between({-0.05, -0.05, 0}, {0.05, 0.05, 0.71}));
  const auto scaled = [&](double factor) {
    TriangleMesh mesh = table;
    mesh.vertices *= factor;
    return mesh;
  };
  MeshFitOptions options;
  options.method = FitMethod::convex;
  options.resolution = 64;
  const FittedMesh tiny = fit_mesh(scaled(1e-6), options);
  CHECK(tiny.shape.primitives.size() == 2);
  MeshedBodyOptions body;
  body.union_smoothing = tiny.shape.union_smoothing;
  body.resolution = 64;
  body.mesh.vertices = 60;
  body.mesh.rounds = 0;
  CHECK(make_meshed_body(tiny.shape, body).report.closed);
  CHECK_THROWS_WITH(fit_mesh(scaled(1e-9), options), Catch::Contains("unit"));
  options.union_smoothing = 5.0;
  CHECK_THROWS_WITH(fit_mesh(table, options), Catch::Contains("smoothing") && Catch::Contains("0.12 m"));
}

}  // namespace
}  // namespace abut::test
