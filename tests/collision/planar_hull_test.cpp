#include "collision/convex/planar_hull.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

#include "engine/random.h"

namespace abut {
namespace {

using PlanarPoints = std::vector<Vec2<double>>;

double left_turn(const Vec2<double>& a, const Vec2<double>& b, const Vec2<double>& c) {
  return (b - a).x() * (c - a).y() - (b - a).y() * (c - a).x();
}

TEST_CASE("planar_hull: no point is outside, and every corner turns to the left", "[collision][property]") {
  for (int trial = 0; trial < 300; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    PlanarPoints points;
    for (int i = 0; i < 30; ++i) {
      points.emplace_back(random.uniform(-1, 1), random.uniform(-1, 1));
      if (trial % 3 == 1)
        points.back() = {std::round(3 * points.back().x()), std::round(3 * points.back().y())};
      if (trial % 3 == 2) points.push_back(points[random.integer(points.size())]);  // twice
    }
    const std::vector<int> hull = planar_hull(points, 1e-9);
    CAPTURE(trial);
    REQUIRE(hull.size() >= 3);
    for (std::size_t i = 0; i < hull.size(); ++i) {
      const auto& a = points[at(hull[i])];
      const auto& b = points[at(hull[(i + 1) % hull.size()])];
      const auto& c = points[at(hull[(i + 2) % hull.size()])];
      CHECK(left_turn(a, b, c) > 1e-9 * (c - a).norm());
      for (const Vec2<double>& p : points) CHECK(left_turn(a, b, p) > -1e-8);
    }
  }
}

TEST_CASE("planar_hull: of few points, of a line, of equal points", "[collision][value]") {
  CHECK(planar_hull(PlanarPoints{}, 1e-9).empty());
  CHECK(planar_hull(PlanarPoints{{1, 2}}, 1e-9) == std::vector<int>{0});
  CHECK(planar_hull(PlanarPoints{{1, 2}, {1, 2}, {1, 2}}, 1e-9).size() == 1);
  CHECK(planar_hull(PlanarPoints{{3, 0}, {1, 0}}, 1e-9) == std::vector<int>{1, 0});
  CHECK(planar_hull(PlanarPoints{{3, 3}, {1, 1}, {2, 2}, {5, 5}, {1, 1}}, 1e-9) == std::vector<int>{1, 3});
  // A corner within the tolerance of a side, and points that are equal but for rounding.
  CHECK(planar_hull(PlanarPoints{{0, 0}, {1, -1e-12}, {2, 0}, {2, 1e-16}, {1, 1}}, 1e-9).size() == 3);
  CHECK(planar_hull(PlanarPoints{{0, 0}, {1, -1e-6}, {2, 0}, {1, 1}}, 1e-9).size() == 4);
}

}  // namespace
}  // namespace abut
