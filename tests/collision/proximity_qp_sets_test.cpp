#include "collision/convex/proximity_qp_sets.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/pose.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/proximity_cases.h"

namespace abut {
namespace {

using test::close;
using test::PolygonCorners;

TEST_CASE("polygon_core: every corner lies on two constraints and within all others",
          "[collision][property]") {
  for (int trial = 0; trial < 500; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    const int count = 3 + int(random.integer(6));
    PolygonCorners corners = test::random_corners(random, count);
    if (trial % 3 == 1) corners = test::rectangle(1.0, std::pow(10.0, random.uniform(-5.0, 5.0)));  // narrow
    corners = test::moved(test::random_pose(random, 10.0), corners);
    const CoreConstraints core = polygon_core(corners);
    CAPTURE(trial);
    CHECK(core.normals.cols() == static_cast<Eigen::Index>(corners.size()));
    CHECK(close(Mat2<double>(core.axes.leftCols<2>().transpose() * core.axes.leftCols<2>()),
                Mat2<double>::Identity(), 0, 1e-14));
    double size = 0.0;
    for (const Vec3<double>& x : corners) {
      const Vec2<double> y = core.axes.leftCols<2>().transpose() * (x - core.centre);
      CHECK((core.centre + core.axes.leftCols<2>() * y - x).norm() < 1e-13 * (core.size + 10.0));
      int on = 0;
      for (Eigen::Index i = 0; i < core.normals.cols(); ++i) {
        const double side = core.normals.col(i).head<2>().dot(y);
        CHECK(side < 1.0 + 1e-8);
        on += side > 1.0 - 1e-8;
      }
      CHECK(on == 2);
      size = std::max(size, y.norm());
    }
    CHECK(close(core.size, size, 1e-12, 0));
  }
}

TEST_CASE("placed: points of a core move with the frame", "[collision][property]") {
  Random random(1);
  const auto core_B = padded<2, 8>(polygon_core(test::random_corners(random, 5)), 0.2);
  const Pose<double> X_WB = test::random_pose(random);
  const auto core_W = placed<double>(core_B, X_WB.rotation(), X_WB.p);
  const double y[2] = {0.3, -0.1};
  CHECK(close(core_W.point(y), X_WB * core_B.point(y), 0, 1e-15));
  CHECK(core_W.padding == 0.2);
  CHECK(core_W.size == core_B.size);
  CHECK(core_W.normals[7][1] == 0.0);  // room for three more constraints
}

TEST_CASE("polygon_core, segment_core, polytope_core, padded: what makes no set is refused",
          "[collision][value]") {
  const Vec3<double> x(1, 0, 0), y(0, 1, 0), z(0, 0, 1), far(k_infinity, 0, 0);
  const auto refusal = [](const auto& make) {
    try {
      (void)make();
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  const auto polygon = [&](const PolygonCorners& corners) {
    return refusal([&] { return polygon_core(corners); });
  };
  CHECK(polygon({x, y}) == "a polygon needs three vertices or more");
  CHECK(polygon({x, 2 * x, 5 * x}) == "the vertices of a polygon must not lie on a line");
  CHECK(polygon({x + y, 2 * x + 3 * y, 3 * x + 5 * y, 4 * x + 7 * y}) ==
        "the vertices of a polygon must not lie on a line");
  CHECK(polygon({x, x, x}) == "the vertices of a polygon must not lie on a line");
  CHECK(polygon({x, y, -x, Vec3<double>(1e-7 * z - y)}) == "the vertices of a polygon must lie in a plane");
  CHECK(polygon({x, y, far}) == "the vertices of a polygon must be finite");
  CHECK(polygon({x, y, z}) == "none");
  CHECK(refusal([&] { return segment_core(x, x); }) == "the ends of a segment must differ");
  CHECK(refusal([&] { return segment_core(x, far); }) == "the ends of a segment must be finite");
  const CoreConstraints hexagon = polygon_core(PolygonCorners{2 * x, x + y, y - x, -2 * x, -x - y, x - y});
  CHECK(hexagon.normals.cols() == 6);
  CHECK(refusal([&] { return padded<2, 5>(hexagon, 0.1); }) ==
        "a core has 6 constraints, at most 5 are possible here");
  CHECK(refusal([&] { return padded<3, 8>(hexagon, 0.1); }) == "a core of dimension 2, expected 3");
  CHECK(refusal([&] { return padded<2, 8>(hexagon, -0.1); }) == "padding must be finite and not negative");
  Points flat = Points::Zero(3, 4);
  flat << 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0;
  CHECK(refusal([&] { return polytope_core(flat); }) != "none");
  const std::vector<double> offset{1.0};
  CHECK(refusal([&] { return polytope_core(flat, offset); }) == "a polytope needs an offset for each normal");
  // PolygonCorners inside of the hull, on its sides and twice are left out.
  CHECK(polygon_core(PolygonCorners{2 * x, x + y, y - x, -2 * x, -x - y, x - y, 0.1 * x, y, x + y})
            .normals.cols() == 6);
}

}  // namespace
}  // namespace abut
