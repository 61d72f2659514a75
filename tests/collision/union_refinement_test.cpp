#include "collision/fitting/union_refinement.h"

#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#include "collision/fitting/free_superquadric.h"
#include "collision/fitting/shape_on_grid.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"

namespace abut::test {
namespace {

Primitive superquadric_of(const Vec3<double>& axes, double eps1, double eps2, const Vec3<double>& p) {
  Primitive primitive;
  primitive.parameters = {axes.x(), axes.y(), axes.z(), eps1, eps2};
  primitive.X_BP.p = p;
  return primitive;
}

/// An L of two blocks and a ball on it, which blend with each other.
Shape truth() {
  Shape shape;
  shape.union_smoothing = 0.01;
  shape.primitives = {superquadric_of({0.5, 0.15, 0.12}, 0.3, 0.3, {0, 0, 0}),
                      superquadric_of({0.15, 0.4, 0.12}, 0.4, 0.3, {0.4, 0.3, 0}),
                      superquadric_of({0.2, 0.2, 0.2}, 1.0, 1.0, {-0.3, 0, 0.15})};
  return shape;
}

DistanceGrid grid_of_truth(int points) {
  DistanceGrid grid;
  const ShapeSdf sdf(truth());
  grid.grid = cube_around(sdf.bounds(), points, 0.8);
  for (int k = 0; k < points; ++k) {
    for (int j = 0; j < points; ++j) {
      for (int i = 0; i < points; ++i) grid.values.push_back(sdf.distance<double>(grid.point(i, j, k)));
    }
  }
  return grid;
}

Shape disturbed(Shape shape, double by) {
  Random random(7);
  for (Primitive& primitive : shape.primitives) {
    SuperquadricTangent step = by * random_vector<k_superquadric_numbers>(random);
    step.head<3>() *= 0.2;
    primitive = primitive_of(moved(free_superquadric(primitive), step));
  }
  return shape;
}

TEST_CASE("refine_union: brings disturbed superquadrics back to the smooth union they were sampled from",
          "[collision][value]") {
  const DistanceGrid grid = grid_of_truth(48);
  Shape shape = disturbed(truth(), 0.1);
  UnionRefinementOptions options;
  options.steps = 12;
  options.settled = 0.0;
  const UnionRefinementReport report = refine_union(shape, grid, options);
  CAPTURE(report.iou_before, report.iou_after, report.error_before, report.error_after, report.steps);
  CHECK(report.iou_before < 0.93);  // not vacuous
  CHECK(report.iou_after > 0.999);
  CHECK(report.error_after < 0.02 * report.error_before);
  CHECK(report.kept);
  CHECK(report.left_out == 0);
  REQUIRE(shape.primitives.size() == 3);
  for (std::size_t l = 0; l < 3; ++l)
    CHECK((shape.primitives[l].X_BP.p - truth().primitives[l].X_BP.p).norm() < 0.005);
}

TEST_CASE("refine_union: leaves out what is not needed, and as much as is good enough",
          "[collision][value]") {
  const DistanceGrid grid = grid_of_truth(40);
  Shape shape = disturbed(truth(), 0.05);
  shape.primitives.push_back(superquadric_of({0.1, 0.08, 0.08}, 1.0, 1.0, {-0.1, 0, 0}));     // hidden
  shape.primitives.push_back(superquadric_of({0.05, 0.05, 0.05}, 1.0, 1.0, {-0.3, 0.6, 0}));  // apart
  Shape thinned = shape;
  const UnionRefinementReport report = refine_union(shape, grid);
  CHECK(report.left_out == 2);
  CHECK(shape.primitives.size() == 3);
  CHECK(report.iou_after > 0.98);

  UnionRefinementOptions options;
  options.is_good_enough = [](const Shape& s) { return s.primitives.size() >= 2; };
  const UnionRefinementReport rough = refine_union(thinned, grid, options);
  CHECK(thinned.primitives.size() == 2);
  CHECK(rough.thinned_out == 1);
  CHECK(rough.iou_after < report.iou_after);
  CHECK(rough.iou_after > 0.7);
}

TEST_CASE("refine_union: keeps exponents and axes in their bounds, and a shape that it cannot improve",
          "[collision][value]") {
  const DistanceGrid grid = grid_of_truth(40);
  Shape shape = truth();
  const UnionRefinementReport report = refine_union(shape, grid);
  CHECK_FALSE(report.kept);
  CHECK(report.iou_after == 1.0);
  CHECK(shape.primitives[2].parameters == truth().primitives[2].parameters);

  Shape bounded = disturbed(truth(), 0.2);
  UnionRefinementOptions options;
  options.least_exponent = 0.6;
  options.most_exponent = 0.9;
  CHECK(refine_union(bounded, grid, options).kept);
  for (const Primitive& primitive : bounded.primitives) {
    CHECK(std::min(primitive.parameters[3], primitive.parameters[4]) >= 0.6);
    CHECK(std::max(primitive.parameters[3], primitive.parameters[4]) <= 0.9);
  }

  shape.primitives[0].operation = PrimitiveOperation::subtract;
  CHECK_THROWS_AS(refine_union(shape, grid), std::invalid_argument);
  options.most_exponent = 0.5;
  CHECK_THROWS_AS(refine_union(bounded, grid, options), std::invalid_argument);
}

TEST_CASE("refine_union: gives the same for any number of threads", "[collision][determinism]") {
  const DistanceGrid grid = grid_of_truth(40);
  const auto refined = [&](int threads) {
    Shape shape = disturbed(truth(), 0.1);
    UnionRefinementOptions options;
    options.threads = threads;
    (void)refine_union(shape, grid, options);
    return shape;
  };
  const Shape one = refined(1), four = refined(4);
  REQUIRE(one.primitives.size() == four.primitives.size());
  for (std::size_t l = 0; l < one.primitives.size(); ++l) {
    CHECK(one.primitives[l].parameters == four.primitives[l].parameters);
    CHECK(one.primitives[l].X_BP.p == four.primitives[l].X_BP.p);
  }
}

}  // namespace
}  // namespace abut::test
