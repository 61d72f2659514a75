#include "apps/identification/html_estimates.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <spdlog/fmt/fmt.h>

#include "apps/identification/number_text.h"
#include "apps/picture/markup_text.h"

namespace abut {
namespace {

using EstimateState = EstimateRow::State;

bool has_interval(const EstimateRow& row) {
  return row.state == EstimateState::told && std::isfinite(row.value) && std::isfinite(row.lower_95) &&
         std::isfinite(row.upper_95);
}

bool has_scale(const EstimateRow& row) {
  return has_interval(row) && std::isfinite(row.deviation) && row.deviation > 0.0;
}

std::string with_minus(std::string text) {
  for (std::size_t i = 0; (i = text.find('-', i)) != std::string::npos; i += 3) text.replace(i, 1, "−");
  return text;
}

/// Powers of ten that a number is written with; 0: none.
int exponent_of(double size) {
  constexpr double k_smallest = 1e-3, k_largest = 1e5;
  if (!(size > 0.0) || !std::isfinite(size) || (size >= k_smallest && size < k_largest)) return 0;
  return static_cast<int>(std::floor(std::log10(size)));
}

std::string power_html(int exponent) {
  return exponent == 0 ? "" : with_minus(fmt::format(" × 10<sup>{}</sup>", exponent));
}

std::string unit_after_number(const EstimateRow& row) {
  return row.unit.empty() ? "" : fmt::format(" <span class=\"unit\">{}</span>", unit_html(row.unit));
}

/// Distances from an estimate, in standard deviations, on an axis that holds 0 in the middle: the numbers
/// near an estimate are to be told apart, and a guess a thousand times as far is to be seen, too.
class SpreadAxis {
 public:
  explicit SpreadAxis(const std::vector<EstimateRow>& rows) {
    constexpr double k_least = 10.0, k_most = 1e6;
    double farthest = k_least;
    for (const EstimateRow& row : rows) {
      if (!has_scale(row)) continue;
      const auto add = [&](double value) {
        const double distance = std::abs(value - row.value) / row.deviation;
        if (std::isfinite(distance)) farthest = std::max(farthest, distance);
      };
      add(row.initial);
      if (row.truth) add(*row.truth);
      if (row.prior_mean) add(*row.prior_mean);
    }
    decades_ = static_cast<int>(std::ceil(std::log10(std::min(farthest, k_most)) - 1e-9));
    end_ = std::asinh(1.3 * std::pow(10.0, decades_));
  }

  /// In percent of the width; beyond 0 and 100 for what is too far away.
  [[nodiscard]] double percent(double distance) const {
    constexpr double k_far = 1e12;  // out of sight
    return 50.0 + 50.0 * std::asinh(std::clamp(distance, -k_far, k_far)) / end_;
  }
  [[nodiscard]] double percent(const EstimateRow& row, double value) const {
    return percent((value - row.value) / row.deviation);
  }

  struct Tick {
    double distance;
    std::string text;
  };
  [[nodiscard]] std::vector<Tick> ticks() const {
    const int stride = decades_ > 3 ? 2 : 1;
    std::vector<Tick> ticks{{-2.0, "−2"}, {0.0, "0"}, {2.0, "2"}};
    for (int d = decades_; d > 0; d -= stride) {
      const double distance = std::pow(10.0, d);
      const std::string text = d < 3 ? fmt::format("{:g}", distance)
                                     : fmt::format("10<tspan dy=\"-4\" font-size=\"8\">{}</tspan>", d);
      ticks.push_back({-distance, "−" + text});
      ticks.push_back({distance, text});
    }
    return ticks;
  }

 private:
  int decades_ = 1;
  double end_ = 1.0;
};

constexpr double k_row_height = 34.0, k_middle = 17.0;

/// A shape about a place given in percent, which paths cannot have.
std::string shape_at(double percent, std::string_view css_class, std::string_view path) {
  return fmt::format("<svg x=\"{:.2f}%\" overflow=\"visible\"><path class=\"{}\" d=\"{}\"/></svg>", percent,
                     css_class, path);
}

std::string grid_svg(const SpreadAxis& axis) {
  std::string lines;
  for (const SpreadAxis::Tick& tick : axis.ticks())
    lines += fmt::format("<line class=\"{0}\" x1=\"{1:.2f}%\" x2=\"{1:.2f}%\" y1=\"0\" y2=\"{2:g}\"/>",
                         tick.distance == 0.0 ? "zero" : "grid", axis.percent(tick.distance), k_row_height);
  return lines;
}

std::string guess_svg(double percent) {
  constexpr double k_edge = 1.5;  // percent
  if (percent < 0.0) return shape_at(k_edge, "guess", "M4 11L-4 17L4 23");
  if (percent > 100.0) return shape_at(100.0 - k_edge, "guess", "M-4 11L4 17L-4 23");
  return fmt::format("<circle class=\"guess\" cx=\"{:.2f}%\" cy=\"{:g}\" r=\"5.5\"/>", percent, k_middle);
}

/// What lies beyond the bounds.
std::string bounds_svg(const SpreadAxis& axis, const EstimateRow& row) {
  std::string out;
  const auto add = [&](double from, double to, double edge) {
    out += fmt::format(
        "<rect class=\"forbidden\" x=\"{0:.2f}%\" y=\"4\" width=\"{1:.2f}%\" height=\"26\"/>"
        "<line class=\"bound\" x1=\"{2:.2f}%\" x2=\"{2:.2f}%\" y1=\"4\" y2=\"30\"/>",
        from, to - from, edge);
  };
  if (row.lower_bound && std::isfinite(*row.lower_bound)) {
    const double edge = axis.percent(row, *row.lower_bound);
    if (edge > 0.0 && edge <= 100.0) add(0.0, edge, edge);
  }
  if (row.upper_bound && std::isfinite(*row.upper_bound)) {
    const double edge = axis.percent(row, *row.upper_bound);
    if (edge >= 0.0 && edge < 100.0) add(edge, 100.0, edge);
  }
  return out;
}

std::string row_svg(const SpreadAxis& axis, const EstimateRow& row) {
  std::string drawing = grid_svg(axis);
  std::string words = row.name;
  if (has_scale(row)) {
    drawing += bounds_svg(axis, row);
    const double from = axis.percent(row, row.lower_95), to = axis.percent(row, row.upper_95);
    drawing += fmt::format(
        "<rect class=\"interval\" x=\"{:.2f}%\" y=\"{:g}\" width=\"{:.2f}%\" height=\"10\" rx=\"2\"/>", from,
        k_middle - 5.0, std::max(to - from, 0.0));
    if (row.prior_mean && row.prior_deviation && std::isfinite(*row.prior_mean) &&
        std::isfinite(*row.prior_deviation)) {
      const double mean = *row.prior_mean, reach = 1.96 * *row.prior_deviation;
      const auto inside = [](double percent) { return std::clamp(percent, 0.0, 100.0); };
      drawing += fmt::format(
          "<line class=\"prior\" x1=\"{:.2f}%\" x2=\"{:.2f}%\" y1=\"28\" y2=\"28\"/>"
          "<line class=\"prior\" x1=\"{:.2f}%\" x2=\"{:.2f}%\" y1=\"25\" y2=\"31\"/>",
          inside(axis.percent(row, mean - reach)), inside(axis.percent(row, mean + reach)),
          inside(axis.percent(row, mean)), inside(axis.percent(row, mean)));
    }
    if (std::isfinite(row.initial)) drawing += guess_svg(axis.percent(row, row.initial));
    drawing += fmt::format("<circle class=\"estimate\" cx=\"{:.2f}%\" cy=\"{:g}\" r=\"3.5\"/>",
                           axis.percent(0.0), k_middle);
    if (row.truth && std::isfinite(*row.truth)) {
      const double percent = std::clamp(axis.percent(row, *row.truth), 0.5, 99.5);
      drawing += shape_at(percent, "truth", "M0 12V8L-5 1H5L0 8V26");
    }
    words += ": interval about the estimate";
  } else {
    const bool is_open = row.state == EstimateState::open, is_at_bound = row.state == EstimateState::at_bound;
    const char* text = is_open       ? "the motions do not tell"
                       : is_at_bound ? "held by its bound: no interval"
                                     : "no interval";
    drawing += fmt::format(
        "<rect class=\"unknown\" x=\"0.5%\" y=\"{:g}\" width=\"99%\" height=\"20\" rx=\"3\"/>"
        "<text class=\"middle\" x=\"50%\" y=\"{:g}\">{}</text>",
        k_middle - 10.0, k_middle + 4.0, text);
    words += fmt::format(": {}", text);
  }
  return fmt::format(
      "<svg class=\"row\" width=\"100%\" height=\"{:g}\" role=\"img\" aria-label=\"{}\">{}</svg>",
      k_row_height, escaped(words), drawing);
}

std::string axis_svg(const SpreadAxis& axis) {
  std::string texts;
  for (const SpreadAxis::Tick& tick : axis.ticks())
    texts += fmt::format("<text class=\"middle\" x=\"{:.2f}%\" y=\"14\">{}</text>",
                         axis.percent(tick.distance), tick.text);
  return fmt::format("<svg class=\"row\" width=\"100%\" height=\"20\" aria-hidden=\"true\">{}</svg>", texts);
}

/// What was known before, and what is true.
std::string known_html(const EstimateRow& row) {
  std::vector<std::string> parts;
  if (std::isfinite(row.initial)) parts.push_back("guess " + number_html(row.initial));
  if (row.truth) parts.push_back("truth " + number_html(*row.truth, 6));
  if (row.prior_mean && row.prior_deviation)
    parts.push_back(fmt::format("prior {}, deviation {}", number_html(*row.prior_mean),
                                number_html(*row.prior_deviation)));
  const bool has_lower = row.lower_bound && std::isfinite(*row.lower_bound),
             has_upper = row.upper_bound && std::isfinite(*row.upper_bound);
  if (has_lower && has_upper) {
    parts.push_back(
        fmt::format("bounds {} to {}", number_html(*row.lower_bound), number_html(*row.upper_bound)));
  } else if (has_lower) {
    parts.push_back("at least " + number_html(*row.lower_bound));
  } else if (has_upper) {
    parts.push_back("at most " + number_html(*row.upper_bound));
  }
  std::string html;
  for (const std::string& part : parts) html += fmt::format("<span>{}</span> ", part);
  return html;
}

/// Half of the interval as a share of the number, or what stands in for it.
std::string share_html(const EstimateRow& row) {
  if (row.state == EstimateState::open) return "<b class=\"badge caution\">not told</b>";
  if (row.state == EstimateState::at_bound) return "<b class=\"badge caution\">at its bound</b>";
  if (!has_interval(row) || row.value == 0.0) return "";
  const double share = 50.0 * (row.upper_95 - row.lower_95) / std::abs(row.value);
  constexpr double k_most = 1000.0;
  if (share > k_most) return "&gt; 1000 %";
  return fmt::format("± {} %", number_text(share, share >= 100.0 ? 3 : 2));
}

}  // namespace

std::string unit_html(std::string_view unit) {
  std::string html;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    std::size_t end = i + 1;
    if (unit[i] == '^') {
      if (end < unit.size() && unit[end] == '-') ++end;
      while (end < unit.size() && unit[end] >= '0' && unit[end] <= '9') ++end;
    }
    const std::string_view power = unit.substr(i + 1, end - i - 1);
    html += power.empty() ? escaped(unit.substr(i, 1))
                          : fmt::format("<sup>{}</sup>", with_minus(std::string(power)));
    i = end - 1;
  }
  return html;
}

std::string number_html(double value, int digits) {
  if (!std::isfinite(value)) return value > 0.0 ? "∞" : value < 0.0 ? "−∞" : "–";
  const int exponent = exponent_of(std::abs(value));
  return with_minus(number_text(value / std::pow(10.0, exponent), digits)) + power_html(exponent);
}

std::string estimate_html(const EstimateRow& row) {
  if (!has_interval(row)) return number_html(row.value) + unit_after_number(row);
  const double above = row.upper_95 - row.value, below = row.value - row.lower_95;
  const double half = 0.5 * (above + below);
  if (!(half > 0.0)) return number_html(row.value, 6) + unit_after_number(row);
  const int exponent = exponent_of(std::max(std::abs(row.value), half));
  const auto rounded = [&](double value) {
    const double factor = std::pow(10.0, exponent);
    return with_minus(rounded_text(value / factor, half / factor));
  };
  constexpr double k_symmetric = 0.05;  // relative difference of the halves that is none to a reader
  const bool is_symmetric = std::abs(above - below) <= k_symmetric * (above + below);
  std::string text =
      is_symmetric ? fmt::format("{} <span class=\"half\">± {}</span>", rounded(row.value), rounded(half))
                   : fmt::format("{} <span class=\"half\">+{} −{}</span>", rounded(row.value), rounded(above),
                                 rounded(below));
  if (exponent != 0) text = fmt::format("({}){}", text, power_html(exponent));
  return text + unit_after_number(row);
}

std::string estimate_table_html(const std::vector<EstimateRow>& rows) {
  if (rows.empty()) return {};
  const SpreadAxis axis(rows);
  std::string html = fmt::format(
      "<table class=\"estimates\"><thead><tr><th scope=\"col\">Unknown</th>"
      "<th scope=\"col\" class=\"found\">Found, with 95&nbsp;% interval</th>"
      "<th scope=\"col\" class=\"drawing\">{}</th><th scope=\"col\" "
      "class=\"share\"></th></tr></thead><tbody>",
      axis_svg(axis));
  for (const EstimateRow& row : rows) {
    html += fmt::format(
        "<tr><th scope=\"row\">{}{}<small>{}</small></th><td class=\"found\">{}</td>"
        "<td class=\"drawing\">{}</td><td class=\"share\">{}</td></tr>\n",
        row.of.empty() ? "" : "acts: ", escaped(row.name), known_html(row), estimate_html(row),
        row_svg(axis, row), share_html(row));
  }
  return html + "</tbody></table>";
}

}  // namespace abut
