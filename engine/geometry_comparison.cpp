#include "engine/geometry_comparison.h"

#include <algorithm>

namespace abut {
namespace {

bool are_equal(const Points& a, const Points& b) { return a.cols() == b.cols() && a == b; }

bool are_equal(const Pose<double>& a, const Pose<double>& b) {
  return a.p == b.p && a.q.coeffs() == b.q.coeffs();
}

bool are_equal(const Primitive& a, const Primitive& b) {
  return a.kind == b.kind && a.operation == b.operation && a.parameters == b.parameters &&
         are_equal(a.X_BP, b.X_BP) && a.values == b.values && are_equal(a.directions, b.directions);
}

bool are_equal(const Shape& a, const Shape& b) {
  return a.union_smoothing == b.union_smoothing && a.distance_mode == b.distance_mode &&
         std::equal(a.primitives.begin(), a.primitives.end(), b.primitives.begin(), b.primitives.end(),
                    [](const Primitive& x, const Primitive& y) { return are_equal(x, y); });
}

}  // namespace

bool have_same_geometry(const Body& a, const Body& b) {
  return a.size == b.size && a.contact_radius == b.contact_radius &&
         a.selected_vertices == b.selected_vertices && a.selected_edges == b.selected_edges &&
         are_equal(a.shape, b.shape) && are_equal(a.contact_points, b.contact_points) &&
         a.contact_areas == b.contact_areas && a.flat_faces == b.flat_faces &&
         are_equal(a.contact_area_vectors, b.contact_area_vectors) &&
         are_equal(a.mesh.vertices, b.mesh.vertices) && a.mesh.triangles == b.mesh.triangles;
}

}  // namespace abut
