#include "apps/abut/batch_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "engine/body_builder.h"
#include "engine/check.h"
#include "engine/config_fields.h"
#include "engine/input_error.h"
#include "engine/lie.h"
#include "engine/random.h"

namespace abut {
namespace {

using Kind = SceneParameter::Kind;

struct BodyNumber {
  std::string_view key;
  double& (*get)(Body&);
  NumberRange range;
};
const std::array<BodyNumber, 6> k_body_numbers{{
    {"friction", [](Body& b) -> double& { return b.material.friction; }, at_least(0.0)},
    {"stiffness", [](Body& b) -> double& { return b.material.stiffness; }, positive_or_infinite()},
    {"dissipation_time", [](Body& b) -> double& { return b.material.dissipation_time; }, at_least(0.0)},
    {"restitution", [](Body& b) -> double& { return b.material.restitution; }, between(0.0, 1.0)},
    {"linear_damping", [](Body& b) -> double& { return b.linear_damping; }, at_least(0.0)},
    {"angular_damping", [](Body& b) -> double& { return b.angular_damping; }, at_least(0.0)},
}};

struct PairNumber {
  std::string_view key;
  double PairOverride::*value;
  NumberRange range;
};
const std::array<PairNumber, 4> k_pair_numbers{{
    {"friction", &PairOverride::friction, at_least(0.0)},
    {"stiffness", &PairOverride::stiffness, positive_or_infinite()},
    {"dissipation_time", &PairOverride::dissipation_time, at_least(0.0)},
    {"restitution", &PairOverride::restitution, between(0.0, 1.0)},
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

Endings body_endings() {
  Endings endings;
  for (std::size_t i = 0; i < k_body_numbers.size(); ++i) {
    SceneParameter& parameter = endings[std::string(k_body_numbers[i].key)];
    parameter.kind = Kind::body_number;
    parameter.index = static_cast<int>(i);
    parameter.range = k_body_numbers[i].range;
  }
  for (const auto& [key, kind] : {std::pair{"mass", Kind::mass}, std::pair{"density", Kind::density}}) {
    endings[key].kind = kind;
    endings[key].range = positive();
  }
  for (const auto& [key, kind] : k_body_vectors) add_vector(endings, key, kind);
  return endings;
}

Endings pair_endings() {
  Endings endings;
  for (std::size_t i = 0; i < k_pair_numbers.size(); ++i) {
    SceneParameter& parameter = endings[std::string(k_pair_numbers[i].key)];
    parameter.kind = Kind::pair_number;
    parameter.index = static_cast<int>(i);
    parameter.range = k_pair_numbers[i].range;
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
      case Kind::body_number:
        k_body_numbers[at(k)].get(scene.model.bodies[at(b)]) = value;
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
      case Kind::pair_number:
        override_of(scene.model, b, parameter.body_B).*k_pair_numbers[at(k)].value = value;
        break;
    }
  }
  for (const auto& [b, pose] : poses) {
    Pose<double>& X_WB = scene.initial.X_WB[at(b)];
    if (pose.rotation_vector) X_WB.q = exp_quaternion(*pose.rotation_vector).normalized();
    X_WB.p = pose.p_WA - X_WB.q * scene.model.bodies[at(b)].p_BA;
  }
}

// Reading
// -----------------------------------------------------------------------------------------------

namespace {

void require_in_range(const TomlTable& table, int line, const std::string& where,
                      const SceneParameter& parameter, double value) {
  if (!parameter.range.contains(value)) {
    table.fail_at(
        line, fmt::format("{}'{}' = {}, allowed: {}", where, parameter.name, value, parameter.range.text()));
  }
  if (parameter.whole && (value != std::floor(value) || value > 1e9)) {
    table.fail_at(line, fmt::format("{}'{}' = {}, allowed: a whole number {}", where, parameter.name, value,
                                    parameter.range.text()));
  }
  if (parameter.kind != Kind::step_setting) return;
  StepConfig config;
  set_step_setting(parameter.index, value, config);
  try {
    validate(config);  // knows of upper bounds, too
  } catch (const std::invalid_argument& error) {
    table.fail_at(line, fmt::format("{}'{}': {}", where, parameter.name, error.what()));
  }
}

}  // namespace

const SceneParameter& BatchTable::add_parameter(const TomlTable& table, int line, const std::string& name) {
  SceneParameter parameter;
  try {
    parameter = find_parameter(scene_, name);
  } catch (const std::invalid_argument& error) {
    table.fail_at(line, error.what());
  }
  for (const SceneParameter& other : parameters_) {
    const bool same_place = other.body_A == parameter.body_A && other.body_B == parameter.body_B;
    if (same_place && other.kind == parameter.kind && other.index == parameter.index) {
      table.fail_at(line, fmt::format("'{}' is given twice", name));
    }
    const auto is_mass = [](const SceneParameter& p) {
      return p.kind == Kind::mass || p.kind == Kind::density;
    };
    if (same_place && is_mass(other) && is_mass(parameter)) {
      table.fail_at(line, fmt::format("only one of '{}' and '{}' can be given", other.name, name));
    }
  }
  parameters_.push_back(std::move(parameter));
  return parameters_.back();
}

BatchTable::BatchTable(const std::filesystem::path& file) {
  const TomlTable table = TomlTable::read(file);
  const std::filesystem::path scene = table.required_text("scene");
  scene_file_ = file.parent_path() / scene;
  if (std::error_code ignored; !std::filesystem::is_regular_file(scene_file_, ignored))
    table.fail("scene", fmt::format("there is no file '{}'", scene_file_.string()));
  scene_ = read_scene(scene_file_);
  steps_ = table.integer("steps", scene_.config.steps, 1);

  // Explicit rows.
  std::vector<NamedNumbers> rows;
  if (table.has("columns") || table.has("rows")) {
    const std::vector<std::string> columns = table.required_texts("columns");
    if (columns.empty()) table.fail("columns", "no column");
    for (const std::string& column : columns) add_parameter(table, table.line("columns"), column);
    rows = table.required_rows("rows", static_cast<int>(columns.size()));
    if (rows.empty()) table.fail("rows", "no row");
    for (const NamedNumbers& row : rows) {
      for (std::size_t i = 0; i < columns.size(); ++i)
        require_in_range(table, row.line, fmt::format("{}, column ", row.name), parameters_[i],
                         row.numbers[i]);
    }
  }

  // Every combination of the lists of a grid.
  const TomlTable grid_table = table.table("grid");
  const std::vector<NamedNumbers> grid = grid_table.all_numbers();
  if (table.has("grid") && grid.empty()) table.fail("grid", "no parameter");
  for (const NamedNumbers& list : grid) {
    const SceneParameter& parameter = add_parameter(table, list.line, list.name);
    if (list.numbers.empty()) table.fail_at(list.line, fmt::format("'{}' has no value", list.name));
    for (std::size_t i = 0; i < list.numbers.size(); ++i)
      require_in_range(table, list.line, fmt::format("value {} of ", i), parameter, list.numbers[i]);
  }

  // Random numbers, new ones for every rollout.
  const TomlTable random_table = table.table("random");
  int samples = 1;
  std::vector<NamedNumbers> uniform;
  int seed = 0;
  if (table.has("random")) {
    seed = random_table.integer("seed", 0, 0);
    if (!random_table.has("count"))
      random_table.fail("", "missing key 'count', allowed: a whole number >= 1");
    samples = random_table.integer("count", 1, 1);
    uniform = random_table.table("uniform").all_numbers();
    if (uniform.empty()) random_table.fail("", "no parameter in [random.uniform]");
    random_table.finish();
  }
  for (const NamedNumbers& interval : uniform) {
    const SceneParameter& parameter = add_parameter(table, interval.line, interval.name);
    const std::vector<double>& ends = interval.numbers;
    if (ends.size() != 2 || !std::isfinite(ends[0]) || !std::isfinite(ends[1]) || ends[0] > ends[1]) {
      table.fail_at(interval.line,
                    fmt::format("'{}', allowed: two finite numbers, the smaller one first", interval.name));
    }
    for (const double end : ends) require_in_range(table, interval.line, "end of ", parameter, end);
    if (parameter.whole)
      table.fail_at(interval.line,
                    fmt::format("'{}' is a whole number: give it in rows or [grid]", interval.name));
  }
  table.finish();
  if (parameters_.empty()) table.fail("", "nothing differs: 'rows', [grid] or [random] is needed");

  constexpr double k_most = 1e6;
  double count = static_cast<double>(std::max<std::size_t>(rows.size(), 1)) * samples;
  for (const NamedNumbers& list : grid) count *= static_cast<double>(list.numbers.size());
  if (count > k_most) table.fail("", fmt::format("{:.0f} rollouts, allowed: at most {:.0f}", count, k_most));
  rollouts_ = static_cast<int>(count);

  // The rows change slowest, the samples fastest, of the grid the last list.
  Random random(static_cast<std::uint64_t>(seed));
  values_.reserve(at(rollouts_) * parameters_.size());
  for (int rollout = 0; rollout < rollouts_; ++rollout) {
    std::size_t place = at(rollout) / at(samples);
    std::vector<double> from_grid(grid.size());
    for (std::size_t i = grid.size(); i-- > 0;) {
      from_grid[i] = grid[i].numbers[place % grid[i].numbers.size()];
      place /= grid[i].numbers.size();
    }
    if (!rows.empty()) values_.insert(values_.end(), rows[place].numbers.begin(), rows[place].numbers.end());
    values_.insert(values_.end(), from_grid.begin(), from_grid.end());
    for (const NamedNumbers& interval : uniform)
      values_.push_back(random.uniform(interval.numbers[0], interval.numbers[1]));
  }

  const bool one_model = std::all_of(parameters_.begin(), parameters_.end(),
                                     [](const SceneParameter& p) { return p.is_initial_state(); });
  try {
    if (one_model) shared_ = std::make_shared<const Simulator>(scene_.model, scene_.config.step);
  } catch (const std::invalid_argument& error) {
    table.fail("", error.what());
  }
}

std::span<const double> BatchTable::values_of(int rollout) const {
  return std::span(values_).subspan(at(rollout) * parameters_.size(), parameters_.size());
}

Scene BatchTable::scene_of(int rollout) const {
  Scene scene = scene_;
  set_parameters(parameters_, values_of(rollout), scene);
  return scene;
}

BatchTask BatchTable::task_of(int rollout) const {
  Scene scene = scene_of(rollout);
  BatchTask task;
  task.initial = std::move(scene.initial);
  task.steps = steps_;
  task.simulator =
      shared_ ? shared_ : std::make_shared<const Simulator>(std::move(scene.model), scene.config.step);
  return task;
}

}  // namespace abut
