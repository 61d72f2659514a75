// Fits of superquadrics mixed with convex polyhedra and exact kinds.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "collision/fitting/convex_decomposition.h"
#include "collision/fitting/exact_kinds.h"
#include "collision/fitting/fit_mesh.h"
#include "collision/fitting/free_primitive.h"
#include "collision/fitting/primitive_replacement.h"
#include "collision/fitting/query_cost.h"
#include "collision/fitting/shape_jacobian.h"
#include "collision/fitting/shape_on_grid.h"
#include "collision/fitting/union_refinement.h"
#include "engine/primitive_builder.h"
#include "tests/support/cases.h"
#include "tests/support/fitted_shapes.h"
#include "tests/support/mixed_solids.h"
#include "tests/support/samples.h"
#include "tests/support/solid_suite.h"

namespace abut::test {
namespace {

Primitive hexagonal_prism(double apothem, double half_height, const Vec3<double>& p) {
  Points normals(3, 8);
  std::vector<double> offsets(8, apothem);
  for (int i = 0; i < 6; ++i) {
    const double angle = i * std::acos(-1.0) / 3.0;
    normals.col(i) = Vec3<double>(std::cos(angle), std::sin(angle), 0.0);
  }
  normals.col(6) = Vec3<double>::UnitZ();
  normals.col(7) = -Vec3<double>::UnitZ();
  offsets[6] = offsets[7] = half_height;
  Primitive prism = make_convex_polyhedron(normals, offsets);
  prism.X_BP.p = p;
  return prism;
}

Primitive superquadric_at(const Vec3<double>& axes, double eps1, double eps2, const Vec3<double>& p) {
  Primitive superquadric = superquadric_of(axes, eps1, eps2, p);
  superquadric.X_BP.q = Quat<double>(Eigen::AngleAxisd(0.4, Vec3<double>(1, 2, 3).normalized()));
  return superquadric;
}

/// A prism with two superquadrics that run into it, and one that is cut out of all of them.
Shape prism_truth() {
  Shape shape;
  shape.union_smoothing = 0.01;
  shape.primitives = {superquadric_at({0.2, 0.15, 0.1}, 0.7, 1.3, {0.3, 0.05, 0.1}),
                      hexagonal_prism(0.3, 0.15, {0, 0, 0}),
                      superquadric_at({0.12, 0.14, 0.4}, 0.4, 1.0, {0, 0, -0.4}),
                      superquadric_at({0.08, 0.1, 0.1}, 1.0, 0.9, {-0.25, 0.05, 0.1})};
  shape.primitives[3].operation = PrimitiveOperation::subtract;
  bound_edges(shape);
  return shape;
}

bool is_same(const Primitive& a, const Primitive& b) {
  return a.kind == b.kind && a.operation == b.operation && a.parameters == b.parameters &&
         a.values == b.values && a.directions == b.directions && a.X_BP.p == b.X_BP.p &&
         a.X_BP.q.coeffs() == b.X_BP.q.coeffs();
}

std::ptrdiff_t count_of(const Shape& shape, PrimitiveKind kind) {
  return std::count_if(shape.primitives.begin(), shape.primitives.end(),
                       [&](const Primitive& primitive) { return primitive.kind == kind; });
}

double total_cost(const Shape& shape) { return merit(0.0, shape, -1.0); }

double iou_of(const FittedMesh& fitted) {
  return occupancy_iou(fitted.grid,
                       distances_on_grid(ShapeSdf(fitted.shape), fitted.grid, fitted.grid.grid.cell_size));
}

const TriangleMesh& mixed_solid(const std::string& name) {
  const auto found = std::find_if(mixed_solids().begin(), mixed_solids().end(),
                                  [&](const NamedMesh& solid) { return solid.name == name; });
  REQUIRE(found != mixed_solids().end());
  return found->mesh;
}

FittedMesh fitted_by(FitMethod method, const TriangleMesh& mesh, int threads = 0) {
  MeshFitOptions options;
  options.method = method;
  options.resolution = 48;
  options.threads = threads;
  return fit_mesh(mesh, options);
}

TEST_CASE("ShapeJacobian: beside convex polyhedra agrees with finite differences, and has no slopes by these",
          "[collision][derivative]") {
  const Shape shape = prism_truth();
  Random random(5);
  Points points(3, 400);
  for (Eigen::Index i = 0; i < points.cols(); ++i) points.col(i) = 0.4 * random_vector(random);
  const DistanceJacobian J = ShapeJacobian(shape).evaluate(points, 0.1);
  REQUIRE(J.points.size() > 20);
  const ShapeSdf sdf(shape);
  int blended = 0;
  for (std::size_t i = 0; i < J.points.size(); ++i) {
    const Vec3<double> p = points.col(J.points[i]);
    CHECK(std::abs(J.distance[static_cast<Eigen::Index>(i)] - sdf.distance<double>(p)) < 1e-12);
    for (std::size_t l = 0; l < shape.primitives.size(); ++l) {
      const PrimitiveTangent slope = slope_of(J, i, l);
      if (!is_free(shape.primitives[l])) {
        CHECK(slope == PrimitiveTangent::Zero());
        continue;
      }
      if (slope.norm() > 0.1 && slope.head<3>().norm() < 0.9) ++blended;
      const PrimitiveTangent difference = slope_by_differences(shape, l, p);
      CAPTURE(p.transpose(), l, slope.transpose(), difference.transpose());
      CHECK((slope - difference).norm() < 1e-5 * (1.0 + difference.norm()));
    }
  }
  CHECK(blended > 3);  // not vacuous: the prism has a part in these distances
}

TEST_CASE("refine_union: moves what is free and leaves convex polyhedra where they are",
          "[collision][value][determinism]") {
  const Shape truth = prism_truth();
  const DistanceGrid grid = grid_of(truth, 64);
  Shape shape = disturbed(truth);
  Shape again = shape;
  UnionRefinementOptions options;
  options.steps = 20;
  options.settled = 0.0;
  options.threads = 1;
  const UnionRefinementReport report = refine_union(shape, grid, options);
  CAPTURE(report.iou_before, report.iou_after, report.error_before, report.error_after);
  CHECK(report.iou_before < 0.98);
  CHECK(report.iou_after > 0.995);
  CHECK(report.error_after < 0.1 * report.error_before);
  REQUIRE(shape.primitives.size() == truth.primitives.size());
  CHECK(is_same(shape.primitives[1], truth.primitives[1]));
  options.threads = 2;
  (void)refine_union(again, grid, options);
  for (std::size_t l = 0; l < shape.primitives.size(); ++l)
    CHECK(is_same(shape.primitives[l], again.primitives[l]));

  shape = Shape{{truth.primitives[1]}, truth.union_smoothing};  // nothing is free
  (void)refine_union(shape, grid, options);
  CHECK(is_same(shape.primitives[0], truth.primitives[1]));
  shape.primitives.push_back(truth.primitives[0]);
  shape.primitives[1].kind = PrimitiveKind::half_space;
  CHECK_THROWS_AS(refine_union(shape, grid, options), std::invalid_argument);
}

TEST_CASE("take_polyhedra: those that fit better take the place of what lies within them",
          "[collision][value]") {
  Shape truth;
  truth.union_smoothing = 0.004;
  truth.primitives = {superquadric_of({0.1, 0.1, 0.4}, 0.3, 1.0, {0, 0, -0.4}),
                      hexagonal_prism(0.3, 0.15, {0, 0, 0})};
  bound_edges(truth);
  const DistanceGrid grid = grid_of(truth, 64);
  Shape superquadrics = truth;
  superquadrics.primitives.pop_back();
  superquadrics.primitives.push_back(superquadric_of({0.3, 0.2, 0.15}, 0.2, 0.5, {0.02, 0.05, 0}));
  superquadrics.primitives.push_back(superquadric_of({0.3, 0.2, 0.15}, 0.2, 0.5, {0.02, -0.05, 0}));
  (void)refine_union(superquadrics, grid);
  const std::vector<Primitive> offered = {hexagonal_prism(0.3, 0.15, {0, 0, 0}),
                                          hexagonal_prism(0.5, 0.1, {0, 0, -0.6})};  // mostly outside
  Shape shape = superquadrics;
  const ReplacementReport report = take_polyhedra(shape, offered, grid);
  CAPTURE(report.iou_after, shape.primitives.size());
  CHECK(report.replaced == 1);
  CHECK(report.iou_after > 0.995);
  REQUIRE(shape.primitives.size() == 2);
  CHECK(shape.primitives[0].kind == PrimitiveKind::superquadric);
  REQUIRE(shape.primitives[1].kind == PrimitiveKind::convex_polyhedron);
  CHECK(shape.primitives[1].values == offered[0].values);
  CHECK(shape.primitives[1].parameters[0] <= 0.5 * shape.union_smoothing);

  ReplacementOptions options;
  options.is_good_enough = [](const Shape&) { return false; };
  shape = superquadrics;
  CHECK(take_polyhedra(shape, offered, grid, options).replaced == 0);
  CHECK(is_same(shape.primitives[1], superquadrics.primitives[1]));
  options.is_good_enough = {};
  options.least_gain = -1.0;
  CHECK_THROWS_AS(take_polyhedra(shape, offered, grid, options), std::invalid_argument);
  CHECK_THROWS_AS(take_polyhedra(shape, superquadrics.primitives, grid), std::invalid_argument);
}

TEST_CASE("fit_mesh: a bolt is a hexagonal head and a round shank, better and cheaper than either alone",
          "[collision][value][suite][determinism]") {
  const FittedMesh mixed = fitted_by(FitMethod::automatic, mixed_solid("bolt"), 1);
  CAPTURE(iou_of(mixed), total_cost(mixed.shape));
  CHECK(iou_of(mixed) >= 0.98);
  REQUIRE(mixed.shape.primitives.size() == 2);
  REQUIRE(count_of(mixed.shape, PrimitiveKind::convex_polyhedron) == 1);
  const bool first = mixed.shape.primitives[0].kind == PrimitiveKind::convex_polyhedron;
  const Primitive &head = mixed.shape.primitives[first ? 0 : 1],
                  &shank = mixed.shape.primitives[first ? 1 : 0];
  CHECK(head.values.size() == 8);
  CHECK(head.parameters[0] <= 0.5 * mixed.shape.union_smoothing);
  CHECK(std::abs(head.X_BP.p.z() - 0.675) < 0.05);
  CHECK(std::abs(shank.parameters[0] - 0.22) < 0.01);
  for (const FitMethod method : {FitMethod::superquadrics, FitMethod::convex}) {
    const FittedMesh pure = fitted_by(method, mixed_solid("bolt"));
    CAPTURE(method, iou_of(pure), total_cost(pure.shape));
    CHECK(iou_of(mixed) > iou_of(pure));
    CHECK(total_cost(mixed.shape) < total_cost(pure.shape));
  }
  const FittedMesh again = fitted_by(FitMethod::automatic, mixed_solid("bolt"), 2);
  CHECK(again.shape.union_smoothing == mixed.shape.union_smoothing);
  REQUIRE(again.shape.primitives.size() == 2);
  for (std::size_t l = 0; l < 2; ++l) CHECK(is_same(again.shape.primitives[l], mixed.shape.primitives[l]));
}

TEST_CASE("fit_mesh: furniture with round tops and nuts are better and cheaper than by either method alone",
          "[collision][value][suite][nightly]") {
  const std::string names[] = {"table with a round top", "chair with a round seat", "nut"};
  const std::string& name = names[GENERATE(filter(is_drawn, range(std::size_t{0}, std::size_t{3})))];
  const double least_gain = ReplacementOptions().least_gain;
  const FittedMesh mixed = fitted_by(FitMethod::automatic, mixed_solid(name));
  const double value = merit(iou_of(mixed), mixed.shape, least_gain);
  CAPTURE(name, mixed.method, iou_of(mixed), total_cost(mixed.shape));
  CHECK(iou_of(mixed) >= 0.98);
  CHECK(mixed.shape.primitives.size() == (name == "nut" ? 2 : name == "table with a round top" ? 5 : 6));
  for (const FitMethod method : {FitMethod::superquadrics, FitMethod::convex}) {
    const FittedMesh pure = fitted_by(method, mixed_solid(name));
    CAPTURE(method, iou_of(pure), total_cost(pure.shape));
    CHECK(value > merit(iou_of(pure), pure.shape, least_gain));
    CHECK(total_cost(mixed.shape) < total_cost(pure.shape));
  }
}

TEST_CASE("superquadrics_near: as large as the polyhedron along the axes of its faces",
          "[collision][value]") {
  Points normals(3, 6);
  normals << Mat3<double>::Identity(), -Mat3<double>::Identity();
  Primitive box = make_convex_polyhedron(normals, {0.2, 0.2, 0.5, 0.2, 0.2, 0.5});  // square across z
  box.X_BP = {Quat<double>(Eigen::AngleAxisd(0.7, Vec3<double>(1, 2, 3).normalized())), {1, 2, 3}};
  box.operation = PrimitiveOperation::subtract;
  const std::vector<Primitive> near = superquadrics_near(box);
  REQUIRE(near.size() == 5);
  for (const Primitive& superquadric : near) {
    CHECK(superquadric.operation == PrimitiveOperation::subtract);
    CHECK((superquadric.X_BP.p - box.X_BP.p).norm() < 1e-12);
    const Mat3<double> R = (box.X_BP.rotation().transpose() * superquadric.X_BP.rotation()).cwiseAbs();
    const Vec3<double> half(superquadric.parameters[0], superquadric.parameters[1],
                            superquadric.parameters[2]);
    CHECK((R * half - Vec3<double>(0.2, 0.2, 0.5)).norm() < 1e-9);
  }
  CHECK(superquadrics_near(near[0]).empty());
}

TEST_CASE("take_cheaper_kinds: round polyhedra become cylinders, and hexagons stay", "[collision][value]") {
  Shape truth;
  truth.union_smoothing = 0.004;
  Points normals(3, 20);
  std::vector<double> offsets(20, 0.1);
  for (int i = 0; i < 18; ++i) {
    const double angle = i * std::acos(-1.0) / 9.0;
    normals.col(i) = Vec3<double>(std::cos(angle), std::sin(angle), 0.0);
  }
  normals.col(18) = Vec3<double>::UnitZ();
  normals.col(19) = -Vec3<double>::UnitZ();
  offsets[18] = offsets[19] = 0.3;
  truth.primitives = {hexagonal_prism(0.3, 0.15, {0, 0, 0}), make_convex_polyhedron(normals, offsets)};
  truth.primitives[1].X_BP.p.z() = -0.4;
  bound_edges(truth);
  const DistanceGrid grid = grid_of(truth, 64);
  Shape shape = truth;
  const ReplacementReport report = take_cheaper_kinds(shape, grid);
  CHECK(report.replaced == 1);
  CHECK(report.iou_after > 0.99);
  REQUIRE(shape.primitives.size() == 2);
  CHECK(is_same(shape.primitives[0], truth.primitives[0]));
  CHECK(shape.primitives[1].kind == PrimitiveKind::cone);
  CHECK(std::abs(shape.primitives[1].parameters[0] - 0.1) < 4e-3);
}

TEST_CASE("fit_mesh: within a tolerance mixed shapes keep it, and within a number of primitives that",
          "[collision][value][suite]") {
  MeshFitOptions options;
  options.resolution = 48;
  options.tolerance = 0.004;
  options.max_primitives = 4;
  const FittedMesh fitted = fit_mesh(mixed_solid("bolt"), options);
  CHECK(fitted.mean_distance <= 0.004 * fitted.repaired.report.size);
  CHECK(fitted.shape.primitives.size() <= 4);
}

TEST_CASE("fit_mesh: round solids have no polyhedra", "[collision][value][suite]") {
  const FittedMesh fitted = fitted_by(FitMethod::automatic, mesh_of(solid_named("torus")));
  CHECK(fitted.method == FitMethod::superquadrics);
  CHECK(fitted.polyhedra.replaced == 0);
  CHECK(fitted.decomposition.pieces == 0);  // none were tried
  CHECK(count_of(fitted.shape, PrimitiveKind::convex_polyhedron) == 0);
}

}  // namespace
}  // namespace abut::test
