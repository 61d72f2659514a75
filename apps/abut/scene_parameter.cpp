#include "apps/abut/scene_parameter.h"

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

#include "apps/abut/scene_parameter_tables.h"
#include "engine/body_builder.h"
#include "engine/check.h"
#include "engine/config_fields.h"
#include "engine/law_settings.h"
#include "engine/primitive_builder.h"

namespace abut {
namespace {

using ParameterKind = SceneParameter::Kind;

constexpr std::array<std::pair<std::string_view, ParameterKind>, 7> k_body_vectors{{
    {"center_of_mass", ParameterKind::center_of_mass},
    {"position", ParameterKind::position},
    {"rotation_vector", ParameterKind::rotation_vector},
    {"linear_velocity", ParameterKind::linear_velocity},
    {"angular_velocity", ParameterKind::angular_velocity},
    {"force", ParameterKind::force},
    {"torque", ParameterKind::torque},
}};
constexpr std::array<std::string_view, 3> k_components{".x", ".y", ".z"};
/// In the order of inertia_coordinates().
constexpr std::array<std::string_view, 6> k_inertia_components{".log_x", ".log_y", ".log_z",
                                                               ".xy",    ".yz",    ".xz"};

/// What a name may go on with after "simulation.", "body.<name>." and "pair.<name>.<name>.".
using Endings = std::map<std::string, SceneParameter, std::less<>>;

void add_vector(Endings& endings, std::string_view key, ParameterKind kind) {
  for (int i = 0; i < 3; ++i) {
    SceneParameter& parameter = endings[std::string(key) + std::string(k_components[at(i)])];
    parameter.kind = kind;
    parameter.index = i;
  }
}

Endings simulation_endings() {
  Endings endings;
  int index = 0;
  for (const StepConfigField& field : step_config_fields()) {
    SceneParameter& parameter = endings[std::string(field.key)];
    parameter.kind = ParameterKind::step_setting;
    parameter.index = index++;
    parameter.whole = !std::holds_alternative<double& (*)(StepConfig&)>(field.get);
    parameter.range = parameter.whole ? at_least(field.lower) : positive();
    if (!parameter.whole) parameter.range.lower = field.lower;
  }
  add_vector(endings, "gravity", ParameterKind::gravity);
  return endings;
}

template <typename Numbers>
void add_numbers(Endings& endings, const Numbers& numbers) {
  for (const auto& number : numbers) {
    SceneParameter& parameter = endings[std::string(number.key)];
    parameter.kind = number.kind;
    parameter.range = number.range;
  }
}

Endings body_endings() {
  Endings endings;
  add_numbers(endings, body_numbers());
  for (const auto& [key, kind] :
       {std::pair{"mass", ParameterKind::mass}, std::pair{"density", ParameterKind::density}}) {
    endings[key].kind = kind;
    endings[key].range = positive();
  }
  for (const auto& [key, kind] : k_body_vectors) add_vector(endings, key, kind);
  for (int i = 0; i < 6; ++i) {
    SceneParameter& parameter = endings["inertia" + std::string(k_inertia_components[at(i)])];
    parameter.kind = ParameterKind::inertia;
    parameter.index = i;
  }
  return endings;
}

/// Names and ranges of the shape_parameter()s of a primitive, but for the points of a cloud.
std::vector<std::pair<std::string, NumberRange>> shape_keys(const Primitive& primitive) {
  std::vector<std::pair<std::string, NumberRange>> keys;
  const auto add_three = [&](const std::string& key) {
    for (const std::string_view component : k_components)
      keys.emplace_back(key + std::string(component), positive());
  };
  switch (primitive.kind) {
    case PrimitiveKind::superquadric:
    case PrimitiveKind::extruded_superquadric:
      add_three("semi_axes");
      for (const char* key : {"exponents.1", "exponents.2"})
        keys.emplace_back(key, between(k_min_exponent, k_max_exponent));
      if (primitive.kind == PrimitiveKind::superquadric) break;
      keys.emplace_back("profile_power", between(k_min_profile_power, k_max_profile_power));
      for (std::size_t i = 0; 2 * i + 1 < primitive.values.size(); ++i) {
        keys.emplace_back(fmt::format("angles.{}", i), any_number());
        keys.emplace_back(fmt::format("offsets.{}", i), positive());
      }
      break;
    case PrimitiveKind::sphere:
      keys.emplace_back("radius", positive());
      break;
    case PrimitiveKind::capsule:
      keys.emplace_back("radius", positive());
      keys.emplace_back("half_length", at_least(0.0));
      break;
    case PrimitiveKind::rounded_box:
      add_three("half_extents");
      keys.emplace_back("edge_radius", at_least(0.0));
      break;
    case PrimitiveKind::convex_polyhedron:
      keys.emplace_back("smoothing", positive());
      for (std::size_t i = 0; i < primitive.values.size(); ++i)
        keys.emplace_back(fmt::format("offsets.{}", i), positive());
      break;
    case PrimitiveKind::oriented_point_cloud:
      keys.emplace_back("width", positive());
      break;
    case PrimitiveKind::half_space:
      break;
  }
  return keys;
}

/// Of the shape of a body: "primitive.0.radius" and so on.
Endings shape_endings(const Body& body) {
  Endings endings;
  for (std::size_t p = 0; p < body.shape.primitives.size(); ++p) {
    const std::string prefix = fmt::format("primitive.{}.", p);
    Endings of_primitive;
    add_vector(of_primitive, "position", ParameterKind::primitive_position);
    add_vector(of_primitive, "rotation_vector", ParameterKind::primitive_rotation_vector);
    int index = 0;
    for (const auto& [key, range] : shape_keys(body.shape.primitives[p])) {
      SceneParameter& parameter = of_primitive[key];
      parameter.kind = ParameterKind::shape;
      parameter.index = index++;
      parameter.range = range;
    }
    for (auto& [key, parameter] : of_primitive) {
      parameter.primitive = static_cast<int>(p);
      endings[prefix + key] = parameter;
    }
  }
  return endings;
}

Endings pair_endings() {
  Endings endings;
  add_numbers(endings, pair_numbers());
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
  const auto is_it = [&](const auto& number) { return number.kind == parameter.kind; };
  if (parameter.kind == ParameterKind::step_setting) return step_config_fields()[at(parameter.index)].key;
  const auto number = std::find_if(pair_numbers().begin(), pair_numbers().end(), is_it);
  return number == pair_numbers().end() ? std::string_view() : number->key;
}

void require_possible(const Scene& scene, const SceneParameter& parameter) {
  const std::string refusal = refusal_text(setting_key(parameter), scene.model, scene.config.step.law);
  require(refusal.empty(), fmt::format("'{}': {}", parameter.name, refusal));
  if (parameter.body_A < 0 || parameter.body_B >= 0) return;
  const Body& body = scene.model.bodies[at(parameter.body_A)];
  const bool is_mass = parameter.kind == ParameterKind::mass || parameter.kind == ParameterKind::density;
  const bool is_moment =
      parameter.kind == ParameterKind::inertia || parameter.kind == ParameterKind::center_of_mass;
  require(!(is_mass || is_moment) || !is_unbounded(body.shape),
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

/// Adds all names of parameters to `candidates` on the way, unless that is null. Throws for a parameter that
/// the body cannot have.
std::optional<SceneParameter> look_up(const Scene& scene, const std::string& name,
                                      std::vector<std::string>* candidates) {
  static const Endings k_simulation = simulation_endings(), k_body = body_endings(), k_pair = pair_endings();
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
  return std::nullopt;
}

}  // namespace

SceneParameter find_parameter(const Scene& scene, const std::string& name) {
  if (const auto parameter = look_up(scene, name, nullptr)) return *parameter;
  std::vector<std::string> candidates;
  (void)look_up(scene, name, &candidates);
  fail_unknown(name, candidates);
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
  if (is_there(name + std::string(k_components[0]))) return all_of(k_components);
  if (is_there(name + std::string(k_inertia_components[0]))) return all_of(k_inertia_components);
  return {name};
}

bool is_same(const SceneParameter& a, const SceneParameter& b) {
  return a.kind == b.kind && a.index == b.index && a.primitive == b.primitive && a.body_A == b.body_A &&
         a.body_B == b.body_B;
}

std::string unit_of(const Scene& scene, const SceneParameter& parameter) {
  switch (parameter.kind) {
    case ParameterKind::gravity:
      return "m/s^2";
    case ParameterKind::stiffness:
      return "N/m";
    case ParameterKind::dissipation_time:
      return "s";
    case ParameterKind::linear_damping:
    case ParameterKind::angular_damping:
      return "1/s";
    case ParameterKind::mass:
      return "kg";
    case ParameterKind::density:
      return "kg/m^3";
    case ParameterKind::inertia:
      return parameter.index < 3 ? "" : "m";
    case ParameterKind::center_of_mass:
    case ParameterKind::primitive_position:
    case ParameterKind::position:
      return "m";
    case ParameterKind::shape: {
      const Primitive& primitive =
          scene.model.bodies[at(parameter.body_A)].shape.primitives[at(parameter.primitive)];
      return is_length(primitive.kind, at(parameter.index)) ? "m" : "";
    }
    case ParameterKind::primitive_rotation_vector:
    case ParameterKind::rotation_vector:
      return "rad";
    case ParameterKind::linear_velocity:
      return "m/s";
    case ParameterKind::angular_velocity:
      return "rad/s";
    case ParameterKind::force:
      return "N";
    case ParameterKind::torque:
      return "N m";
    case ParameterKind::friction:
    case ParameterKind::restitution:
    case ParameterKind::step_setting:
      return "";
  }
  return "";
}

std::vector<SceneParameter> differentiable_parameters(const Scene& scene) {
  std::vector<SceneParameter> parameters;
  const auto plays_a_part = [&](const SceneParameter& parameter) {
    const double value = value_of(scene, parameter);
    if (parameter.kind == ParameterKind::stiffness) return std::isfinite(value);
    if (parameter.kind == ParameterKind::dissipation_time) return value >= 0.0;
    if (parameter.is_of_pair()) return !std::isnan(value);
    if (parameter.body_A < 0 || !scene.model.bodies[at(parameter.body_A)].fixed) return true;
    constexpr std::array k_of_moving{ParameterKind::mass,           ParameterKind::density,
                                     ParameterKind::linear_damping, ParameterKind::angular_damping,
                                     ParameterKind::force,          ParameterKind::torque};
    return std::find(k_of_moving.begin(), k_of_moving.end(), parameter.kind) == k_of_moving.end();
  };
  const auto add = [&](const std::string& prefix, const Endings& endings, int body_A, int body_B) {
    for (const auto& [ending, of_ending] : endings) {
      SceneParameter parameter = of_ending;
      parameter.name = prefix + "." + ending;
      parameter.body_A = body_A;
      parameter.body_B = body_B;
      if (parameter.kind == ParameterKind::step_setting) continue;
      try {
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
  return parameters;
}

}  // namespace abut
