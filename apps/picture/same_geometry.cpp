#include "apps/picture/same_geometry.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <unordered_map>

namespace abut {
namespace {

bool is_same(const Primitive& a, const Primitive& b) {
  return a.kind == b.kind && a.operation == b.operation && a.parameters == b.parameters &&
         a.X_BP.p == b.X_BP.p && a.X_BP.q.coeffs() == b.X_BP.q.coeffs() && a.values == b.values &&
         a.directions.cols() == b.directions.cols() && a.directions == b.directions;
}

bool is_same_geometry(const Body& a, const Body& b) {
  return a.shape.union_smoothing == b.shape.union_smoothing &&
         a.shape.distance_mode == b.shape.distance_mode &&
         std::equal(a.shape.primitives.begin(), a.shape.primitives.end(), b.shape.primitives.begin(),
                    b.shape.primitives.end(), is_same) &&
         a.mesh.vertex_count() == b.mesh.vertex_count() && a.mesh.vertices == b.mesh.vertices &&
         a.mesh.triangles == b.mesh.triangles;
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
  }
  for (const double x : body.mesh.vertices.reshaped()) add_number(x);
  return hash;
}

}  // namespace

std::vector<int> first_of_same_geometry(const std::vector<Body>& bodies) {
  std::vector<int> first;
  first.reserve(bodies.size());
  std::unordered_multimap<std::uint64_t, int> known;
  for (const Body& body : bodies) {
    const std::uint64_t hash = hash_of_geometry(body);
    const auto [begin, end] = known.equal_range(hash);
    const auto found = std::find_if(begin, end, [&](const auto& entry) {
      return is_same_geometry(bodies[static_cast<std::size_t>(entry.second)], body);
    });
    const int index = static_cast<int>(first.size());
    first.push_back(found == end ? index : found->second);
    if (found == end) known.emplace(hash, index);
  }
  return first;
}

}  // namespace abut
