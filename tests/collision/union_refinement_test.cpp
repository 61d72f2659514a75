#include "collision/fitting/union_refinement.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "collision/fitting/cavity_filling.h"
#include "collision/fitting/free_superquadric.h"
#include "collision/fitting/shape_growth.h"
#include "collision/fitting/shape_jacobian.h"
#include "collision/fitting/shape_on_grid.h"
#include "collision/fitting/superquadric_merging.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/fitted_shapes.h"

namespace abut::test {
namespace {

/// An L of two blocks and a ball on it, which blend with each other.
Shape truth() {
  Shape shape;
  shape.union_smoothing = 0.01;
  shape.primitives = {superquadric_of({0.5, 0.15, 0.12}, 0.3, 0.3, {0, 0, 0}),
                      superquadric_of({0.15, 0.4, 0.12}, 0.4, 0.3, {0.4, 0.3, 0}),
                      superquadric_of({0.2, 0.2, 0.2}, 1.0, 1.0, {-0.3, 0, 0.15})};
  return shape;
}

/// The same with a hole through the first block and a cavity in the second.
Shape pierced_truth() {
  Shape shape = truth();
  shape.primitives.push_back(superquadric_of({0.07, 0.07, 0.3}, 0.3, 1.0, {0.1, 0, 0}));
  shape.primitives.push_back(superquadric_of({0.1, 0.12, 0.1}, 0.8, 0.7, {0.4, 0.5, 0.1}));
  for (std::size_t l : {3, 4}) shape.primitives[l].operation = PrimitiveOperation::subtract;
  return shape;
}

DistanceGrid grid_of_truth(int points) { return grid_of(truth(), points); }

Shape disturbed(Shape shape, double by) {
  Random random(7);
  for (Primitive& primitive : shape.primitives) {
    SuperquadricTangent step = by * random_vector<k_superquadric_numbers>(random);
    step.head<3>() *= 0.2;
    const PrimitiveOperation operation = primitive.operation;
    primitive = primitive_of(moved(free_superquadric(primitive), step));
    primitive.operation = operation;
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

TEST_CASE("ShapeJacobian: agrees with finite differences of the distance, with and without subtraction",
          "[collision][derivative]") {
  Shape shape = GENERATE(truth(), pierced_truth(), Shape{{truth().primitives[0]}, 0.01});
  CAPTURE(shape.primitives.size());
  Random random(3);
  Points points(3, 300);
  for (Eigen::Index i = 0; i < points.cols(); ++i)
    points.col(i) = 0.5 * random_vector(random) + Vec3<double>(0.1, 0.1, 0);
  constexpr double k_band = 0.1;
  const DistanceJacobian J = ShapeJacobian(shape).evaluate(points, k_band);
  REQUIRE(J.points.size() > 30);
  CHECK(J.points.size() < 300);
  REQUIRE(J.begin.size() == J.points.size() + 1);
  std::vector<int> uses(shape.primitives.size(), 0);
  for (std::size_t i = 0; i < J.points.size(); ++i) {
    const Vec3<double> p = points.col(J.points[i]);
    const double d = ShapeSdf(shape).distance<double>(p);
    CHECK(close(J.distance[static_cast<Eigen::Index>(i)], d, 1e-12, 1e-14));
    CHECK(std::abs(d) < k_band);
    for (std::size_t l = 0; l < shape.primitives.size(); ++l) {
      SuperquadricTangent slope = SuperquadricTangent::Zero();
      for (std::size_t k = J.begin[i]; k < J.begin[i + 1]; ++k) {
        if (J.slopes[k].primitive == static_cast<int>(l)) slope = J.slopes[k].slope;
      }
      if (slope.norm() > 0.1) ++uses[l];
      const auto distance_moved_by = [&](int number, double by) {
        Shape changed = shape;
        SuperquadricTangent step = SuperquadricTangent::Zero();
        step[number] = by;
        changed.primitives[l] = primitive_of(moved(free_superquadric(shape.primitives[l]), step));
        changed.primitives[l].operation = shape.primitives[l].operation;
        return ShapeSdf(changed).distance<double>(p);
      };
      constexpr double k_step = 1e-6;
      SuperquadricTangent difference;
      for (int number = 0; number < k_superquadric_numbers; ++number)
        difference[number] =
            (distance_moved_by(number, k_step) - distance_moved_by(number, -k_step)) / (2.0 * k_step);
      CAPTURE(p.transpose(), l, slope.transpose(), difference.transpose());
      CHECK((slope - difference).norm() < 1e-5 * (1.0 + difference.norm()));
    }
  }
  for (const int count : uses) CHECK(count > 0);  // not vacuous
}

TEST_CASE("refine_union: brings added and subtracted superquadrics back together", "[collision][value]") {
  const DistanceGrid grid = grid_of(pierced_truth(), 64);
  Shape shape = disturbed(pierced_truth(), 0.06);
  UnionRefinementOptions options;
  options.settled = 0.0;
  options.steps = 20;
  const UnionRefinementReport report = refine_union(shape, grid, options);
  CAPTURE(report.iou_before, report.iou_after, report.error_before, report.error_after, report.steps);
  CHECK(report.kept);
  CHECK(report.iou_before < 0.95);
  CHECK(report.iou_after > 0.995);
  REQUIRE(shape.primitives.size() == 5);
  CHECK(shape.primitives[4].operation == PrimitiveOperation::subtract);
  CHECK((shape.primitives[3].X_BP.p - pierced_truth().primitives[3].X_BP.p).head<2>().norm() < 0.005);
}

TEST_CASE("refine_union: leaves out the least useful of too many", "[collision][value]") {
  const DistanceGrid grid = grid_of(pierced_truth(), 40);
  Shape shape = pierced_truth();
  UnionRefinementOptions options;
  options.max_primitives = 4;
  CHECK(refine_union(shape, grid, options).left_out == 1);
  CHECK(shape.primitives.size() == 4);
}

/// The halves of a superquadric to both sides of its plane x = 0, which overlap a little.
std::pair<Primitive, Primitive> halves_of(const Primitive& whole) {
  std::pair<Primitive, Primitive> halves{whole, whole};
  const double a = whole.parameters[0];
  for (auto [half, side] : {std::pair{&halves.first, -1.0}, std::pair{&halves.second, 1.0}}) {
    half->parameters[0] = 0.55 * a;
    half->X_BP.p += side * 0.45 * a * whole.X_BP.rotation().col(0);
  }
  return halves;
}

TEST_CASE("refine_union: of too many, makes one of two where that costs less than leaving one out",
          "[collision][value]") {
  const std::size_t split = GENERATE(std::size_t{0}, std::size_t{3});  // the first block; the hole through it
  Shape all = pierced_truth();
  all.primitives[3].parameters[4] = 0.7;  // at 1 one half of the hole would grow over the other
  const DistanceGrid grid = grid_of(all, 64);
  Shape shape = all;
  if (split == 3) {  // the hole is long in z: its halves are to both sides of that plane
    Primitive& hole = shape.primitives[3];
    std::swap(hole.parameters[0], hole.parameters[2]);
    std::swap(hole.parameters[3], hole.parameters[4]);
    hole.X_BP.q = Quat<double>(Eigen::AngleAxisd(0.5 * std::numbers::pi, Vec3<double>::UnitY()));
  }
  const auto [first, second] = halves_of(shape.primitives[split]);
  shape.primitives[split] = first;
  shape.primitives.push_back(second);
  UnionRefinementOptions options;
  options.max_primitives = 5;
  const UnionRefinementReport report = refine_union(shape, grid, options);
  CAPTURE(split, report.merged, report.left_out, report.iou_before, report.iou_after);
  CHECK(report.merged == 1);
  CHECK(report.left_out == 0);
  CHECK(report.iou_after > 0.99);
  REQUIRE(shape.primitives.size() == 5);
  CHECK(shape.primitives[split].operation == all.primitives[split].operation);
  CHECK((shape.primitives[split].X_BP.p - all.primitives[split].X_BP.p).head<2>().norm() < 0.01);
}

TEST_CASE("superquadric_merges: pairs only what is near and of the same operation, the cheapest first",
          "[collision][value]") {
  Shape shape = pierced_truth();
  const auto [first, second] = halves_of(shape.primitives[0]);
  shape.primitives[0] = first;
  shape.primitives.push_back(second);
  shape.primitives.push_back(superquadric_of({0.05, 0.05, 0.05}, 1.0, 1.0, {0, 0, 2.0}));  // far away
  const DistanceGrid grid = grid_of(pierced_truth(), 48);
  constexpr double k_truncation = 1.2;
  const double T = k_truncation * grid.grid.cell_size;
  std::vector<double> targets;
  std::vector<Vec3<double>> near;
  const Eigen::Vector3i n = grid.points();
  for (int k = 0; k < n.z(); ++k) {
    for (int j = 0; j < n.y(); ++j) {
      for (int i = 0; i < n.x(); ++i) {
        if (std::abs(grid.value(i, j, k)) > 2.0 * T) continue;
        near.push_back(grid.point(i, j, k));
        targets.push_back(std::clamp(grid.value(i, j, k), -T, T));
      }
    }
  }
  Points points(3, static_cast<Eigen::Index>(near.size()));
  for (std::size_t i = 0; i < near.size(); ++i) points.col(static_cast<Eigen::Index>(i)) = near[i];
  const std::vector<SuperquadricMerge> merges =
      superquadric_merges(shape, points, targets, grid.grid, {.truncation = k_truncation}, 1);
  REQUIRE(merges.size() > 1);
  CHECK(merges[0].first == 0);
  CHECK(merges[0].second == 5);
  const Primitive &merged = merges[0].merged, whole = pierced_truth().primitives[0];
  CHECK((merged.X_BP.p - whole.X_BP.p).norm() < 0.02);
  const auto longest = [](const Primitive& p) {
    return std::max({p.parameters[0], p.parameters[1], p.parameters[2]});
  };
  CHECK(close(longest(merged), longest(whole), 0.05, 0.0));
  CHECK(std::is_sorted(merges.begin(), merges.end(),
                       [](const auto& a, const auto& b) { return a.change < b.change; }));
  for (const SuperquadricMerge& merge : merges) {
    CHECK(merge.second != 6);
    CHECK(shape.primitives[static_cast<std::size_t>(merge.first)].operation ==
          shape.primitives[static_cast<std::size_t>(merge.second)].operation);
  }
}

TEST_CASE("grow_shape: finds a lost part and cavities, within the limit", "[collision][value]") {
  const DistanceGrid grid = grid_of(pierced_truth(), 64);
  Shape shape = truth();
  shape.primitives.pop_back();  // the ball
  ShapeGrowthOptions options;
  const ShapeGrowthReport report = grow_shape(shape, grid, options);
  CAPTURE(report.iou_before, report.iou_after, report.added, report.subtracted, report.rounds);
  CHECK(report.iou_before < 0.8);
  CHECK(report.iou_after > 0.97);
  CHECK(report.added >= 3);
  CHECK(report.subtracted >= 2);
  CHECK(ShapeSdf(shape).distance<double>(Vec3<double>(0.1, 0, 0)) > 0.05);       // in the hole
  CHECK(ShapeSdf(shape).distance<double>(Vec3<double>(-0.3, 0, 0.25)) < -0.05);  // in the ball

  Shape limited = truth();
  options.max_primitives = 4;
  const ShapeGrowthReport of_limited = grow_shape(limited, grid, options);
  CHECK(limited.primitives.size() == 4);
  CHECK(of_limited.iou_after > of_limited.iou_before);

  Shape right = pierced_truth();
  CHECK(grow_shape(right, grid).rounds == 0);
  CHECK(right.primitives.size() == 5);
}

TEST_CASE("fill_cavities: fills what is enclosed, by distances that fit the rest", "[collision][value]") {
  constexpr double k_outer = 0.45, k_inner = 0.35;
  DistanceGrid tube;
  tube.grid = {Vec3<double>::Constant(-0.625), 0.025, Eigen::Vector3i::Constant(50)};
  const auto solid_distance = [&](const Vec3<double>& p) {
    return std::max(p.head<2>().norm() - k_outer, std::abs(p.z()) - 0.5);
  };
  for (int k = 0; k < 51; ++k) {
    for (int j = 0; j < 51; ++j) {
      for (int i = 0; i < 51; ++i) {
        const Vec3<double> p = tube.point(i, j, k);
        tube.values.push_back(std::max(solid_distance(p), k_inner - p.head<2>().norm()));
      }
    }
  }
  const FilledGrid filled = fill_cavities(tube, 0.0);
  CHECK(filled.filled > filled.inside);
  CHECK(fill_cavities(tube, 3.0).filled == 0);
  std::size_t checked = 0;
  for (int k = 15; k <= 35; ++k) {
    for (int j = 0; j < 51; ++j) {
      for (int i = 0; i < 51; ++i) {
        const double d = solid_distance(tube.point(i, j, k));
        if (std::abs(d) > 0.1) continue;  // nearer than the mouths
        ++checked;
        REQUIRE(std::abs(filled.grid.value(i, j, k) - d) <= 1.5 * tube.grid.cell_size);
      }
    }
  }
  CHECK(checked > 1000);

  const DistanceGrid convex = grid_of(Shape{{truth().primitives[2]}, 0.01}, 30);
  CHECK(fill_cavities(convex, 0.0).filled == 0);
  CHECK(fill_cavities(convex, 0.0).grid.values == convex.values);
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

  shape.primitives[0].kind = PrimitiveKind::half_space;
  CHECK_THROWS_AS(refine_union(shape, grid), std::invalid_argument);
  options.most_exponent = 0.5;
  CHECK_THROWS_AS(refine_union(bounded, grid, options), std::invalid_argument);
}

TEST_CASE("refine_union, grow_shape: give the same for any number of threads", "[collision][determinism]") {
  const DistanceGrid grid = grid_of_truth(40);
  const auto refined = [&](int threads) {
    Shape shape = disturbed(truth(), 0.1);
    shape.primitives.pop_back();
    ShapeGrowthOptions options;
    options.refinement.threads = threads;
    (void)refine_union(shape, grid, options.refinement);
    (void)grow_shape(shape, grid, options);
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
