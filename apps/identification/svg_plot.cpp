#include "apps/identification/svg_plot.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/plot_axis.h"
#include "apps/picture/markup_text.h"

namespace abut {
namespace {

constexpr double k_letter = 6.3;                         // width of a digit in units of the drawing
constexpr double k_tick_width = 64, k_tick_height = 30;  // room for a tick and its neighbours
constexpr double k_largest_end = 1e300;                  // beyond, the size of a range overflows

/// Where a value stands between the ends of an axis, not far outside.
double share_of(const PlotAxis& axis, double value) {
  constexpr double k_far = 2.0;
  if (axis.logarithmic && value <= 0.0) return -k_far;
  const double share = axis.logarithmic ? std::log(value / axis.lowest) / std::log(axis.highest / axis.lowest)
                                        : (value - axis.lowest) / (axis.highest - axis.lowest);
  return std::isnan(share) ? share : std::clamp(share, -k_far, 1.0 + k_far);
}

struct Tick {
  double value = 0.0;
  std::string text;
};

/// 10 to a power in superscript digits.
std::string power_text(double value) {
  static constexpr const char* k_digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const int power = static_cast<int>(std::lround(std::log10(value)));
  if (power >= -1 && power <= 2) return fmt::format("{:g}", std::pow(10.0, power));
  std::string text = power < 0 ? "10⁻" : "10";
  for (const char digit : fmt::format("{}", std::abs(power))) text += k_digits[digit - '0'];
  return text;
}

std::vector<Tick> ticks_of(const PlotAxis& axis, double length, double room) {
  const int most = std::max(2, static_cast<int>(length / room));
  const std::vector<double> values = axis_ticks(axis.lowest, axis.highest, most, axis.logarithmic);
  const double spacing = values.size() > 1 ? values[1] - values[0] : 0.0;
  std::vector<Tick> ticks;
  for (const double value : values) {
    std::string text = axis.logarithmic ? power_text(value) : tick_text(value, spacing);
    if (text.front() == '-') text.replace(0, 1, "−");
    ticks.push_back({value, std::move(text)});
  }
  return ticks;
}

/// How many letters it shows.
double letter_count(std::string_view text) {
  return static_cast<double>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

void append(std::string& text, const char* command, double x, double y) {
  fmt::format_to(std::back_inserter(text), "{}{:.1f} {:.1f}", command, x, y);
}

}  // namespace

void PlotRange::add(double value) {
  if (!(std::abs(value) <= k_largest_end)) return;
  if (logarithmic_ && !(value >= 1.0 / k_largest_end)) return;
  least_ = is_empty_ ? value : std::min(least_, value);
  most_ = is_empty_ ? value : std::max(most_, value);
  is_empty_ = false;
}

PlotAxis PlotRange::axis(std::string title) const {
  PlotAxis axis{-1.0, 1.0, logarithmic_, std::move(title)};
  if (logarithmic_) {
    axis.lowest = is_empty_ ? 0.1 : std::pow(10.0, std::floor(std::log10(least_)));
    axis.highest = is_empty_ ? 1.0 : std::pow(10.0, std::ceil(std::log10(most_)));
    if (axis.lowest == axis.highest) axis.highest *= 10.0;
    return axis;
  }
  if (is_empty_) return axis;
  constexpr double k_room = 0.05, k_rounding = 1e-12;
  const double size = std::max(std::abs(least_), std::abs(most_));
  if (size == 0.0) return axis;
  const bool is_constant = most_ - least_ <= k_rounding * size;
  const double room = k_room * (is_constant ? size : most_ - least_);
  axis.lowest = least_ - room;
  axis.highest = most_ + room;
  return axis;
}

std::string mark_path(PlotMark mark, double x, double y) {
  switch (mark) {
    case PlotMark::dot:
    case PlotMark::square:
      return fmt::format("M{:.1f} {:.1f}h0", x, y);
    case PlotMark::diamond:
      return fmt::format("M{:.1f} {:.1f}m0-3.5l3.5 3.5-3.5 3.5-3.5-3.5z", x, y);
    case PlotMark::triangle:
      return fmt::format("M{:.1f} {:.1f}m0-3.5l3.5 6h-7z", x, y);
    case PlotMark::cross:
      return fmt::format("M{:.1f} {:.1f}m-3-3l6 6m0-6l-6 6", x, y);
  }
  return {};
}

const char* to_string(PlotMark mark) {
  switch (mark) {
    case PlotMark::dot:
      return "dot";
    case PlotMark::square:
      return "square";
    case PlotMark::diamond:
      return "diamond";
    case PlotMark::triangle:
      return "triangle";
    case PlotMark::cross:
      return "cross";
  }
  return "";
}

SvgPlot::SvgPlot(double width, double height, PlotAxis x, PlotAxis y)
    : width_(width), height_(height), x_(std::move(x)), y_(std::move(y)) {
  top_ = y_.title.empty() ? 8.0 : 24.0;
  bottom_ = height - (x_.title.empty() ? 22.0 : 38.0);
  double letters = 1.0;
  for (const Tick& tick : ticks_of(y_, bottom_ - top_, k_tick_height))
    letters = std::max(letters, letter_count(tick.text));
  left_ = std::min(k_letter * letters + 10.0, 0.5 * width);
  right_ = width - 12.0;  // room for half of the last tick
}

double SvgPlot::x_of(double value) const { return left_ + share_of(x_, value) * (right_ - left_); }

double SvgPlot::y_of(double value) const { return bottom_ - share_of(y_, value) * (bottom_ - top_); }

void SvgPlot::band(double from, double to, std::string_view css_class) {
  const double upper = y_of(std::max(from, to)), lower = y_of(std::min(from, to));
  if (!std::isfinite(upper) || !std::isfinite(lower)) return;
  fmt::format_to(std::back_inserter(inside_),
                 "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
                 css_class, left_, upper, right_ - left_, lower - upper);
}

void SvgPlot::line_at_x(double value, std::string_view css_class) {
  const double x = x_of(value);
  if (!std::isfinite(x)) return;
  fmt::format_to(std::back_inserter(inside_), "<path class=\"{}\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>", css_class,
                 x, top_, bottom_);
}

void SvgPlot::line_at_y(double value, std::string_view css_class) {
  const double y = y_of(value);
  if (!std::isfinite(y)) return;
  fmt::format_to(std::back_inserter(inside_), "<path class=\"{}\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", css_class,
                 left_, y, right_);
}

void SvgPlot::curve(std::span<const double> x, std::span<const double> y, std::string_view css_class) {
  std::string path;
  const char* command = "M";
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) {
      command = "M";
      continue;
    }
    append(path, command, x_of(x[i]), y_of(y[i]));
    command = "L";
  }
  if (!path.empty()) inside_ += fmt::format("<path class=\"{}\" d=\"{}\"/>", css_class, path);
}

void SvgPlot::marks(std::span<const double> x, std::span<const double> y, PlotMark mark,
                    std::string_view css_class) {
  std::string path;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (std::isfinite(x[i]) && std::isfinite(y[i])) path += mark_path(mark, x_of(x[i]), y_of(y[i]));
  }
  if (!path.empty())
    inside_ += fmt::format("<path class=\"{} {}\" d=\"{}\"/>", to_string(mark), css_class, path);
}

void SvgPlot::error_bars(std::span<const double> x, std::span<const double> y,
                         std::span<const double> deviation, std::string_view css_class) {
  std::string path;
  for (std::size_t i = 0; i < std::min({x.size(), y.size(), deviation.size()}); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i]) || !std::isfinite(deviation[i])) continue;
    append(path, "M", x_of(x[i]), y_of(y[i] - deviation[i]));
    fmt::format_to(std::back_inserter(path), "V{:.1f}", y_of(y[i] + deviation[i]));
  }
  if (!path.empty()) inside_ += fmt::format("<path class=\"{}\" d=\"{}\"/>", css_class, path);
}

void SvgPlot::bar(double from, double to, double height, std::string_view css_class) {
  const double left = x_of(from), right = x_of(to), upper = y_of(height), lower = y_of(0.0);
  if (!std::isfinite(left) || !std::isfinite(right) || !std::isfinite(upper)) return;
  fmt::format_to(std::back_inserter(inside_),
                 "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
                 css_class, left, upper, std::max(right - left - 1.0, 0.5), std::max(lower - upper, 0.0));
}

std::string SvgPlot::svg(std::string_view description) const {
  std::string out =
      fmt::format("<svg class=\"plot\" viewBox=\"0 0 {:g} {:g}\" role=\"img\" aria-label=\"{}\">", width_,
                  height_, escaped(description));
  std::string grid, texts;
  for (const Tick& tick : ticks_of(x_, right_ - left_, k_tick_width)) {
    const double x = x_of(tick.value);
    fmt::format_to(std::back_inserter(grid), "M{:.1f} {:.1f}V{:.1f}", x, top_, bottom_);
    fmt::format_to(std::back_inserter(texts), "<text class=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x,
                   bottom_ + 15.0, tick.text);
  }
  for (const Tick& tick : ticks_of(y_, bottom_ - top_, k_tick_height)) {
    const double y = y_of(tick.value);
    fmt::format_to(std::back_inserter(grid), "M{:.1f} {:.1f}H{:.1f}", left_, y, right_);
    fmt::format_to(std::back_inserter(texts), "<text class=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                   left_ - 5.0, y + 4.0, tick.text);
  }
  if (!x_.title.empty())
    texts += fmt::format("<text class=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", 0.5 * (left_ + right_),
                         height_ - 5.0, escaped(x_.title));
  if (!y_.title.empty()) texts += fmt::format("<text x=\"2\" y=\"12\">{}</text>", escaped(y_.title));
  out += fmt::format("<path class=\"grid\" d=\"{}\"/>", grid);
  // A drawing within the drawing, in the same units: what leaves it is cut off.
  const double w = right_ - left_, h = bottom_ - top_;
  out += fmt::format(
      "<svg x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2:.1f}\" height=\"{3:.1f}\" "
      "viewBox=\"{0:.1f} {1:.1f} {2:.1f} {3:.1f}\">{4}</svg>",
      left_, top_, w, h, inside_);
  out += fmt::format("<path class=\"axis\" d=\"M{0:.1f} {1:.1f}V{2:.1f}H{3:.1f}\"/>", left_, top_, bottom_,
                     right_);
  return out + texts + "</svg>";
}

}  // namespace abut
