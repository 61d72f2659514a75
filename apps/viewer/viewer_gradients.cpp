/// What the viewer writes beside arrows of gradients and ghosts.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <imgui.h>

#include "apps/viewer/gradient_arrows.h"
#include "apps/viewer/panels/widgets.h"
#include "apps/viewer/viewer.h"

namespace abut::viewer {
namespace {

bool is_in(const Vec2<double>& p, const Rectangle& area) {
  const auto x = static_cast<float>(p.x()), y = static_cast<float>(p.y());
  return x >= area.x && x <= area.x + area.width && y >= area.y && y <= area.y + area.height;
}

}  // namespace

void Viewer::draw_gradient_labels() {
  if (!gradients.result || !display.gradient_arrows || display.side_by_side) return;
  const GlyphScale scale{camera, std::max(1, static_cast<int>(std::lround(scene().height / text_scale_)))};
  const std::vector<GradientArrow> arrows =
      gradient_arrows(*frame_, *gradients.result, display.gradient_scale, scale);
  std::vector<const GradientArrow*> shown = labelled_arrows(arrows, selection.body);
  std::erase_if(shown, [&](const GradientArrow* arrow) {  // out of the picture
    const Vec3<double> p = camera.project(arrow->from_W, aspect());
    return !(p.z() > 0.0) || std::max(std::abs(p.x()), std::abs(p.y())) > 1.0;
  });
  const double margin = 0.2 * static_cast<double>(ImGui::GetTextLineHeight());
  std::vector<Vec2<double>> points, sizes;
  for (const GradientArrow* arrow : shown) {
    const ImVec2 size = ImGui::CalcTextSize(arrow->label.c_str());
    const Vec2<double> tip = on_screen(arrow->to_W), start = on_screen(arrow->from_W);
    points.push_back(is_in(tip, scene()) ? tip : start);
    sizes.emplace_back(static_cast<double>(size.x) + 4.0 * margin, static_cast<double>(size.y) + margin);
  }
  const std::vector<Rectangle> places = place_labels(points, sizes, scene());
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Rectangle& at = places[i];
    const ImU32 colour = packed(shown[i]->colour);
    const ImVec2 point(static_cast<float>(points[i].x()), static_cast<float>(points[i].y()));
    list.AddLine(point, {std::clamp(point.x, at.x, at.x + at.width), at.y + 0.5f * at.height}, colour);
    list.AddRectFilled({at.x, at.y}, {at.x + at.width, at.y + at.height}, IM_COL32(15, 17, 20, 215), 3.0f);
    const auto gap = static_cast<float>(margin);
    list.AddText({at.x + 2.0f * gap, at.y + 0.5f * gap}, colour, shown[i]->label.c_str());
  }
}

void Viewer::draw_ghost_legend() {
  const float line = ImGui::GetTextLineHeight(), gap = 0.4f * line;
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  // Below the titles of pictures that stand side by side.
  const float left = scene().x + gap;
  float top = scene().y + gap + (display.side_by_side ? 2.0f * line : 0.0f);
  const auto add = [&](const char* how, const std::string& name, const Colour& colour) {
    if (name.empty()) return;
    const std::string words = how + name;
    const ImVec2 size = ImGui::CalcTextSize(words.c_str());
    list.AddRectFilled({left, top}, {left + size.x + 2.0f * gap, top + size.y + gap},
                       IM_COL32(15, 17, 20, 190), 3.0f);
    list.AddText({left + gap, top + 0.5f * gap}, packed(colour), words.c_str());
    top += size.y + 1.5f * gap;
  };
  add("seen through: ", frame_->ghosts_name, k_selection_colour);
  add("seen through, yellow: ", frame_->passing_ghosts_name, k_passing_ghost_colour);
}

}  // namespace abut::viewer
