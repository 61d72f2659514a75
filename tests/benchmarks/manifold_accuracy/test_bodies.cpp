#include "test_bodies.h"

#include <algorithm>
#include <limits>

#include "collision/fitting/triangle_geometry.h"
#include "engine/body_io.h"
#include "engine/random.h"

namespace abut::accuracy {

Body unit_size_asset(const std::string& name) {
  Body body = read_body(std::string(ABUT_SOURCE_DIR "/assets/bodies/") + name);
  const double scale = 1.0 / body.size;
  for (Primitive& primitive : body.shape.primitives) {
    for (std::size_t i = 0; i < parameter_count(primitive); ++i) {
      if (is_length(primitive.kind, i)) shape_parameter(primitive, primitive.kind, i) *= scale;
    }
    primitive.X_BP.p *= scale;
  }
  body.shape.union_smoothing *= scale;
  body.mesh.vertices *= scale;
  body.contact_points *= scale;
  for (double& area : body.contact_areas) area *= scale * scale;
  body.contact_area_vectors *= scale * scale;
  body.contact_radius *= scale;
  body.inradius *= scale;
  body.size = 1.0;
  return body;
}

Surface::Surface(const TriangleMesh& mesh) {
  double total = 0.0;
  for (const Eigen::Vector3i& t : mesh.triangles) {
    Triangle triangle{mesh.vertices.col(t[0]), mesh.vertices.col(t[1]), mesh.vertices.col(t[2]), {}, 0.0};
    const Vec3<double> doubled = (triangle.b - triangle.a).cross(triangle.c - triangle.a);
    triangle.normal = doubled.normalized();
    triangle.area_so_far = total += 0.5 * doubled.norm();
    triangles_.push_back(triangle);
  }
}

Surface::Place Surface::random_place(Random& random) const {
  const double area = random.uniform(0.0, triangles_.back().area_so_far);
  const auto found =
      std::lower_bound(triangles_.begin(), triangles_.end() - 1, area,
                       [](const Triangle& triangle, double wanted) { return triangle.area_so_far < wanted; });
  double u = random.uniform(), v = random.uniform();
  if (u + v > 1.0) {
    u = 1.0 - u;
    v = 1.0 - v;
  }
  return {found->a + u * (found->b - found->a) + v * (found->c - found->a), found->normal};
}

Vec3<double> Surface::offset_of(const Vec3<double>& x) const {
  Vec3<double> nearest = Vec3<double>::Constant(std::numeric_limits<double>::infinity());
  double least = std::numeric_limits<double>::infinity();
  for (const Triangle& triangle : triangles_) {
    const Vec3<double> offset = offset_from_triangle(x, triangle.a, triangle.b, triangle.c);
    if (!(offset.squaredNorm() < least)) continue;
    least = offset.squaredNorm();
    nearest = offset;
  }
  return nearest;
}

}  // namespace abut::accuracy
