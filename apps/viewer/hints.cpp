#include "apps/viewer/hints.h"

#include <algorithm>
#include <string>
#include <utility>

#include <imgui.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "apps/viewer/panels/widgets.h"

namespace abut::viewer {
namespace {

constexpr const char* k_hints_id = "hints";

}  // namespace

void Hints::draw(const Rectangle& area, float scale) {
  if (!open_) return;
  const bool appears = std::exchange(appears_, false);
  if (appears) ImGui::OpenPopup(k_hints_id);
  const float width = std::min(0.9f * area.width, 520.0f * scale);
  ImGui::SetNextWindowPos({area.x + 0.5f * area.width, area.y + 0.5f * area.height}, ImGuiCond_Always,
                          {0.5f, 0.5f});
  ImGui::SetNextWindowSize({width, 0.0f});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(18.0f * scale, 16.0f * scale));
  const bool is_there = ImGui::BeginPopup(k_hints_id, ImGuiWindowFlags_NoMove);
  ImGui::PopStyleVar();
  if (!is_there) {  // a click beside them
    open_ = false;
    return;
  }
  for (const Hint& hint : k_hints) {
    show_text(k_good_colour, hint.title);
    show_text(hint.text);
    ImGui::Dummy({0.0f, 4.0f * scale});
  }
  show_note("A click or Esc closes this; Shift + F1 shows it again.");
  const bool is_clicked = ImGui::IsMouseClicked(ImGuiMouseButton_Left) ||
                          ImGui::IsMouseClicked(ImGuiMouseButton_Right) ||
                          ImGui::IsMouseClicked(ImGuiMouseButton_Middle);
  if (!appears && (is_clicked || ImGui::IsKeyPressed(GLFW_KEY_ESCAPE, false))) {
    open_ = false;
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

}  // namespace abut::viewer
