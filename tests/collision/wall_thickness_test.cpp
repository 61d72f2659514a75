#include "collision/fitting/wall_thickness.h"

#include <catch2/catch.hpp>

#include "collision/fitting/fit_mesh.h"
#include "collision/fitting/fit_quality.h"
#include "collision/fitting/make_body.h"
#include "engine/mesh_shapes.h"
#include "tests/support/close.h"
#include "tests/support/meshes.h"
#include "tests/support/revolved_mesh.h"
#include "tests/support/solids.h"
#include "tests/support/thin_walls.h"

namespace abut::test {
namespace {

GridResolution resolution_of(const TriangleMesh& mesh) { return resolution_for(repair_mesh(mesh)); }

TEST_CASE("wall_thickness: rays inwards end at the opposite wall, rays outwards across the gap",
          "[collision][value]") {
  const RepairedMesh mesh = repair_mesh(thin_box({0.1, 0.07, 0.05}, 0.01));
  const Vec3<double> outside(0.1, 0.001, 0.002), inside(-0.09, 0.001, 0.002), x = Vec3<double>::UnitX();
  const OppositeSide wall = opposite_side(mesh, outside, -x);
  CHECK(close(wall.distance, 0.01, 1e-5, 0));
  REQUIRE(wall.triangle >= 0);
  const Eigen::Vector3i& t = mesh.surface().triangles[at(wall.triangle)];
  for (int i = 0; i < 3; ++i) CHECK(close(mesh.surface().vertices(0, t[i]), 0.09, 1e-12, 0));
  CHECK(opposite_side(mesh, outside, x).triangle < 0);
  CHECK(opposite_side(mesh, outside, x).distance == k_infinity);
  CHECK(close(opposite_side(mesh, inside, x).distance, 0.18, 1e-5, 0));
}

TEST_CASE("wall_thickness: thin walls and gaps have a finer grid, one and a half spacings across",
          "[collision][value]") {
  for (const double part : {0.012, 0.015}) {
    CAPTURE(part);
    for (const TriangleMesh& mesh :
         {thin_bowl(0.1, 0.2 * part), thin_mug(0.04, 0.05, 0.1 * part), thin_tube(0.05, 0.1, 0.2 * part),
          thin_box({0.1, 0.07, 0.05}, 0.2 * part)}) {
      const GridResolution resolution = resolution_of(mesh);
      const double size = largest_extent(mesh);
      CHECK(close(1.0 * resolution.spacings, 1.5 / part, 0.01, 0));
      CHECK(close(resolution.width, part * size, 1e-2, 0));
      CHECK_FALSE(resolution.is_for_gaps);
    }
  }
  const GridResolution gap = resolution_of(joined(translated(box_mesh({0.1, 0.1, 0.1}, 1), {-0.103, 0, 0}),
                                                  translated(box_mesh({0.1, 0.1, 0.1}, 1), {0.103, 0, 0})));
  CHECK(gap.is_for_gaps);
  CHECK(close(gap.width, 0.006, 1e-4, 0));
}

TEST_CASE(
    "wall_thickness: thick solids keep the usual grid, sharp edges and all, as do walls beyond any grid",
    "[collision][value]") {
  for (const TriangleMesh& mesh :
       {box_mesh({0.1, 0.08, 0.02}, 1), cone_mesh(0.3, 0.0, 0.5, 64), cone_mesh(0.5, 0.0, 0.1, 64),
        cone_mesh(0.3, 0.3, 0.5, 64), torus_mesh(0.5, 0.1, 64, 24), mesh_of(bowl), mesh_of(mug),
        thin_bowl(0.1, 0.2 * 0.005), box_mesh({0.1, 0.1, 0.0005}, 1)}) {
    const GridResolution resolution = resolution_of(mesh);
    CHECK(resolution.spacings == 80);
    CHECK(resolution.cubes() == MeshedBodyOptions().resolution);
    CHECK(resolution.width == 0.0);
  }
}

}  // namespace
}  // namespace abut::test
