#include "apps/viewer/panels/plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <imgui.h>
#include <spdlog/fmt/fmt.h>

#include "apps/abut/plot_axis.h"
#include "apps/viewer/panels/widgets.h"
#include "engine/check.h"

namespace abut::viewer {
namespace {

/// What an axis shows, from one end to the other.
struct Axis {
  double lowest = 0.0, highest = 1.0;
  float from = 0.0f, to = 1.0f;  // pixels
  bool logarithmic = false;

  [[nodiscard]] float pixel(double value) const {
    const double place = logarithmic ? std::log(value / lowest) / std::log(highest / lowest)
                                     : (value - lowest) / (highest - lowest);
    return from + static_cast<float>(place) * (to - from);
  }
  [[nodiscard]] double value(float pixel) const {
    return lowest + (highest - lowest) * static_cast<double>((pixel - from) / (to - from));
  }
};

/// Bounds that leave a little room around the values, and some where all are the same.
void fit(std::span<const float> values, const PlotOptions& options, Axis& axis) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const std::span<const float> curve : {values, options.second}) {
    for (const float sample : curve) {
      const double value = options.scale * static_cast<double>(sample);
      if (!std::isfinite(value) || (options.logarithmic && value <= 0.0)) continue;
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  axis.logarithmic = options.logarithmic;
  if (least > most) {
    axis.lowest = options.logarithmic ? 0.1 : 0.0;
    axis.highest = 1.0;
    return;
  }
  if (options.logarithmic) {
    // From one power of ten to another, so that there are ticks.
    axis.lowest = std::pow(10.0, std::floor(std::log10(least)));
    axis.highest = std::pow(10.0, std::ceil(std::log10(most)));
    if (axis.lowest == axis.highest) axis.highest *= 10.0;
    return;
  }
  if (least == 0.0 && most == 0.0) {
    axis.lowest = options.from_zero ? 0.0 : -1.0;
    axis.highest = 1.0;
    return;
  }
  if (options.from_zero && least >= 0.0) least = 0.0;
  // Noise of rounding is no curve: at least 1e-5 of the values' size, as they are floats.
  const double size = std::max(std::abs(least), std::abs(most));
  const double range = std::max({most - least, 1e-5 * size, 1e-12});
  const double middle = 0.5 * (least + most);
  axis.lowest = options.from_zero && least == 0.0 ? 0.0 : middle - 0.55 * range;
  axis.highest = middle + 0.55 * range;
}

std::size_t nearest(std::span<const float> x, double value) {
  const auto next = std::lower_bound(x.begin(), x.end(), value, [](float sample, double wanted) {
    return static_cast<double>(sample) < wanted;
  });
  if (next == x.begin()) return 0;
  if (next == x.end()) return x.size() - 1;
  const auto i = static_cast<std::size_t>(next - x.begin());
  return value - static_cast<double>(x[i - 1]) < static_cast<double>(x[i]) - value ? i - 1 : i;
}

std::string value_text(const PlotOptions& options, float sample) {
  if (std::isnan(sample)) return "-";
  return fmt::format("{:.4g}{}{}", options.scale * static_cast<double>(sample), options.unit[0] ? " " : "",
                     options.unit);
}

double spacing_of(const std::vector<double>& ticks) { return ticks.size() > 1 ? ticks[1] - ticks[0] : 0.0; }

}  // namespace

std::optional<double> plot(const char* id, std::span<const float> x, std::span<const float> y,
                           const PlotOptions& options) {
  ABUT_ASSERT(x.size() == y.size());
  const std::size_t n = std::min(x.size(), y.size());
  x = x.first(n);
  y = y.first(n);

  std::string title = options.title;
  if (n > 0 && options.cursor)
    title += ": " + value_text(options, y[nearest(x, *options.cursor)]);
  else if (options.unit[0])
    title += fmt::format(" [{}]", options.unit);
  show_text(title);

  const float line = ImGui::GetFontSize(), width = std::max(ImGui::GetContentRegionAvail().x, 8.0f * line);
  const float height = (options.height + 1.2f) * line;
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  ImGui::PushID("plot");  // as what switches a curve on may be called the same
  ImGui::InvisibleButton(id, {width, height});
  ImGui::PopID();
  if (!ImGui::IsItemVisible()) return std::nullopt;
  const bool is_hovered = ImGui::IsItemHovered(), is_held = ImGui::IsItemActive();

  Axis vertical, horizontal;
  fit(y, options, vertical);
  const std::vector<double> y_ticks =
      axis_ticks(vertical.lowest, vertical.highest, std::max(2, static_cast<int>(options.height / 1.25f)),
                 options.logarithmic);
  float margin = 3.6f * line;  // of most plots, which so stand below each other
  std::vector<std::string> y_texts;
  for (const double tick : y_ticks) {
    y_texts.push_back(tick_text(tick, options.logarithmic ? 0.0 : spacing_of(y_ticks)));
    margin = std::max(margin, ImGui::CalcTextSize(y_texts.back().c_str()).x + 0.4f * line);
  }
  margin = std::min(margin, 0.4f * width);
  const ImVec2 upper_left{corner.x + margin, corner.y},
      lower_right{corner.x + width, corner.y + height - 1.2f * line};
  vertical.from = lower_right.y;
  vertical.to = upper_left.y;
  horizontal.from = upper_left.x;
  horizontal.to = lower_right.x;
  horizontal.lowest = n > 0 ? static_cast<double>(x.front()) : 0.0;
  horizontal.highest = n > 0 ? static_cast<double>(x.back()) : 1.0;
  if (!(horizontal.highest > horizontal.lowest)) horizontal.highest = horizontal.lowest + 1.0;

  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImU32 grid = ImGui::GetColorU32(ImGuiCol_Border), words = ImGui::GetColorU32(ImGuiCol_TextDisabled);
  list.AddRectFilled(upper_left, lower_right, ImGui::GetColorU32(ImGuiCol_FrameBg));
  for (std::size_t i = 0; i < y_ticks.size(); ++i) {
    const float pixel = vertical.pixel(y_ticks[i]);
    list.AddLine({upper_left.x, pixel}, {lower_right.x, pixel}, grid);
    const ImVec2 size = ImGui::CalcTextSize(y_texts[i].c_str());
    const float top =
        std::clamp(pixel - 0.5f * size.y, upper_left.y, std::max(upper_left.y, lower_right.y - size.y));
    list.AddText({upper_left.x - 0.3f * line - size.x, top}, words, y_texts[i].c_str());
  }
  const std::vector<double> x_ticks =
      axis_ticks(horizontal.lowest, horizontal.highest, std::max(2, static_cast<int>(width / (6.0f * line))));
  float free_from = corner.x;
  const std::string unit = options.x_unit;
  const float unit_from = lower_right.x - ImGui::CalcTextSize(unit.c_str()).x;
  for (const double tick : x_ticks) {
    const float pixel = horizontal.pixel(tick);
    list.AddLine({pixel, upper_left.y}, {pixel, lower_right.y}, grid);
    const std::string text = tick_text(tick, spacing_of(x_ticks));
    const float half = 0.5f * ImGui::CalcTextSize(text.c_str()).x;
    if (pixel - half < free_from || pixel + half + 0.3f * line > unit_from) continue;  // words do not overlap
    list.AddText({pixel - half, lower_right.y + 0.15f * line}, words, text.c_str());
    free_from = pixel + half + 0.5f * line;
  }
  list.AddText({unit_from, lower_right.y + 0.15f * line}, words, unit.c_str());

  list.PushClipRect(upper_left, lower_right, true);
  const auto draw_curve = [&](std::span<const float> curve, ImU32 colour) {
    std::vector<ImVec2> points;
    const auto flush = [&] {
      if (points.size() > 1)
        list.AddPolyline(points.data(), static_cast<int>(points.size()), colour, 0, 1.5f);
      else if (points.size() == 1)
        list.AddCircleFilled(points[0], 2.0f, colour);
      points.clear();
    };
    for (const std::size_t i : visible_samples(curve, static_cast<int>(width - margin))) {
      const double value = options.scale * static_cast<double>(curve[i]);
      if (!std::isfinite(value) || (options.logarithmic && value <= 0.0)) {
        flush();
        continue;
      }
      points.push_back({horizontal.pixel(static_cast<double>(x[i])), vertical.pixel(value)});
    }
    flush();
  };
  draw_curve(options.second.first(std::min(n, options.second.size())), packed(options.second_colour));
  draw_curve(y, packed(options.colour));
  if (options.cursor) {
    const float pixel = horizontal.pixel(*options.cursor);
    list.AddLine({pixel, upper_left.y}, {pixel, lower_right.y}, ImGui::GetColorU32(ImGuiCol_Text), 1.0f);
  }
  list.PopClipRect();

  if (n == 0) return std::nullopt;
  const float mouse = ImGui::GetMousePos().x;
  if (is_hovered) {
    const std::size_t i = nearest(x, horizontal.value(mouse));
    const float pixel = horizontal.pixel(static_cast<double>(x[i]));
    list.AddLine({pixel, upper_left.y}, {pixel, lower_right.y}, words);
    tooltip(fmt::format("{} at {:.5g} {}", value_text(options, y[i]), x[i], options.x_unit));
  }
  if (!is_held) return std::nullopt;
  return std::clamp(horizontal.value(mouse), horizontal.lowest, horizontal.highest);
}

}  // namespace abut::viewer
