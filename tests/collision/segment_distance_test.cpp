#include "collision/segment_distance.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>

#include "engine/pack.h"
#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"

namespace abut {
namespace {

using test::close;

TEST_CASE("segment_distance: never above any pair of points, and reached", "[collision][property]") {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    Vec3<double> a = test::random_vector(random), b = test::random_vector(random),
                 c = test::random_vector(random), d = test::random_vector(random);
    const auto kind = random.integer(7);
    if (kind == 1) d = c + random.uniform(-2.0, 2.0) * (b - a);  // parallel
    if (kind == 2) b = a;                                        // a point
    if (kind == 3) d = c, b = a;
    if (kind == 4) c = a + 0.3 * (b - a), d = 2.0 * c - d;  // touching
    if (kind == 5) {                                        // near-parallel, side by side
      const double angle = std::abs(test::random_magnitude(random, -17.0, -2.0));
      c = a + 0.3 * random.unit_vector();
      d = c + (b - a) + angle * test::random_vector(random);
    }
    CAPTURE(seed, kind);
    const SegmentDistance<double> found = segment_distance(a, b, c, d);
    const Vec3<double> p = a + found.parameter_A * (b - a), q = c + found.parameter_B * (d - c);
    REQUIRE(found.parameter_A >= 0.0);
    REQUIRE(found.parameter_A <= 1.0);
    REQUIRE(found.parameter_B >= 0.0);
    REQUIRE(found.parameter_B <= 1.0);
    REQUIRE(close(found.squared_distance, (p - q).squaredNorm(), 1e-12, 1e-15));
    for (int i = 0; i <= 20; ++i) {
      for (int k = 0; k <= 20; ++k) {
        const double squared = (a + i / 20.0 * (b - a) - c - k / 20.0 * (d - c)).squaredNorm();
        REQUIRE(found.squared_distance <= squared + 1e-12);
      }
    }
  }
}

TEST_CASE("segment_distance: of parallel segments it is the middle of what is closest",
          "[collision][value]") {
  const Vec3<double> start_A(0, 0, 0), end_A(4, 0, 0);
  const auto at = [&](double from, double to) {
    return segment_distance<double>(start_A, end_A, {from, 3, 0}, {to, 3, 0});
  };
  CHECK(at(2, 8).squared_distance == 9.0);
  CHECK(at(2, 8).parameter_A == 0.75);
  CHECK(close(at(2, 8).parameter_B, 1.0 / 6.0, 1e-15, 0));
  CHECK(close(at(8, 2).parameter_B, 5.0 / 6.0, 1e-15, 0));
  CHECK(at(1, 2).parameter_A == 0.375);
  CHECK(at(1, 2).parameter_B == 0.5);
  CHECK(at(7, 9).squared_distance == 18.0);
  CHECK(at(7, 9).parameter_A == 1.0);
  CHECK(at(7, 9).parameter_B == 0.0);
}

TEST_CASE("segment_distance: a pack equals its lanes bit for bit", "[collision][batch]") {
  using P = Pack<double, 4>;
  Random random(2);
  for (int i = 0; i < 500; ++i) {
    Vec3<double> points[4][4];
    Vec3<P> packs[4];
    for (int lane = 0; lane < 4; ++lane) {
      for (auto& end : points) end[lane] = test::random_vector(random);
      if (i % 3 == 0 && lane == 1) points[3][lane] = points[2][lane] + points[1][lane] - points[0][lane];
      if (i % 5 == 0 && lane == 2) points[1][lane] = points[0][lane];
      for (int end = 0; end < 4; ++end) {
        for (int k = 0; k < 3; ++k) packs[end][k].set_lane(lane, points[end][lane][k]);
      }
    }
    const SegmentDistance<P> all = segment_distance(packs[0], packs[1], packs[2], packs[3]);
    for (int lane = 0; lane < 4; ++lane) {
      const SegmentDistance<double> one =
          segment_distance(points[0][lane], points[1][lane], points[2][lane], points[3][lane]);
      CAPTURE(i, lane);
      CHECK(all.squared_distance[lane] == one.squared_distance);
      CHECK(all.parameter_A[lane] == one.parameter_A);
      CHECK(all.parameter_B[lane] == one.parameter_B);
    }
  }
}

}  // namespace
}  // namespace abut
