#include "collision/fitting/single_primitive_fit.h"

#include "collision/fitting/fit_quality.h"
#include "engine/convex_hull.h"
#include "engine/primitive_builder.h"

namespace abut {

Shape hull_shape(const TriangleMesh& mesh, std::size_t max_planes) {
  constexpr double k_least_angle = 1e-4, k_most_angle = 0.5;  // within which facets are merged [rad]
  const Points corners = convex_hull(mesh.vertices, k_least_angle).vertices;
  Shape shape;
  double angle = k_least_angle;
  do {
    shape.primitives = {make_convex_hull_polyhedron(corners, {}, angle)};
    angle *= 1.5;
  } while (shape.primitives[0].values.size() > max_planes && angle < k_most_angle);
  return shape;
}

Shape point_cloud_shape(const TriangleMesh& mesh, std::size_t points) {
  const SurfaceSamples samples = surface_samples(mesh, points);
  Shape shape;
  shape.primitives = {make_oriented_point_cloud(samples.points, samples.normals)};
  return shape;
}

}  // namespace abut
