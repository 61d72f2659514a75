/// What the viewer writes into the corners of its pictures: legends and titles.
#include <algorithm>
#include <string>
#include <vector>

#include <imgui.h>

#include "apps/viewer/overlay_drawing.h"
#include "apps/viewer/viewer.h"
#include "engine/count_text.h"

namespace abut::viewer {
namespace {

constexpr float k_row = 1.25f, k_scale_width = 5.0f, k_narrow_mark = 1.2f;  // [lines]

float width_of(const LegendEntry& entry, float line, float text_scale) {
  if (entry.mark == LegendMark::none) return 0.0f;
  if (entry.mark == LegendMark::scale) {
    return k_scale_width * line + text_size(entry.low).x + text_size(entry.high).x + line;
  }
  return std::max(k_narrow_mark * line, static_cast<float>(entry.length) * text_scale);
}

void draw_arrow(ImDrawList& list, ImVec2 from, float length, float thickness, const Colour& colour) {
  const float head = std::min(3.0f * thickness, length), neck = from.x + length - head;
  const auto draw = [&](float grow, ImU32 ink) {
    list.AddLine({from.x - grow, from.y}, {neck, from.y}, ink, thickness + 2.0f * grow);
    list.AddTriangleFilled({neck - 0.5f * grow, from.y - 1.25f * thickness - 1.5f * grow},
                           {neck - 0.5f * grow, from.y + 1.25f * thickness + 1.5f * grow},
                           {from.x + length + 2.0f * grow, from.y}, ink);
  };
  draw(0.3f * thickness, packed(k_rim_colour));
  draw(0.0f, packed(colour));
}

void draw_scale(ImDrawList& list, const LegendEntry& entry, float x, float y, float line) {
  constexpr int k_parts = 48;
  draw_text(list, {x, y}, entry.low);
  x += text_size(entry.low).x + 0.5f * line;
  const float width = k_scale_width * line;
  for (int i = 0; i < k_parts; ++i) {
    const float left = x + width * static_cast<float>(i) / k_parts,
                right = x + width * static_cast<float>(i + 1) / k_parts;
    list.AddRectFilled({left, y + 0.15f * line}, {right, y + 0.85f * line},
                       packed(entry.colour_at((i + 0.5) / k_parts)));
  }
  draw_text(list, {x + width + 0.5f * line, y}, entry.high);
}

void draw_mark(ImDrawList& list, const LegendEntry& entry, float x, float y, float line, float width) {
  const ImU32 colour = packed(entry.colour), rim = packed(k_rim_colour);
  const float middle = y + 0.5f * line;
  const ImVec2 centre{x + 0.5f * line, middle};
  switch (entry.mark) {
    case LegendMark::none:
      return;
    case LegendMark::ball:
      return list.AddCircleFilled(centre, 0.4f * line, colour);
    case LegendMark::disc:
      list.AddCircleFilled(centre, 0.5f * line, rim);
      return list.AddCircleFilled(centre, 0.4f * line, colour);
    case LegendMark::rod:
      list.AddLine({x - 1.0f, middle}, {x + line + 1.0f, middle}, rim, 0.4f * line);
      return list.AddLine({x, middle}, {x + line, middle}, colour, 0.2f * line);
    case LegendMark::cone:
      list.AddTriangleFilled({x, y}, {x + line, y}, {x + 0.5f * line, y + line}, colour);
      return list.AddTriangle({x, y}, {x + line, y}, {x + 0.5f * line, y + line}, rim);
    case LegendMark::arrow:
      return draw_arrow(list, {x, middle}, entry.length > 0.0 ? width : k_narrow_mark * line, 0.22f * line,
                        entry.colour);
    case LegendMark::scale:
      return draw_scale(list, entry, x, y, line);
  }
}

}  // namespace

Rectangle Viewer::draw_legend(const Rectangle& area, const Legend& legend) const {
  const float line = ImGui::GetTextLineHeight(), gap = 0.5f * line, scale = static_cast<float>(text_scale_);
  const auto& entries = legend.entries;
  if (entries.empty()) return {area.x, area.y + area.height, 0.0f, 0.0f};
  float marks = 0.0f, texts = 0.0f, height = gap;
  for (const LegendEntry& entry : entries) marks = std::max(marks, width_of(entry, line, scale));
  const float wrap = std::max(area.width - marks - 5.0f * gap, 5.0f * line);
  std::vector<float> rows;
  for (const LegendEntry& entry : entries) {
    const ImVec2 size = text_size(entry.text, wrap);
    texts = std::max(texts, size.x);
    rows.push_back(size.y + (k_row - 1.0f) * line);
    height += rows.back();
  }
  const float width = marks + texts + 3.0f * gap;
  const Rectangle plate{area.x + gap, area.y + area.height - gap - height, width, height};
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  draw_plate(list, plate);
  float y = plate.y + gap;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    draw_mark(list, entries[i], plate.x + gap, y, line, width_of(entries[i], line, scale));
    draw_text(list, {plate.x + 2.0f * gap + marks, y}, entries[i].text, k_selection_colour, wrap);
    y += rows[i];
  }
  return plate;
}

void Viewer::draw_titles() const {
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const float line = ImGui::GetTextLineHeight(), gap = 0.5f * line;
  if (display.side_by_side && halves_.size() == 2) {
    const std::string titles[] = {
        "as it is: " + count_text(visible_.set().contacts.size(), "contact"),
        "without edge-edge: " + count_text(visible_.without_edges().contacts.size(), "contact")};
    for (std::size_t i = 0; i < 2; ++i) {
      const Rectangle& area = halves_[i].place.area;
      const ImVec2 size = text_size(titles[i]);
      const ImVec2 at{area.x + 0.5f * (area.width - size.x), area.y + gap};
      draw_plate(list, {at.x - gap, at.y - 0.5f * gap, size.x + 2.0f * gap, size.y + gap});
      draw_text(list, at, titles[i]);
    }
    const Rectangle& right = halves_[1].place.area;
    list.AddLine({right.x, right.y}, {right.x, right.y + right.height}, packed(k_selection_colour));
  }
}

}  // namespace abut::viewer
