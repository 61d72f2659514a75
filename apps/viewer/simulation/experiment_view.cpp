#include "apps/viewer/simulation/experiment_view.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/report.h"
#include "apps/identification/estimate_rows.h"
#include "apps/identification/experiment_io.h"
#include "apps/identification/plan_files.h"
#include "apps/identification/search.h"
#include "apps/identification/unknown_space.h"
#include "engine/check.h"
#include "engine/closest_word.h"
#include "engine/input_error.h"
#include "engine/lie.h"
#include "engine/toml_table.h"

namespace abut::viewer {
namespace {

namespace fs = std::filesystem;

/// The estimates of a result.json by their names.
std::map<std::string, double> read_estimates(const fs::path& file) {
  std::ifstream stream(file);
  if (!stream) throw InputError(file.string(), 0, "cannot be read");
  const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  std::map<std::string, double> estimates;
  try {
    const Json json = Json::parse(text);
    for (const Json& row : json.at("estimates")) {
      if (row.at("value").is_number()) estimates[row.at("name")] = row.at("value");
    }
  } catch (const Json::parse_error& error) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    throw InputError(file.string(), 1 + static_cast<int>(std::count(text.begin(), end, '\n')),
                     fmt::format("no JSON: {}", error.what()));
  } catch (const Json::exception& error) {
    throw InputError(file.string(), 0,
                     fmt::format("no result of 'abut identify' or 'abut optimize': {}", error.what()));
  }
  return estimates;
}

/// x with the estimates of a file. Throws InputError naming an unknown that it has none of.
Eigen::VectorXd with_estimates(const UnknownSpace& unknowns, const fs::path& file) {
  const std::map<std::string, double> estimates = read_estimates(file);
  const auto value_of_entry = [&](int entry) {
    const auto found = estimates.find(unknowns.name(entry));
    if (found == estimates.end())
      throw InputError(
          file.string(), 0,
          fmt::format("has no estimate of '{}': it is of another experiment", unknowns.name(entry)));
    return found->second;
  };
  Eigen::VectorXd x = unknowns.initial();
  for (const Variable& variable : unknowns.variables()) {
    if (variable.kind == Variable::Kind::number) {
      const double value = value_of_entry(variable.tangent_begin);
      x[variable.begin] = unknowns.unknown_of(variable)->logarithmic ? std::log(value) : value;
      continue;
    }
    Vec3<double> turn;
    for (int i = 0; i < 3; ++i) turn[i] = value_of_entry(variable.tangent_begin + i);
    const Quat<double> q = exp_quaternion(turn);
    x.segment<4>(variable.begin) << q.w(), q.x(), q.y(), q.z();
  }
  return x;
}

int motion_of(const ExperimentChoice& choice, const std::vector<std::string>& names) {
  if (choice.motion.empty()) return 0;
  for (std::size_t m = 0; m < names.size(); ++m) {
    if (names[m] == choice.motion || fs::path(names[m]).stem() == choice.motion ||
        std::to_string(m) == choice.motion)
      return static_cast<int>(m);
  }
  const std::string closest = closest_word(choice.motion, names);
  throw InputError(
      choice.file.string(), 0,
      fmt::format("there is no motion '{}', allowed: {}, or 0 to {}{}", choice.motion, fmt::join(names, ", "),
                  names.size() - 1, closest.empty() ? "" : fmt::format("; did you mean '{}'?", closest)));
}

/// The number that stands for an entry of x, as result.json has it.
double number_of(const UnknownSpace& unknowns, int entry, const Eigen::VectorXd& x) {
  const Variable& variable = unknowns.variable_of(entry);
  if (variable.kind == Variable::Kind::number) return unknowns.value(variable, x[variable.begin]);
  const int b = variable.begin;
  return log_quaternion(Quat<double>(x[b], x[b + 1], x[b + 2], x[b + 3]))[entry - variable.tangent_begin];
}

}  // namespace

bool is_experiment(const fs::path& file) {
  if (file.extension() != ".toml") return false;
  try {
    const TomlTable table = TomlTable::read(file);
    return table.has("unknown") || table.has("motion");
  } catch (const InputError&) {
    return false;
  }
}

ExperimentScene read_experiment_scene(const ExperimentChoice& choice) {
  const ExperimentFile file = read_experiment(choice.file);
  const Experiment whole = whole_motions(file.experiment);
  const UnknownSpace unknowns(whole);
  ExperimentScene result;
  ExperimentView& view = result.view;
  view.choice = choice;
  view.name = whole.name;
  for (const MeasuredMotion& motion : whole.motions) view.motions.push_back(motion.name);
  view.motion = motion_of(choice, view.motions);
  const MeasuredMotion& motion = whole.motions[at(view.motion)];
  view.measured = std::make_shared<const MeasuredMotion>(motion);
  view.steps = std::max(1, step_count(whole, motion));

  const Eigen::VectorXd guess = unknowns.initial(), truth = unknowns.truth();
  std::optional<Eigen::VectorXd> estimates;
  if (!choice.result.empty()) estimates = with_estimates(unknowns, choice.result);
  const Segment& segment =
      *std::find_if(unknowns.segments().begin(), unknowns.segments().end(),
                    [&](const Segment& of) { return of.motion == view.motion && of.number == 0; });
  for (int e = 0; e < unknowns.tangent_size(); ++e) {
    if (!unknowns.concerns(e, segment)) continue;
    const Unknown* const unknown = unknowns.unknown_of(unknowns.variable_of(e));
    ExperimentView::Row row{unknowns.name(e), unit_of(unknowns, e), number_of(unknowns, e, guess), {}, {}};
    if (estimates) row.estimate = number_of(unknowns, e, *estimates);
    if (unknown != nullptr && (unknown->truth || unknown->true_orientation))
      row.truth = number_of(unknowns, e, truth);
    view.has_truth = view.has_truth || row.truth;
    view.unknowns.push_back(std::move(row));
  }
  if (choice.values == UnknownValues::estimates && !estimates)
    throw InputError(choice.file.string(), 0, "there are no estimates: give its result.json, too");
  if (choice.values == UnknownValues::truth && !view.has_truth)
    throw InputError(choice.file.string(), 0, "no unknown of it has a 'truth'");
  const Eigen::VectorXd& x = choice.values == UnknownValues::guesses ? guess
                             : choice.values == UnknownValues::truth ? truth
                                                                     : *estimates;
  result.scene_file = file.scene;
  naming_file(choice.file.string(), [&] {
    UnknownSpace::Inputs inputs = unknowns.inputs(x, segment);
    result.scene = std::move(inputs.scene);
    const double h = result.scene.config.step.h;
    if (!inputs.controls.empty()) {
      const double start_time = result.scene.initial.time;
      result.scene.pushes = pushes_of(inputs.controls, start_time, h);
      result.scene.commands = commands_of(inputs.controls, result.scene.model, start_time, h);
    }
  });
  result.scene.name = fmt::format("{}: {}", whole.name, motion.name);
  result.scene.config.steps = view.steps;
  return result;
}

}  // namespace abut::viewer
