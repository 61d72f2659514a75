#include "engine/law_settings.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/parameters.h"

namespace abut {
namespace {

template <auto Member>
constexpr bool is_default(const StepConfig& config) {
  return config.*Member == StepConfig{}.*Member;
}
template <auto Member>
constexpr void reset(StepConfig& config) {
  config.*Member = StepConfig{}.*Member;
}
template <auto Member>
constexpr bool is_default_impedance(const StepConfig& config) {
  return config.impedance.*Member == ImpedanceConfig{}.*Member;
}
template <auto Member>
constexpr void reset_impedance(StepConfig& config) {
  config.impedance.*Member = ImpedanceConfig{}.*Member;
}

using Uses = std::array<SettingUse, 6>;

template <auto Member>
constexpr LawSetting step(std::string_view key, const Uses& use) {
  return {key, false, use, is_default<Member>, reset<Member>, nullptr, nullptr};
}
template <auto Member>
constexpr LawSetting impedance(std::string_view key, const Uses& use) {
  return {key, false, use, is_default_impedance<Member>, reset_impedance<Member>, nullptr, nullptr};
}
constexpr LawSetting material(ParameterKind kind, const Uses& use) {
  const MaterialParameter& parameter = *material_parameter(kind);
  return {parameter.key, true, use, nullptr, nullptr, parameter.of_body, parameter.of_pair};
}

using Step = StepConfig;
using Impedance = ImpedanceConfig;
constexpr SettingUse no = SettingUse::ignored, joints = SettingUse::joints, yes = SettingUse::honoured;
constexpr Uses k_all{yes, yes, yes, yes, yes, yes};

// clang-format off
constexpr std::array<LawSetting, 27> k_settings{{
    //                                                                  smooth_  penalty convex_  imped-  lcp  relaxed_
    //                                                                  coulomb          cone     ance         complementarity
    step<&Step::h>("time_step", k_all),
    step<&Step::near_rigid_factor>("near_rigid_factor",                {yes,     joints, yes,     joints, yes, yes}),
    step<&Step::dissipation_steps>("dissipation_steps",                {yes,     yes,    yes,     no,     yes, yes}),
    step<&Step::stiction_factor>("stiction_factor",                    {yes,     no,     no,      no,     no,  no}),
    step<&Step::normal_smoothing_factor>("normal_smoothing_factor",    {yes,     joints, yes,     joints, yes, yes}),
    step<&Step::acceleration_scale>("acceleration_scale", k_all),
    step<&Step::push_out_factor>("push_out_factor",                    {yes,     joints, yes,     joints, yes, yes}),
    step<&Step::push_out>("push_out",                                  {yes,     no,     no,      no,     no,  no}),
    step<&Step::impact_speed>("impact_speed",                          {yes,     no,     no,      no,     yes, no}),
    step<&Step::passive_impacts>("passive_impacts",                    {yes,     no,     no,      no,     yes, no}),
    step<&Step::adaptive_substeps>("adaptive_substeps", k_all),
    step<&Step::penetration_growth>("penetration_growth", k_all),
    step<&Step::tolerance>("tolerance", k_all),
    step<&Step::max_iterations>("max_iterations", k_all),
    step<&Step::penalty_stiffness>("penalty_stiffness",                {no,      yes,    no,      no,     no,  no}),
    step<&Step::penalty_stiction_factor>("penalty_stiction_factor",    {no,      yes,    no,      no,     no,  no}),
    step<&Step::tangential_factor>("tangential_factor",                {no,      no,     yes,     no,     no,  no}),
    impedance<&Impedance::solref>("solref",                            {no,      no,     no,      yes,    no,  no}),
    impedance<&Impedance::solimp>("solimp",                            {no,      no,     no,      yes,    no,  no}),
    impedance<&Impedance::impratio>("impratio",                        {no,      no,     no,      yes,    no,  no}),
    step<&Step::complementarity_factor>("complementarity_factor",      {no,      no,     no,      no,     yes, yes}),
    step<&Step::speed_limit>("speed_limit", k_all),
    step<&Step::penetration_limit>("penetration_limit", k_all),
    material(ParameterKind::friction, k_all),
    material(ParameterKind::stiffness,                                 {yes,     yes,    yes,     no,     yes, yes}),
    material(ParameterKind::dissipation_time,                          {yes,     yes,    yes,     no,     yes, yes}),
    material(ParameterKind::restitution,                               {yes,     no,     no,      no,     yes, no}),
}};
// clang-format on

/// Whether a material's value is the default; negative ones all are where the default is.
bool is_default_material(double value, double standard) {
  return value == standard || (value < 0.0 && standard < 0.0);
}

std::size_t column(ContactLaw law) { return static_cast<std::size_t>(law); }

const LawSetting* find(std::string_view key) {
  const auto* const found =
      std::find_if(k_settings.begin(), k_settings.end(), [&](const LawSetting& s) { return s.key == key; });
  return found == k_settings.end() ? nullptr : found;
}

std::string text_of(const Model& model, const StepConfig& config, const IgnoredSetting& ignored) {
  const LawSetting& setting = *ignored.setting;
  const auto name = [&](int body) -> const std::string& {
    return model.bodies[static_cast<std::size_t>(body)].name;
  };
  std::string text;
  if (ignored.body >= 0) {
    text = fmt::format("body '{}': {} = {}: ", name(ignored.body), setting.key,
                       model.bodies[static_cast<std::size_t>(ignored.body)].material.*setting.of_body);
  } else if (ignored.pair >= 0) {
    const PairOverride& pair = model.pair_overrides[static_cast<std::size_t>(ignored.pair)];
    text = fmt::format("pair '{}', '{}': {} = {}: ", name(pair.body_A), name(pair.body_B), setting.key,
                       pair.*setting.of_pair);
  } else {
    text = fmt::format("{}: ", setting.key);
  }
  return text + refusal_text(setting, config.law);
}

}  // namespace

std::span<const LawSetting> law_settings() { return k_settings; }

SettingUse setting_use(std::string_view key, ContactLaw law) {
  const LawSetting* const setting = find(key);
  require(setting != nullptr, fmt::format("there is no setting '{}'", key));
  return setting->use[column(law)];
}

bool is_honoured(SettingUse use, bool has_joints) {
  return use == SettingUse::honoured || (use == SettingUse::joints && has_joints);
}

std::vector<IgnoredSetting> ignored_settings(const Model& model, const StepConfig& config) {
  std::vector<IgnoredSetting> ignored;
  for (const LawSetting& setting : k_settings) {
    if (setting.is_of_material || setting.is_default(config)) continue;
    if (!is_honoured(setting.use[column(config.law)], !model.joints.empty())) ignored.push_back({&setting});
  }
  const Material standard;
  for (const LawSetting& setting : k_settings) {
    if (!setting.is_of_material || setting.use[column(config.law)] == SettingUse::honoured) continue;
    for (int b = 0; b < model.body_count(); ++b) {
      const Material& material = model.bodies[static_cast<std::size_t>(b)].material;
      if (!is_default_material(material.*setting.of_body, standard.*setting.of_body))
        ignored.push_back({&setting, b, -1});
    }
    for (std::size_t p = 0; p < model.pair_overrides.size(); ++p) {
      const double value = model.pair_overrides[p].*setting.of_pair;
      if (!std::isnan(value) && !is_default_material(value, standard.*setting.of_body))
        ignored.push_back({&setting, -1, static_cast<int>(p)});
    }
  }
  return ignored;
}

std::string refusal_text(const LawSetting& setting, ContactLaw law) {
  std::vector<std::string> others;
  for (const auto& [word, other] : contact_laws()) {
    if (setting.use[column(other)] == SettingUse::honoured) others.push_back(fmt::format("'{}'", word));
  }
  std::string list = others.front();
  for (std::size_t i = 1; i < others.size(); ++i)
    list += (i + 1 == others.size() ? " and " : ", ") + others[i];
  const bool by_joints = setting.use[column(law)] == SettingUse::joints;
  return fmt::format("ignored by the law '{}'{}, honoured by {}; leave it out, or choose another law",
                     to_string(law), by_joints ? " in a scene without joints" : "", list);
}

std::string refusal_text(std::string_view key, const Model& model, ContactLaw law) {
  const LawSetting* const setting = find(key);
  if (setting == nullptr || is_honoured(setting->use[column(law)], !model.joints.empty())) return {};
  return refusal_text(*setting, law);
}

void require_honoured(const Model& model, const StepConfig& config) {
  std::string text;
  for (const IgnoredSetting& ignored : ignored_settings(model, config))
    text += (text.empty() ? "" : "; ") + text_of(model, config, ignored);
  require(text.empty(), text);
}

void reset_ignored(bool has_joints, StepConfig& config) {
  for (const LawSetting& setting : k_settings) {
    if (!setting.is_of_material && !is_honoured(setting.use[column(config.law)], has_joints))
      setting.reset(config);
  }
}

std::string law_settings_table() {
  const auto word = [](SettingUse use) {
    return use == SettingUse::honoured ? "yes" : use == SettingUse::joints ? "joints" : "–";
  };
  std::string text = "| setting |";
  for (const auto& [law, value] : contact_laws()) text += fmt::format(" `{}` |", law);
  text += "\n| --- |";
  for (std::size_t i = 0; i < contact_laws().size(); ++i) text += " --- |";
  text += '\n';
  for (const LawSetting& setting : k_settings) {
    text += fmt::format("| `{}`{} |", setting.key, setting.is_of_material ? " (bodies and pairs)" : "");
    for (const auto& [law, value] : contact_laws())
      text += fmt::format(" {} |", word(setting.use[column(value)]));
    text += '\n';
  }
  return text;
}

}  // namespace abut
