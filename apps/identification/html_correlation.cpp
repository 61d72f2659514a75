#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "apps/identification/html_figure_parts.h"
#include "apps/identification/html_figures.h"
#include "apps/identification/number_text.h"
#include "apps/picture/markup_text.h"

namespace abut {
namespace {

std::string shortened(const std::string& text, std::size_t letters) {
  std::vector<std::size_t> begins;  // of letters, which are several bytes each
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((text[i] & 0xC0) != 0x80) begins.push_back(i);
  }
  if (begins.size() <= letters) return text;
  const std::size_t head = letters / 2, tail = letters - head - 1;
  return text.substr(0, begins[head]) + "…" + text.substr(begins[begins.size() - tail]);
}

bool is_told(const EstimateRow& row) { return row.state == EstimateRow::State::told; }

struct Pair {
  std::size_t a, b;
  double correlation;
};

/// Strongest first, at most a few.
std::vector<Pair> strongest_pairs(const IdentificationReport& report) {
  constexpr double k_weak = 0.5;
  constexpr std::size_t k_most = 5;
  std::vector<Pair> pairs;
  for (std::size_t a = 0; a < report.estimates.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (!is_told(report.estimates[a]) || !is_told(report.estimates[b])) continue;
      const double r = report.correlation(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b));
      if (std::isfinite(r) && std::abs(r) >= k_weak) pairs.push_back({b, a, r});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& p, const Pair& q) {
    return std::abs(p.correlation) > std::abs(q.correlation);
  });
  if (pairs.size() > k_most) pairs.resize(k_most);
  return pairs;
}

std::string correlation_text(double r) {
  const std::string text = fmt::format("{:.2f}", std::abs(r));
  return (r < 0.0 && text != "0.00" ? "−" : "") + text;
}

/// Where the cells of a matrix are drawn.
struct CorrelationGrid {
  static constexpr std::size_t k_letters = 30, k_names = 40, k_numbers = 8;
  static constexpr double k_top = 20, k_right = 10, k_largest_cell = 44;
  std::size_t count;
  bool has_names, has_numbers;  // many have room for neither
  double left, cell;

  explicit CorrelationGrid(const std::vector<EstimateRow>& rows)
      : count(rows.size()), has_names(count <= k_names), has_numbers(count <= k_numbers) {
    std::size_t letters = 0;
    for (const EstimateRow& row : rows) letters = std::max(letters, std::min(row.name.size(), k_letters));
    left = has_names ? 6.0 * static_cast<double>(letters) + 26.0 : 28.0;
    cell = std::min(k_largest_cell, (k_figure_width - left - k_right) / static_cast<double>(count));
  }
  [[nodiscard]] double x(std::size_t column) const { return left + cell * static_cast<double>(column); }
  [[nodiscard]] double y(std::size_t row) const { return k_top + cell * static_cast<double>(row); }
  /// Every how many rows are numbered.
  [[nodiscard]] std::size_t stride() const {
    constexpr double k_room = 20.0;
    if (has_names) return 1;
    return cell * 10.0 > k_room ? 10 : 50 * static_cast<std::size_t>(std::ceil(k_room / cell / 50.0));
  }
};

std::string square_svg(std::string_view attributes, double x, double y, double size) {
  return fmt::format("<rect {} x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", attributes, x,
                     y, size, size);
}

/// Names to the left, with the numbers that stand for them above.
std::string correlation_labels(const CorrelationGrid& grid, const std::vector<EstimateRow>& rows) {
  const double font = grid.has_names ? std::clamp(0.85 * grid.cell, 4.0, 10.0) : 8.0;
  std::string texts;
  for (std::size_t i = grid.stride() - 1; i < grid.count; i += grid.stride()) {
    const std::string name =
        grid.has_names ? escaped(shortened(rows[i].name, CorrelationGrid::k_letters)) + " " : "";
    texts += fmt::format(
        "<text class=\"end\" x=\"{:.1f}\" y=\"{:.1f}\" style=\"font-size:{:.1f}px\"><title>{}</title>{}"
        "<tspan class=\"strong\">{}</tspan></text>",
        grid.left - 5.0, grid.y(i) + 0.5 * grid.cell + 0.35 * font, font, escaped(rows[i].name), name, i + 1);
    texts += fmt::format(
        "<text class=\"middle strong\" x=\"{:.1f}\" y=\"{:.1f}\" style=\"font-size:{:.1f}px\">{}</text>",
        grid.x(i) + 0.5 * grid.cell, CorrelationGrid::k_top - 6.0, font, i + 1);
  }
  return texts;
}

/// A square or a disc whose area is the strength; of cells as small as those of many numbers, where only the
/// colour is to be seen, all of the cell.
std::string correlation_mark(const CorrelationGrid& grid, std::size_t row, std::size_t column, double r) {
  constexpr double k_weak = 0.05;
  const double strength = std::min(std::abs(r), 1.0), gap = std::min(2.0, 0.1 * grid.cell);
  if (strength < k_weak) return {};
  const double size = grid.has_names ? (grid.cell - gap) * std::sqrt(strength) : grid.cell;
  const double x = grid.x(column) + 0.5 * grid.cell, y = grid.y(row) + 0.5 * grid.cell;
  const std::string look =
      fmt::format("class=\"{}\" fill-opacity=\"{:.2f}\"", r < 0.0 ? "minus" : "plus", 0.25 + 0.75 * strength);
  if (r < 0.0 && grid.has_names)
    return fmt::format("<circle {} cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>", look, x, y, 0.5 * size);
  return square_svg(look, x - 0.5 * size, y - 0.5 * size, size);
}

std::string correlation_svg(const IdentificationReport& report) {
  const std::vector<EstimateRow>& rows = report.estimates;
  const CorrelationGrid grid(rows);
  const double all = grid.cell * static_cast<double>(grid.count);
  std::string cells = square_svg("class=\"cell\"", grid.left, CorrelationGrid::k_top, all), numbers;
  for (std::size_t a = 0; a < grid.count; ++a) {
    for (std::size_t b = 0; b < grid.count; ++b) {
      const double r = report.correlation(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b));
      const bool is_known = is_told(rows[a]) && is_told(rows[b]) && std::isfinite(r);
      const char* look = !is_known ? "class=\"cell none\"" : a == b ? "class=\"self\"" : "class=\"cell\"";
      if (grid.has_names || a == b) cells += square_svg(look, grid.x(b), grid.y(a), grid.cell);
      if (a == b || !is_known) continue;
      cells += correlation_mark(grid, a, b, r);
      if (grid.has_numbers)
        numbers +=
            fmt::format("<text class=\"middle number\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                        grid.x(b) + 0.5 * grid.cell, grid.y(a) + 0.5 * grid.cell + 4.0, correlation_text(r));
    }
  }
  return fmt::format(
      "<svg class=\"plot\" viewBox=\"0 0 {:g} {:.1f}\" role=\"img\" "
      "aria-label=\"Correlations of the estimates\">{}{}{}</svg>",
      k_figure_width, grid.y(grid.count) + 4.0, cells, numbers, correlation_labels(grid, rows));
}

}  // namespace

std::string correlation_figure_html(const IdentificationReport& report) {
  const auto n = static_cast<Eigen::Index>(report.estimates.size());
  if (n < 2 || report.correlation.rows() != n || report.correlation.cols() != n) return {};
  std::string keys =
      key_html("<rect class=\"plus\" x=\"8\" y=\"1\" width=\"10\" height=\"10\"/>", "rise together") +
      key_html("<circle class=\"minus\" cx=\"13\" cy=\"6\" r=\"5\"/>", "one rises as the other falls");
  std::string pairs;
  for (const Pair& pair : strongest_pairs(report))
    pairs += fmt::format("<li>{} <span>{} and {}</span></li>", correlation_text(pair.correlation),
                         escaped(report.estimates[pair.a].name), escaped(report.estimates[pair.b].name));
  std::string figure = figure_html("Correlation of the estimates", correlation_svg(report), keys);
  if (!pairs.empty())
    figure.insert(figure.rfind("</figure>"), fmt::format("<ul class=\"pairs\">{}</ul>", pairs));
  return figure;
}

}  // namespace abut
