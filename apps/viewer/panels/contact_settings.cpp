/// Settings of what counts as a contact.
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "apps/viewer/panels/setting_editor.h"
#include "apps/viewer/panels/setting_help.h"
#include "engine/config_fields.h"

namespace abut::viewer {
namespace {

const ContactHelp& contact_help(std::string_view key) {
  static constexpr ContactHelp k_none{"", 1e-4, 1.0, ""};
  for (const ContactHelp& help : k_contact_help) {
    if (help.key == key) return help;
  }
  return k_none;
}

template <typename Field>
void draw_contact_field(SettingEditor& editor, const Field& field, const ContactConfig& config,
                        const ContactConfig& standard) {
  const ContactHelp& help = contact_help(field.key);
  const std::string label = label_of_key(field.key);
  const auto member = field.value;
  using Value = std::remove_cvref_t<decltype(config.*member)>;
  const SettingEditor::SceneEdit edit = [member](Scene& scene, double value) {
    if constexpr (std::is_same_v<Value, double>) {
      scene.config.step.contact.*member = value;
    } else {
      scene.config.step.contact.*member = static_cast<Value>(static_cast<int>(value));
    }
  };
  if constexpr (std::is_same_v<Value, bool>) {
    editor.on_off(label.c_str(), config.*member, standard.*member, help.help, edit);
  } else if constexpr (std::is_enum_v<Value>) {
    std::vector<std::string> words;
    std::vector<const char*> names;
    for (const auto& [word, value] : field.words) words.emplace_back(word);
    for (const std::string& word : words) names.push_back(word.c_str());
    // The words stand in the order of their values.
    editor.choice(label.c_str(), static_cast<int>(config.*member), names, static_cast<int>(standard.*member),
                  help.help, edit);
  } else {
    SliderOptions options{
        "", help.lowest, help.highest, help.lowest > 0.0, static_cast<double>(standard.*member), help.help};
    if constexpr (std::is_same_v<Value, int>) {
      options.whole = true;
      options.logarithmic = false;
    }
    editor.number(label.c_str(), static_cast<double>(config.*member), options, edit);
  }
}

}  // namespace

void draw_contact_settings(SettingEditor& editor, const Frame& frame) {
  show_note(
      "Of all pairs without settings of their own. Lengths are relative to the size of the smaller body.");
  const ContactConfig& config = frame.model->scene->config.step.contact;
  const ContactConfig standard;
  for (const ContactField& field : contact_fields())
    std::visit([&](const auto& f) { draw_contact_field(editor, f, config, standard); }, field);
}

}  // namespace abut::viewer
