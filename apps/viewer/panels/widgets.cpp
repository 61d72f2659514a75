#include "apps/viewer/panels/widgets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <imgui_stdlib.h>

namespace abut::viewer {
namespace {

constexpr float k_label_share = 0.40f;  // of the width, of a line with a label
constexpr float k_standard_share = 0.21f;

/// A label at the left and the rest of the line for what follows; of a long label the whole next line.
void begin_line(const char* label, const std::string& help) {
  const float width = ImGui::GetContentRegionAvail().x, left = ImGui::GetCursorPosX();
  ImGui::AlignTextToFramePadding();
  // Words after "##" belong to the id alone.
  const char* const end = std::strstr(label, "##");
  ImGui::TextUnformatted(label, end);
  if (!help.empty()) tooltip(help);
  const float room = k_label_share * width;
  if (ImGui::CalcTextSize(label, end).x + ImGui::GetStyle().ItemInnerSpacing.x <= room)
    ImGui::SameLine(left + room);
}

/// As few decimals as keep a value of a slider apart from its neighbours; ImGui takes the smallest value of a
/// logarithmic slider from the number of decimals, too.
std::string number_format(const SliderOptions& options) {
  int digits = 4;
  if (options.logarithmic && options.lowest > 0.0)
    digits = std::max(digits, static_cast<int>(std::ceil(-std::log10(options.lowest))));
  return fmt::format("%.{}g{}{}", options.whole ? 12 : digits, options.unit[0] ? " " : "", options.unit);
}

double rounded(double value, const SliderOptions& options) {
  if (options.whole) return std::round(value);
  if (value == 0.0 || !std::isfinite(value)) return value;
  // Three digits of a logarithmic slider, a thousandth of the range of another: what a hand can aim at.
  const double size = options.logarithmic ? std::abs(value) : options.highest - options.lowest;
  const double unit = std::pow(10.0, std::floor(std::log10(size)) - 2.0);
  return unit >= 1.0 ? std::round(value / unit) * unit : std::round(value / unit) / std::round(1.0 / unit);
}

/// Where on a slider a value is, from 0 to 1; outside of that for values that are not on it.
double place_on(const SliderOptions& options, double value) {
  if (options.logarithmic)
    return std::log(value / options.lowest) / std::log(options.highest / options.lowest);
  return (value - options.lowest) / (options.highest - options.lowest);
}

void draw_mark(const SliderOptions& options, double value, ImU32 colour) {
  const double place = place_on(options, value);
  if (!(place >= 0.0 && place <= 1.0)) return;
  const ImVec2 lower = ImGui::GetItemRectMin(), upper = ImGui::GetItemRectMax();
  const float margin = 2.0f + 0.5f * ImGui::GetStyle().GrabMinSize;  // half of the grab, as ImGui places it
  const float x = lower.x + margin + static_cast<float>(place) * (upper.x - lower.x - 2.0f * margin);
  const float height = 0.2f * (upper.y - lower.y);
  ImGui::GetWindowDrawList()->AddLine({x, upper.y - height}, {x, upper.y}, colour, 2.0f);
}

}  // namespace

void show_text(const std::string& line) {
  ImGui::PushTextWrapPos(0.0f);
  ImGui::TextUnformatted(line.c_str());
  ImGui::PopTextWrapPos();
}

void show_text(const ImVec4& colour, const std::string& line) {
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  show_text(line);
  ImGui::PopStyleColor();
}

void show_note(const std::string& line) { show_text(ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled), line); }

void tooltip(const std::string& words) {
  if (words.empty() || !ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(24.0f * ImGui::GetFontSize());
  ImGui::TextUnformatted(words.c_str());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

ImU32 packed(const Colour& colour) {
  return ImGui::ColorConvertFloat4ToU32({colour.x(), colour.y(), colour.z(), colour.w()});
}

std::string with_prefix(double value, const char* unit) {
  if (!std::isfinite(value)) return fmt::format("{} {}", value, unit);
  constexpr std::pair<double, const char*> k_prefixes[] = {{1e9, "G"},  {1e6, "M"},  {1e3, "k"}, {1.0, ""},
                                                           {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}};
  const double size = std::abs(value);
  if (size < 1e-12) return fmt::format("{:.3g} {}", value, unit);
  for (const auto& [factor, prefix] : k_prefixes) {
    if (size >= 0.9995 * factor) return fmt::format("{:.4g} {}{}", value / factor, prefix, unit);
  }
  return fmt::format("{:.3g} n{}", value * 1e9, unit);
}

bool slider(const char* label, double& value, const SliderOptions& options) {
  ImGui::PushID(options.id ? options.id : label);
  const float width = ImGui::GetContentRegionAvail().x;
  const float standard_width = options.standard ? std::floor(k_standard_share * width) : 0.0f;
  begin_line(label, options.help);
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - standard_width -
                          (options.standard ? ImGui::GetStyle().ItemInnerSpacing.x : 0.0f));
  double edited = value;
  // What the grab covers is to be read, too.
  ImVec4 grab = ImGui::GetStyleColorVec4(ImGuiCol_SliderGrab);
  grab.w *= 0.55f;
  ImGui::PushStyleColor(ImGuiCol_SliderGrab, grab);
  ImGui::SliderScalar("##value", ImGuiDataType_Double, &edited, &options.lowest, &options.highest,
                      number_format(options).c_str(), options.logarithmic ? ImGuiSliderFlags_Logarithmic : 0);
  ImGui::PopStyleColor();
  if (edited != value) {
    // What is typed is taken as it is, what is dragged is rounded.
    if (ImGui::GetIO().MouseDown[0] || options.whole) edited = rounded(edited, options);
  }
  const ImU32 mark = ImGui::GetColorU32(ImGuiCol_TextDisabled);
  for (const double place : options.marks) draw_mark(options, place, mark);
  if (options.standard) draw_mark(options, *options.standard, packed(rgb(230, 159, 0)));
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) {
    std::string words = options.help;
    if (options.standard) {
      words += fmt::format("{}Default: {:.4g}{}{} (right click)", words.empty() ? "" : "\n\n",
                           *options.standard, options.unit[0] ? " " : "", options.unit);
    }
    tooltip(words + (words.empty() ? "" : "\n") + "Ctrl + click to type a number.");
    if (options.standard && ImGui::IsItemClicked(ImGuiMouseButton_Right)) edited = *options.standard;
  }
  if (options.standard) {
    ImGui::SameLine(0.0f, ImGui::GetStyle().ItemInnerSpacing.x);
    const bool is_standard = value == *options.standard;
    ImGui::BeginDisabled(is_standard);
    if (ImGui::Button(fmt::format("{:.4g}###standard", *options.standard).c_str(), {standard_width, 0.0f}))
      edited = *options.standard;
    ImGui::EndDisabled();
    tooltip(is_standard ? "It is at its default." : "Back to the default.");
  }
  ImGui::PopID();
  if (edited == value || std::isnan(edited)) return false;
  value = edited;
  return true;
}

bool slider(const char* label, int& value, const SliderOptions& options) {
  SliderOptions whole = options;
  whole.whole = true;
  double number = value;
  if (!slider(label, number, whole)) return false;
  const int next = static_cast<int>(std::clamp(std::round(number), -1e9, 1e9));
  const bool changed = next != value;
  value = next;
  return changed;
}

bool checkbox(const char* label, bool& value, bool standard, const std::string& help) {
  bool changed = ImGui::Checkbox(label, &value);
  if (ImGui::IsItemClicked(ImGuiMouseButton_Right) && value != standard) {
    value = standard;
    changed = true;
  }
  tooltip(fmt::format("{}{}Default: {} (right click)", help, help.empty() ? "" : "\n\n",
                      standard ? "on" : "off"));
  return changed;
}

bool checkbox_with_key(const char* label, bool& value, const std::string& key, const std::string& help) {
  const bool changed = ImGui::Checkbox(label, &value);
  tooltip(key.empty() ? help : fmt::format("{}{}Key: {}", help, help.empty() ? "" : "\n", key));
  return changed;
}

bool combo(const char* label, int& choice, std::span<const char* const> names, int standard,
           const std::string& help) {
  ImGui::PushID(label);
  begin_line(label, help);
  ImGui::SetNextItemWidth(-1.0f);
  const int before = choice;
  const auto count = static_cast<int>(names.size());
  const char* shown = choice >= 0 && choice < count ? names[static_cast<std::size_t>(choice)] : "-";
  if (ImGui::BeginCombo("##choice", shown)) {
    for (int i = 0; i < count; ++i) {
      const bool is_chosen = i == choice;
      if (ImGui::Selectable(fmt::format("{}{}###{}", names[static_cast<std::size_t>(i)],
                                        i == standard ? " (default)" : "", i)
                                .c_str(),
                            is_chosen))
        choice = i;
      if (is_chosen) ImGui::SetItemDefaultFocus();
    }
    ImGui::EndCombo();
  } else if (standard >= 0) {
    if (ImGui::IsItemClicked(ImGuiMouseButton_Right)) choice = standard;
    tooltip(fmt::format("{}{}Default: {} (right click)", help, help.empty() ? "" : "\n\n",
                        names[static_cast<std::size_t>(standard)]));
  } else {
    tooltip(help);
  }
  ImGui::PopID();
  return choice != before;
}

bool body_combo(const char* label, const Model& model, int& body, const char* none, const std::string& help) {
  ImGui::PushID(label);
  begin_line(label, help);
  ImGui::SetNextItemWidth(-1.0f);
  const int before = body, count = model.body_count();
  const auto name = [&](int b) -> const char* {
    return b >= 0 && b < count ? model.bodies[static_cast<std::size_t>(b)].name.c_str() : none ? none : "-";
  };
  if (ImGui::BeginCombo("##body", name(body))) {
    for (int b = none ? -1 : 0; b < count; ++b) {
      ImGui::PushID(b);
      if (ImGui::Selectable("##name", b == body)) body = b;
      // The name is no label: what follows a '##' in a label is not shown.
      ImGui::SameLine(0.0f, 0.0f);
      ImGui::TextUnformatted(name(b));
      ImGui::PopID();
    }
    ImGui::EndCombo();
  } else {
    tooltip(help);
  }
  ImGui::PopID();
  return body != before;
}

bool text_field(const char* label, const char* hint, std::string& text, const std::string& help) {
  ImGui::PushID(label);
  begin_line(label, help);
  ImGui::SetNextItemWidth(-1.0f);
  const bool done = ImGui::InputTextWithHint("##text", hint, &text);
  tooltip(help);
  ImGui::PopID();
  return done;
}

void colour_bar(Colour (*colour_at)(double x), const char* low, const char* middle, const char* high) {
  constexpr int k_pieces = 32;
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float width = std::max(ImGui::GetContentRegionAvail().x, 1.0f), height = 0.7f * ImGui::GetFontSize();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto edge = [&](int i) { return corner.x + width * static_cast<float>(i) / k_pieces; };
  for (int i = 0; i < k_pieces; ++i) {
    const ImU32 left = packed(colour_at(static_cast<double>(i) / k_pieces)),
                right = packed(colour_at(static_cast<double>(i + 1) / k_pieces));
    list.AddRectFilledMultiColor({edge(i), corner.y}, {edge(i + 1), corner.y + height}, left, right, right,
                                 left);
  }
  ImGui::Dummy({width, height});
  const float x = ImGui::GetCursorPosX();
  ImGui::TextUnformatted(low);
  ImGui::SameLine(x + 0.5f * (width - ImGui::CalcTextSize(middle).x));
  ImGui::TextUnformatted(middle);
  ImGui::SameLine(x + width - ImGui::CalcTextSize(high).x);
  ImGui::TextUnformatted(high);
}

void colour_key(const Colour& colour, const char* word) {
  const float size = ImGui::GetFontSize();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddRectFilled({corner.x, corner.y + 0.1f * size},
                                            {corner.x + 0.8f * size, corner.y + 0.9f * size}, packed(colour),
                                            2.0f);
  ImGui::Dummy({0.8f * size, size});
  ImGui::SameLine(0.0f, 0.4f * size);
  ImGui::TextUnformatted(word);
}

bool wide_button(const char* label, int columns) {
  // Of the line, not of what is left of it: buttons that stand beside each other are of the same width.
  const float line = ImGui::GetWindowContentRegionMax().x - ImGui::GetWindowContentRegionMin().x;
  const float spacing = ImGui::GetStyle().ItemSpacing.x;
  return ImGui::Button(label, {std::max(1.0f, std::floor((line - spacing * static_cast<float>(columns - 1)) /
                                                         static_cast<float>(columns))),
                               0.0f});
}

}  // namespace abut::viewer
