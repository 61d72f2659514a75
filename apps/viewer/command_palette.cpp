#include "apps/viewer/command_palette.h"

#include <algorithm>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include <imgui.h>
#include <imgui_stdlib.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "apps/viewer/panels/actions.h"
#include "apps/viewer/panels/fuzzy_match.h"

namespace abut::viewer {
namespace {

constexpr const char* k_palette_id = "command palette";
constexpr float k_palette_rows = 14.0f;

const char* category_of(const KeyBinding& binding) {
  return k_key_category_names[static_cast<std::size_t>(binding.category)];
}

}  // namespace

std::vector<const KeyBinding*> matching_actions(const std::string& query) {
  std::vector<std::pair<double, const KeyBinding*>> scored;
  for (const KeyBinding& binding : key_table()) {
    if (binding.action == Action::palette) continue;  // it is open
    const auto score = fuzzy_score(query, fmt::format("{} {}", category_of(binding), binding.what));
    if (score) scored.emplace_back(*score, &binding);
  }
  std::stable_sort(scored.begin(), scored.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const KeyBinding*> rows;
  for (const auto& row : scored) rows.push_back(row.second);
  return rows;
}

void CommandPalette::show() {
  open_ = appears_ = true;
  query_.clear();
  row_ = 0;
}

void CommandPalette::move_by_keys(int count) {
  const auto pressed = [](int key) { return ImGui::IsKeyPressed(key, true); };
  row_ += (pressed(GLFW_KEY_DOWN) ? 1 : 0) - (pressed(GLFW_KEY_UP) ? 1 : 0);
  row_ = std::clamp(row_, 0, std::max(count - 1, 0));
}

std::optional<Action> CommandPalette::draw(const PanelContext& context, const Rectangle& area, float scale) {
  if (!open_) return std::nullopt;
  const bool appears = std::exchange(appears_, false);
  if (appears) ImGui::OpenPopup(k_palette_id);
  const float width = std::min(0.9f * area.width, 560.0f * scale);
  ImGui::SetNextWindowPos({area.x + 0.5f * (area.width - width), area.y + 0.06f * area.height});
  ImGui::SetNextWindowSize({width, 0.0f});
  if (!ImGui::BeginPopup(k_palette_id, ImGuiWindowFlags_NoMove)) {  // a click beside it
    open_ = false;
    return std::nullopt;
  }
  if (appears) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(-1.0f);
  if (ImGui::InputTextWithHint("##query", "a part of the name of a command", &query_)) row_ = 0;
  const std::vector<const KeyBinding*> rows = matching_actions(query_);
  const int before = row_;
  move_by_keys(static_cast<int>(rows.size()));
  std::optional<Action> chosen;
  const float row_height = ImGui::GetTextLineHeightWithSpacing();
  const float height = std::min(k_palette_rows * row_height, 0.75f * area.height);
  if (ImGui::BeginChild("rows", {0.0f, height})) {
    if (rows.empty()) ImGui::TextDisabled("There is no such command.");
    const float line = ImGui::GetContentRegionAvail().x;
    for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
      const KeyBinding& binding = *rows[static_cast<std::size_t>(i)];
      const std::string key = key_text(binding);
      ImGui::PushID(i);
      if (ImGui::Selectable("##row", i == row_)) chosen = binding.action;
      if (i == row_ && (row_ != before || appears)) ImGui::SetScrollHereY();
      ImGui::SameLine(0.0f, 0.0f);
      ImGui::TextUnformatted(is_on(binding.action, context) ? "•" : " ");
      ImGui::SameLine(0.03f * line);
      ImGui::TextDisabled("%s", category_of(binding));
      ImGui::SameLine(0.22f * line);
      ImGui::TextUnformatted(binding.what);
      ImGui::SameLine(line - ImGui::CalcTextSize(key.c_str()).x - ImGui::GetStyle().ItemSpacing.x);
      ImGui::TextDisabled("%s", key.c_str());
      ImGui::PopID();
    }
  }
  ImGui::EndChild();
  if (!rows.empty() &&
      (ImGui::IsKeyPressed(GLFW_KEY_ENTER, false) || ImGui::IsKeyPressed(GLFW_KEY_KP_ENTER, false)))
    chosen = rows[static_cast<std::size_t>(row_)]->action;
  if (chosen || ImGui::IsKeyPressed(GLFW_KEY_ESCAPE, false)) {
    open_ = false;
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
  return chosen;
}

}  // namespace abut::viewer
