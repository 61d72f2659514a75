#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "apps/abut/commands.h"
#include "apps/abut/options.h"
#include "apps/abut/report.h"
#include "apps/abut/scene_coordinate.h"
#include "collision/fitting/shape_surface.h"
#include "collision/fitting/surface_cache.h"
#include "collision/manifold/contact_detector.h"
#include "dynamics/parameters/scene_parameter_derivatives.h"
#include "dynamics/simulator.h"
#include "engine/count_text.h"
#include "engine/input_error.h"
#include "engine/parameters.h"
#include "engine/scene_io.h"
#include "engine/toml_table.h"

namespace abut {
namespace {

struct GradientArguments {
  std::filesystem::path scene;
  std::string loss;
  std::vector<std::string> wrt;
  std::optional<int> steps;
  bool json = false, table = false;
};

using Kind = SceneParameter::Kind;

/// Words that stand for parameters of several kinds.
struct Group {
  std::string_view word;
  std::vector<Kind> kinds;
};

std::vector<Group> all_groups() {
  std::vector<Group> groups{
      {"initial", {}},
      {"material", {}},
      {"shape", {Kind::shape, Kind::primitive_position, Kind::primitive_rotation_vector}},
      {"joint", {}},
  };
  for (const ParameterInfo* const info : all_parameters()) {
    if (is_initial_state(info->kind)) groups[0].kinds.push_back(info->kind);
    if (material_parameter(info->kind) != nullptr) groups[1].kinds.push_back(info->kind);
    if (joint_parameter(info->kind) != nullptr) groups[3].kinds.push_back(info->kind);
    const bool is_named = info->owner == ParameterOwner::simulation || info->owner == ParameterOwner::body ||
                          info->owner == ParameterOwner::body_or_pair;
    if (is_named) groups.push_back({info->key, {info->kind}});
  }
  return groups;
}

const std::vector<Group>& groups() {
  static const std::vector<Group> k_groups = all_groups();
  return k_groups;
}

const std::vector<std::string> k_standard{"initial", "mass", "friction", "gravity"};

/// What a word of --wrt stands for; none if it is unknown. Throws for a parameter that the scene cannot have.
std::vector<SceneParameter> parameters_of(const Scene& scene, const std::vector<SceneParameter>& all,
                                          const std::string& word) {
  if (word == "all") return all;
  std::vector<SceneParameter> chosen;
  for (const Group& group : groups()) {
    if (group.word != word) continue;
    for (const SceneParameter& parameter : all) {
      if (std::find(group.kinds.begin(), group.kinds.end(), parameter.kind) != group.kinds.end())
        chosen.push_back(parameter);
    }
    return chosen;
  }
  for (const std::string& name : component_names(scene, word)) chosen.push_back(find_parameter(scene, name));
  return chosen;
}

bool is_group(const std::string& word) {
  return word == "all" || std::any_of(groups().begin(), groups().end(),
                                      [&](const Group& group) { return group.word == word; });
}

[[noreturn]] void fail_unknown(const std::string& word, const std::string& why) {
  std::vector<std::string> words{"all"};
  for (const Group& group : groups()) words.emplace_back(group.word);
  const std::string closest = closest_word(word, words);
  if (word.find('.') != std::string::npos) throw std::invalid_argument(fmt::format("--wrt: {}", why));
  throw std::invalid_argument(fmt::format(
      "--wrt: there is no '{}'{}; known are {}, and parameters such as "
      "body.NAME.friction",
      word, closest.empty() ? "" : fmt::format(", did you mean '{}'?", closest), fmt::join(words, ", ")));
}

/// The words between the commas of a list, but for commas that belong to the name of a body.
std::vector<std::string> words_of(const Scene& scene, const std::string& list) {
  const auto is_known = [&](const std::string& word) {
    if (is_group(word)) return true;
    try {
      (void)find_parameter(scene, component_names(scene, word).front());
      return true;
    } catch (const std::invalid_argument&) {
      return false;
    }
  };
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= list.size();) {
    std::size_t end = list.find(',', begin);
    for (std::size_t at = end; !is_known(list.substr(begin, at - begin));) {
      if (at == std::string::npos) break;
      at = list.find(',', at + 1);
      if (is_known(list.substr(begin, at - begin))) end = at;
    }
    words.push_back(list.substr(begin, end - begin));
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  return words;
}

std::vector<SceneParameter> chosen_parameters(const Scene& scene, const std::vector<std::string>& wrt) {
  const std::vector<SceneParameter> all = differentiable_parameters(scene);
  std::vector<SceneParameter> chosen;
  const auto add = [&](const std::string& word) {
    std::vector<SceneParameter> some;
    try {
      some = parameters_of(scene, all, word);
    } catch (const std::invalid_argument& error) {
      fail_unknown(word, error.what());
    }
    for (SceneParameter& parameter : some) {
      if (!is_differentiable(parameter)) {
        throw std::invalid_argument(
            fmt::format("--wrt: '{}' is a setting of the time step: nothing can be differentiated by it",
                        parameter.name));
      }
      const bool is_new = std::none_of(chosen.begin(), chosen.end(), [&](const SceneParameter& other) {
        return is_same(other, parameter);
      });
      if (is_new) chosen.push_back(std::move(parameter));
    }
  };
  for (const std::string& list : wrt.empty() ? k_standard : wrt) {
    for (const std::string& word : words_of(scene, list)) add(word);
  }
  if (chosen.empty())
    throw std::invalid_argument(fmt::format(
        "--wrt {}: the scene has no such parameter that plays a part in it", fmt::join(wrt, ",")));
  return chosen;
}

/// Of dL/d(parameter): "m/kg", "m/(m/s)", "m", "1/kg"; "" without one.
std::string quotient_unit(const std::string& loss, const std::string& parameter) {
  if (parameter.empty() || loss == parameter) return parameter.empty() ? loss : "";
  const bool is_compound = parameter.find_first_of("/ ") != std::string::npos;
  return fmt::format("{}/{}", loss, is_compound ? "(" + parameter + ")" : parameter);
}

struct Derivative {
  SceneParameter parameter;
  double value = 0.0, derivative = 0.0;
  std::string unit, derivative_unit;

  /// Whether the parameter may change to one side only.
  [[nodiscard]] bool is_at_bound() const {
    return value == parameter.range.lower || value == parameter.range.upper;
  }
};

struct GradientResult {
  SceneCoordinate loss;
  double initial_value = 0.0, value = 0.0, time = 0.0;
  int steps = 0;
  std::vector<Derivative> derivatives;
  GradientHealth health;
};

Json json_of(const Scene& scene, const GradientResult& result) {
  Json derivatives = Json::array();
  for (const Derivative& d : result.derivatives) {
    derivatives.push_back({{"parameter", d.parameter.name},
                           {"value", d.value},
                           {"unit", d.unit},
                           {"derivative", d.derivative},
                           {"derivative_unit", d.derivative_unit},
                           {"at_bound", d.is_at_bound()}});
  }
  return {{"scene", scene.name},
          {"steps", result.steps},
          {"dt", scene.config.step.h},
          {"time", result.time},
          {"loss",
           {{"name", result.loss.name},
            {"unit", result.loss.unit},
            {"initial_value", result.initial_value},
            {"value", result.value}}},
          {"derivatives", std::move(derivatives)},
          {"health", json_of(scene.model, result.health)}};
}

void print_table(const Scene& scene, const GradientResult& result) {
  fmt::print("{}: {} after {} of {:.6g} s is {:.6g} {}, at the start {:.6g} {}\n", scene.name,
             result.loss.name, count_text(result.steps, "step"), scene.config.step.h, result.value,
             result.loss.unit, result.initial_value, result.loss.unit);
  Table table({"parameter", "unit", "value", "derivative", "unit of it"});
  for (const Derivative& d : result.derivatives) {
    table.add({d.parameter.name, d.unit.empty() ? "-" : d.unit, fmt::format("{:.6g}", d.value),
               fmt::format("{:.6g}", d.derivative), d.derivative_unit.empty() ? "-" : d.derivative_unit});
  }
  fmt::print("{}", table.text(2));
  for (const Derivative& d : result.derivatives) {
    if (d.is_at_bound())
      fmt::print(
          "note: {} is at a bound ({}): its derivative is one-sided, and the model may be another one "
          "there\n",
          d.parameter.name, d.parameter.range.text());
  }
  print_health(scene.model, result.health);
}

int gradient(const GradientArguments& arguments) {
  const Scene scene = read_scene(arguments.scene, surface_maker(user_cache_folder()));
  GradientResult result;
  result.loss = find_coordinate(scene.model, arguments.loss);
  const std::vector<SceneParameter> parameters = chosen_parameters(scene, arguments.wrt);
  result.steps = arguments.steps.value_or(scene.config.steps);
  const Simulator simulator =
      naming_file(arguments.scene.string(), [&] { return Simulator(scene.model, scene.config.step); });
  warn_of_start("gradient", scene.model, find_start_warnings(simulator.stepper(), scene.initial));

  AdjointOptions options;
  options.mask.shapes =
      std::any_of(parameters.begin(), parameters.end(),
                  [](const SceneParameter& parameter) { return parameter.is_of_geometry(); });
  if (options.mask.shapes && !simulator.stepper().detector().has_shape_derivatives()) {
    throw InputError(arguments.scene.string(), 0,
                     "derivatives by shapes and centres of mass need detector = \"manifold\" for every pair "
                     "that may touch");
  }
  const RolloutLoss loss = coordinate_loss(scene.model, result.loss, result.steps);
  const LossAndGradient of_loss = simulator.value_and_gradient(
      scene.initial, result.steps, controls_of(scene, result.steps), loss, options);
  if (!of_loss.ok()) {
    const double time = of_loss.trajectory.states.back().time + scene.config.step.h;
    fmt::print(stderr, "abut gradient: {}\n",
               failure_text(scene.model, scene.config.step, time, of_loss.trajectory.failure));
    return 1;
  }
  const std::string refusal =
      why_not_differentiable(scene.model, result.loss, of_loss.trajectory.states.back());
  if (!refusal.empty()) {
    fmt::print(stderr, "abut gradient: {}\n", refusal);
    return 1;
  }
  result.value = of_loss.value;
  result.initial_value = loss.value(result.steps, scene.initial);
  result.time = of_loss.trajectory.states.back().time;
  result.health = of_loss.gradient.health;
  bool is_finite = true;
  for (const SceneParameter& parameter : parameters) {
    Derivative d{parameter, value_of(scene, parameter), derivative_by(scene, parameter, of_loss.gradient),
                 std::string(parameter.unit), ""};
    d.derivative_unit = quotient_unit(result.loss.unit, d.unit);
    is_finite = is_finite && std::isfinite(d.derivative);
    result.derivatives.push_back(std::move(d));
  }
  if (!is_finite) {
    fmt::print(stderr, "abut gradient: {} has no finite derivatives where it ends, at {:.6g} {}\n",
               result.loss.name, result.value, result.loss.unit);
    return 1;
  }
  if (arguments.json) {
    print_json(json_of(scene, result));
  } else {
    print_table(scene, result);
  }
  return 0;
}

}  // namespace

void add_gradient_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<GradientArguments>();
  CLI::App* command = app.add_subcommand(
      "gradient", "differentiate where a body ends by the parameters of its scene, with units");
  command->add_option("SCENE", arguments->scene, "scene file (TOML)")->required()->type_name("");
  command
      ->add_option("--loss", arguments->loss,
                   "what is differentiated, at the end: x, y, z [m], roll, pitch, yaw [rad], vx, vy, vz\n"
                   "[m/s] or wx, wy, wz [rad/s] of a body, as in z:ball; or distance:BODY:BODY [m]")
      ->required()
      ->type_name("COORDINATE:BODY");
  command
      ->add_option(
          "--wrt", arguments->wrt,
          "by which parameters, separated by commas: their names, as in batches, or words for those of\n"
          "all bodies; default: initial,mass,friction,gravity")
      ->type_name("PARAMETERS");
  command->add_option("--steps", arguments->steps, "number of time steps; default: that of the scene")
      ->check(whole_number(1))
      ->type_name("N");
  CLI::Option* json = command->add_flag("--json", arguments->json, "print one JSON object");
  command->add_flag("--table", arguments->table, "print a table (default)")->excludes(json);
  command->footer(
      "Positions are those of the origin of a body's asset, velocities those of its centre of mass;\n"
      "angles are of R = Rz(yaw) Ry(pitch) Rx(roll). Words for --wrt: initial (position,\n"
      "rotation_vector, linear_velocity, angular_velocity), material (friction, stiffness,\n"
      "dissipation_time, restitution), shape, inertia, center_of_mass, mass, density, force, torque,\n"
      "linear_damping, angular_damping, gravity, each of them alone, or all. A parameter by its name,\n"
      "body.ball.friction, or a vector of them, body.ball.position: docs/scene_format.md, \"Batches\".\n"
      "By the mass, the inertia changes in proportion; by gravity, smoothing scales that default to\n"
      "its size stay.\n"
      "What the health says, and when to trust a gradient: docs/gradients.md.\n"
      "\n"
      "Examples:\n"
      "  abut gradient assets/scenes/sphere_bounce.toml --loss z:ball\n"
      "  abut gradient assets/scenes/box_slide.toml --loss x:box --wrt mass,friction --json");
  command->callback([arguments, &exit_code] { exit_code = gradient(*arguments); });
}

}  // namespace abut
