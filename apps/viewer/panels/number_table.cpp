#include "apps/viewer/panels/number_table.h"

#include <cmath>
#include <string_view>

#include <imgui.h>
#include <spdlog/fmt/fmt.h>

#include "apps/viewer/panels/widgets.h"

namespace abut::viewer {
namespace {

std::string spaced_unit(const char* unit) { return unit[0] ? fmt::format(" {}", unit) : std::string(); }

/// Three numbers beside each other, or below each other where there is no room for that: Dear ImGui breaks
/// lines at decimal points. Noise of rounding is 0.
std::string three_numbers(const Vec3<double>& v, const char* unit) {
  constexpr double k_noise = 1e-9;  // of the largest
  const double least = k_noise * v.cwiseAbs().maxCoeff();
  const auto text = [&](const char* separator) {
    std::string words;
    for (const double x : v)
      words += fmt::format("{}{:.4g}", words.empty() ? "" : separator, std::abs(x) < least ? 0.0 : x);
    return words + spaced_unit(unit);
  };
  const std::string line = text(", ");
  return ImGui::CalcTextSize(line.c_str()).x <= ImGui::GetContentRegionAvail().x ? line : text(",\n");
}

}  // namespace

NumberTable::NumberTable(const char* id, std::string* all) : all_(all) {
  is_drawn_ = ImGui::BeginTable(id, 2, ImGuiTableFlags_RowBg);
  if (!is_drawn_) return;
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, 7.2f * ImGui::GetFontSize());
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
}

NumberTable::~NumberTable() {
  if (is_drawn_) ImGui::EndTable();
}

void NumberTable::text(const char* name, const std::string& value) {
  begin_row(name);
  end_row(name, value, value);
}

void NumberTable::number(const char* name, double value, const char* unit) {
  begin_row(name);
  const std::string_view of = unit;
  const bool has_prefix = of == "m" || of == "N";
  end_row(name, has_prefix ? with_prefix(value, unit) : fmt::format("{:.6g}{}", value, spaced_unit(unit)),
          fmt::format("{}{}", value, spaced_unit(unit)));
}

void NumberTable::vector(const char* name, const Vec3<double>& value, const char* unit, double scale) {
  const Vec3<double> v = scale * value;
  begin_row(name);
  end_row(name, is_drawn_ ? three_numbers(v, unit) : "",
          fmt::format("{}, {}, {}{}", v.x(), v.y(), v.z(), spaced_unit(unit)));
}

void NumberTable::begin_row(const char* name) const {
  if (!is_drawn_) return;
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  show_note(name);
  ImGui::TableNextColumn();
}

void NumberTable::end_row(const char* name, const std::string& shown, const std::string& copied) const {
  if (all_) *all_ += fmt::format("{}\t{}\n", name, copied);
  if (!is_drawn_) return;
  show_text(shown);
  if (ImGui::IsItemClicked()) ImGui::SetClipboardText(copied.c_str());
  tooltip(copied + "\nClick to copy.");
}

}  // namespace abut::viewer
