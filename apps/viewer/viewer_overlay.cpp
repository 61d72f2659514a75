/// What the viewer draws over the world: menu, handles, legends and messages.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include <imgui.h>

#include "apps/viewer/viewer.h"
#include "engine/count_text.h"

namespace abut::viewer {
namespace {

ImU32 to_imgui(const Colour& c) { return ImGui::ColorConvertFloat4ToU32(ImVec4(c[0], c[1], c[2], c[3])); }
ImVec2 to_imgui(const Vec2<double>& p) { return {static_cast<float>(p.x()), static_cast<float>(p.y())}; }

/// The nearest of 1, 2 and 5 times a power of ten that is not larger.
double round_force(double newtons) {
  const double power = std::pow(10.0, std::floor(std::log10(newtons)));
  const double digit = newtons / power;
  return power * (digit >= 5.0 ? 5.0 : digit >= 2.0 ? 2.0 : 1.0);
}

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
      fmt::format("{}   t = {:.3f} s   {}   {:.0f} pictures/s   F1: help", frame_->model->scene.name,
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

void Viewer::draw_legends() {
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const float line = ImGui::GetTextLineHeight(), gap = 0.5f * line;
  const float scene_bottom = scene().y + scene().height;
  const ImU32 white = to_imgui(k_selection_colour);
  const auto text = [&](float x, float y, const std::string& words, ImU32 colour) {
    // On a rim, as there may be anything behind it.
    for (const auto& [dx, dy] :
         {std::pair(-1.0f, 0.0f), {1.0f, 0.0f}, {0.0f, -1.0f}, {0.0f, 1.0f}, {1.0f, 1.0f}})
      list.AddText({x + dx, y + dy}, to_imgui(k_rim_colour), words.c_str());
    list.AddText({x, y}, colour, words.c_str());
  };
  float y = scene_bottom - gap - line;
  const float width = 12.0f * line;
  const float x = scene().x + std::max(gap, 0.5f * (scene().width - width));
  // What colours contacts mean.
  const ContactDisplay& contacts = display.contacts;
  if (contacts.points || contacts.normals || contacts.candidates) {
    constexpr int k_parts = 48;
    for (int i = 0; i < k_parts; ++i) {
      const float left = x + width * static_cast<float>(i) / k_parts,
                  right = x + width * static_cast<float>(i + 1) / k_parts;
      list.AddRectFilled({left, y - 0.6f * line}, {right, y},
                         to_imgui(sequential_colour((i + 0.5) / k_parts)));
    }
    const bool of_contacts = contacts.points || contacts.normals;
    const char* name = of_contacts ? k_indicator_names[static_cast<std::size_t>(contacts.indicator)]
                                   : "weight of the choice";
    text(x, y, "0", white);
    text(x + width - ImGui::CalcTextSize("1").x, y, "1", white);
    text(x + 0.5f * (width - ImGui::CalcTextSize(name).x), y, name, white);
    y -= 2.0f * line;
  }
  if (contacts.forces && counts_.points_per_newton > 0.0) {
    const double newtons = round_force(0.5 * k_largest_length / counts_.points_per_newton * contacts.size);
    const auto length = static_cast<float>(newtons * counts_.points_per_newton * text_scale_);
    const float middle = y + 0.5f * line;
    list.AddLine({x - 1.0f, middle}, {x + length + 1.0f, middle}, to_imgui(k_rim_colour), 0.45f * line);
    list.AddLine({x, middle}, {x + length, middle}, to_imgui(k_force_colour), 0.25f * line);
    text(x + length + gap, y, fmt::format("force of {:g} N", newtons), white);
    y -= 1.2f * line;
  }
  if (contacts.friction_discs) {
    const std::pair<const char*, Colour> entries[] = {{"slides", k_slip_colour}, {"sticks", k_stick_colour}};
    for (const auto& [name, colour] : entries) {
      list.AddCircleFilled({x + 0.5f * line, y + 0.5f * line}, 0.5f * line, to_imgui(k_rim_colour));
      list.AddCircleFilled({x + 0.5f * line, y + 0.5f * line}, 0.4f * line, to_imgui(colour));
      text(x + 1.5f * line, y, name, white);
      y -= 1.2f * line;
    }
  }
  if (gradients.result && gradients.result->error.empty() && display.gradient_arrows) {
    const std::string what =
        "gradient of the " + loss_name(frame_->model->model(), gradients.result->request.loss) + " by:";
    const std::pair<const char*, Colour> entries[] = {{"force in this step", k_gradient_force_colour},
                                                      {"initial velocity", k_gradient_velocity_colour},
                                                      {"initial position", k_gradient_position_colour}};
    const float wide = std::max(width, ImGui::CalcTextSize(what.c_str()).x);
    list.AddRectFilled({x - gap, y - 3.6f * line - gap}, {x + wide + gap, y + line + gap},
                       IM_COL32(20, 22, 26, 170), 4.0f);
    for (const auto& [name, colour] : entries) {
      list.AddRectFilled({x, y + 0.2f * line}, {x + line, y + 0.8f * line}, to_imgui(colour));
      text(x + 1.5f * line, y, name, white);
      y -= 1.2f * line;
    }
    text(x, y, what, white);
  }
  if (display.side_by_side) {
    const float top = scene().y + gap, half = static_cast<float>(picture_width());
    const std::pair<float, std::string> titles[] = {
        {0.0f, "as it is: " + count_text(frame_->contacts.size(), "contact")},
        {scene().x + half, "without edge-edge: " + count_text(frame_->without_edges.size(), "contact")}};
    for (const auto& [left, title] : titles)
      text(left + 0.5f * (half - ImGui::CalcTextSize(title.c_str()).x), top, title, white);
    list.AddLine({scene().x + half, scene().y}, {scene().x + half, scene_bottom}, white);
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
  const std::string& message = is_error ? frame_->message : noticed_;
  if (message.empty() || (!is_error && notice_seconds_ <= 0.0)) return;
  ImDrawList& list = *ImGui::GetForegroundDrawList();
  const float line = ImGui::GetTextLineHeight(), gap = 0.5f * line;
  const float wrap = std::min(0.9f * scene().width, 50.0f * line);
  const ImVec2 size = ImGui::CalcTextSize(message.c_str(), nullptr, false, wrap);
  const float left = scene().x + 0.5f * (scene().width - size.x),
              top = scene().y + scene().height - size.y - 4.0f * line;
  list.AddRectFilled({left - gap, top - gap}, {left + size.x + gap, top + size.y + gap},
                     is_error ? IM_COL32(120, 40, 0, 240) : IM_COL32(20, 60, 90, 240), 4.0f);
  list.AddText(ImGui::GetFont(), ImGui::GetFontSize(), {left, top}, to_imgui(k_selection_colour),
               message.c_str(), nullptr, wrap);
}

}  // namespace abut::viewer
