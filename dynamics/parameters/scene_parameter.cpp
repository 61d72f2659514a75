#include "dynamics/parameters/scene_parameter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

#include <spdlog/fmt/fmt.h>

#include "engine/body_builder.h"
#include "engine/check.h"
#include "engine/closest_word.h"
#include "engine/config_fields.h"
#include "engine/joint_geometry.h"
#include "engine/law_settings.h"

namespace abut {
namespace {

/// What a name may go on with after "simulation.", "body.<name>.", "pair.<name>.<name>.", "joint.<name>.",
/// "coupling.<name>." and "actuator.<name>.".
using Endings = std::map<std::string, SceneParameter, std::less<>>;

void add_parameter(const ParameterInfo& info, Endings& endings) {
  int index = 0;
  for (const std::string_view ending : component_endings(info.components)) {
    SceneParameter& parameter = endings[std::string(info.key) + std::string(ending)];
    parameter.kind = info.kind;
    parameter.range = info.range;
    parameter.unit = unit_of(info, index);
    parameter.index = index++;
  }
}

/// Those that the tables of some owners have.
Endings endings_of(const std::vector<ParameterOwner>& owners) {
  Endings endings;
  for (const ParameterInfo* const info : all_parameters()) {
    if (std::find(owners.begin(), owners.end(), info->owner) != owners.end()) add_parameter(*info, endings);
  }
  return endings;
}

bool is_switch(const StepConfigField& field) {
  return std::holds_alternative<bool& (*)(StepConfig&)>(field.get);
}

Endings simulation_endings() {
  Endings endings = endings_of({ParameterOwner::simulation});
  int index = -1;
  for (const StepConfigField& field : step_config_fields()) {
    ++index;
    if (is_switch(field)) continue;
    SceneParameter& parameter = endings[std::string(field.key)];
    parameter.kind = ParameterKind::step_setting;
    parameter.index = index;
    parameter.whole = std::holds_alternative<int& (*)(StepConfig&)>(field.get);
    parameter.range = field.range();
  }
  return endings;
}

Endings body_endings() { return endings_of({ParameterOwner::body, ParameterOwner::body_or_pair}); }
Endings pair_endings() { return endings_of({ParameterOwner::body_or_pair}); }

/// Those of a joint, then those of its motor: "motor.target" and so on.
Endings joint_endings() {
  Endings endings = endings_of({ParameterOwner::joint});
  for (const auto& [key, parameter] : endings_of({ParameterOwner::motor}))
    endings["motor." + key] = parameter;
  return endings;
}

/// Those that joints and couplings share, then those of couplings alone.
Endings coupling_endings() {
  Endings endings = endings_of({ParameterOwner::coupling});
  for (const auto& [key, parameter] : joint_endings()) {
    const JointParameter* const of = joint_parameter(parameter.kind);
    if (of != nullptr && of->of_coupling != nullptr) endings[key] = parameter;
  }
  return endings;
}

/// The gear and the motor of an actuator, by their keys in its table.
Endings actuator_endings() {
  Endings endings = endings_of({ParameterOwner::motor});
  add_parameter(parameter_info(ParameterKind::coupling_gear), endings);
  return endings;
}

std::string prefix_of(const Coupling& coupling) {
  return (coupling.is_actuator ? "actuator." : "coupling.") + coupling.name;
}

/// Of the shape of a body: "primitive.0.radius" and so on.
Endings shape_endings(const Body& body) {
  static const Endings k_poses = endings_of({ParameterOwner::primitive});
  Endings endings;
  for (std::size_t p = 0; p < body.shape.primitives.size(); ++p) {
    const std::string prefix = fmt::format("primitive.{}.", p);
    Endings of_primitive = k_poses;
    int index = 0;
    for (const ShapeParameter& shape : shape_parameters(body.shape.primitives[p])) {
      SceneParameter& parameter = of_primitive[shape.name];
      parameter.kind = ParameterKind::shape;
      parameter.index = index++;
      parameter.range = shape.range;
      parameter.unit = shape.unit;
    }
    for (auto& [key, parameter] : of_primitive) {
      parameter.primitive = static_cast<int>(p);
      endings[prefix + key] = parameter;
    }
  }
  return endings;
}

/// What is left of `text` after `prefix` and a dot, if it starts with them.
std::optional<std::string_view> after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  if (!text.starts_with('.')) return std::nullopt;
  return text.substr(1);
}

[[noreturn]] void fail_unknown(const std::string& name, const std::vector<std::string>& candidates) {
  for (const StepConfigField& field : step_config_fields()) {
    if (is_switch(field) && name == fmt::format("simulation.{}", field.key))
      throw std::invalid_argument(fmt::format("'{}' is a switch, true or false, and no number", name));
  }
  const std::string closest = closest_word(name, candidates);
  throw std::invalid_argument(
      fmt::format("the scene has no parameter '{}'{}", name,
                  closest.empty() ? "" : fmt::format("; did you mean '{}'?", closest)));
}

/// `prefix` and each ending.
void add_candidates(const std::string& prefix, const Endings& endings, std::vector<std::string>& candidates) {
  for (const auto& ending : endings) candidates.push_back(prefix + "." + ending.first);
}

/// The key that a parameter goes by in the scene, of those that a law may ignore; else "".
std::string_view setting_key(const SceneParameter& parameter) {
  if (parameter.kind == ParameterKind::step_setting) return step_config_fields()[at(parameter.index)].key;
  const MaterialParameter* const material = material_parameter(parameter.kind);
  return material == nullptr ? std::string_view() : material->key;
}

void require_possible(const Scene& scene, const SceneParameter& parameter) {
  const std::string refusal = refusal_text(setting_key(parameter), scene.model, scene.config.step.law);
  require(refusal.empty(), fmt::format("'{}': {}", parameter.name, refusal));
  if (parameter.body_A < 0 || parameter.body_B >= 0) return;
  const Body& body = scene.model.bodies[at(parameter.body_A)];
  const bool is_moment =
      parameter.kind == ParameterKind::inertia || parameter.kind == ParameterKind::center_of_mass;
  require(!(parameter.is_mass() || is_moment) || !is_unbounded(body.shape),
          fmt::format("'{}': a body with a half_space has no mass", parameter.name));
  require(!is_moment || !body.fixed, fmt::format("'{}': a fixed body's plays no part", parameter.name));
  if (parameter.kind == ParameterKind::center_of_mass) {
    const int b = parameter.body_A;
    const auto& joints = scene.model.joints;
    const bool is_joined = std::any_of(joints.begin(), joints.end(), [&](const Joint& joint) {
      return joint.body_A == b || joint.body_B == b;
    });
    require(!is_joined, fmt::format("'{}': not of a body with joints", parameter.name));
  }
  require(parameter.kind != ParameterKind::density || body.volume > 0.0,
          fmt::format("'{}': the volume of the body is not known", parameter.name));
  const bool is_motion =
      parameter.kind == ParameterKind::linear_velocity || parameter.kind == ParameterKind::angular_velocity;
  require(!is_motion || !body.fixed, fmt::format("'{}': a fixed body has no velocity", parameter.name));
}

/// Why a motor has no such number; "" if it has one, or it is of something else.
std::string_view motor_lacks(const Motor& motor, ParameterKind kind) {
  if (parameter_info(kind).owner != ParameterOwner::motor) return "";
  if (motor.kind == MotorKind::none) return "there is no motor";
  const bool is_affine = motor.kind == MotorKind::affine;
  if (is_affine && is_force(motor) &&
      (kind == ParameterKind::motor_stiffness || kind == ParameterKind::motor_damping))
    return "the motor has neither stiffness nor damping, which is a law of its own";
  switch (kind) {
    case ParameterKind::motor_stiffness:
      if (motor.kind != MotorKind::position && !is_affine)
        return "only a position or affine motor has a stiffness";
      break;
    case ParameterKind::motor_damping:
      if (motor.kind == MotorKind::force) return "a force motor has no damping";
      break;
    case ParameterKind::motor_gain:
    case ParameterKind::motor_bias:
      if (!is_affine) return "only an affine motor has one";
      break;
    default:
      break;
  }
  return "";
}

/// Servos and affine motors without damping, and affine motors without stiffness, are some, too.
void widen_range(const Motor& motor, SceneParameter& parameter) {
  const bool is_affine = motor.kind == MotorKind::affine;
  const bool damping = parameter.kind == ParameterKind::motor_damping && motor.kind != MotorKind::velocity,
             stiffness = parameter.kind == ParameterKind::motor_stiffness && is_affine;
  if (damping || stiffness) parameter.range = at_least(0.0);
}

/// Why a joint has no such number; "" if it has one.
std::string_view lacks(const Model& model, int j, ParameterKind kind) {
  const Joint& joint = model.joints[at(j)];
  switch (kind) {
    case ParameterKind::joint_coordinate:
    case ParameterKind::joint_rate:
      if (!has_coordinate(joint.kind)) return "only a hinge or a slider has a coordinate";
      return can_move(model, j)
                 ? ""
                 : "neither side of the joint can move, it is part of a loop or held at both ends";
    case ParameterKind::joint_length:
      return joint.kind == JointKind::distance ? "" : "only a distance joint has a length";
    case ParameterKind::joint_angular_stiffness:
      return joint.kind == JointKind::ball || joint.kind == JointKind::distance
                 ? "a ball or distance joint lets its bodies turn freely"
                 : "";
    case ParameterKind::joint_lower:
    case ParameterKind::joint_upper:
      return has_coordinate(joint.kind) ? "" : "only a hinge or a slider has limits";
    case ParameterKind::joint_damping:
      return has_coordinate(joint.kind) ? "" : "only a hinge or a slider has damping";
    case ParameterKind::joint_friction:
      return has_coordinate(joint.kind) ? "" : "only a hinge or a slider has friction";
    case ParameterKind::joint_armature:
      return has_coordinate(joint.kind) ? "" : "only a hinge or a slider has armature";
    case ParameterKind::joint_spring_stiffness:
      return has_coordinate(joint.kind) ? "" : "only a hinge or a slider has a spring of its coordinate";
    case ParameterKind::joint_spring_position:
      return joint.spring_stiffness > 0.0 ? "" : "the joint has no spring of its coordinate";
    default:
      break;
  }
  return motor_lacks(joint.motor, kind);
}

std::string_view lacks(const Coupling& coupling, ParameterKind kind) {
  switch (kind) {
    case ParameterKind::coupling_held_at:
    case ParameterKind::joint_stiffness:
    case ParameterKind::joint_dissipation_time:
      return coupling.is_held() ? "" : "the coupling is not held anywhere";
    case ParameterKind::joint_spring_position:
      return coupling.spring_stiffness > 0.0 ? "" : "the coupling has no spring";
    default:
      break;
  }
  return motor_lacks(coupling.motor, kind);
}

/// The unit of a joint's or coupling's number, of those that the table gives for angles or travels, and for velocity,
/// position or force motors.
std::string_view unit_at(bool turns, MotorKind motor, std::string_view units) {
  constexpr std::string_view k_comma = ", ";
  if (const std::size_t first = units.find(k_comma); first != std::string_view::npos) {
    const std::size_t last = units.rfind(k_comma), after_first = first + k_comma.size();
    if (motor == MotorKind::affine) return "";  // its own
    units = motor == MotorKind::velocity   ? units.substr(0, first)
            : motor == MotorKind::position ? units.substr(after_first, last - after_first)
                                           : units.substr(last + k_comma.size());
  }
  constexpr std::string_view k_or = " or ";
  const std::size_t middle = units.find(k_or);
  if (middle == std::string_view::npos) return units;
  return turns ? units.substr(0, middle) : units.substr(middle + k_or.size());
}

/// `parameter` as that of a joint. Throws std::invalid_argument if the joint has no such number.
SceneParameter of_joint(const Scene& scene, SceneParameter parameter, int j) {
  const Joint& joint = scene.model.joints[at(j)];
  const std::string_view why = lacks(scene.model, j, parameter.kind);
  require(why.empty(), fmt::format("'{}': {}", parameter.name, why));
  parameter.joint = j;
  parameter.unit = unit_at(joint.kind == JointKind::hinge, joint.motor.kind, parameter.unit);
  widen_range(joint.motor, parameter);
  return parameter;
}

/// The same of a coupling.
SceneParameter of_coupling(const Scene& scene, SceneParameter parameter, int c) {
  const Coupling& coupling = scene.model.couplings[at(c)];
  const std::string_view why = lacks(coupling, parameter.kind);
  require(why.empty(), fmt::format("'{}': {}", parameter.name, why));
  parameter.coupling = c;
  parameter.unit = unit_at(turns(scene.model, coupling), coupling.motor.kind, parameter.unit);
  widen_range(coupling.motor, parameter);
  return parameter;
}

/// Adds all names of parameters to `candidates` on the way, unless that is null. Throws for a parameter that
/// the body cannot have.
std::optional<SceneParameter> look_up(const Scene& scene, const std::string& name,
                                      std::vector<std::string>* candidates) {
  static const Endings k_simulation = simulation_endings(), k_body = body_endings(), k_pair = pair_endings(),
                       k_joint = joint_endings(), k_coupling = coupling_endings(),
                       k_actuator = actuator_endings();
  const auto found = [&](const std::string& prefix, const Endings& endings, int body_A,
                         int body_B) -> std::optional<SceneParameter> {
    if (candidates != nullptr) add_candidates(prefix, endings, *candidates);
    const auto rest = after(name, prefix);
    const auto entry = rest ? endings.find(*rest) : endings.end();
    if (entry == endings.end()) return std::nullopt;
    SceneParameter parameter = entry->second;
    parameter.name = name;
    parameter.body_A = body_A;
    parameter.body_B = body_B;
    require_possible(scene, parameter);
    return parameter;
  };
  if (const auto parameter = found("simulation", k_simulation, -1, -1)) return parameter;
  const std::vector<Body>& bodies = scene.model.bodies;
  const int count = scene.model.body_count();
  for (int a = 0; a < count; ++a) {
    const std::string body = "body." + bodies[at(a)].name, first = "pair." + bodies[at(a)].name;
    if (const auto parameter = found(body, k_body, a, -1)) return parameter;
    if (after(name, body)) {
      if (const auto parameter = found(body, shape_endings(bodies[at(a)]), a, -1)) return parameter;
    }
    if (!after(name, first)) continue;
    for (int b = 0; b < count; ++b) {
      if (b == a) continue;
      const std::string both = first + "." + bodies[at(b)].name;
      if (const auto parameter = found(both, k_pair, std::min(a, b), std::max(a, b))) return parameter;
    }
  }
  for (std::size_t j = 0; j < scene.model.joints.size(); ++j) {
    if (const auto parameter = found("joint." + scene.model.joints[j].name, k_joint, -1, -1))
      return of_joint(scene, *parameter, static_cast<int>(j));
  }
  for (std::size_t c = 0; c < scene.model.couplings.size(); ++c) {
    const Coupling& coupling = scene.model.couplings[c];
    if (const auto parameter =
            found(prefix_of(coupling), coupling.is_actuator ? k_actuator : k_coupling, -1, -1))
      return of_coupling(scene, *parameter, static_cast<int>(c));
  }
  return std::nullopt;
}

}  // namespace

SceneParameter find_parameter(const Scene& scene, const std::string& name) {
  if (const auto parameter = look_up(scene, name, nullptr)) return *parameter;
  std::vector<std::string> candidates;
  (void)look_up(scene, name, &candidates);
  fail_unknown(name, candidates);
}

std::string target_name(const Model& model, const MotorPlace& place) {
  if (place.joint >= 0) return fmt::format("joint.{}.motor.target", name_of(model, place));
  const Coupling& coupling = model.couplings[at(place.coupling)];
  return fmt::format("{}.{}target", prefix_of(coupling), coupling.is_actuator ? "" : "motor.");
}

std::vector<std::string> component_names(const Scene& scene, const std::string& name) {
  const auto is_there = [&](const std::string& candidate) {
    try {
      return look_up(scene, candidate, nullptr).has_value();
    } catch (const std::invalid_argument&) {
      return true;  // of a body that cannot have it, as find_parameter() will say
    }
  };
  const auto all_of = [&](const auto& endings) {
    std::vector<std::string> names;
    for (const std::string_view ending : endings) names.push_back(name + std::string(ending));
    return names;
  };
  if (is_there(name)) return {name};
  for (const ParameterComponents components : {ParameterComponents::vector, ParameterComponents::inertia}) {
    const auto endings = component_endings(components);
    if (is_there(name + std::string(endings.front()))) return all_of(endings);
  }
  return {name};
}

bool is_same(const SceneParameter& a, const SceneParameter& b) {
  return a.kind == b.kind && a.index == b.index && a.primitive == b.primitive && a.body_A == b.body_A &&
         a.body_B == b.body_B && a.joint == b.joint && a.coupling == b.coupling;
}

bool vanishes_at_zero(ParameterKind kind) {
  return kind == ParameterKind::joint_damping || kind == ParameterKind::joint_friction ||
         kind == ParameterKind::joint_armature || kind == ParameterKind::joint_spring_stiffness;
}

std::vector<SceneParameter> differentiable_parameters(const Scene& scene) {
  std::vector<SceneParameter> parameters;
  const auto plays_a_part = [&](const SceneParameter& parameter) {
    const double value = value_of(scene, parameter);
    if (parameter.kind == ParameterKind::stiffness) return std::isfinite(value);
    if (parameter.kind == ParameterKind::dissipation_time ||
        parameter.kind == ParameterKind::joint_dissipation_time)
      return value >= 0.0;
    if (vanishes_at_zero(parameter.kind)) return value > 0.0;
    if (parameter.is_of_joint() || parameter.is_of_coupling()) return std::isfinite(value);
    if (parameter.is_of_pair()) return !std::isnan(value);
    if (parameter.body_A < 0 || !scene.model.bodies[at(parameter.body_A)].fixed) return true;
    return parameter.kind == ParameterKind::shape || !parameter_info(parameter.kind).of_moving_bodies;
  };
  const auto add = [&](const std::string& prefix, const Endings& endings, int body_A, int body_B,
                       int joint = -1, int coupling = -1) {
    for (const auto& [ending, of_ending] : endings) {
      SceneParameter parameter = of_ending;
      parameter.name = prefix + "." + ending;
      parameter.body_A = body_A;
      parameter.body_B = body_B;
      if (parameter.kind == ParameterKind::step_setting) continue;
      try {
        if (joint >= 0) parameter = of_joint(scene, parameter, joint);
        if (coupling >= 0) parameter = of_coupling(scene, parameter, coupling);
        require_possible(scene, parameter);
      } catch (const std::invalid_argument&) {
        continue;
      }
      if (plays_a_part(parameter)) parameters.push_back(std::move(parameter));
    }
  };
  add("simulation", simulation_endings(), -1, -1);
  const auto name = [&](int body) { return scene.model.bodies[at(body)].name; };
  for (int b = 0; b < scene.model.body_count(); ++b) {
    add("body." + name(b), body_endings(), b, -1);
    add("body." + name(b), shape_endings(scene.model.bodies[at(b)]), b, -1);
  }
  for (const PairOverride& pair : scene.model.pair_overrides)
    add("pair." + name(pair.body_A) + "." + name(pair.body_B), pair_endings(), pair.body_A, pair.body_B);
  for (std::size_t j = 0; j < scene.model.joints.size(); ++j)
    add("joint." + scene.model.joints[j].name, joint_endings(), -1, -1, static_cast<int>(j));
  for (std::size_t c = 0; c < scene.model.couplings.size(); ++c) {
    const Coupling& coupling = scene.model.couplings[c];
    add(prefix_of(coupling), coupling.is_actuator ? actuator_endings() : coupling_endings(), -1, -1, -1,
        static_cast<int>(c));
  }
  return parameters;
}

}  // namespace abut
