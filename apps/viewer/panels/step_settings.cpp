/// Settings of the time step and its contact law.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apps/viewer/panels/setting_editor.h"
#include "apps/viewer/panels/setting_help.h"
#include "engine/config_fields.h"
#include "engine/law_settings.h"

namespace abut::viewer {
namespace {

double value_of_field(const StepConfigField& field, const StepConfig& config) {
  StepConfig copy = config;
  return std::visit([&](auto of) { return static_cast<double>(of(copy)); }, field.get);
}

void set_field(const StepConfigField& field, StepConfig& config, double value) {
  std::visit(
      [&](auto of) {
        using Value = std::remove_reference_t<decltype(of(config))>;
        of(config) = static_cast<Value>(value);
      },
      field.get);
}

const StepConfigField* step_field(std::string_view key) {
  for (const StepConfigField& field : step_config_fields()) {
    if (field.key == key) return &field;
  }
  return nullptr;
}

void draw_acceleration_scale(SettingEditor& editor, const Frame& frame, const StepSetting& setting) {
  const StepConfig& config = frame.model->scene->config.step;
  const double in_use = frame.model->simulator.stepper().acceleration_scale();
  const bool is_automatic = config.acceleration_scale < 0.0;
  editor.on_off("acceleration scale from gravity", is_automatic, true,
                "g of all factors that are over g h is |gravity|, or 9.81 m/s² without it.",
                [in_use](Scene& scene, double value) {
                  scene.config.step.acceleration_scale = value != 0.0 ? -1.0 : in_use;
                });
  if (is_automatic) return;
  editor.number("acceleration scale", config.acceleration_scale,
                {setting.unit, setting.lowest, setting.highest, true, std::nullopt, setting.help},
                [](Scene& scene, double value) { scene.config.step.acceleration_scale = value; });
}

void draw_impedance(SettingEditor& editor, const StepConfig& config) {
  const ImpedanceConfig standard;
  const auto element = [&](const char* label, double (*get_it)(const ImpedanceConfig&),
                           void (*set_it)(ImpedanceConfig&, double), SliderOptions options) {
    options.standard = get_it(standard);
    editor.number(label, get_it(config.impedance), options,
                  [set_it](Scene& scene, double value) { set_it(scene.config.step.impedance, value); });
  };
  element(
      "solref: time", [](const ImpedanceConfig& c) { return c.solref[0]; },
      [](ImpedanceConfig& c, double x) { c.solref[0] = x; },
      {"s", 1e-4, 1.0, true, {}, "Time constant of the way back to the surface; at least 2 h is taken."});
  element(
      "solref: damping", [](const ImpedanceConfig& c) { return c.solref[1]; },
      [](ImpedanceConfig& c, double x) { c.solref[1] = x; },
      {"", 0.01, 10.0, true, {}, "Damping ratio of the way back to the surface."});
  element(
      "solimp: d0", [](const ImpedanceConfig& c) { return c.solimp[0]; },
      [](ImpedanceConfig& c, double x) { c.solimp[0] = x; },
      {"", 0.0, 1.0, false, {}, "Impedance at the surface; above 0 forces jump when bodies touch."});
  element(
      "solimp: dw", [](const ImpedanceConfig& c) { return c.solimp[1]; },
      [](ImpedanceConfig& c, double x) { c.solimp[1] = x; },
      {"", 0.01, 1.0, false, {}, "Impedance from the width on."});
  element(
      "solimp: width", [](const ImpedanceConfig& c) { return c.solimp[2]; },
      [](ImpedanceConfig& c, double x) { c.solimp[2] = x; },
      {"m", 1e-5, 0.1, true, {}, "Depth at which the impedance is dw."});
  element(
      "solimp: midpoint", [](const ImpedanceConfig& c) { return c.solimp[3]; },
      [](ImpedanceConfig& c, double x) { c.solimp[3] = x; },
      {"", 0.01, 0.99, false, {}, "Where between 0 and the width the curve turns."});
  element(
      "solimp: power", [](const ImpedanceConfig& c) { return c.solimp[4]; },
      [](ImpedanceConfig& c, double x) { c.solimp[4] = x; },
      {"", 1.0, 10.0, false, {}, "Of the curve between d0 and dw."});
}

}  // namespace

void draw_step_settings(SettingEditor& editor, const Frame& frame) {
  const StepConfig& config = frame.model->scene->config.step;
  const StepConfig standard;
  std::vector<std::string> words;
  std::vector<const char*> names;
  for (const auto& [word, law] : contact_laws()) words.emplace_back(word);
  for (const std::string& word : words) names.push_back(word.c_str());
  const auto place_of = [](ContactLaw law) {
    const auto laws = contact_laws();
    return static_cast<int>(
        std::find_if(laws.begin(), laws.end(), [&](const auto& l) { return l.second == law; }) -
        laws.begin());
  };
  editor.choice(
      "law", place_of(config.law), names, place_of(standard.law),
      "smooth_coulomb: friction bounded by the normal impulse of the same step, smooth in everything.\n"
      "penalty: explicit springs.\n"
      "convex_cone, impedance: a convex problem (as Drake's SAP, MuJoCo).\n"
      "lcp, relaxed_complementarity: interior point, the exact friction.",
      [](Scene& scene, double value) {
        StepConfig& step = scene.config.step;
        step.law = contact_laws()[static_cast<std::size_t>(value)].second;
        reset_ignored(!scene.model.joints.empty(), step);  // which the law would refuse
      });

  for (const StepSetting& setting : k_step_settings) {
    if (!is_setting_shown(setting.key, frame)) continue;
    if (setting.key == "penetration_growth" && !config.adaptive_substeps) continue;
    if (setting.key == "acceleration_scale") {
      draw_acceleration_scale(editor, frame, setting);
      continue;
    }
    const StepConfigField* const field = step_field(setting.key);
    if (!field) continue;
    const double simulated = value_of_field(*field, config), usual = value_of_field(*field, standard);
    const std::string label = label_of_key(setting.key);
    const SettingEditor::SceneEdit edit = [field](Scene& scene, double value) {
      set_field(*field, scene.config.step, value);
    };
    if (std::holds_alternative<bool& (*)(StepConfig&)>(field->get)) {
      editor.on_off(label.c_str(), simulated != 0.0, usual != 0.0, setting.help, edit);
      continue;
    }
    SliderOptions options{setting.unit,        setting.lowest, setting.highest,
                          setting.logarithmic, usual,          setting.help};
    options.whole = std::holds_alternative<int& (*)(StepConfig&)>(field->get);
    editor.number(label.c_str(), simulated, options, edit);
  }
  if (is_setting_shown("push_out", frame)) {
    static constexpr const char* k_push_out[] = {"bias", "split"};
    editor.choice("push out", static_cast<int>(config.push_out), k_push_out,
                  static_cast<int>(standard.push_out),
                  "bias: overlapping bodies part with a velocity. split: they are displaced and keep their "
                  "velocities, so "
                  "that no kinetic energy comes of it.",
                  [](Scene& scene, double value) {
                    scene.config.step.push_out = static_cast<PushOut>(static_cast<int>(value));
                  });
  }
  if (is_setting_shown("solref", frame)) draw_impedance(editor, config);
}

}  // namespace abut::viewer
