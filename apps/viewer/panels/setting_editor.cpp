#include "apps/viewer/panels/setting_editor.h"

#include <algorithm>
#include <utility>

#include <imgui.h>

#include "engine/law_settings.h"

namespace abut::viewer {
namespace {

PendingEdits::Edit edit_of(SettingEditor::SceneEdit edit) {
  return [edit = std::move(edit)](SimulationCore& core, double value) {
    core.edit([&](Scene& scene) { edit(scene, value); });
  };
}

}  // namespace

void SettingEditor::number(const char* label, double simulated, const SliderOptions& options,
                           SceneEdit edit) {
  const ImGuiID id = ImGui::GetID(options.id ? options.id : label);
  double value = edits_.shown(id, simulated, ImGui::GetTime());
  const bool is_changed =
      options.whole ? [&] {
        int whole = static_cast<int>(value);
        const bool changed = slider(label, whole, options);
        value = whole;
        return changed;
      }()
                    : slider(label, value, options);
  if (is_changed) edits_.change(id, value, edit_of(std::move(edit)));
}

void SettingEditor::on_off(const char* label, bool simulated, bool standard, const std::string& help,
                           SceneEdit edit) {
  const ImGuiID id = ImGui::GetID(label);
  bool value = edits_.shown(id, simulated ? 1.0 : 0.0, ImGui::GetTime()) != 0.0;
  if (checkbox(label, value, standard, help)) edits_.change(id, value ? 1.0 : 0.0, edit_of(std::move(edit)));
}

void SettingEditor::choice(const char* label, int simulated, std::span<const char* const> names, int standard,
                           const std::string& help, SceneEdit edit) {
  const ImGuiID id = ImGui::GetID(label);
  int value = static_cast<int>(edits_.shown(id, simulated, ImGui::GetTime()));
  if (combo(label, value, names, standard, help)) edits_.change(id, value, edit_of(std::move(edit)));
}

void SettingEditor::post(SimulationThread& simulation) { edits_.post(simulation, ImGui::GetTime()); }

std::string label_of_key(std::string_view key) {
  std::string text(key);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

bool is_setting_shown(std::string_view key, const Frame& frame) {
  const Scene& scene = *frame.model->scene;
  return is_honoured(setting_use(key, scene.config.step.law), !scene.model.joints.empty());
}

}  // namespace abut::viewer
