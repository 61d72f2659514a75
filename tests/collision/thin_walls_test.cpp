#include <cmath>

#include <catch2/catch.hpp>

#include "collision/fitting/fit_mesh.h"
#include "collision/fitting/fit_quality.h"
#include "collision/fitting/make_body.h"
#include "tests/support/thin_walls.h"

namespace abut::test {
namespace {

MeshFitOptions convex_options() {
  MeshFitOptions options;
  options.method = FitMethod::convex;
  options.max_primitives = 6;
  return options;
}

TEST_CASE("fit_mesh: thin walls survive without a resolution being asked for", "[collision][value][suite]") {
  const FittedMesh fitted = fit_mesh(thin_box({0.1, 0.07, 0.05}, 0.0024), convex_options());
  MeshedBodyOptions options;
  options.union_smoothing = fitted.shape.union_smoothing;
  options.resolution = fitted.resolution.cubes();
  options.mesh.rounds = 1;
  const FitQuality q = fit_quality(make_meshed_body(fitted.shape, options), fitted.repaired, fitted.grid);
  CAPTURE(fitted.resolution.spacings, q.iou, q.volume_error);
  CHECK(fitted.resolution.spacings > 80);
  CHECK(fitted.shape.primitives.size() == 5);
  CHECK(q.occupancy_iou >= 0.97);
  CHECK(std::abs(q.volume_error) <= 0.02);
  CHECK(q.lost_parts.share == 0.0);
  CHECK(q.filled_gaps.share == 0.0);
}

TEST_CASE("fit_mesh: a resolution that is asked for is taken, whatever the walls", "[collision][value]") {
  MeshFitOptions options = convex_options();
  options.resolution = 60;
  const FittedMesh fitted = fit_mesh(thin_box({0.1, 0.07, 0.05}, 0.0035), options);
  CHECK(fitted.resolution.spacings == 60);
  CHECK(fitted.grid.points().x() == 76);
  CHECK(fitted.resolution.width == 0.0);
}

}  // namespace
}  // namespace abut::test
