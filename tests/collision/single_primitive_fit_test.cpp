#include "collision/fitting/single_primitive_fit.h"

#include <catch2/catch.hpp>

#include <cmath>

#include "collision/fitting/fit_mesh.h"
#include "collision/fitting/shape_on_grid.h"
#include "collision/sdf/shape_sdf.h"
#include "engine/mesh_shapes.h"

namespace abut {
namespace {

MeshFitOptions coarse(FitMethod method) {
  MeshFitOptions options;
  options.method = method;
  options.resolution = 40;
  return options;
}

double iou_of(const FittedMesh& fitted) {
  const DistanceGrid& grid = fitted.grid;
  return occupancy_iou(grid, distances_on_grid(ShapeSdf(fitted.shape), grid, grid.grid.cell_size));
}

TriangleMesh ellipsoid_mesh() {
  TriangleMesh mesh = sphere_mesh(0.1, 4);
  mesh.vertices.row(0) *= 2.0;
  mesh.vertices.row(2) *= 0.7;
  return mesh;
}

TEST_CASE("hull_shape: is the box of a box, and holds every vertex of what is round", "[collision][value]") {
  const Shape box = hull_shape(box_mesh({0.15, 0.1, 0.05}, 5));
  CHECK(box.primitives.at(0).values.size() == 6);
  const TriangleMesh round = ellipsoid_mesh();
  for (const std::size_t planes : {12u, 64u, 200u}) {
    const Shape hull = hull_shape(round, planes);
    CHECK(hull.primitives.at(0).values.size() == planes);
    const Primitive& p = hull.primitives[0];
    for (Eigen::Index v = 0; v < round.vertices.cols(); ++v) {
      const Vec3<double> x = round.vertices.col(v) - p.X_BP.p;
      for (std::size_t i = 0; i < p.values.size(); ++i)
        REQUIRE(p.directions.col(static_cast<Eigen::Index>(i)).dot(x) <= p.values[i] + 1e-12);
    }
  }
  CHECK(hull_shape(sphere_mesh(0.1, 6)).primitives.at(0).values.size() == 64);  // of 40,962 vertices
  const Shape plate = hull_shape(box_mesh({0.5, 0.5, 0.002}, 3));  // with edges that are sharp enough for it
  CHECK(ShapeSdf(plate).distance<double>({0.1, -0.2, 0.0}) < -0.0015);
  TriangleMesh flat = box_mesh({0.1, 0.1, 0.1}, 2);
  flat.vertices.row(2).setZero();
  CHECK_THROWS_AS(hull_shape(flat), std::invalid_argument);
}

TEST_CASE("fit_mesh: by itself takes a polyhedron for a box, and a superquadric for an ellipsoid",
          "[collision][value]") {
  const FittedMesh box = fit_mesh(box_mesh({0.15, 0.1, 0.05}, 1), coarse(FitMethod::automatic));
  CHECK((box.method == FitMethod::hull || box.method == FitMethod::convex));  // both find it
  REQUIRE(box.shape.primitives.size() == 1);
  CHECK(box.shape.primitives[0].kind == PrimitiveKind::convex_polyhedron);
  CHECK(box.shape.primitives[0].values.size() == 6);
  CHECK(iou_of(box) > 0.999);
  const FittedMesh ellipsoid = fit_mesh(ellipsoid_mesh(), coarse(FitMethod::automatic));
  CHECK(ellipsoid.method == FitMethod::superquadrics);
  REQUIRE(ellipsoid.shape.primitives.size() == 1);
  CHECK(ellipsoid.shape.primitives[0].kind == PrimitiveKind::superquadric);
  CHECK(iou_of(ellipsoid) > 0.98);
}

TEST_CASE("fit_mesh: a method that is asked for is taken", "[collision][value]") {
  const FittedMesh superquadrics = fit_mesh(box_mesh({0.15, 0.1, 0.05}, 1), coarse(FitMethod::superquadrics)),
                   hull = fit_mesh(ellipsoid_mesh(), coarse(FitMethod::hull)),
                   cloud = fit_mesh(ellipsoid_mesh(), coarse(FitMethod::point_cloud));
  CHECK(superquadrics.shape.primitives.at(0).kind == PrimitiveKind::superquadric);
  CHECK(hull.shape.primitives.at(0).kind == PrimitiveKind::convex_polyhedron);
  CHECK(iou_of(hull) > 0.9);
  REQUIRE(cloud.shape.primitives.at(0).kind == PrimitiveKind::oriented_point_cloud);
  CHECK(cloud.shape.primitives[0].directions.cols() == 1000);
  CHECK(iou_of(cloud) > 0.93);
}

}  // namespace
}  // namespace abut
