/// Widgets of numbers of a scene, whose edits are on their way to the simulation.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "apps/viewer/panels/panel.h"
#include "apps/viewer/panels/pending_edits.h"
#include "apps/viewer/panels/widgets.h"

namespace abut::viewer {

class SettingEditor {
 public:
  using SceneEdit = std::function<void(Scene&, double)>;

  // Each shows what is simulated, or what was set and is on its way there.
  void number(const char* label, double simulated, const SliderOptions& options, SceneEdit edit);
  void on_off(const char* label, bool simulated, bool standard, const std::string& help, SceneEdit edit);
  void choice(const char* label, int simulated, std::span<const char* const> names, int standard,
              const std::string& help, SceneEdit edit);

  /// Drops what is on its way: it is of another scene.
  void forget() { edits_.forget(); }
  /// Once per picture.
  void post(SimulationThread& simulation);

 private:
  PendingEdits edits_;
};

/// A key of a scene's file as a label.
[[nodiscard]] std::string label_of_key(std::string_view key);

/// Whether the law of the scene honours the setting: it refuses a value of one that it ignores.
[[nodiscard]] bool is_setting_shown(std::string_view key, const Frame& frame);

// Sections of the settings panel.
void draw_step_settings(SettingEditor& editor, const Frame& frame);
void draw_body_settings(SettingEditor& editor, const Frame& frame, int body);
void draw_contact_settings(SettingEditor& editor, const Frame& frame);
void draw_motor_settings(SettingEditor& editor, const Frame& frame);
[[nodiscard]] bool has_motors(const Model& model);

}  // namespace abut::viewer
