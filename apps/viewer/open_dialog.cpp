#include "apps/viewer/open_dialog.h"

#include <algorithm>
#include <utility>

#include <imgui.h>
#include <imgui_stdlib.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "apps/viewer/file_listing.h"
#include "apps/viewer/panels/widgets.h"

namespace abut::viewer {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_dialog_id = "Open a scene or a trajectory";
constexpr float k_completion_rows = 7.0f;

/// Tab completes the path.
int complete_path(ImGuiInputTextCallbackData* data) {
  const std::string text(data->Buf, static_cast<std::size_t>(data->BufTextLen)), longer = completed(text);
  data->InsertChars(data->BufTextLen, longer.c_str() + text.size());
  data->CursorPos = data->BufTextLen;
  return 0;
}

/// A name in the middle of a column, cut off where it is too long.
void centred_name(const std::string& name, ImVec2 corner, float width) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float text = ImGui::CalcTextSize(name.c_str()).x;
  list.PushClipRect(corner, {corner.x + width, corner.y + 2.0f * ImGui::GetTextLineHeight()}, true);
  list.AddText({corner.x + std::max(0.0f, 0.5f * (width - text)), corner.y},
               ImGui::GetColorU32(ImGuiCol_Text), name.c_str());
  list.PopClipRect();
}

}  // namespace

void OpenDialog::show(std::vector<fs::path> scenes, const fs::path& path) {
  open_ = appears_ = true;
  error_.clear();
  scenes_ = std::move(scenes);
  descriptions_.clear();
  for (const fs::path& scene : scenes_) descriptions_[scene] = description_of(scene);
  set_path(path.string());
}

void OpenDialog::set_path(std::string path) {
  path_ = std::move(path);
  completions_ = path_.empty() ? std::vector<std::string>() : completions_of(path_);
}

bool OpenDialog::draw_path() {
  const float button = 6.0f * ImGui::GetFontSize();
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - button - ImGui::GetStyle().ItemSpacing.x);
  const std::string before = path_;
  const bool entered = ImGui::InputTextWithHint(
      "##path", "path of a scene (.toml), a trajectory (.npz) or measurements (.csv); Tab completes it",
      &path_, ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackCompletion, complete_path);
  if (path_ != before) set_path(path_);
  ImGui::SameLine();
  ImGui::BeginDisabled(path_.empty());
  const bool pressed = ImGui::Button("Open", {button, 0.0f});
  ImGui::EndDisabled();
  return (entered || pressed) && !path_.empty();
}

bool OpenDialog::draw_completions() {
  if (path_.empty()) return false;
  const float row = ImGui::GetTextLineHeightWithSpacing();
  const float rows = std::clamp(static_cast<float>(completions_.size()), 1.0f, k_completion_rows);
  std::optional<std::string> clicked;
  if (ImGui::BeginChild("completions", {0.0f, rows * row + ImGui::GetStyle().ItemSpacing.y})) {
    if (completions_.empty())
      ImGui::TextDisabled("No scene, trajectory, measurements or folder begin like this.");
    for (std::size_t i = 0; i < completions_.size(); ++i) {
      ImGui::PushID(static_cast<int>(i));
      if (ImGui::Selectable("##completion")) clicked = completions_[i];
      ImGui::SameLine(0.0f, 0.0f);
      ImGui::TextUnformatted(completions_[i].c_str());
      ImGui::PopID();
    }
  }
  ImGui::EndChild();
  if (!clicked) return false;
  set_path(*clicked);
  return !path_.ends_with('/');
}

bool OpenDialog::draw_recent(std::span<const fs::path> recent) {
  bool chosen = false;
  show_note("Recent files");
  if (recent.empty()) show_note("There are none yet.");
  for (std::size_t i = 0; i < recent.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::Selectable("##recent")) {
      set_path(recent[i].string());
      chosen = true;
    }
    tooltip(recent[i].string());
    ImGui::SameLine(0.0f, 0.0f);
    ImGui::TextUnformatted(recent[i].filename().string().c_str());
    ImGui::PopID();
  }
  return chosen;
}

bool OpenDialog::draw_scenes(float scale, Thumbnails& thumbnails) {
  bool chosen = false;
  if (scenes_.empty()) show_note("The scenes that come with Abut are not beside this program.");
  const ImGuiStyle& style = ImGui::GetStyle();
  const float available = ImGui::GetContentRegionAvail().x, name_height = ImGui::GetTextLineHeight();
  const int columns = std::max(1, static_cast<int>(available / (160.0f * scale)));
  const float width =
      (available - static_cast<float>(columns - 1) * style.ItemSpacing.x) / static_cast<float>(columns);
  const float height = width * Thumbnails::k_height / Thumbnails::k_width;
  for (std::size_t i = 0; i < scenes_.size(); ++i) {
    const fs::path& scene = scenes_[i];
    const Thumbnails::Thumbnail& thumbnail = thumbnails.of(scene);
    if (i % static_cast<std::size_t>(columns) != 0) ImGui::SameLine();
    ImGui::PushID(static_cast<int>(i));
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    if (ImGui::InvisibleButton("scene", {width, height + name_height + style.ItemSpacing.y})) {
      set_path(scene.string());
      chosen = true;
    }
    const bool hovered = ImGui::IsItemHovered();
    tooltip(thumbnail.problem.empty() ? descriptions_[scene] : thumbnail.problem);
    ImGui::PopID();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 opposite{corner.x + width, corner.y + height};
    if (thumbnail.texture != 0) {
      list.AddImage(reinterpret_cast<ImTextureID>(static_cast<std::uintptr_t>(thumbnail.texture)), corner,
                    opposite);
    } else {
      list.AddRectFilled(corner, opposite, ImGui::GetColorU32(ImGuiCol_FrameBg));
      centred_name(thumbnail.problem.empty() ? "..." : "cannot be read",
                   {corner.x, corner.y + 0.5f * (height - name_height)}, width);
    }
    if (hovered) list.AddRect(corner, opposite, packed(k_selection_colour), 0.0f, 0, 2.0f * scale);
    centred_name(scene.stem().string(), {corner.x, opposite.y + 0.5f * style.ItemSpacing.y}, width);
  }
  return chosen;
}

std::optional<fs::path> OpenDialog::draw(const Rectangle& area, float scale, std::span<const fs::path> recent,
                                         const std::string& loses, Thumbnails& thumbnails) {
  if (!open_) return std::nullopt;
  const bool appears = std::exchange(appears_, false);
  if (appears) ImGui::OpenPopup(k_dialog_id);
  const float width = std::min(0.94f * area.width, 1000.0f * scale),
              height = std::min(0.9f * area.height, 560.0f * scale);
  ImGui::SetNextWindowPos({area.x + 0.5f * (area.width - width), area.y + 0.5f * (area.height - height)});
  ImGui::SetNextWindowSize({width, height});
  bool stays = true;
  if (!ImGui::BeginPopupModal(k_dialog_id, &stays, ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize)) {
    open_ = false;
    return std::nullopt;
  }
  if (appears) ImGui::SetKeyboardFocusHere();
  bool chosen = draw_path();
  chosen = draw_completions() || chosen;
  if (!error_.empty()) show_text(k_bad_colour, error_);
  if (!loses.empty() && !is_measurements(path_)) show_text(k_doubtful_colour, loses);
  ImGui::Separator();
  if (ImGui::BeginChild("recent", {0.24f * width, 0.0f})) chosen = draw_recent(recent) || chosen;
  ImGui::EndChild();
  ImGui::SameLine();
  if (ImGui::BeginChild("scenes")) chosen = draw_scenes(scale, thumbnails) || chosen;
  ImGui::EndChild();
  if (!stays || ImGui::IsKeyPressed(GLFW_KEY_ESCAPE, false)) {
    open_ = false;
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
  if (!chosen) return std::nullopt;
  error_.clear();
  return path_of(path_);
}

}  // namespace abut::viewer
