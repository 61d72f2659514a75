/// What the viewer draws over the world: menu, handles and messages.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include <imgui.h>

#include "apps/viewer/label_layout.h"
#include "apps/viewer/viewer.h"
#include "engine/count_text.h"

namespace abut::viewer {
namespace {

ImU32 to_imgui(const Colour& c) { return ImGui::ColorConvertFloat4ToU32(ImVec4(c[0], c[1], c[2], c[3])); }
ImVec2 to_imgui(const Vec2<double>& p) { return {static_cast<float>(p.x()), static_cast<float>(p.y())}; }

Colour handle_colour(GizmoHandle handle) {
  constexpr int k_of_axis[] = {3, 2, 6};  // vermilion, bluish green and blue of body_colour()
  return body_colour(k_of_axis[static_cast<int>(handle) % 3]);
}

}  // namespace

void Viewer::draw_menu() {
  if (!ImGui::BeginMainMenuBar()) return;
  for (std::size_t c = 0; c < std::size(k_key_category_names); ++c) {
    if (!ImGui::BeginMenu(k_key_category_names[c])) continue;
    for (const KeyBinding& binding : key_table()) {
      if (static_cast<std::size_t>(binding.category) != c) continue;
      if (ImGui::MenuItem(binding.what, key_text(binding).c_str(), is_on(binding.action, context())))
        act(binding.action);
      if (binding.action == Action::open_dialog) draw_recent_menu();
    }
    ImGui::EndMenu();
  }
  const std::string text =
      fmt::format("{}   t = {:.3f} s   {}   {:.0f} pictures/s   F1: help", frame_->model->scene->name,
                  frame_->state.time, count_text(frame_->contacts.size(), "contact"), pictures_per_second_);
  const float width = ImGui::CalcTextSize(text.c_str()).x, gap = ImGui::GetStyle().ItemSpacing.x;
  const float left = ImGui::GetIO().DisplaySize.x - width - 2.0f * gap;
  if (left > ImGui::GetCursorPosX()) {
    ImGui::SetCursorPosX(left);
    ImGui::TextUnformatted(text.c_str());
  }
  ImGui::EndMainMenuBar();
}

void Viewer::draw_gizmo() {
  if (!gizmo_shown()) return;
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const Vec3<double>& centre = frame_->state.X_WB[static_cast<std::size_t>(selection.body)].p;
  for (const GizmoHandle handle : k_gizmo_handles) {
    std::vector<ImVec2> points;
    for (const Vec3<double>& p : PoseGizmo::line(handle, centre, gizmo_size()))
      points.push_back(to_imgui(on_screen(p)));
    const bool held = gizmo_.held() == handle, is_arrow = points.size() == 2;
    const ImU32 colour = to_imgui(held ? k_selection_colour : handle_colour(handle));
    const float width = static_cast<float>(text_scale_) * (is_arrow ? 3.0f : 1.5f);
    list.AddPolyline(points.data(), static_cast<int>(points.size()), colour, ImDrawFlags_None, width);
    if (is_arrow) list.AddCircleFilled(points.back(), 2.0f * width, colour);
  }
}

void Viewer::draw_recording_sign(unsigned framebuffer) {
  if (!video_) return;
  interface_.draw_over(framebuffer, [this](ImDrawList& list) {
    const std::string words = fmt::format("recording {:.1f} s", video_seconds_);
    const float line = ImGui::GetFontSize(), radius = 0.4f * line, top = scene().y + line;
    const ImVec2 size = ImGui::CalcTextSize(words.c_str());
    const float left = scene().x + scene().width - size.x - 2.0f * line;
    list.AddRectFilled({left - 2.0f * line, top - 0.3f * line},
                       {left + size.x + 0.6f * line, top + 1.3f * line}, IM_COL32(20, 22, 26, 220), 4.0f);
    list.AddCircleFilled({left - line, top + 0.5f * line}, radius, IM_COL32(220, 40, 40, 255));
    list.AddText({left, top}, to_imgui(k_selection_colour), words.c_str());
  });
}

void Viewer::draw_message() {
  constexpr double k_notice = 4.0;  // [s]
  const ImGuiIO& io = ImGui::GetIO();
  if (recording.message != noticed_) {
    noticed_ = recording.message;
    notice_seconds_ = k_notice;
  }
  notice_seconds_ -= io.DeltaTime;
  const bool is_error = !frame_->message.empty();
  const std::string message = is_error                ? frame_->message
                              : notice_seconds_ > 0.0 ? noticed_
                                                      : ghost_job_.progress();
  message_place_.reset();
  if (message.empty()) return;
  ImDrawList& list = *ImGui::GetForegroundDrawList();
  const float line = ImGui::GetTextLineHeight(), gap = 0.5f * line;
  const float wrap = std::min(0.9f * scene().width, 50.0f * line);
  const ImVec2 size = ImGui::CalcTextSize(message.c_str(), nullptr, false, wrap);
  Rectangle plate{scene().x + 0.5f * (scene().width - size.x) - gap,
                  scene().y + scene().height - size.y - 4.0f * line - gap, size.x + 2.0f * gap,
                  size.y + 2.0f * gap};
  for (const SceneHalf& half : halves_) {
    if (intersect(plate, half.legend_place)) plate.y = half.legend_place.y - gap - plate.height;
  }
  plate.y = std::max(plate.y, scene().y);
  message_place_ = plate;
  list.AddRectFilled({plate.x, plate.y}, {plate.x + plate.width, plate.y + plate.height},
                     is_error ? IM_COL32(120, 40, 0, 240) : IM_COL32(20, 60, 90, 240), 4.0f);
  list.AddText(ImGui::GetFont(), ImGui::GetFontSize(), {plate.x + gap, plate.y + gap},
               to_imgui(k_selection_colour), message.c_str(), nullptr, wrap);
}

}  // namespace abut::viewer
