/// Words on dark plates, legible over any picture.
#pragma once

#include <string>

#include <imgui.h>

#include "apps/viewer/layout.h"
#include "apps/viewer/panels/widgets.h"

namespace abut::viewer {

/// @param wrap  width of its lines at most; 0: one line
[[nodiscard]] inline ImVec2 text_size(const std::string& words, float wrap = 0.0f) {
  return ImGui::CalcTextSize(words.data(), words.data() + words.size(), false, wrap > 0.0f ? wrap : -1.0f);
}

inline void draw_text(ImDrawList& list, ImVec2 at, const std::string& words,
                      const Colour& colour = k_selection_colour, float wrap = 0.0f) {
  list.AddText(ImGui::GetFont(), ImGui::GetFontSize(), at, packed(colour), words.data(),
               words.data() + words.size(), wrap);
}

inline void draw_plate(ImDrawList& list, const Rectangle& area, const Colour* border = nullptr) {
  const ImVec2 low{area.x, area.y}, high{area.x + area.width, area.y + area.height};
  list.AddRectFilled(low, high, IM_COL32(18, 20, 24, 255), 3.0f);
  if (border) list.AddRect(low, high, packed(*border), 3.0f);
}

}  // namespace abut::viewer
