#include "engine/parameters.h"

#include <algorithm>
#include <iterator>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/primitive_builder.h"
#include "engine/primitive_check.h"

namespace abut {
namespace {

using Kind = ParameterKind;
using Owner = ParameterOwner;
constexpr ParameterComponents k_vector = ParameterComponents::vector;

// clang-format off
constexpr std::array<BodyParameter, 5> k_body_parameters{{
    {{Kind::linear_damping, Owner::body, "linear_damping", "1/s", at_least(0.0), {}, true},
     [](Body& body, int) -> double& { return body.linear_damping; },
     [](BodyTangent& tangent, int) -> double& { return tangent.linear_damping; }},
    {{Kind::angular_damping, Owner::body, "angular_damping", "1/s", at_least(0.0), {}, true},
     [](Body& body, int) -> double& { return body.angular_damping; },
     [](BodyTangent& tangent, int) -> double& { return tangent.angular_damping; }},
    {{Kind::mass, Owner::body, "mass", "kg", positive(), {}, true},  // scenes and batches change inertia with it
     [](Body& body, int) -> double& { return body.mass; },
     [](BodyTangent& tangent, int) -> double& { return tangent.mass; }},
    {{Kind::force, Owner::body, "force", "N", any_number(), k_vector, true},
     [](Body& body, int i) -> double& { return body.external_wrench[3 + i]; },
     [](BodyTangent& tangent, int i) -> double& { return tangent.external_wrench[3 + i]; }},
    {{Kind::torque, Owner::body, "torque", "N m", any_number(), k_vector, true},
     [](Body& body, int i) -> double& { return body.external_wrench[i]; },
     [](BodyTangent& tangent, int i) -> double& { return tangent.external_wrench[i]; }},
}};

constexpr std::array<StateParameter, 2> k_state_parameters{{
    {{Kind::linear_velocity, Owner::body, "linear_velocity", "m/s", any_number(), k_vector},
     [](State& state, std::size_t b, int i) -> double& { return state.V_WB[b][3 + i]; },
     [](StateTangent& tangent, std::size_t b, int i) -> double& { return tangent.twist[b][3 + i]; }},
    {{Kind::angular_velocity, Owner::body, "angular_velocity", "rad/s", any_number(), k_vector},
     [](State& state, std::size_t b, int i) -> double& { return state.V_WB[b][i]; },
     [](StateTangent& tangent, std::size_t b, int i) -> double& { return tangent.twist[b][i]; }},
}};

constexpr GravityParameter k_gravity{
    {Kind::gravity, Owner::simulation, "gravity", "m/s^2", any_number(), k_vector},
    [](Model& model, int i) -> double& { return model.gravity[i]; },
    [](Vec3<double>& tangent, int i) -> double& { return tangent[i]; }};

// Units are those of an angle or of a travel where the kind of the joint matters.
constexpr std::array<JointParameter, 19> k_joint_parameters{{
    {{Kind::joint_length, Owner::joint, "length", "m", positive()},
     [](Joint& joint) -> double& { return joint.length; }, nullptr,
     [](JointTangent& tangent) -> double& { return tangent.length; }},
    {{Kind::joint_stiffness, Owner::joint, "stiffness", "N/m", positive_or_infinite()},
     [](Joint& joint) -> double& { return joint.stiffness; },
     [](Coupling& coupling) -> double& { return coupling.stiffness; },
     [](JointTangent& tangent) -> double& { return tangent.stiffness; }},
    {{Kind::joint_angular_stiffness, Owner::joint, "angular_stiffness", "N m/rad", positive_or_infinite()},
     [](Joint& joint) -> double& { return joint.angular_stiffness; }, nullptr,
     [](JointTangent& tangent) -> double& { return tangent.angular_stiffness; }},
    {{Kind::joint_dissipation_time, Owner::joint, "dissipation_time", "s", at_least(0.0)},
     [](Joint& joint) -> double& { return joint.dissipation_time; },
     [](Coupling& coupling) -> double& { return coupling.dissipation_time; },
     [](JointTangent& tangent) -> double& { return tangent.dissipation_time; }},
    {{Kind::joint_lower, Owner::joint, "lower", "rad or m"},
     [](Joint& joint) -> double& { return joint.lower; },
     [](Coupling& coupling) -> double& { return coupling.lower; },
     [](JointTangent& tangent) -> double& { return tangent.lower; }},
    {{Kind::joint_upper, Owner::joint, "upper", "rad or m"},
     [](Joint& joint) -> double& { return joint.upper; },
     [](Coupling& coupling) -> double& { return coupling.upper; },
     [](JointTangent& tangent) -> double& { return tangent.upper; }},
    {{Kind::joint_damping, Owner::joint, "damping", "N m s/rad or N s/m", at_least(0.0)},
     [](Joint& joint) -> double& { return joint.damping; },
     [](Coupling& coupling) -> double& { return coupling.damping; },
     [](JointTangent& tangent) -> double& { return tangent.damping; }},
    {{Kind::joint_friction, Owner::joint, "friction", "N m or N", at_least(0.0)},
     [](Joint& joint) -> double& { return joint.friction; },
     [](Coupling& coupling) -> double& { return coupling.friction; },
     [](JointTangent& tangent) -> double& { return tangent.friction; }},
    {{Kind::joint_armature, Owner::joint, "armature", "kg m^2 or kg", at_least(0.0)},
     [](Joint& joint) -> double& { return joint.armature; }, nullptr,
     [](JointTangent& tangent) -> double& { return tangent.armature; }},
    {{Kind::joint_spring_stiffness, Owner::joint, "spring_stiffness", "N m/rad or N/m", at_least(0.0)},
     [](Joint& joint) -> double& { return joint.spring_stiffness; },
     [](Coupling& coupling) -> double& { return coupling.spring_stiffness; },
     [](JointTangent& tangent) -> double& { return tangent.spring_stiffness; }},
    {{Kind::joint_spring_position, Owner::joint, "spring_position", "rad or m"},
     [](Joint& joint) -> double& { return joint.spring_position; },
     [](Coupling& coupling) -> double& { return coupling.spring_position; },
     [](JointTangent& tangent) -> double& { return tangent.spring_position; }},
    {{Kind::motor_target, Owner::motor, "target", "rad/s or m/s, rad or m, N m or N"},
     [](Joint& joint) -> double& { return joint.motor.target; },
     [](Coupling& coupling) -> double& { return coupling.motor.target; },
     [](JointTangent& tangent) -> double& { return tangent.motor.target; }},
    {{Kind::motor_stiffness, Owner::motor, "stiffness", "N m/rad or N/m", positive()},
     [](Joint& joint) -> double& { return joint.motor.stiffness; },
     [](Coupling& coupling) -> double& { return coupling.motor.stiffness; },
     [](JointTangent& tangent) -> double& { return tangent.motor.stiffness; }},
    {{Kind::motor_damping, Owner::motor, "damping", "N m s/rad or N s/m", positive_or_infinite()},
     [](Joint& joint) -> double& { return joint.motor.damping; },
     [](Coupling& coupling) -> double& { return coupling.motor.damping; },
     [](JointTangent& tangent) -> double& { return tangent.motor.damping; }},
    {{Kind::motor_limit, Owner::motor, "limit", "N m or N", positive_or_infinite()},
     [](Joint& joint) -> double& { return joint.motor.limit; },
     [](Coupling& coupling) -> double& { return coupling.motor.limit; },
     [](JointTangent& tangent) -> double& { return tangent.motor.limit; }},
    {{Kind::motor_gain, Owner::motor, "gain", "N m or N"},
     [](Joint& joint) -> double& { return joint.motor.gain; },
     [](Coupling& coupling) -> double& { return coupling.motor.gain; },
     [](JointTangent& tangent) -> double& { return tangent.motor.gain; }},
    {{Kind::motor_bias, Owner::motor, "bias", "N m or N"},
     [](Joint& joint) -> double& { return joint.motor.bias; },
     [](Coupling& coupling) -> double& { return coupling.motor.bias; },
     [](JointTangent& tangent) -> double& { return tangent.motor.bias; }},
    {{Kind::coupling_gear, Owner::coupling, "gear", ""}, nullptr,
     [](Coupling& coupling) -> double& { return coupling.gear; },
     [](JointTangent& tangent) -> double& { return tangent.gear; }},
    {{Kind::coupling_held_at, Owner::coupling, "held_at", "rad or m"}, nullptr,
     [](Coupling& coupling) -> double& { return coupling.held_at; },
     [](JointTangent& tangent) -> double& { return tangent.held_at; }},
}};

/// Coordinates of what a body or a joint has: dynamics/parameters/ computes their values and derivatives.
constexpr std::array<ParameterInfo, 9> k_coordinates{{
    {Kind::density, Owner::body, "density", "kg/m^3", positive(), {}, true},
    {Kind::inertia, Owner::body, "inertia", "m", any_number(), ParameterComponents::inertia},
    {Kind::center_of_mass, Owner::body, "center_of_mass", "m", any_number(), k_vector},
    {Kind::primitive_position, Owner::primitive, "position", "m", any_number(), k_vector},
    {Kind::primitive_rotation_vector, Owner::primitive, "rotation_vector", "rad", any_number(), k_vector},
    {Kind::position, Owner::body, "position", "m", any_number(), k_vector},
    {Kind::rotation_vector, Owner::body, "rotation_vector", "rad", any_number(), k_vector},
    {Kind::joint_coordinate, Owner::joint, "coordinate", "rad or m", between(-1e9, 1e9)},  // beyond, rounding is more than 1e-7
    {Kind::joint_rate, Owner::joint, "rate", "rad/s or m/s"},
}};

using Numbers = ShapeKey::Numbers;
constexpr std::array<ShapeKey, 23> k_shape_keys{{
    {PrimitiveKind::superquadric, "semi_axes", "m", positive(), Numbers::vector},
    {PrimitiveKind::superquadric, "exponents", "", between(k_min_exponent, k_max_exponent), Numbers::pair},
    {PrimitiveKind::sphere, "radius", "m", positive()},
    {PrimitiveKind::capsule, "radius", "m", positive()},
    {PrimitiveKind::capsule, "half_length", "m", at_least(0.0)},
    {PrimitiveKind::rounded_box, "half_extents", "m", positive(), Numbers::vector},
    {PrimitiveKind::rounded_box, "edge_radius", "m", at_least(0.0)},
    {PrimitiveKind::convex_polyhedron, "smoothing", "m", positive()},
    {PrimitiveKind::convex_polyhedron, "offsets", "m", positive(), Numbers::sequence},
    {PrimitiveKind::oriented_point_cloud, "width", "m", positive()},
    {PrimitiveKind::extruded_superquadric, "semi_axes", "m", positive(), Numbers::vector},
    {PrimitiveKind::extruded_superquadric, "exponents", "", between(k_min_exponent, k_max_exponent), Numbers::pair},
    {PrimitiveKind::extruded_superquadric, "profile_power", "", between(k_min_profile_power, k_max_profile_power)},
    {PrimitiveKind::extruded_superquadric, "angles", "rad", any_number(), Numbers::sequence},
    {PrimitiveKind::extruded_superquadric, "offsets", "m", positive(), Numbers::sequence},
    {PrimitiveKind::cone, "radius", "m", at_least(0.0)},
    {PrimitiveKind::cone, "top_radius", "m", at_least(0.0)},
    {PrimitiveKind::cone, "half_length", "m", positive()},
    {PrimitiveKind::cone, "smoothing", "m", positive()},
    {PrimitiveKind::torus, "radius", "m", positive()},
    {PrimitiveKind::torus, "tube_radius", "m", positive()},
    {PrimitiveKind::padded_polygon, "radius", "m", positive()},
    {PrimitiveKind::padded_polygon, "corners", "m", any_number(), Numbers::corners},
}};
// clang-format on

constexpr std::array<std::string_view, 1> k_no_ending{""};
constexpr std::array<std::string_view, 3> k_vector_endings{".x", ".y", ".z"};
/// In the order of inertia_coordinates().
constexpr std::array<std::string_view, 6> k_inertia_endings{".log_x", ".log_y", ".log_z",
                                                            ".xy",    ".yz",    ".xz"};

std::vector<const ParameterInfo*> list_all() {
  std::vector<const ParameterInfo*> all{&k_gravity};
  const auto add = [&](const auto& list) {
    for (const auto& entry : list) all.push_back(&entry);
  };
  add(k_material_parameters);
  add(k_body_parameters);
  add(k_state_parameters);
  add(k_joint_parameters);
  add(k_coordinates);
  std::sort(all.begin(), all.end(),
            [](const ParameterInfo* a, const ParameterInfo* b) { return a->kind < b->kind; });
  return all;
}

}  // namespace

std::span<const BodyParameter> body_parameters() { return k_body_parameters; }
std::span<const StateParameter> state_parameters() { return k_state_parameters; }
const GravityParameter& gravity_parameter() { return k_gravity; }
std::span<const JointParameter> joint_parameters() { return k_joint_parameters; }

std::span<const ParameterInfo* const> all_parameters() {
  static const std::vector<const ParameterInfo*> k_all = list_all();
  return k_all;
}

const ParameterInfo& parameter_info(ParameterKind kind) {
  const auto all = all_parameters();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const ParameterInfo* entry) { return entry->kind == kind; });
  ABUT_ASSERT(found != all.end());
  return **found;
}

std::span<const std::string_view> component_endings(ParameterComponents components) {
  switch (components) {
    case ParameterComponents::vector:
      return k_vector_endings;
    case ParameterComponents::inertia:
      return k_inertia_endings;
    case ParameterComponents::number:
      break;
  }
  return k_no_ending;
}

std::string_view unit_of(const ParameterInfo& parameter, int component) {
  const std::string_view ending =
      component_endings(parameter.components)[static_cast<std::size_t>(component)];
  return ending.starts_with(".log_") ? std::string_view() : parameter.unit;
}

std::vector<ShapeKey> shape_keys(PrimitiveKind kind) {
  std::vector<ShapeKey> keys;
  std::copy_if(k_shape_keys.begin(), k_shape_keys.end(), std::back_inserter(keys),
               [&](const ShapeKey& key) { return key.kind == kind; });
  return keys;
}

const NumberRange& shape_range(PrimitiveKind kind, std::string_view key) {
  const auto* const found =
      std::find_if(k_shape_keys.begin(), k_shape_keys.end(),
                   [&](const ShapeKey& entry) { return entry.kind == kind && entry.key == key; });
  ABUT_ASSERT(found != k_shape_keys.end());
  return found->range;
}

std::vector<ShapeParameter> shape_parameters(const Primitive& primitive) {
  std::vector<ShapeParameter> parameters;
  std::vector<ShapeKey> sequences;
  const auto add = [&](const ShapeKey& key, std::string_view ending) {
    parameters.push_back({fmt::format("{}{}", key.key, ending), key.unit, key.range});
  };
  for (const ShapeKey& key : shape_keys(primitive.kind)) {
    switch (key.numbers) {
      case Numbers::single:
        add(key, "");
        break;
      case Numbers::vector:
        for (const std::string_view ending : k_vector_endings) add(key, ending);
        break;
      case Numbers::pair:
        for (const std::string_view ending : {".1", ".2"}) add(key, ending);
        break;
      case Numbers::sequence:
        sequences.push_back(key);
        break;
      case Numbers::corners:
        for (std::size_t i = 0; i < primitive.values.size(); ++i)
          add(key, fmt::format(".{}{}", i / 2, k_vector_endings[i % 2]));
        break;
    }
  }
  if (sequences.empty()) return parameters;
  const std::size_t count = parameter_count(primitive);
  for (std::size_t i = 0; parameters.size() < count; ++i) {
    for (const ShapeKey& key : sequences) add(key, fmt::format(".{}", i));
  }
  return parameters;
}

}  // namespace abut
