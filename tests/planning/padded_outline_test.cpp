#include "apps/planning/padded_outline.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "engine/random.h"
#include "tests/support/cases.h"

namespace abut::test {
namespace {

using Catch::Contains;
using Corners = std::vector<Vec2<double>>;

Corners random_polygon(Random& random, int count) {
  Corners corners;
  for (int i = 0; i < count; ++i) {
    const double angle = 2.0 * std::numbers::pi * (i + 0.8 * random.uniform()) / count;
    corners.emplace_back(3.0 * std::cos(angle), std::sin(angle));
  }
  return corners;
}

PaddedOutline random_outline(Random& random, int count) {
  if (count == 1) return {{random_vector<2>(random, 2.0)}, 0.5};
  if (count == 2) return {{random_vector<2>(random, 2.0), random_vector<2>(random, 2.0)}, 0.5};
  return moved(polygon_outline(random_polygon(random, count), 0.5), random_vector<2>(random, 2.0),
               random.uniform(-3.0, 3.0));
}

}  // namespace

TEST_CASE("polygon_outline: takes convex polygons in either order, and puts them anticlockwise",
          "[planning]") {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    Corners corners = random_polygon(random, 3 + trial % 6);
    if (trial % 2 == 1) std::reverse(corners.begin(), corners.end());
    CAPTURE(trial);
    REQUIRE(polygon_fault(corners) == "");
    const PaddedOutline outline = polygon_outline(corners, 0.1);
    REQUIRE(outline.corners.size() == corners.size());
    double area = 0.0;
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const Vec2<double>&a = outline.corners[i], &b = outline.corners[(i + 1) % corners.size()];
      area += 0.5 * (a.x() * b.y() - a.y() * b.x());
    }
    CHECK(area > 0.0);
  }
  const Corners with_flat_corner{{0, 0}, {1, 0}, {2, 0}, {2, 1}, {0, 1}};
  CHECK(polygon_fault(with_flat_corner) == "");
  CHECK(polygon_outline(with_flat_corner, 0.1).corners.size() == 4);
}

TEST_CASE("polygon_fault: names what keeps corners from being a convex polygon", "[planning]") {
  CHECK(polygon_fault(Corners{{0, 0}, {1, 0}}) == "it has 2 corners");
  CHECK(polygon_fault(Corners(9, Vec2<double>(0, 0))) == "it has 9 corners");
  CHECK(polygon_fault(Corners{{0, 0}, {1, 1}, {2, 2}}) == "its corners lie on a line");
  CHECK(polygon_fault(Corners{{0, 0}, {1, 0}, {2, 1e-9}, {3, 0}}) == "its corners lie on a line");
  CHECK(polygon_fault(Corners{{0, 0}, {0, 0}, {1, 0}, {0, 1}}) == "corners 1 and 2 coincide");
  CHECK(polygon_fault(Corners{{0, 0}, {1, 0}, {0, 1}, {0, 0}}) == "corners 4 and 1 coincide");
  CHECK(polygon_fault(Corners{{0, 0}, {2, 0}, {1, 0.5}, {1, 2}}) == "it is not convex at corner 3");
  CHECK_THAT(polygon_fault(Corners{{0, 0}, {1, 1}, {1, 0}, {0, 1}}), Contains("not convex"));  // a bow tie
  CHECK_THAT(polygon_fault(Corners{{0, 0}, {2, 0}, {1, 0}, {0, 1}}),
             Contains("not convex"));  // there and back
  CHECK(polygon_fault(Corners{{0, 0}, {std::nan(""), 0}, {0, 1}}) == "corner 2 is not finite");
  Corners star;
  for (int i = 0; i < 5; ++i)
    star.emplace_back(std::cos(0.8 * std::numbers::pi * i), std::sin(0.8 * std::numbers::pi * i));
  CHECK(polygon_fault(star) == "its edges cross each other");
  CHECK_THROWS_WITH(polygon_outline(Corners{{0, 0}, {1, 0}}, 0.1), Contains("3 to 8 corners"));
}

TEST_CASE("core_separation: is the least translation that parts cores that overlap", "[planning][property]") {
  Random random(2);
  int overlaps = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const PaddedOutline A = random_outline(random, 1 + trial % 6),
                        B = random_outline(random, 1 + trial / 6 % 6);
    const CoreSeparation at = core_separation(A, B);
    CAPTURE(trial, at.gap, at.normal.transpose());
    REQUIRE(std::abs(at.normal.norm() - 1.0) < 1e-12);
    const auto gap_after = [&](const Vec2<double>& shift) {
      return core_separation(A, moved(B, shift, 0.0)).gap;
    };
    CHECK(std::abs(core_separation(B, A).gap - at.gap) < 1e-12);
    if (at.gap >= 0.0) continue;
    ++overlaps;
    CHECK(std::abs(gap_after(-at.gap * at.normal)) < 1e-12);
    const double angle = random.uniform(-3.0, 3.0);
    CHECK(gap_after(-0.999 * at.gap * Vec2<double>(std::cos(angle), std::sin(angle))) < 0.0);
  }
  CHECK(overlaps > 300);
}

}  // namespace abut::test
