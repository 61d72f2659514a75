#include <algorithm>
#include <iterator>
#include <span>
#include <string>

#include <imgui.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "apps/viewer/panels/key_table.h"
#include "apps/viewer/panels/panel.h"
#include "apps/viewer/panels/widgets.h"

namespace abut::viewer {
namespace {

void begin_row(const std::string& left) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::TextUnformatted(left.c_str());
  ImGui::TableNextColumn();
}

class HelpPanel : public Panel {
 public:
  HelpPanel() : Panel("Help", GLFW_KEY_F1, Pane::overlay, false) {}

  void draw(PanelContext&) override {
    draw_gestures("Mouse", mouse_table());
    ImGui::Spacing();
    draw_gestures(("Flying (" + key_text(Action::fly) + ")").c_str(), fly_table());
    for (std::size_t c = 0; c < std::size(k_key_category_names); ++c) {
      ImGui::Spacing();
      show_text(k_key_category_names[c]);
      if (!ImGui::BeginTable(k_key_category_names[c], 2, k_flags)) continue;
      set_up_columns();
      for (const KeyBinding& binding : key_table()) {
        if (static_cast<std::size_t>(binding.category) != c) continue;
        begin_row(key_text(binding));
        show_text(binding.what);
      }
      ImGui::EndTable();
    }
    ImGui::Spacing();
    show_note(
        "Sliders: Ctrl + click to type a number, right click for the default. Keys act while no text is "
        "typed.");
  }

 private:
  static constexpr ImGuiTableFlags k_flags = ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingFixedFit;

  static void draw_gestures(const char* title, std::span<const MouseBinding> gestures) {
    show_text(title);
    if (!ImGui::BeginTable(title, 2, k_flags)) return;
    set_up_columns();
    for (const MouseBinding& binding : gestures) {
      begin_row(binding.gesture);
      show_text(binding.what);
    }
    ImGui::EndTable();
  }

  /// As wide in every table as the longest key, so that they stand below each other.
  static void set_up_columns() {
    float widest = 0.0f;
    const auto measure = [&](const std::string& text) {
      widest = std::max(widest, ImGui::CalcTextSize(text.c_str()).x);
    };
    for (const KeyBinding& binding : key_table()) measure(key_text(binding));
    for (const MouseBinding& binding : mouse_table()) measure(binding.gesture);
    ImGui::TableSetupColumn("key", ImGuiTableColumnFlags_WidthFixed, widest);
    ImGui::TableSetupColumn("what", ImGuiTableColumnFlags_WidthStretch);
  }
};

}  // namespace

std::unique_ptr<Panel> make_help_panel() { return std::make_unique<HelpPanel>(); }

}  // namespace abut::viewer
