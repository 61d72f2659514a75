#include "apps/render/glyph_meshes.h"

#include <cmath>
#include <numbers>

#include "engine/mesh_shapes.h"

namespace abut {
namespace {

constexpr int k_sides = 10, k_cone_sides = 24, k_disc_sides = 20;

Eigen::Vector3f on_circle(int i, int sides, float z) {
  const double angle = 2.0 * std::numbers::pi * i / sides;
  return {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)), z};
}

std::uint32_t add_vertex(Surface& surface, const Eigen::Vector3f& position, const Eigen::Vector3f& normal) {
  surface.positions.push_back(position);
  surface.normals.push_back(normal.normalized());
  return static_cast<std::uint32_t>(surface.positions.size() - 1);
}

/// A flat face, seen from +z or from -z.
void add_cap(Surface& surface, int sides, float z, bool from_above) {
  const Eigen::Vector3f normal(0, 0, from_above ? 1.0f : -1.0f);
  const auto first = static_cast<std::uint32_t>(surface.positions.size());
  for (int i = 0; i < sides; ++i) add_vertex(surface, on_circle(from_above ? i : -i, sides, z), normal);
  for (std::uint32_t i = 2; i < static_cast<std::uint32_t>(sides); ++i) {
    surface.triangles.insert(surface.triangles.end(), {first, first + i - 1, first + i});
  }
}

/// Radius 1, middle 0. Of an icosahedron whose triangles are divided into four: 80 of them.
Surface sphere() {
  Surface surface;
  const TriangleMesh mesh = sphere_mesh(1.0, 1);
  for (int i = 0; i < mesh.vertex_count(); ++i) {
    const Eigen::Vector3f p = mesh.vertices.col(i).cast<float>();
    add_vertex(surface, p, p);
  }
  for (const Eigen::Vector3i& triangle : mesh.triangles) {
    for (const int i : triangle) surface.triangles.push_back(static_cast<std::uint32_t>(i));
  }
  return surface;
}

Surface cylinder() {
  Surface surface;
  for (int i = 0; i < k_sides; ++i) {
    add_vertex(surface, on_circle(i, k_sides, 0), on_circle(i, k_sides, 0));
    add_vertex(surface, on_circle(i, k_sides, 1), on_circle(i, k_sides, 0));
  }
  for (std::uint32_t i = 0; i < k_sides; ++i) {
    const std::uint32_t a = 2 * i, b = 2 * ((i + 1) % k_sides);
    surface.triangles.insert(surface.triangles.end(), {a, b, b + 1, a, b + 1, a + 1});
  }
  add_cap(surface, k_sides, 1, true);
  add_cap(surface, k_sides, 0, false);
  return surface;
}

/// One tip for each side, so that each has a normal.
Surface cone() {
  Surface surface;
  for (int i = 0; i < k_cone_sides; ++i) {
    add_vertex(surface, on_circle(i, k_cone_sides, 0), on_circle(i, k_cone_sides, 1));
    add_vertex(surface, {0, 0, 1}, on_circle(2 * i + 1, 2 * k_cone_sides, 1));
  }
  for (std::uint32_t i = 0; i < k_cone_sides; ++i) {
    surface.triangles.insert(surface.triangles.end(), {2 * i, 2 * ((i + 1) % k_cone_sides), 2 * i + 1});
  }
  add_cap(surface, k_cone_sides, 0, false);
  return surface;
}

Surface disc() {
  Surface surface;
  add_cap(surface, k_disc_sides, 0, true);
  return surface;
}

}  // namespace

Surface glyph_mesh(GlyphShape shape) {
  switch (shape) {
    case GlyphShape::sphere:
      return sphere();
    case GlyphShape::cylinder:
      return cylinder();
    case GlyphShape::cone:
      return cone();
    case GlyphShape::disc:
      break;
  }
  return disc();
}

}  // namespace abut
