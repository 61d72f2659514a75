/// The parameters of a model and of its initial state: one table of their keys in scene files, their units
/// and ranges, and their places in a model and in its tangent (model_tangent.h), which is that of a direction
/// and that of a gradient alike.
///
/// Scene files, batches, gradients, gradient checks and identification go through this table. Settings of the
/// time step have a table of their own, config_fields.h. How to add a parameter: CONTRIBUTING.md.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model.h"
#include "engine/model_tangent.h"
#include "engine/number_range.h"
#include "engine/state.h"

namespace abut {

/// Which number a parameter is, in the order in which they are listed.
enum class ParameterKind {
  step_setting,  ///< of step_config_fields(), with no entry here
  gravity,
  friction,
  stiffness,
  dissipation_time,
  restitution,
  linear_damping,
  angular_damping,
  mass,
  density,
  inertia,             ///< inertia_coordinates(), the mass held fixed
  center_of_mass,      ///< in the asset's frame, which stays where it is
  shape,               ///< of shape_keys(), with no entry here; mass and inertia stay
  primitive_position,  ///< in the asset's frame
  primitive_rotation_vector,
  position,  ///< of the asset's frame, as in a scene
  rotation_vector,
  linear_velocity,
  angular_velocity,
  force,
  torque,
  joint_length,
  joint_stiffness,
  joint_angular_stiffness,
  joint_dissipation_time,
  joint_lower,
  joint_upper,
  joint_damping,
  joint_friction,
  joint_armature,
  joint_spring_stiffness,
  joint_spring_position,
  joint_coordinate,  ///< at the start; it moves what is beyond the joint
  joint_rate,
  motor_target,
  motor_stiffness,
  motor_damping,
  motor_limit,
  motor_gain,
  motor_bias,
  coupling_gear,
  coupling_held_at
};

[[nodiscard]] constexpr bool is_initial_state(ParameterKind kind) {
  return kind == ParameterKind::position || kind == ParameterKind::rotation_vector ||
         kind == ParameterKind::linear_velocity || kind == ParameterKind::angular_velocity ||
         kind == ParameterKind::joint_coordinate || kind == ParameterKind::joint_rate;
}

/// Which table of a scene file has the key.
enum class ParameterOwner { simulation, body, body_or_pair, primitive, joint, motor, coupling };

/// What stands under a key: a number, three components, or the six inertia_coordinates().
enum class ParameterComponents { number, vector, inertia };

/// What is known of every parameter.
struct ParameterInfo {
  ParameterKind kind;
  ParameterOwner owner;
  std::string_view key;              ///< in scene files, and in the names of batches
  std::string_view unit;             ///< SI; empty without one. Logarithms among the components have none.
  NumberRange range = any_number();  ///< of each component
  ParameterComponents components = ParameterComponents::number;
  bool of_moving_bodies = false;  ///< plays no part in the motion of a fixed body
};

/// Of a material, or of a pair in place of what its two materials give.
struct MaterialParameter : ParameterInfo {
  double Material::*of_body;
  double PairOverride::*of_pair;
  double MaterialTangent::*slot;
  bool is_reciprocal = false;  ///< the slot is that of 1/number

  /// d(what the slot is of)/d(number).
  [[nodiscard]] double slope(double number) const { return is_reciprocal ? -1.0 / (number * number) : 1.0; }
  /// Moves the number so far that what the slot is of changes by x.
  void move(double& number, double x) const {
    number = is_reciprocal ? 1.0 / (1.0 / number + x) : number + x;
  }
};

/// The component `i` of a number or vector of a body; of vectors i = 0, 1, 2, else 0.
struct BodyParameter : ParameterInfo {
  double& (*value)(Body& body, int i);
  double& (*slot)(BodyTangent& tangent, int i);
};

/// Of the initial state of the body with index `b`.
struct StateParameter : ParameterInfo {
  double& (*value)(State& state, std::size_t b, int i);
  double& (*slot)(StateTangent& tangent, std::size_t b, int i);
};

/// Of the whole model: gravity alone, whose tangent is a vector.
struct GravityParameter : ParameterInfo {
  double& (*value)(Model& model, int i);
  double& (*slot)(Vec3<double>& tangent, int i);
};

/// Of a joint, of a coupling, or of the motor of either.
struct JointParameter : ParameterInfo {
  double& (*of_joint)(Joint& joint);           ///< null: only couplings have it
  double& (*of_coupling)(Coupling& coupling);  ///< null: only joints have it
  double& (*slot)(JointTangent& tangent);
};

/// What accessors take, which return references to write to, from those who will read only.
template <typename T>
[[nodiscard]] T& for_reading(const T& constant) {
  return const_cast<T&>(constant);
}

// The table -----------------------------------------------------------------------------------------

// clang-format off
inline constexpr std::array<MaterialParameter, 4> k_material_parameters{{
    {{ParameterKind::friction, ParameterOwner::body_or_pair, "friction", "", at_least(0.0)},
     &Material::friction, &PairOverride::friction, &MaterialTangent::friction},
    {{ParameterKind::stiffness, ParameterOwner::body_or_pair, "stiffness", "N/m", positive_or_infinite()},
     &Material::stiffness, &PairOverride::stiffness, &MaterialTangent::compliance, true},
    {{ParameterKind::dissipation_time, ParameterOwner::body_or_pair, "dissipation_time", "s", at_least(0.0)},
     &Material::dissipation_time, &PairOverride::dissipation_time, &MaterialTangent::dissipation_time},
    {{ParameterKind::restitution, ParameterOwner::body_or_pair, "restitution", "", between(0.0, 1.0)},
     &Material::restitution, &PairOverride::restitution, &MaterialTangent::restitution},
}};
// clang-format on

[[nodiscard]] std::span<const BodyParameter> body_parameters();
[[nodiscard]] std::span<const StateParameter> state_parameters();
[[nodiscard]] const GravityParameter& gravity_parameter();
/// Those of joints, then those of motors, then those of couplings alone.
[[nodiscard]] std::span<const JointParameter> joint_parameters();

/// Every parameter above, and those that are coordinates of something, with no place of their own: density,
/// inertia, centre of mass, poses. In the order of ParameterKind.
[[nodiscard]] std::span<const ParameterInfo* const> all_parameters();

/// The entry of a kind in one of the lists above; null if it is not there.
template <typename List>
[[nodiscard]] constexpr auto* find_entry(const List& list, ParameterKind kind) {
  for (const auto& entry : list) {
    if (entry.kind == kind) return &entry;
  }
  return static_cast<decltype(&*list.begin())>(nullptr);
}
[[nodiscard]] constexpr const MaterialParameter* material_parameter(ParameterKind kind) {
  return find_entry(k_material_parameters, kind);
}
[[nodiscard]] inline const BodyParameter* body_parameter(ParameterKind kind) {
  return find_entry(body_parameters(), kind);
}
[[nodiscard]] inline const StateParameter* state_parameter(ParameterKind kind) {
  return find_entry(state_parameters(), kind);
}
[[nodiscard]] inline const JointParameter* joint_parameter(ParameterKind kind) {
  return find_entry(joint_parameters(), kind);
}

/// Of any kind but step_setting and shape.
[[nodiscard]] const ParameterInfo& parameter_info(ParameterKind kind);

/// What each component may be in a file.
[[nodiscard]] inline const NumberRange& range_of(ParameterKind kind) { return parameter_info(kind).range; }

/// What the names of components have after the key: ".x", ".y", ".z"; "" of a number.
[[nodiscard]] std::span<const std::string_view> component_endings(ParameterComponents components);

/// The unit of a component.
[[nodiscard]] std::string_view unit_of(const ParameterInfo& parameter, int component);

// Shapes --------------------------------------------------------------------------------------------

/// A key of [[primitive]] whose numbers are shape parameters.
struct ShapeKey {
  PrimitiveKind kind;
  std::string_view key, unit;
  NumberRange range;
  /// How its numbers are called.
  ///   single    by the key
  ///   vector    key.x, key.y, key.z
  ///   pair      key.1, key.2
  ///   sequence  key.0, key.1, ..., as many as there are; sequences of a kind take turns
  ///   corners   key.0.x, key.0.y, key.1.x, ..., as many as there are
  enum class Numbers { single, vector, pair, sequence, corners } numbers = Numbers::single;
};

/// Those of a kind, in the order of shape_parameter(). The coordinates of a cloud's points have none.
[[nodiscard]] std::vector<ShapeKey> shape_keys(PrimitiveKind kind);

/// What is allowed under a key of a kind, which must be one of shape_keys().
[[nodiscard]] const NumberRange& shape_range(PrimitiveKind kind, std::string_view key);

/// The name, unit and range of a shape parameter: "semi_axes.x".
struct ShapeParameter {
  std::string name;
  std::string_view unit;
  NumberRange range;
};

/// Of the shape_parameter()s of a primitive, in their order; those without a key are left out.
[[nodiscard]] std::vector<ShapeParameter> shape_parameters(const Primitive& primitive);

}  // namespace abut
