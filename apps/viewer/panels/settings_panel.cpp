#include <algorithm>
#include <filesystem>
#include <memory>

#include <imgui.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "apps/viewer/panels/setting_editor.h"

namespace abut::viewer {
namespace {

class SettingsPanel : public Panel {
 public:
  SettingsPanel() : Panel("Settings", GLFW_KEY_F3, Pane::right, false) {}

  void draw(PanelContext& context) override {
    const Frame& frame = context.frame;
    if (file_ != frame.model->file || bodies_ != frame.model->model().body_count()) {
      editor_.forget();
      file_ = frame.model->file;
      bodies_ = frame.model->model().body_count();
    }
    if (!frame.message.empty()) show_text(k_bad_colour, frame.message);

    if (wide_button("Reset to the file")) reset(context);
    tooltip("All settings, masses and materials as the scene's file has them.");
    show_note("Orange marks and the buttons at the right: the default.");

    if (ImGui::CollapsingHeader("Time step and contact law", ImGuiTreeNodeFlags_DefaultOpen))
      draw_step_settings(editor_, frame);
    if (ImGui::CollapsingHeader("Bodies", ImGuiTreeNodeFlags_DefaultOpen)) draw_body(context);
    if (ImGui::CollapsingHeader("Gravity")) draw_gravity(frame);
    if (ImGui::CollapsingHeader("What counts as a contact")) draw_contact_settings(editor_, frame);
    if (has_motors(frame.model->scene->model) && ImGui::CollapsingHeader("Motors"))
      draw_motor_settings(editor_, frame);
    editor_.post(context.simulation);
  }

 private:
  static void reset(PanelContext& context) {
    context.simulation.post([](SimulationCore& core) {
      const Scene original = *core.model()->as_read;
      core.edit([&](Scene& scene) { scene = original; });
    });
  }

  void draw_body(PanelContext& context) {
    const Frame& frame = context.frame;
    const Scene& scene = *frame.model->scene;
    if (context.selection.body >= 0 && context.selection.body != selected_) body_ = context.selection.body;
    selected_ = context.selection.body;
    body_ = std::clamp(body_, 0, scene.model.body_count() - 1);
    if (body_combo("Body", scene.model, body_, nullptr, "Follows what is selected in the picture.")) {
      selected_ = body_;
      context.selection.select_body(body_);
    }
    draw_body_settings(editor_, frame, body_);
  }

  void draw_gravity(const Frame& frame) {
    const Vec3<double>&g = frame.model->scene->model.gravity, &original = frame.model->as_read->model.gravity;
    static constexpr const char* k_components[] = {"gravity x", "gravity y", "gravity z"};
    for (int i = 0; i < 3; ++i) {
      editor_.number(k_components[i], g[i],
                     {"m/s²", -20.0, 20.0, false, original[i], "Acceleration of free fall, in the world."},
                     [i](Scene& scene, double value) { scene.model.gravity[i] = value; });
    }
  }

  SettingEditor editor_;
  std::filesystem::path file_;
  int body_ = 1, bodies_ = 0, selected_ = -1;
};

}  // namespace

std::unique_ptr<Panel> make_settings_panel() { return std::make_unique<SettingsPanel>(); }

}  // namespace abut::viewer
