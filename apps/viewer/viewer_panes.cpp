/// The panes of the viewer around its scene: tabs of panels, and borders to drag.
#include <algorithm>
#include <string>

#include <imgui.h>

#include "apps/viewer/panels/actions.h"
#include "apps/viewer/viewer.h"

namespace abut::viewer {
namespace {

constexpr float k_splitter = 6.0f;  // [points at a scale of 1]
constexpr ImGuiWindowFlags k_pane_flags = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize |
                                          ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoCollapse |
                                          ImGuiWindowFlags_NoBringToFrontOnFocus;

void place_window(const Rectangle& area) {
  ImGui::SetNextWindowPos({area.x, area.y});
  ImGui::SetNextWindowSize({area.width, area.height});
}

const char* id_of(Pane pane) {
  constexpr const char* k_ids[] = {"overlay", "left", "right", "bottom"};
  return k_ids[static_cast<std::size_t>(pane)];
}

}  // namespace

void Viewer::lay_out() {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  if (!display.panels) {
    areas_ = {{0.0f, 0.0f, size.x, size.y}, {}, {}, {}, {}};
    return;
  }
  const auto is_open = [this](Pane pane) {
    return std::any_of(panels_.begin(), panels_.end(),
                       [&](const auto& panel) { return panel->pane() == pane && panel->open(); });
  };
  layout.left_open = is_open(Pane::left);
  layout.right_open = is_open(Pane::right);
  layout.bottom_open = is_open(Pane::bottom);
  areas_ = layout.areas(size.x, size.y, ImGui::GetFrameHeight(), static_cast<float>(text_scale_));
}

void Viewer::draw_panels() {
  draw_pane(Pane::left, areas_.left);
  draw_pane(Pane::right, areas_.right);
  draw_pane(Pane::bottom, areas_.bottom);
  draw_timeline();
  for (const auto& panel : panels_) {
    if (panel->pane() == Pane::overlay && panel->open()) draw_overlay(*panel);
  }
}

Panel* Viewer::draw_tabs(Pane pane, const Panel* shown) const {
  Panel* clicked = nullptr;
  const ImGuiStyle& style = ImGui::GetStyle();
  const float gap = style.ItemInnerSpacing.x, right = ImGui::GetWindowContentRegionMax().x;
  float x = ImGui::GetWindowContentRegionMin().x;
  for (const auto& panel : panels_) {
    if (panel->pane() != pane) continue;
    const float width = ImGui::CalcTextSize(panel->title().c_str()).x + 2.0f * style.FramePadding.x;
    // Those that do not fit begin another line, so that all can be seen.
    if (x > ImGui::GetWindowContentRegionMin().x && x + width <= right) {
      ImGui::SameLine(0.0f, gap);
    } else {
      x = ImGui::GetWindowContentRegionMin().x;
    }
    x += width + gap;
    ImGui::PushStyleColor(ImGuiCol_Button,
                          ImGui::GetStyleColorVec4(panel.get() == shown ? ImGuiCol_TabActive : ImGuiCol_Tab));
    if (ImGui::Button(panel->title().c_str())) clicked = panel.get();
    ImGui::PopStyleColor();
  }
  ImGui::Separator();
  return clicked;
}

void Viewer::draw_pane(Pane pane, const Rectangle& area) {
  const float splitter = k_splitter * static_cast<float>(text_scale_);
  if (area.width <= splitter || area.height <= splitter) return;
  Rectangle inside = area, border = area;
  if (pane == Pane::bottom) {
    border.height = splitter;
    inside.y += splitter;
    inside.height -= splitter;
  } else {
    border.width = splitter;
    inside.width -= splitter;
    if (pane == Pane::left) border.x += inside.width;
    if (pane == Pane::right) inside.x += splitter;
  }
  draw_splitter(pane, border);
  Panel* shown = nullptr;
  place_window(inside);
  ImGui::SetNextWindowBgAlpha(1.0f);  // nothing is drawn below, not even a background
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0f);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, ImVec2(1.0f, 1.0f));
  const bool is_visible = ImGui::Begin(id_of(pane), nullptr, k_pane_flags | ImGuiWindowFlags_NoScrollbar);
  ImGui::PopStyleVar(2);
  for (const auto& panel : panels_) {
    if (panel->pane() == pane && panel->open() && !shown) shown = panel.get();
  }
  Panel* clicked = nullptr;
  if (is_visible) clicked = draw_tabs(pane, shown);
  if (is_visible && ImGui::BeginChild(shown->title().c_str())) {
    PanelContext now = context();
    shown->draw(now);
  }
  if (is_visible) ImGui::EndChild();
  ImGui::End();
  if (clicked) choose_panel(*clicked, panels_);
}

void Viewer::draw_timeline() {
  if (areas_.timeline.width < 1.0f || areas_.timeline.height < 1.0f) return;
  place_window(areas_.timeline);
  ImGui::SetNextWindowBgAlpha(1.0f);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0f);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, ImVec2(1.0f, 1.0f));
  const float padding = 4.0f * static_cast<float>(text_scale_);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(2.0f * padding, padding));
  const bool is_visible = ImGui::Begin(
      "timeline", nullptr, k_pane_flags | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar(3);
  if (is_visible) {
    PanelContext now = context();
    timeline_.draw(now);
  }
  ImGui::End();
}

void Viewer::draw_splitter(Pane pane, const Rectangle& area) {
  place_window(area);
  ImGui::SetNextWindowBgAlpha(1.0f);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0.0f, 0.0f));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0f);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, ImVec2(1.0f, 1.0f));
  ImGui::Begin((std::string(id_of(pane)) + " border").c_str(), nullptr,
               k_pane_flags | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoSavedSettings);
  ImGui::PopStyleVar(3);
  ImGui::InvisibleButton("border", {area.width, area.height});
  if (ImGui::IsItemHovered() || ImGui::IsItemActive())
    ImGui::SetMouseCursor(pane == Pane::bottom ? ImGuiMouseCursor_ResizeNS : ImGuiMouseCursor_ResizeEW);
  if (ImGui::IsItemActive()) {
    const ImGuiIO& io = ImGui::GetIO();
    const float by = pane == Pane::left    ? io.MouseDelta.x
                     : pane == Pane::right ? -io.MouseDelta.x
                                           : -io.MouseDelta.y;
    if (by != 0.0f)
      layout.drag(pane, by, io.DisplaySize.x, io.DisplaySize.y, ImGui::GetFrameHeight(),
                  static_cast<float>(text_scale_));
  }
  ImGui::End();
}

void Viewer::draw_overlay(Panel& panel) {
  constexpr float k_part = 0.9f;  // of the scene
  const Rectangle& area = scene();
  const float width = std::min(k_part * area.width, 560.0f * static_cast<float>(text_scale_)),
              height = k_part * area.height;
  place_window({area.x + 0.5f * (area.width - width), area.y + 0.5f * (area.height - height), width, height});
  bool open = true;
  constexpr ImGuiWindowFlags k_flags =
      ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoCollapse;
  if (ImGui::Begin(panel.title().c_str(), &open, k_flags)) {
    PanelContext now = context();
    panel.draw(now);
  }
  ImGui::End();
  panel.set_open(open);
}

}  // namespace abut::viewer
