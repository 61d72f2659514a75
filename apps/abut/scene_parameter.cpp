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

#include "engine/body_builder.h"
#include "engine/check.h"
#include "engine/config_fields.h"
#include "engine/lie.h"

namespace abut {
namespace {

using Kind = SceneParameter::Kind;

struct BodyNumber {
  std::string_view key;
  Kind kind;
  double& (*get)(Body&);
  NumberRange range;
};
const std::array<BodyNumber, 6> k_body_numbers{{
    {"friction", Kind::friction, [](Body& b) -> double& { return b.material.friction; }, at_least(0.0)},
    {"stiffness", Kind::stiffness, [](Body& b) -> double& { return b.material.stiffness; },
     positive_or_infinite()},
    {"dissipation_time", Kind::dissipation_time,
     [](Body& b) -> double& { return b.material.dissipation_time; }, at_least(0.0)},
    {"restitution", Kind::restitution, [](Body& b) -> double& { return b.material.restitution; },
     between(0.0, 1.0)},
    {"linear_damping", Kind::linear_damping, [](Body& b) -> double& { return b.linear_damping; },
     at_least(0.0)},
    {"angular_damping", Kind::angular_damping, [](Body& b) -> double& { return b.angular_damping; },
     at_least(0.0)},
}};

struct PairNumber {
  std::string_view key;
  Kind kind;
  double PairOverride::*value;
  NumberRange range;
};
const std::array<PairNumber, 4> k_pair_numbers{{
    {"friction", Kind::friction, &PairOverride::friction, at_least(0.0)},
    {"stiffness", Kind::stiffness, &PairOverride::stiffness, positive_or_infinite()},
    {"dissipation_time", Kind::dissipation_time, &PairOverride::dissipation_time, at_least(0.0)},
    {"restitution", Kind::restitution, &PairOverride::restitution, between(0.0, 1.0)},
}};

constexpr std::array<std::pair<std::string_view, Kind>, 6> k_body_vectors{{
    {"position", Kind::position},
    {"rotation_vector", Kind::rotation_vector},
    {"linear_velocity", Kind::linear_velocity},
    {"angular_velocity", Kind::angular_velocity},
    {"force", Kind::force},
    {"torque", Kind::torque},
}};
constexpr std::array<std::string_view, 3> k_components{".x", ".y", ".z"};

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// What a name may go on with after "simulation.", "body.<name>." and "pair.<name>.<name>.".
using Endings = std::map<std::string, SceneParameter, std::less<>>;

void add_vector(Endings& endings, std::string_view key, Kind kind) {
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
    parameter.kind = Kind::step_setting;
    parameter.index = index++;
    parameter.whole = !std::holds_alternative<double& (*)(StepConfig&)>(field.get);
    parameter.range = parameter.whole ? at_least(field.lower) : positive();
    if (!parameter.whole) parameter.range.lower = field.lower;
  }
  add_vector(endings, "gravity", Kind::gravity);
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
  add_numbers(endings, k_body_numbers);
  for (const auto& [key, kind] : {std::pair{"mass", Kind::mass}, std::pair{"density", Kind::density}}) {
    endings[key].kind = kind;
    endings[key].range = positive();
  }
  for (const auto& [key, kind] : k_body_vectors) add_vector(endings, key, kind);
  return endings;
}

Endings pair_endings() {
  Endings endings;
  add_numbers(endings, k_pair_numbers);
  return endings;
}

/// What is left of `text` after `prefix` and a dot, if it starts with them.
std::optional<std::string_view> after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  if (!text.starts_with('.')) return std::nullopt;
  return text.substr(1);
}

[[noreturn]] void fail_unknown(const std::string& name, std::vector<std::string> candidates) {
  const std::string closest = closest_word(name, candidates);
  throw std::invalid_argument(
      fmt::format("the scene has no parameter '{}'{}", name,
                  closest.empty() ? "" : fmt::format("; did you mean '{}'?", closest)));
}

/// `prefix` and each ending.
void add_candidates(const std::string& prefix, const Endings& endings, std::vector<std::string>& candidates) {
  for (const auto& ending : endings) candidates.push_back(prefix + "." + ending.first);
}

void require_possible(const Scene& scene, const SceneParameter& parameter) {
  if (parameter.body_A < 0 || parameter.body_B >= 0) return;
  const Body& body = scene.model.bodies[at(parameter.body_A)];
  const bool is_mass = parameter.kind == Kind::mass || parameter.kind == Kind::density;
  require(!is_mass || !is_unbounded(body.shape),
          fmt::format("'{}': a body with a half_space has no mass", parameter.name));
  require(parameter.kind != Kind::density || body.volume > 0.0,
          fmt::format("'{}': the volume of the body is not known", parameter.name));
  const bool is_motion = parameter.kind == Kind::linear_velocity || parameter.kind == Kind::angular_velocity;
  require(!is_motion || !body.fixed, fmt::format("'{}': a fixed body has no velocity", parameter.name));
}

/// The override of a pair, made if there is none.
PairOverride& override_of(Model& model, int body_A, int body_B) {
  for (PairOverride& pair : model.pair_overrides) {
    if (pair.body_A == body_A && pair.body_B == body_B) return pair;
  }
  PairOverride& pair = model.pair_overrides.emplace_back();
  pair.body_A = body_A;
  pair.body_B = body_B;
  return pair;
}

/// Where a number of a body or of a pair stands in the model.
double& number_of(const SceneParameter& parameter, Model& model) {
  const auto is_it = [&](const auto& number) { return number.kind == parameter.kind; };
  if (parameter.is_of_pair()) {
    const auto number = std::find_if(k_pair_numbers.begin(), k_pair_numbers.end(), is_it);
    return override_of(model, parameter.body_A, parameter.body_B).*(number->value);
  }
  const auto number = std::find_if(k_body_numbers.begin(), k_body_numbers.end(), is_it);
  return number->get(model.bodies[at(parameter.body_A)]);
}

void set_step_setting(int index, double value, StepConfig& config) {
  const StepConfigField& field = step_config_fields()[at(index)];
  if (const auto* number = std::get_if<double& (*)(StepConfig&)>(&field.get)) {
    (*number)(config) = value;
  } else {
    std::get<int& (*)(StepConfig&)>(field.get)(config) = static_cast<int>(value);
  }
}

/// The pose of a body's asset frame, to be changed component by component.
struct AssetPose {
  Vec3<double> p_WA;
  std::optional<Vec3<double>> rotation_vector;  // where that changes
};

}  // namespace

SceneParameter find_parameter(const Scene& scene, const std::string& name) {
  static const Endings k_simulation = simulation_endings(), k_body = body_endings(), k_pair = pair_endings();
  const auto found = [&](const Endings& endings, std::string_view ending, int body_A, int body_B,
                         SceneParameter& parameter) {
    const auto entry = endings.find(ending);
    if (entry == endings.end()) return false;
    parameter = entry->second;
    parameter.name = name;
    parameter.body_A = body_A;
    parameter.body_B = body_B;
    require_possible(scene, parameter);
    return true;
  };
  SceneParameter parameter;
  std::vector<std::string> candidates;
  add_candidates("simulation", k_simulation, candidates);
  if (const auto rest = after(name, "simulation")) {
    if (found(k_simulation, *rest, -1, -1, parameter)) return parameter;
  }
  const std::vector<Body>& bodies = scene.model.bodies;
  const int count = scene.model.body_count();
  for (int a = 0; a < count; ++a) {
    add_candidates("body." + bodies[at(a)].name, k_body, candidates);
    if (const auto rest = after(name, "body." + bodies[at(a)].name)) {
      if (found(k_body, *rest, a, -1, parameter)) return parameter;
    }
    const std::string first = "pair." + bodies[at(a)].name;
    if (!after(name, first)) continue;
    for (int b = 0; b < count; ++b) {
      if (b == a) continue;
      const std::string both = first + "." + bodies[at(b)].name;
      add_candidates(both, k_pair, candidates);
      if (const auto rest = after(name, both)) {
        if (found(k_pair, *rest, std::min(a, b), std::max(a, b), parameter)) return parameter;
      }
    }
  }
  fail_unknown(name, std::move(candidates));
}

void set_parameters(const std::vector<SceneParameter>& parameters, std::span<const double> values,
                    Scene& scene) {
  std::map<int, AssetPose> poses;
  const auto pose_of = [&](int b) -> AssetPose& {
    const auto [entry, is_new] = poses.try_emplace(b);
    if (is_new) entry->second.p_WA = scene.initial.X_WB[at(b)] * scene.model.bodies[at(b)].p_BA;
    return entry->second;
  };
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const SceneParameter& parameter = parameters[i];
    const double value = values[i];
    const int b = parameter.body_A, k = parameter.index;
    switch (parameter.kind) {
      case Kind::step_setting:
        set_step_setting(k, value, scene.config.step);
        break;
      case Kind::gravity:
        scene.model.gravity[k] = value;
        break;
      case Kind::friction:
      case Kind::stiffness:
      case Kind::dissipation_time:
      case Kind::restitution:
      case Kind::linear_damping:
      case Kind::angular_damping:
        number_of(parameter, scene.model) = value;
        break;
      case Kind::mass:
        set_mass(scene.model.bodies[at(b)], value);
        break;
      case Kind::density:
        set_density(scene.model.bodies[at(b)], value);
        break;
      case Kind::position:
        pose_of(b).p_WA[k] = value;
        break;
      case Kind::rotation_vector: {
        AssetPose& pose = pose_of(b);
        if (!pose.rotation_vector) pose.rotation_vector = log_quaternion(scene.initial.X_WB[at(b)].q);
        (*pose.rotation_vector)[k] = value;
        break;
      }
      case Kind::linear_velocity:
        scene.initial.V_WB[at(b)][3 + k] = value;
        break;
      case Kind::angular_velocity:
        scene.initial.V_WB[at(b)][k] = value;
        break;
      case Kind::force:
        scene.model.bodies[at(b)].external_wrench[3 + k] = value;
        break;
      case Kind::torque:
        scene.model.bodies[at(b)].external_wrench[k] = value;
        break;
    }
  }
  for (const auto& [b, pose] : poses) {
    Pose<double>& X_WB = scene.initial.X_WB[at(b)];
    if (pose.rotation_vector) X_WB.q = exp_quaternion(*pose.rotation_vector).normalized();
    X_WB.p = pose.p_WA - X_WB.q * scene.model.bodies[at(b)].p_BA;
  }
}

void require_allowed(const SceneParameter& parameter, double value) {
  require(parameter.range.contains(value),
          fmt::format("'{}' = {}, allowed: {}", parameter.name, value, parameter.range.text()));
  require(
      !parameter.whole || (value == std::floor(value) && value <= 1e9),
      fmt::format("'{}' = {}, allowed: a whole number {}", parameter.name, value, parameter.range.text()));
  if (parameter.kind != Kind::step_setting) return;
  StepConfig config;
  set_step_setting(parameter.index, value, config);
  try {
    validate(config);  // knows of upper bounds, too
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("'{}': {}", parameter.name, error.what()));
  }
}

}  // namespace abut
