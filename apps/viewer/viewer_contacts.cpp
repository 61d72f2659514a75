/// What the viewer writes beside contacts: numbers of forces, tables, and the frame of the lens.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include <imgui.h>

#include "apps/viewer/contact_description.h"
#include "apps/viewer/label_layout.h"
#include "apps/viewer/overlay_drawing.h"
#include "apps/viewer/viewer.h"

namespace abut::viewer {
namespace {

constexpr float k_padding = 3.0f;    // of a label around its words [points at a scale of 1]
constexpr float k_bar_width = 4.0f;  // of a factor [lines]
const Colour k_quiet_colour = rgb(170, 176, 186);

ImVec2 point_of(const Vec2<double>& p) { return {static_cast<float>(p.x()), static_cast<float>(p.y())}; }

/// The point of an area nearest to another.
ImVec2 nearest_in(const Rectangle& area, const Vec2<double>& p) {
  return {std::clamp(static_cast<float>(p.x()), area.x, area.x + area.width),
          std::clamp(static_cast<float>(p.y()), area.y, area.y + area.height)};
}

/// No more than a picture has room for.
std::vector<const ArrowLabel*> first_labels(std::span<const ArrowLabel> arrows) {
  constexpr std::size_t k_most = 20;
  std::vector<const ArrowLabel*> labels;
  for (const ArrowLabel& arrow : arrows) {
    if (!arrow.text.empty()) labels.push_back(&arrow);
  }
  std::stable_sort(labels.begin(), labels.end(),
                   [](const ArrowLabel* a, const ArrowLabel* b) { return a->priority > b->priority; });
  labels.resize(std::min(labels.size(), k_most));
  return labels;
}

/// A table's columns of text.
struct TableSize {
  float names = 0, values = 0, width = 0, height = 0, row = 0;

  explicit TableSize(const std::vector<ContactRow>& rows) {
    const float line = ImGui::GetTextLineHeight();
    row = 1.15f * line;
    for (const ContactRow& one : rows) {
      names = std::max(names, text_size(one.name).x);
      const float bar = one.factor ? (k_bar_width + 0.5f) * line : 0.0f;
      values = std::max(values, text_size(one.value).x + bar);
    }
    width = names + values + 2.0f * line;
    height = row * static_cast<float>(rows.size()) + 0.8f * line;
  }
};

void draw_contact_table(const std::vector<ContactRow>& rows, const Rectangle& area) {
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const TableSize size(rows);
  const float line = ImGui::GetTextLineHeight();
  draw_plate(list, area, &k_quiet_colour);
  float y = area.y + 0.4f * line;
  const float names = area.x + 0.5f * line, values = names + size.names + line;
  for (const ContactRow& row : rows) {
    draw_text(list, {names, y}, row.name, k_quiet_colour);
    float x = values;
    if (row.factor) {
      const float width = k_bar_width * line, top = y + 0.2f * line, bottom = y + 0.8f * line;
      list.AddRectFilled({x, top}, {x + width, bottom}, IM_COL32(70, 74, 82, 255));
      list.AddRectFilled({x, top}, {x + width * static_cast<float>(*row.factor), bottom},
                         packed(sequential_colour(*row.factor)));
      x += width + 0.5f * line;
    }
    draw_text(list, {x, y}, row.value);
    y += size.row;
  }
}

}  // namespace

std::vector<const ContactView*> Viewer::contacts_with_tables() const {
  std::vector<const ContactView*> found;
  if (!display.contacts.tables) return found;
  constexpr std::size_t k_most = 3;
  const auto add = [&](const ContactView& view) {
    if (found.size() < k_most && std::find(found.begin(), found.end(), &view) == found.end())
      found.push_back(&view);
  };
  if (ImGui::IsMousePosValid() && !ImGui::GetIO().WantCaptureMouse) {
    if (const ContactView* hovered = contact_at(mouse())) add(*hovered);
  }
  for (auto pin = selection.pinned.rbegin(); pin != selection.pinned.rend(); ++pin) {
    for (const ContactView& view : visible_.set().contacts) {
      if (Selection::same(view.contact.feature, pin->feature) && is_shown(view, display.contacts)) add(view);
    }
  }
  return found;
}

void Viewer::draw_notes() {
  for (std::size_t i = 0; i < halves_.size(); ++i) {
    SceneHalf& half = halves_[i];
    const Rectangle& area = half.place.area;
    half.legend_place = draw_legend(area, half.notes.legend);
    std::vector<Rectangle> taken{half.legend_place};
    if (half.lens) {
      taken.push_back(half.lens_place.area);
      const auto [title, scale_bar] = draw_lens_frame(half);
      draw_labels(half.lens_place, half.lens_arrows, {}, {title, scale_bar});
    }
    if (halves_.size() > 1)  // the title
      taken.push_back({area.x, area.y, area.width, 2.0f * ImGui::GetTextLineHeight()});
    draw_labels(half.place, half.notes.arrows,
                i == 0 ? contacts_with_tables() : std::vector<const ContactView*>(), taken);
  }
  draw_titles();
}

void Viewer::draw_labels(const ScenePlace& scene_place, std::span<const ArrowLabel> arrows,
                         const std::vector<const ContactView*>& with_tables,
                         const std::vector<Rectangle>& taken) const {
  const float padding = k_padding * static_cast<float>(text_scale_);
  std::vector<LabelRequest> requests;
  std::vector<std::vector<ContactRow>> tables;
  for (const ContactView* view : with_tables) {
    const Vec2<double> point = scene_place.on_screen(view->contact.point_W);
    if (!visible_end({point, point}, scene_place.area)) continue;
    tables.push_back(contact_rows(*frame_->model, *view));
    const TableSize size(tables.back());
    requests.push_back({point, {1.0, 0.0}, size.width, size.height, std::numeric_limits<double>::infinity()});
  }
  std::vector<const ArrowLabel*> labels;
  const auto line_of = [&](const ArrowLabel& arrow) {
    return ScreenSegment{scene_place.on_screen(arrow.from_W), scene_place.on_screen(arrow.tip_W)};
  };
  for (const ArrowLabel* label : first_labels(arrows)) {
    const ScreenSegment line = line_of(*label);
    const std::optional<Vec2<double>> end = visible_end(line, scene_place.area);
    if (!end) continue;
    const Vec2<double> along = line.to - line.from;
    const ImVec2 size = text_size(label->text);
    requests.push_back({*end, along.norm() > 1.0 ? along : Vec2<double>(1.0, 0.0), size.x + 2.0f * padding,
                        size.y + padding, label->priority});
    labels.push_back(label);
  }
  std::vector<ScreenSegment> lines;
  for (const ArrowLabel& arrow : arrows) lines.push_back(line_of(arrow));
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const auto places = place_labels(requests, scene_place.area, taken, lines);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!places[i]) continue;
    const Rectangle& place = *places[i];
    const bool is_table = i < tables.size();
    const ImVec2 near = nearest_in(place, requests[i].anchor), anchor = point_of(requests[i].anchor);
    const float away = std::hypot(near.x - anchor.x, near.y - anchor.y);
    if (is_table || away > place.height) list.AddLine(anchor, near, packed(k_quiet_colour));
    if (is_table) {
      draw_contact_table(tables[i], place);
      continue;
    }
    const ArrowLabel& label = *labels[i - tables.size()];
    draw_plate(list, place, &label.colour);
    draw_text(list, {place.x + padding, place.y + 0.5f * padding}, label.text);
  }
}

std::array<Rectangle, 2> Viewer::draw_lens_frame(const SceneHalf& half) const {
  const Lens& lens = *half.lens;
  const Rectangle& area = half.lens_place.area;
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const auto scale = static_cast<float>(text_scale_);
  const float line = ImGui::GetTextLineHeight(), gap = 0.4f * line;
  const ImU32 white = packed(k_selection_colour), dark = packed(k_rim_colour);
  // Where it is in the picture, and that it belongs there.
  const Vec2<double> centre = half.place.on_screen(lens.camera.target);
  const float times = static_cast<float>(magnification(lens, picture_scale(), area.height / scale)),
              radius = std::max(4.0f * scale, 0.5f * area.height / times);
  const ImVec2 middle = point_of(centre), corner = nearest_in(area, centre);
  const float away = std::hypot(corner.x - middle.x, corner.y - middle.y);
  list.AddCircle(middle, radius, dark, 0, 3.0f * scale);
  list.AddCircle(middle, radius, white, 0, 1.2f * scale);
  if (away > radius) {
    const ImVec2 from{middle.x + radius / away * (corner.x - middle.x),
                      middle.y + radius / away * (corner.y - middle.y)};
    list.AddLine(from, corner, dark, 3.0f * scale);
    list.AddLine(from, corner, white, 1.2f * scale);
  }
  const ImVec2 low{area.x, area.y}, high{area.x + area.width, area.y + area.height};
  list.AddRect({low.x - scale, low.y - scale}, {high.x + scale, high.y + scale}, dark, 0.0f, 0, 3.0f * scale);
  list.AddRect(low, high, white, 0.0f, 0, 1.2f * scale);

  const SceneModel& model = *frame_->model;
  const std::string title =
      fmt::format("{} | {}  ×{:.3g}", model.body_name(lens.body_A), model.body_name(lens.body_B), times);
  const ImVec2 size = text_size(title);
  const Rectangle title_plate{low.x, low.y, std::min(area.width, size.x + 2.0f * gap), size.y + gap};
  list.PushClipRect(low, high, true);
  draw_plate(list, title_plate);
  draw_text(list, {low.x + gap, low.y + 0.5f * gap}, title);
  const double bar = round_down(0.8 * lens.radius);
  const auto length = static_cast<float>(bar / (2.0 * lens.radius)) * area.width;
  const std::string words = with_prefix(bar, "m");
  const float y = high.y - 0.5f * line - gap;
  const Rectangle bar_plate{low.x, high.y - line - 2.0f * gap, length + text_size(words).x + 3.0f * gap,
                            line + 2.0f * gap};
  draw_plate(list, bar_plate);
  list.AddLine({low.x + gap, y}, {low.x + gap + length, y}, white, 2.0f * scale);
  for (const float end : {low.x + gap, low.x + gap + length})
    list.AddLine({end, y - 0.3f * line}, {end, y + 0.3f * line}, white, 2.0f * scale);
  draw_text(list, {low.x + length + 2.0f * gap, y - 0.5f * line}, words);
  list.PopClipRect();
  return {title_plate, bar_plate};
}

}  // namespace abut::viewer
