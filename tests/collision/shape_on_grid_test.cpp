#include "collision/fitting/shape_on_grid.h"

#include <cmath>

#include <catch2/catch.hpp>

#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/fitted_shapes.h"

namespace abut::test {
namespace {

Shape shape_of_ellipsoids(std::uint64_t seed) {
  Random random(seed);
  Shape shape;
  shape.union_smoothing = 0.01;
  for (int i = 0; i < 4; ++i) {
    Primitive primitive;
    primitive.parameters = {0.3, 0.2, 0.1, random.uniform(0.1, 1.5), random.uniform(0.1, 1.5)};
    primitive.X_BP = {random.quaternion(), random_vector(random, 0.5)};
    shape.primitives.push_back(primitive);
  }
  return shape;
}

TEST_CASE(
    "distances_on_grid: are those of the SDF near the solid, infinite only further than the band, for "
    "any number of threads",
    "[collision][value][determinism]") {
  const int seed = GENERATE(1, 2, 3);
  CAPTURE(seed);
  const ShapeSdf sdf(shape_of_ellipsoids(static_cast<std::uint64_t>(seed)));
  const DistanceGrid grid = filled(padded_grid(sdf.bounds(), 24, 0.5),
                                   [&](const Vec3<double>& x) { return sdf.distance<double>(x); });
  constexpr double k_band = 0.05;
  const std::vector<double> distances = distances_on_grid(sdf, grid, k_band, 1);
  REQUIRE(distances.size() == grid.values.size());
  int infinite = 0;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    const double d = grid.values[i], given = distances[i];
    if (std::isinf(given)) {
      ++infinite;
      REQUIRE(d > k_band);
    } else {
      REQUIRE(close(given, d, 1e-12, 1e-15));
    }
  }
  CHECK(infinite > 1000);  // not vacuous
  CHECK(distances == distances_on_grid(sdf, grid, k_band, 3));
}

TEST_CASE(
    "volumetric_iou, occupancy_iou: of two balls of the same centre they are the ratio of their volumes; the "
    "latter also where they differ by less than a spacing",
    "[collision][value]") {
  Shape ball;
  ball.union_smoothing = 1e-6;
  ball.primitives.emplace_back();
  ball.primitives[0].parameters = {0.4, 0.4, 0.4, 1.0, 1.0};
  const DistanceGrid grid =
      filled(padded_grid({Vec3<double>::Constant(-0.5), Vec3<double>::Constant(0.5)}, 61, 0.9),
             [](const Vec3<double>& x) { return x.norm() - 0.5; });
  CHECK(close(volumetric_iou(grid, ShapeSdf(ball)), 0.512, 0.02, 0.0));
  const double h = grid.grid.cell_size;
  const auto distances = [&](double radius) {
    ball.primitives[0].parameters = {radius, radius, radius, 1.0, 1.0};
    return distances_on_grid(ShapeSdf(ball), grid, h);
  };
  CHECK(close(occupancy_iou(grid, distances(0.4)), 0.512, 0.005, 0.0));
  CHECK(close(occupancy_iou(grid, distances(0.5 - 0.02 * h)), 1.0 - 3.0 * 0.02 * h / 0.5, 0.0, 2e-4));
}

}  // namespace
}  // namespace abut::test
