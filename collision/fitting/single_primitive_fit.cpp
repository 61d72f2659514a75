#include "collision/fitting/single_primitive_fit.h"

#include <cmath>
#include <vector>

#include "collision/fitting/surface_samples.h"
#include "engine/convex_hull.h"
#include "engine/mesh_shapes.h"
#include "engine/primitive_builder.h"

namespace abut {
namespace {

constexpr double k_same_normal = 1e-8;  // 1 - cos of an angle of 1.4e-4 rad

/// Of unit vectors as many as may be, each the one farthest off those before; fewer if no others are left.
Points spread_out(const Points& normals, std::size_t most) {
  std::vector<Eigen::Index> chosen{0};
  Eigen::VectorXd off = 1.0 - (normals.col(0).transpose() * normals).transpose().array();  // 1 - cos
  while (chosen.size() < most) {
    Eigen::Index farthest = 0;
    if (!(off.maxCoeff(&farthest) > k_same_normal)) break;
    chosen.push_back(farthest);
    off = off.cwiseMin(
        Eigen::VectorXd(1.0 - (normals.col(farthest).transpose() * normals).transpose().array()));
  }
  return normals(Eigen::all, chosen);
}

}  // namespace

Points extreme_points(const Points& points, int most, int subdivisions) {
  if (points.cols() <= most) return points;
  const Points directions = sphere_mesh(1.0, subdivisions).vertices;
  std::vector<bool> is_extreme(static_cast<std::size_t>(points.cols()), false);
  for (Eigen::Index d = 0; d < directions.cols(); ++d) {
    Eigen::Index farthest = 0;
    (directions.col(d).transpose() * points).maxCoeff(&farthest);
    is_extreme[static_cast<std::size_t>(farthest)] = true;
  }
  std::vector<Eigen::Index> chosen;
  for (std::size_t i = 0; i < is_extreme.size(); ++i) {
    if (is_extreme[i]) chosen.push_back(static_cast<Eigen::Index>(i));
  }
  return points(Eigen::all, chosen);
}

Shape hull_shape(const TriangleMesh& mesh, std::size_t max_planes) {
  const ConvexHull hull = convex_hull(extreme_points(mesh.vertices));
  const Points normals = spread_out(hull.normals, max_planes);
  const Vec3<double> centre = hull.vertices.rowwise().mean();
  std::vector<double> offsets;
  for (Eigen::Index i = 0; i < normals.cols(); ++i) {
    offsets.push_back((normals.col(i).transpose() * mesh.vertices).maxCoeff() - normals.col(i).dot(centre));
  }
  Shape shape;
  shape.primitives = {make_convex_polyhedron(normals, offsets)};
  shape.primitives[0].X_BP.p = centre;
  return shape;
}

Shape point_cloud_shape(const TriangleMesh& mesh, std::size_t points) {
  const SurfaceSamples samples = surface_samples(mesh, points);
  Shape shape;
  shape.primitives = {make_oriented_point_cloud(samples.points, samples.normals)};
  return shape;
}

}  // namespace abut
