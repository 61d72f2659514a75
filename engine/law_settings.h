/// Which settings each contact law honours: one table, from which the errors about settings that a law would
/// ignore are made, the settings that the viewer offers, and the table of docs/scene_format.md (`abut laws`).
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/config.h"
#include "engine/model.h"

namespace abut {

/// What a law makes of a setting.
///   ignored   nothing: a value other than the default is an error
///   joints    nothing, but the joints of a scene do: an error in a scene without joints
///   honoured  it acts on contacts, or on the step itself, or holds in any case (a tolerance, of a law
///             without iterations)
enum class SettingUse { ignored, joints, honoured };

/// A row of the table: a key of [simulation], or of the material of a body or a pair.
struct LawSetting {
  std::string_view key;                   ///< its name in a scene file
  bool is_of_material;                    ///< or else of StepConfig
  std::array<SettingUse, 6> use;          ///< by ContactLaw, in the order of contact_laws()
  bool (*is_default)(const StepConfig&);  ///< null for a material's; as the next two
  void (*reset)(StepConfig&);
  double Material::*of_body;  ///< null for StepConfig's; as the next one
  double PairOverride::*of_pair;
};

/// Every setting of StepConfig but `law` and `contact`, which no law ignores, and of Material.
[[nodiscard]] std::span<const LawSetting> law_settings();

/// What a law makes of the setting of a key. Throws std::invalid_argument for a key that is not in the table.
[[nodiscard]] SettingUse setting_use(std::string_view key, ContactLaw law);

/// Whether the law acts on the setting in a scene with or without joints.
[[nodiscard]] bool is_honoured(SettingUse use, bool has_joints);

/// A setting that differs from its default although its law ignores it.
struct IgnoredSetting {
  const LawSetting* setting = nullptr;
  int body = -1, pair = -1;  ///< whose material it is of; both -1 for a setting of StepConfig
};

/// All of them, those of StepConfig first, then those of bodies and pairs in their order.
[[nodiscard]] std::vector<IgnoredSetting> ignored_settings(const Model& model, const StepConfig& config);

/// Why a law refuses a setting: "ignored by the law 'penalty', honoured by 'smooth_coulomb' and 'lcp'; leave
/// it out, or choose another law".
[[nodiscard]] std::string refusal_text(const LawSetting& setting, ContactLaw law);
/// The same of a key, empty where the law honours it.
[[nodiscard]] std::string refusal_text(std::string_view key, const Model& model, ContactLaw law);

/// Throws std::invalid_argument naming every setting, and the body or pair it belongs to, that the law
/// ignores.
void require_honoured(const Model& model, const StepConfig& config);

/// Puts the settings of StepConfig that its law ignores back to their defaults.
void reset_ignored(bool has_joints, StepConfig& config);

/// The table in Markdown, a row for each setting and a column for each law.
[[nodiscard]] std::string law_settings_table();

}  // namespace abut
