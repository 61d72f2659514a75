#include "engine/detector_choice.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/primitive_check.h"

namespace abut {
namespace {

/// Why a primitive is no part that a detector of convex parts can take; empty if it is one.
std::string part_refusal(const Primitive& primitive, DetectorKind detector) {
  if (primitive.operation == PrimitiveOperation::subtract) return "is subtracted";
  const std::string_view name = kind_name(primitive.kind);
  const bool is_vowel = std::string_view("aeiou").find(name.front()) != std::string_view::npos;
  const std::string kind = fmt::format("is {} {}", is_vowel ? "an" : "a", name);
  switch (primitive.kind) {
    case PrimitiveKind::sphere:
    case PrimitiveKind::capsule:
    case PrimitiveKind::rounded_box:
    case PrimitiveKind::half_space:
      return {};
    case PrimitiveKind::convex_polyhedron:
      if (detector == DetectorKind::proximity_qp && primitive.directions.cols() > k_most_qp_faces)
        return fmt::format("has {} faces, and {} are the most", primitive.directions.cols(), k_most_qp_faces);
      return {};
    case PrimitiveKind::padded_polygon: {
      const std::size_t corners = primitive.values.size() / 2;
      if (detector == DetectorKind::proximity_qp && corners > k_most_qp_faces)
        return fmt::format("has {} corners, and {} are the most", corners, k_most_qp_faces);
      return {};
    }
    case PrimitiveKind::superquadric:
    case PrimitiveKind::cone:
      return detector == DetectorKind::gjk ? std::string() : kind;
    case PrimitiveKind::oriented_point_cloud:
    case PrimitiveKind::extruded_superquadric:
    case PrimitiveKind::torus:
      return kind;
  }
  return kind;
}

std::string convex_refusal(const Body& body, DetectorKind detector) {
  const bool is_gjk = detector == DetectorKind::gjk;
  const std::string needs =
      is_gjk
          ? R"(detector = "gjk" needs convex parts)"
          : R"(detector = "proximity_qp" needs spheres, capsules, boxes, polyhedra, padded polygons or half-spaces)";
  const std::string instead = is_gjk ? R"(use "manifold" or "frank_wolfe")"
                                     : R"(use "manifold", "frank_wolfe" or, for convex parts, "gjk")";
  if (body.shape.primitives.empty())
    return fmt::format("body '{}': {}, and it has no primitives; {}", body.name, needs, instead);
  for (std::size_t i = 0; i < body.shape.primitives.size(); ++i) {
    const std::string why = part_refusal(body.shape.primitives[i], detector);
    if (!why.empty())
      return fmt::format("body '{}': {}, and its primitive {} {}; {}", body.name, needs, i, why, instead);
  }
  return {};
}

}  // namespace

bool may_touch(const Model& model, int body_A, int body_B) {
  if (model.bodies[at(body_A)].fixed && model.bodies[at(body_B)].fixed) return false;
  for (const PairOverride& pair : model.pair_overrides) {
    if (pair.body_A == body_A && pair.body_B == body_B && !pair.collide) return false;
  }
  return std::none_of(model.joints.begin(), model.joints.end(), [&](const Joint& joint) {
    return !joint.collide && std::minmax(joint.body_A, joint.body_B) == std::minmax(body_A, body_B);
  });
}

std::string detector_refusal(const Body& A, const Body& B, DetectorKind detector) {
  switch (detector) {
    case DetectorKind::manifold:
      return {};
    case DetectorKind::gjk:
    case DetectorKind::proximity_qp: {
      const std::string why = convex_refusal(A, detector);
      return why.empty() ? convex_refusal(B, detector) : why;
    }
    case DetectorKind::frank_wolfe: {
      const auto meets = [](const Body& owner, const Body& solid) {
        return owner.mesh.triangle_count() > 0 && !solid.shape.primitives.empty();
      };
      if (meets(A, B) || meets(B, A)) return {};
      return fmt::format(
          "bodies '{}' and '{}': detector = \"frank_wolfe\" needs a mesh of one and primitives of the other; "
          "use \"manifold\" or, for convex parts, \"gjk\"",
          A.name, B.name);
    }
  }
  return {};
}

namespace {

/// The first pair of bodies that may touch, and whose detector fulfils the condition.
template <typename Condition>
std::optional<std::pair<int, int>> first_pair(const Model& model, const ContactConfig& defaults,
                                              const Condition& is_wanted) {
  const bool is_manifold_only =
      defaults.detector == DetectorKind::manifold &&
      std::all_of(model.pair_overrides.begin(), model.pair_overrides.end(), [](const PairOverride& pair) {
        return pair.contact.detector.value_or(DetectorKind::manifold) == DetectorKind::manifold;
      });
  if (is_manifold_only) return {};
  for (int A = 0; A < model.body_count(); ++A) {
    for (int B = A + 1; B < model.body_count(); ++B) {
      if (may_touch(model, A, B) && is_wanted(A, B, contact_config_of(model, defaults, A, B).detector))
        return std::pair(A, B);
    }
  }
  return {};
}

}  // namespace

bool needs_other_detectors(const Model& model, const ContactConfig& defaults) {
  return first_pair(model, defaults,
                    [](int, int, DetectorKind detector) { return detector != DetectorKind::manifold; })
      .has_value();
}

std::optional<RefusedPair> first_refused_pair(const Model& model, const ContactConfig& defaults) {
  std::string why;
  const auto pair = first_pair(model, defaults, [&](int A, int B, DetectorKind detector) {
    why = detector_refusal(model.bodies[at(A)], model.bodies[at(B)], detector);
    return !why.empty();
  });
  if (!pair) return {};
  return RefusedPair{pair->first, pair->second, why};
}

void require_detectable(const Model& model, const ContactConfig& defaults) {
  const std::optional<RefusedPair> refused = first_refused_pair(model, defaults);
  require(!refused, refused ? refused->why : std::string());
}

}  // namespace abut
