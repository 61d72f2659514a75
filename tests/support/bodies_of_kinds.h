/// Bodies of every kind of primitive.
#pragma once

#include <array>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "collision/sdf/shape_sdf.h"
#include "engine/body_builder.h"
#include "engine/mesh_shapes.h"
#include "engine/padded_polygon_mesh.h"
#include "engine/primitive_builder.h"
#include "tests/support/convex_bodies.h"
#include "tests/support/convex_polygon.h"
#include "tests/support/revolved_mesh.h"
#include "tests/support/scenes.h"
#include "tests/support/test_bodies.h"

namespace abut::test {

inline const Vec3<double> k_half(0.1, 0.08, 0.06);

struct NamedBody {
  std::string name;
  Body body;
};

inline NamedBody of_primitive(std::string name, const Primitive& primitive, TriangleMesh mesh) {
  BodyDescription description;
  description.name = name;
  description.shape.primitives = {primitive};
  description.mesh = std::move(mesh);
  description.mass_or_density = Mass{1.0};
  return {std::move(name), make_body(description)};
}

inline TriangleMesh block_mesh(double scale = 1.0) { return box_mesh(scale * k_half, 2); }

inline Primitive of_kind(PrimitiveKind kind, const std::array<double, 5>& parameters) {
  Primitive primitive;
  primitive.kind = kind;
  primitive.parameters = parameters;
  return primitive;
}

inline NamedBody of_mass(std::string name, Body body) {
  if (!body.fixed) set_mass(body, 1.0);
  return {std::move(name), std::move(body)};
}

/// Bodies of the half extents k_half, or about that, of one primitive of a kind.
inline std::vector<NamedBody> bodies_of(PrimitiveKind kind) {
  constexpr double k_sharp = 0.05, pi = std::numbers::pi;
  switch (kind) {
    case PrimitiveKind::superquadric:
      return {{"ellipsoid", superquadric_of_mass(k_half, 1.0, 1.0, 1.0, 1)},
              {"cylinder", superquadric_of_mass(k_half, 0.2, 1.0, 1.0, 1)},
              of_primitive("superquadric box", superquadric(k_half, k_sharp, k_sharp), block_mesh(0.99))};
    case PrimitiveKind::half_space: {
      Body floor = make_half_space();
      floor.fixed = true;
      return {of_mass("half-space", floor)};
    }
    case PrimitiveKind::sphere:
      return {of_mass("sphere", make_sphere(0.08, 1000.0))};
    case PrimitiveKind::capsule:
      return {of_mass("capsule", make_capsule(0.05, 0.08, 1000.0)),
              of_mass("capsule without length", make_capsule(0.05, 0.0, 1000.0))};
    case PrimitiveKind::rounded_box:
      return {of_mass("rounded box", make_box(k_half, 0.01, 2, 1000.0)),
              of_mass("box with sharp edges", make_box(k_half, 0.0, 2, 1000.0))};
    case PrimitiveKind::convex_polyhedron:
      return {of_mass("polyhedron", block("polyhedron", k_half, 1).body)};
    case PrimitiveKind::oriented_point_cloud:
      return {of_primitive("cloud", make_oriented_point_cloud(box_mesh(k_half, 6)), block_mesh())};
    case PrimitiveKind::cone:
      return {of_primitive("cone", of_kind(kind, {0.1, 0.0, 0.06, 0.002}), cone_mesh(0.099, 0.0, 0.058, 8)),
              of_primitive("cone with equal ends", of_kind(kind, {0.08, 0.08, 0.06, 0.002}),
                           cone_mesh(0.079, 0.079, 0.059, 8))};
    case PrimitiveKind::torus:
      return {of_primitive("torus", of_kind(kind, {0.07, 0.03}), torus_mesh(0.07, 0.03, 8, 8))};
    case PrimitiveKind::padded_polygon:
      return {of_primitive("padded polygon", make_padded_polygon(rectangle_corners(0.08, 0.06), 0.04),
                           padded_polygon_mesh(rectangle_corners(0.08, 0.06), 0.04, 4))};
    case PrimitiveKind::extruded_superquadric:
      return {of_primitive(
          "extrusion",
          make_extruded_superquadric(Vec3<double>(2.0 * k_half.x(), 2.0 * k_half.y(), k_half.z()), k_sharp,
                                     1.0, {0.0, 0.5 * pi, pi, 1.5 * pi},
                                     {k_half.x(), k_half.y(), k_half.x(), k_half.y()}),
          block_mesh(0.99))};
  }
  return {};
}

/// Of every kind there is, so that one that is added later is tested by being there; throws if it has none
/// here.
inline std::vector<NamedBody> bodies_of_all_kinds() {
  std::vector<NamedBody> bodies;
  for (std::size_t kind = 0; kind < std::variant_size_v<PreparedPrimitive<double>::Solid>; ++kind) {
    std::vector<NamedBody> of_kind = bodies_of(static_cast<PrimitiveKind>(kind));
    if (of_kind.empty()) throw std::logic_error("a kind of primitive without a body");
    for (NamedBody& body : of_kind) bodies.push_back(std::move(body));
  }
  return bodies;
}

}  // namespace abut::test
