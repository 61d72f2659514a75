// What a pair of bodies with flat faces does to each other does not depend on how their meshes divide the
// faces.
#include <catch2/catch.hpp>

#include <cmath>
#include <numbers>
#include <optional>
#include <utility>
#include <variant>

#include "collision/sdf/shape_sdf.h"
#include "engine/primitive_builder.h"
#include "engine/primitive_check.h"
#include "tests/support/contact_wrench.h"
#include "tests/support/convex_bodies.h"

using namespace abut;
using namespace abut::test;

namespace {

const Vec3<double> k_flat_half(0.1, 0.08, 0.05);

/// The box of these half extents by one primitive of the kind; none where it has no flat faces.
std::optional<Primitive> flat_primitive(PrimitiveKind kind, double edge_radius) {
  const Vec3<double>& half = k_flat_half;
  Primitive box;
  box.kind = kind;
  switch (kind) {
    case PrimitiveKind::superquadric:
      box.parameters = {half.x(), half.y(), half.z(), k_min_exponent, k_min_exponent};
      return box;
    case PrimitiveKind::rounded_box:
      box.parameters = {half.x(), half.y(), half.z(), edge_radius};
      return box;
    case PrimitiveKind::convex_polyhedron:
      return block("box", half).body.shape.primitives.front();
    case PrimitiveKind::extruded_superquadric:
      return make_extruded_superquadric(
          Vec3<double>(2.0 * half.x(), 2.0 * half.y(), half.z()), k_min_exponent, 1.0,
          {0.0, 0.5 * std::numbers::pi, std::numbers::pi, 1.5 * std::numbers::pi},
          {half.x(), half.y(), half.x(), half.y()}, k_max_profile_power);
    case PrimitiveKind::half_space:  // has no mesh
    case PrimitiveKind::sphere:
    case PrimitiveKind::capsule:
    case PrimitiveKind::cone:  // no box
    case PrimitiveKind::torus:
    case PrimitiveKind::padded_polygon:
    case PrimitiveKind::oriented_point_cloud:  // its faces are flat but near its points alone
      return std::nullopt;
  }
  return std::nullopt;
}

/// That box, of the given scale, with 12 triangles divided into four so many times.
Body flat_body(const Primitive& primitive, double scale, int divisions) {
  TriangleMesh mesh = box_mesh(
      k_flat_half.array() - (primitive.kind == PrimitiveKind::rounded_box ? primitive.parameters[3] : 0.0),
      1);
  for (int k = 0; k < divisions; ++k) mesh = subdivided(mesh);
  mesh.vertices *= scale;
  BodyDescription description;
  description.name = "box";
  description.shape.primitives = {primitive};
  Primitive& scaled = description.shape.primitives.front();
  for (std::size_t i = 0; i < parameter_count(scaled); ++i) {
    const bool is_length = abut::is_length(scaled.kind, i);
    if (is_length) shape_parameter(scaled, scaled.kind, i) *= scale;
  }
  description.mesh = std::move(mesh);
  description.mass_or_density = Mass{1.0};
  return make_body(description);
}

/// The net wrench of two such boxes of stiffness 10^4 N/m in one pose, by how often each mesh is divided.
NetWrench wrench_of(const Primitive& primitive, int divisions_A, int divisions_B, const Pose<double>& X_WA,
                    const Pose<double>& X_WB, const StepConfig& config = {}) {
  TestScene scene;
  scene.add(flat_body(primitive, 1.5, divisions_A), X_WA);
  scene.add(flat_body(primitive, 1.0, divisions_B), X_WB);
  for (Body& body : scene.model.bodies) body.material.stiffness = 2e4;
  return net_contact_wrench(scene, config);
}

constexpr int k_primitive_kinds = std::variant_size_v<PreparedPrimitive<double>::Solid>;

}  // namespace

TEST_CASE("tessellation: faces and crossing edges push alike, however flat faces are divided",
          "[dynamics][property]") {
  // Where faces overlap in part, vertices are the quadrature points: docs/contact_wrench.md has bounds. Where
  // a vertex that divides an edge meets the other edge itself, it takes a part of that edge's stiffness.
  constexpr double k_depth = 1e-3;
  int kinds = 0;
  for (int kind = 0; kind < k_primitive_kinds; ++kind) {
    for (const double edge_radius : {0.0, 0.02}) {
      const std::optional<Primitive> primitive =
          flat_primitive(static_cast<PrimitiveKind>(kind), edge_radius);
      if (!primitive || (edge_radius > 0.0 && primitive->kind != PrimitiveKind::rounded_box)) continue;
      ++kinds;
      // Vertices within 1 mm of the side of a face have its distance and normal. The corners of a
      // superquadric are 1 % inside those of its mesh; those of a rounded box leave the plane first.
      const bool is_sharp = edge_radius == 0.0 && (primitive->kind == PrimitiveKind::rounded_box ||
                                                   primitive->kind == PrimitiveKind::convex_polyhedron);
      for (const double yaw : {0.0, 0.1, 0.3}) {
        CAPTURE(kind, edge_radius, yaw);
        const Pose<double> on_face = pose_at({0.0, 0.0, 2.5 * k_flat_half.z() - k_depth}, {0.0, 0.0, yaw});
        const NetWrench faces = wrench_of(*primitive, 0, 0, {}, on_face);
        // An edge of A along x crosses one of B, both with the vertical as the middle of their normal cones.
        const Vec3<double> corner(0.0, k_flat_half.y() - edge_radius, k_flat_half.z() - edge_radius);
        const Quat<double> up = exp_quaternion<double>({0.25 * std::numbers::pi, 0.0, 0.0}),
                           down = exp_quaternion<double>({0.0, 0.0, 0.5 * std::numbers::pi - yaw}) *
                                  exp_quaternion<double>({1.25 * std::numbers::pi, 0.0, 0.0});
        const Vec3<double> top(0.0, 0.0, edge_radius), x = Vec3<double>::UnitX();
        const Pose<double> below{up, -1.5 * (up * corner + top) + 0.03 * (up * x)},
            on_edge{down, top - down * corner + 0.02 * (down * x) - Vec3<double>(0.0, 0.0, k_depth)};
        const NetWrench edges = wrench_of(*primitive, 0, 0, below, on_edge);
        CHECK(edges.edge_contacts > 0);
        CHECK(edges.force.norm() > 5.0);
        for (const auto& [a, b] : {std::pair(2, 0), std::pair(0, 2), std::pair(2, 2)}) {
          CAPTURE(a, b);
          const NetWrench fine = wrench_of(*primitive, a, b, {}, on_face);
          CHECK(fine.contacts > faces.contacts);
          CHECK(force_difference(fine, faces) <= (is_sharp ? 0.01 : 0.04));
          CHECK(arm_difference(fine, faces, 2.0 * k_flat_half.x()) <= 0.02);
          const NetWrench divided = wrench_of(*primitive, a, b, below, on_edge);
          CHECK(divided.contacts == edges.contacts);
          CHECK(force_difference(divided, edges) <= 1e-12);
          CHECK(arm_difference(divided, edges, 2.0 * k_flat_half.x()) <= 1e-12);
        }
      }
    }
  }
  CHECK(kinds == 5);
}
