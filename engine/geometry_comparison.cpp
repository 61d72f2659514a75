#include "engine/geometry_comparison.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <unordered_map>

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

/// Equal for equal geometries; of others it need not tell all apart.
std::uint64_t hash_of_geometry(const Body& body) {
  std::uint64_t hash = 14695981039346656037u;
  const auto add = [&](std::uint64_t word) { hash = std::rotl((hash ^ word) * 1099511628211u, 29); };
  const auto add_number = [&](double x) { add(std::bit_cast<std::uint64_t>(x + 0.0)); };  // -0 is 0
  for (const Primitive& primitive : body.shape.primitives) {
    add(static_cast<std::uint64_t>(primitive.kind));
    for (const double x : primitive.parameters) add_number(x);
    for (const double x : primitive.values) add_number(x);
    for (const double x : primitive.X_BP.p) add_number(x);
    for (const double x : primitive.X_BP.q.coeffs()) add_number(x);
    for (const double x : primitive.directions.reshaped()) add_number(x);
  }
  for (const double x : {body.size, body.contact_radius, body.shape.union_smoothing}) add_number(x);
  for (const double x : body.contact_points.reshaped()) add_number(x);
  for (const double x : body.mesh.vertices.reshaped()) add_number(x);
  return hash;
}

}  // namespace

bool have_same_geometry(const Body& a, const Body& b) {
  return a.size == b.size && a.contact_radius == b.contact_radius &&
         a.selected_vertices == b.selected_vertices && a.selected_edges == b.selected_edges &&
         are_equal(a.shape, b.shape) && are_equal(a.contact_points, b.contact_points) &&
         a.contact_areas == b.contact_areas && a.flat_faces == b.flat_faces &&
         are_equal(a.contact_area_vectors, b.contact_area_vectors) &&
         are_equal(a.seeds.normals, b.seeds.normals) && a.seeds.cells == b.seeds.cells &&
         a.seeds.primitives == b.seeds.primitives && are_equal(a.seeds.directions, b.seeds.directions) &&
         a.seeds.radii == b.seeds.radii && are_equal(a.mesh.vertices, b.mesh.vertices) &&
         a.mesh.triangles == b.mesh.triangles;
}

std::vector<int> first_of_same_geometry(const std::vector<Body>& bodies) {
  std::vector<int> first;
  first.reserve(bodies.size());
  std::unordered_multimap<std::uint64_t, int> known;
  for (const Body& body : bodies) {
    const std::uint64_t hash = hash_of_geometry(body);
    const auto [begin, end] = known.equal_range(hash);
    const auto found = std::find_if(begin, end, [&](const auto& entry) {
      return have_same_geometry(bodies[static_cast<std::size_t>(entry.second)], body);
    });
    const int index = static_cast<int>(first.size());
    first.push_back(found == end ? index : found->second);
    if (found == end) known.emplace(hash, index);
  }
  return first;
}

}  // namespace abut
