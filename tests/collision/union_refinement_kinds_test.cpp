#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

#include <catch2/catch.hpp>

#include "collision/fitting/exact_kinds.h"
#include "collision/fitting/free_primitive.h"
#include "collision/fitting/primitive_replacement.h"
#include "collision/fitting/shape_jacobian.h"
#include "collision/fitting/union_refinement.h"
#include "tests/support/cases.h"
#include "tests/support/fitted_shapes.h"

namespace abut::test {
namespace {

Primitive primitive_of_kind(PrimitiveKind kind, const std::array<double, 5>& parameters,
                            const Vec3<double>& p) {
  Primitive primitive;
  primitive.kind = kind;
  primitive.parameters = parameters;
  primitive.X_BP = {Quat<double>(Eigen::AngleAxisd(0.4, Vec3<double>(1, 2, 3).normalized())), p};
  return primitive;
}

/// One of each kind that a fit moves, blended.
Shape mixed_truth() {
  Shape shape;
  shape.union_smoothing = 0.01;
  shape.primitives = {
      primitive_of_kind(PrimitiveKind::rounded_box, {0.4, 0.2, 0.15, 0.05, 0}, {0, 0, 0}),
      primitive_of_kind(PrimitiveKind::capsule, {0.12, 0.3, 0, 0, 0}, {0.45, 0.2, 0}),
      primitive_of_kind(PrimitiveKind::sphere, {0.2, 0, 0, 0, 0}, {-0.4, 0, 0.2}),
      primitive_of_kind(PrimitiveKind::cone, {0.15, 0.1, 0.3, 0.008, 0}, {0, -0.35, 0.1}),
      primitive_of_kind(PrimitiveKind::superquadric, {0.2, 0.15, 0.1, 0.7, 1.3}, {0.2, 0.45, 0.1})};
  return shape;
}

TEST_CASE("ShapeJacobian: agrees with finite differences for every kind that a fit moves",
          "[collision][derivative]") {
  const Shape shape = mixed_truth();
  Random random(5);
  Points points(3, 200);
  for (Eigen::Index i = 0; i < points.cols(); ++i) points.col(i) = 0.6 * random_vector(random);
  const DistanceJacobian J = ShapeJacobian(shape).evaluate(points, 0.1);
  REQUIRE(J.points.size() > 20);
  std::vector<int> uses(shape.primitives.size(), 0);
  for (std::size_t i = 0; i < J.points.size(); ++i) {
    const Vec3<double> p = points.col(J.points[i]);
    for (std::size_t l = 0; l < shape.primitives.size(); ++l) {
      const PrimitiveTangent slope = slope_of(J, i, l), difference = slope_by_differences(shape, l, p);
      if (slope.norm() > 0.1) ++uses[l];
      CAPTURE(p.transpose(), l, slope.transpose(), difference.transpose());
      CHECK((slope - difference).norm() < 1e-5 * (1.0 + difference.norm()));
    }
  }
  for (const int count : uses) CHECK(count > 0);  // not vacuous
}

TEST_CASE("refine_union: brings disturbed primitives of all kinds back", "[collision][value]") {
  const DistanceGrid grid = grid_of(mixed_truth(), 64);
  Shape shape = disturbed(mixed_truth());
  UnionRefinementOptions options;
  options.steps = 20;
  options.settled = 0.0;
  const UnionRefinementReport report = refine_union(shape, grid, options);
  CAPTURE(report.iou_before, report.iou_after, report.error_before, report.error_after);
  CHECK(report.iou_before < 0.97);
  CHECK(report.iou_after > 0.995);
  CHECK(report.error_after < 0.05 * report.error_before);
  REQUIRE(shape.primitives.size() == 5);
  CHECK(std::abs(shape.primitives[2].parameters[0] - 0.2) < 2e-3);
}

TEST_CASE("exact_kinds_near: kinds by exponents and axes, the operation kept", "[collision][value]") {
  const auto kinds_of = [](const Vec3<double>& axes, double eps1, double eps2) {
    Primitive superquadric = superquadric_of(axes, eps1, eps2, {1, 2, 3});
    superquadric.operation = PrimitiveOperation::subtract;
    std::vector<PrimitiveKind> kinds;
    for (const Primitive& exact : exact_kinds_near(superquadric)) {
      CHECK(exact.operation == PrimitiveOperation::subtract);
      CHECK(exact.X_BP.p == superquadric.X_BP.p);
      CHECK_NOTHROW(ShapeSdf(Shape{{exact}, 0.0}));
      kinds.push_back(exact.kind);
    }
    return kinds;
  };
  using Kinds = std::vector<PrimitiveKind>;
  CHECK(kinds_of({0.5, 0.3, 0.2}, 0.05, 0.05) == Kinds{PrimitiveKind::rounded_box});
  CHECK(kinds_of({0.2, 0.2, 0.2}, 1.0, 1.0) == Kinds{PrimitiveKind::sphere});
  CHECK(kinds_of({0.2, 0.21, 0.5}, 0.7, 1.0) == Kinds{PrimitiveKind::capsule});
  CHECK(kinds_of({0.2, 0.2, 0.5}, 0.1, 1.0) == Kinds{PrimitiveKind::capsule, PrimitiveKind::cone});
  CHECK(kinds_of({0.5, 0.5, 0.1}, 0.1, 1.0) == Kinds{PrimitiveKind::cone});
  CHECK(kinds_of({0.5, 0.3, 0.2}, 1.0, 1.0).empty());
  CHECK(kinds_of({0.5, 0.5, 0.2}, 0.7, 1.9).empty());
  CHECK(exact_kinds_near(mixed_truth().primitives[0]).empty());
}

TEST_CASE("take_cheaper_kinds: boxes and capsules become that, and what is neither stays as it is",
          "[collision][value][determinism]") {
  Shape truth = mixed_truth();
  truth.primitives.erase(truth.primitives.begin() + 2, truth.primitives.begin() + 4);
  const DistanceGrid grid = grid_of(truth, 64);
  Shape superquadrics = truth;
  const auto as_superquadric = [&](std::size_t l, const std::array<double, 5>& parameters) {
    superquadrics.primitives[l].kind = PrimitiveKind::superquadric;
    superquadrics.primitives[l].parameters = parameters;
  };
  as_superquadric(0, {0.4, 0.2, 0.15, 0.2, 0.2});
  as_superquadric(1, {0.12, 0.12, 0.42, 0.6, 1.0});
  (void)refine_union(superquadrics, grid);
  Shape shape = superquadrics;
  const ReplacementReport report = take_cheaper_kinds(shape, grid);
  CAPTURE(report.iou_after);
  CHECK(report.replaced == 2);
  CHECK(report.iou_after > 0.995);
  CHECK(shape.primitives[0].kind == PrimitiveKind::rounded_box);
  CHECK(shape.primitives[1].kind == PrimitiveKind::capsule);
  CHECK(shape.primitives[2].kind == PrimitiveKind::superquadric);
  CHECK(std::abs(shape.primitives[1].parameters[0] - 0.12) < 2e-3);

  Shape again = superquadrics;
  ReplacementOptions options;
  options.refinement.threads = 4;
  (void)take_cheaper_kinds(again, grid, options);
  for (std::size_t l = 0; l < 3; ++l) CHECK(again.primitives[l].parameters == shape.primitives[l].parameters);

  again = superquadrics;
  options.is_good_enough = [](const Shape&) { return false; };
  CHECK(take_cheaper_kinds(again, grid, options).replaced == 0);
  CHECK(again.primitives[0].parameters == superquadrics.primitives[0].parameters);
  again.primitives[1].kind = PrimitiveKind::half_space;
  CHECK_THROWS_AS(take_cheaper_kinds(again, grid, {}), std::invalid_argument);
  again = superquadrics;
  options.least_gain = -1.0;
  CHECK_THROWS_AS(take_cheaper_kinds(again, grid, options), std::invalid_argument);
}

}  // namespace
}  // namespace abut::test
