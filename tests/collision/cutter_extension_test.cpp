#include "collision/fitting/cutter_extension.h"

#include <cmath>

#include <catch2/catch.hpp>

#include "tests/support/close.h"
#include "tests/support/fitted_shapes.h"

namespace abut::test {
namespace {

constexpr double k_inner = 0.3;

Primitive cylinder(double radius, double bottom, double top) {
  Primitive primitive;
  primitive.kind = PrimitiveKind::cone;
  primitive.parameters = {radius, radius, 0.5 * (top - bottom), 0.005, 0.0};
  primitive.X_BP.p.z() = 0.5 * (top + bottom);
  return primitive;
}

Primitive cut(Primitive primitive) {
  primitive.operation = PrimitiveOperation::subtract;
  return primitive;
}

/// A cylinder of height 1 about the origin, less another one.
Shape hollowed(double bottom, double top) {
  return {{cylinder(0.4, -0.5, 0.5), cut(cylinder(k_inner, bottom, top))}, 0.005};
}

double bottom_of(const Primitive& p) { return p.X_BP.p.z() - p.parameters[2]; }
double top_of(const Primitive& p) { return p.X_BP.p.z() + p.parameters[2]; }

TEST_CASE("extend_cutters: a mug is open to what is as wide as it, and its bottom stays",
          "[collision][value]") {
  const Shape mug = hollowed(-0.4, 0.52);                      // ends too near the rim for ShapeSdf to go on
  const DistanceGrid grid = grid_of(hollowed(-0.4, 5.0), 64);  // the distances of its surface
  const Vec3<double> in_mouth(0, 0, 0.51);
  REQUIRE(ShapeSdf(mug).distance<double>(in_mouth) < 0.15 * k_inner);  // that of the full cylinder's top
  Shape open = mug;
  CHECK(extend_cutters(open, grid) == 1);
  CHECK(close(bottom_of(open.primitives[1]), -0.4, 1e-12, 0.0));
  CHECK(top_of(open.primitives[1]) > 0.5 + 3.0 * k_inner);
  CHECK(ShapeSdf(open).distance<double>(in_mouth) > 0.95 * k_inner);
  for (const double z : {-0.38, 0.0, 0.48}) {
    const Vec3<double> p(0.1, 0.2, z);
    CHECK(close(ShapeSdf(open).distance<double>(p), ShapeSdf(mug).distance<double>(p), 0.0,
                z > 0.4 ? 0.1 : 1e-3));
  }
  Shape again = mug;
  (void)extend_cutters(again, grid, {.threads = 2});
  CHECK(again.primitives[1].parameters == open.primitives[1].parameters);
}

TEST_CASE("extend_cutters: both ends of a hole move out, and those of a closed cavity do not",
          "[collision][value]") {
  Shape tube = hollowed(-0.52, 0.52);
  CHECK(extend_cutters(tube, grid_of(hollowed(-5.0, 5.0), 64)) == 2);
  CHECK(bottom_of(tube.primitives[1]) < -1.0);
  CHECK(top_of(tube.primitives[1]) > 1.0);

  const Shape closed = hollowed(-0.4, 0.4);
  Shape same = closed;
  CHECK(extend_cutters(same, grid_of(closed, 64)) == 0);
  CHECK(same.primitives[1].parameters == closed.primitives[1].parameters);
}

TEST_CASE("extend_cutters: what spans an opening is not cut", "[collision][value]") {
  Shape basket = hollowed(-0.4, 0.55);
  Primitive handle = cylinder(0.04, -0.4, 0.4);  // across the mouth, above it
  handle.X_BP = {Quat<double>(Eigen::AngleAxisd(0.5 * std::acos(-1.0), Vec3<double>::UnitX())), {0, 0, 0.8}};
  basket.primitives.insert(basket.primitives.begin() + 1, handle);
  const DistanceGrid grid = grid_of(basket, 80);
  (void)extend_cutters(basket, grid);
  CHECK(top_of(basket.primitives[2]) < 0.8);
  CHECK(ShapeSdf(basket).distance<double>({0, 0, 0.8}) < -0.03);
}

TEST_CASE("extend_cutters: nothing to do without cutters", "[collision][value]") {
  Shape full{{cylinder(0.4, -0.5, 0.5)}, 0.005};
  CHECK(extend_cutters(full, grid_of(full, 24)) == 0);
}

}  // namespace
}  // namespace abut::test
