#include "apps/identification/html_figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <span>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/plot_axis.h"
#include "apps/identification/html_figure_parts.h"
#include "apps/identification/number_text.h"
#include "apps/identification/svg_plot.h"
#include "apps/picture/markup_text.h"
#include "engine/count_text.h"

namespace abut {
namespace {

constexpr double k_small_width = 340, k_small_height = 180;  // of those three in a row
constexpr int k_curve_columns = 130;                         // at most three points each
constexpr std::array k_marks{PlotMark::dot, PlotMark::square, PlotMark::diamond, PlotMark::triangle};

/// The chosen ones.
std::vector<double> picked(std::span<const double> values, std::span<const std::size_t> indices) {
  std::vector<double> out;
  for (const std::size_t i : indices) {
    if (i < values.size()) out.push_back(values[i]);
  }
  return out;
}

// Loss -----------------------------------------------------------------------------------------------------

/// The iterations of one start; `at` counts them over all of its stages.
struct Course {
  int start = 0;
  std::vector<const IterationRow*> rows;
};

std::vector<Course> courses_of(const IdentificationReport& report) {
  std::map<int, Course> by_start;
  for (const IterationRow& row : report.iterations) {
    Course& course = by_start[row.start];
    course.start = row.start;
    course.rows.push_back(&row);
  }
  std::vector<Course> courses;
  for (auto& [start, course] : by_start) courses.push_back(std::move(course));
  return courses;
}

int best_start_of(const IdentificationReport& report, const std::vector<Course>& courses) {
  for (const StartRow& start : report.starts) {
    if (start.is_best) return start.number;
  }
  return courses.front().start;
}

/// How the curve of a start is drawn: the best by itself, a few others by colours and dashes, many all alike.
std::string course_class(std::size_t other, bool is_best, std::size_t count) {
  constexpr std::size_t k_told_apart = 6;
  if (is_best) return "best c0";
  return count > k_told_apart ? "other" : fmt::format("dash{0} c{0}", 1 + other);
}

PlotMark mark_of_stage(int stage) {
  const int count = static_cast<int>(k_marks.size());
  return k_marks[static_cast<std::size_t>(((stage % count) + count) % count)];
}

/// A line for each stage, as the losses of two are not of the same smoothing; a mark for each iteration.
void draw_course(SvgPlot& plot, const Course& course, const std::string& css_class) {
  for (std::size_t i = 0; i < course.rows.size();) {
    const int stage = course.rows[i]->stage;
    std::vector<double> at, cost, rejected_at, rejected_cost;
    for (; i < course.rows.size() && course.rows[i]->stage == stage; ++i) {
      const IterationRow& row = *course.rows[i];
      const bool is_shown = std::isfinite(row.cost) && row.cost > 0.0;
      if (!is_shown) continue;
      (row.accepted ? at : rejected_at).push_back(static_cast<double>(i));
      (row.accepted ? cost : rejected_cost).push_back(row.cost);
    }
    const auto seen = visible_samples(cost, k_curve_columns);
    at = picked(at, seen);
    cost = picked(cost, seen);
    plot.curve(at, cost, "curve " + css_class);
    plot.marks(at, cost, mark_of_stage(stage), css_class);
    const auto rejected = visible_samples(rejected_cost, k_curve_columns);
    plot.marks(picked(rejected_at, rejected), picked(rejected_cost, rejected), PlotMark::cross, css_class);
  }
}

std::string course_keys(const IdentificationReport& report, const std::vector<Course>& courses, int best) {
  std::string keys;
  std::size_t other = 0;
  bool has_others = false;
  for (const Course& course : courses) {
    const bool is_best = course.start == best;
    const std::string css_class = course_class(is_best ? 0 : other++, is_best, courses.size());
    if (courses.size() == 1) break;
    if (css_class == "other") {
      has_others = true;
      continue;
    }
    keys += key_html(fmt::format("<path class=\"curve {}\" d=\"M0 6H26\"/>", css_class),
                     fmt::format("start {}{}", course.start, is_best ? ", the best" : ""));
  }
  if (has_others) keys += key_html("<path class=\"curve other\" d=\"M0 6H26\"/>", "other starts");
  std::map<int, double> stages;
  bool has_rejected = false;
  for (const IterationRow& row : report.iterations) {
    stages.emplace(row.stage, row.smoothing);
    has_rejected = has_rejected || !row.accepted;
  }
  if (stages.size() > 1) {
    for (const auto& [stage, smoothing] : stages)
      keys += key_html(mark_sample(mark_of_stage(stage), "plain"),
                       fmt::format("stage {}, smoothing × {}", stage, number_text(smoothing, 3)));
  }
  if (has_rejected) keys += key_html(mark_sample(PlotMark::cross, "plain"), "step not taken");
  return keys;
}

// Residuals ------------------------------------------------------------------------------------------------

/// "position" of "position.x".
std::string kind_of(const ComparedSeries& series) {
  return series.quantity.substr(0, series.quantity.find('.'));
}

/// Root of the mean square of those that are finite; NaN without any.
double rms_of(std::span<const double> residual) {
  double sum = 0.0;
  std::size_t count = 0;
  for (const double r : residual) {
    if (!std::isfinite(r)) continue;
    sum += r * r;
    ++count;
  }
  return count > 0 ? std::sqrt(sum / static_cast<double>(count)) : std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> all_residuals(const IdentificationReport& report) {
  std::vector<double> all;
  for (const ComparedSeries& series : report.series) {
    for (const double r : series.residual) {
      if (std::isfinite(r)) all.push_back(r);
    }
  }
  return all;
}

/// Up to where residuals are shown: a few that are far away must not hide how the rest lies.
double shown_size(std::vector<double> residuals) {
  constexpr double k_least = 4.0, k_most = 1e9, k_share = 0.995, k_room = 1.25;
  if (residuals.empty()) return k_least;
  for (double& r : residuals) r = std::abs(r);
  const auto place =
      residuals.begin() + static_cast<std::ptrdiff_t>(k_share * static_cast<double>(residuals.size() - 1));
  std::nth_element(residuals.begin(), place, residuals.end());
  const double largest = *std::max_element(place, residuals.end());
  return std::clamp(std::min(largest, k_room * *place) * 1.02, k_least, k_most);
}

std::string beyond_text(std::size_t count, double size) {
  if (count == 0) return {};
  return fmt::format("<span class=\"key\">{} of them beyond ±{}</span>", count, number_text(size, 3));
}

// Fits -----------------------------------------------------------------------------------------------------

std::string fit_figure_html(const ComparedSeries& series) {
  PlotRange times, values;
  times.add(series.time);
  times.add(series.simulated_time);
  values.add(series.simulated);
  values.add(series.measured);
  for (std::size_t i = 0; i < std::min(series.measured.size(), series.deviation.size()); ++i) {
    values.add(series.measured[i] - series.deviation[i]);
    values.add(series.measured[i] + series.deviation[i]);
  }
  const std::string unit = series.unit.empty() ? "" : fmt::format(" [{}]", series.unit);
  SvgPlot plot(k_small_width, k_small_height, times.axis("time [s]"), values.axis(""));
  const auto points = visible_samples(series.measured, k_curve_columns);
  const auto time = picked(series.time, points), measured = picked(series.measured, points);
  plot.error_bars(time, measured, picked(series.deviation, points), "error");
  plot.marks(time, measured, PlotMark::dot, "data");
  const auto steps = visible_samples(series.simulated, k_curve_columns);
  plot.curve(picked(series.simulated_time, steps), picked(series.simulated, steps), "curve simulated");
  const double rms = rms_of(series.residual);
  const std::string off =
      std::isfinite(rms) ? fmt::format("<span class=\"rms\">rms {} σ</span>", number_text(rms, 3)) : "";
  const std::string title =
      fmt::format("<b>{}{}</b>{}<small>{}, {}</small>", escaped(series.quantity), escaped(unit), off,
                  escaped(series.subject()), escaped(series.motion));
  if (series.time.empty() && series.simulated.empty())
    return figure_html(title, nothing_html("Nothing was measured."), "");
  return figure_html(title,
                     plot.svg(fmt::format("{} of {} in {}, measured and simulated", series.quantity,
                                          series.subject(), series.motion)),
                     "");
}

std::string fits_of_html(const std::vector<const ComparedSeries*>& shown) {
  std::string html = "<div class=\"small\">";
  for (const ComparedSeries* series : shown) html += fit_figure_html(*series);
  return html + "</div>\n";
}

}  // namespace

std::string loss_figure_html(const IdentificationReport& report) {
  const std::vector<Course> courses = courses_of(report);
  if (courses.empty()) return nothing_html("There were no iterations.");
  const int best = best_start_of(report, courses);
  // A trial that could not be simulated has a loss of no meaning, which must not stretch the axis.
  constexpr double k_far = 1e3;
  PlotRange iterations, losses(true);
  double largest = 0.0;
  for (const IterationRow& row : report.iterations) {
    if (row.accepted && std::isfinite(row.cost)) largest = std::max(largest, row.cost);
  }
  for (const Course& course : courses) {
    iterations.add(0.0);
    iterations.add(std::max(1.0, static_cast<double>(course.rows.size()) - 1.0));
    for (const IterationRow* row : course.rows) {
      if (row->accepted || row->cost < k_far * largest) losses.add(row->cost);
    }
  }
  SvgPlot plot(k_figure_width, k_figure_height, iterations.axis("iteration"), losses.axis("loss"));
  std::size_t other = 0;
  for (const Course& course : courses) {
    if (course.start != best) draw_course(plot, course, course_class(other++, false, courses.size()));
  }
  for (const Course& course : courses) {
    if (course.start != best) continue;
    for (std::size_t i = 0; i < course.rows.size(); ++i) {
      const bool begins = i == 0 || course.rows[i]->stage != course.rows[i - 1]->stage;
      if (begins && i > 0) plot.line_at_x(static_cast<double>(i) - 0.5, "divide");
    }
    draw_course(plot, course, course_class(0, true, courses.size()));
  }
  return figure_html("Loss over the search", plot.svg("Loss over iterations, logarithmic"),
                     course_keys(report, courses, best));
}

std::string residual_figure_html(const IdentificationReport& report) {
  const double size = shown_size(all_residuals(report));
  std::vector<std::string> kinds;
  PlotRange times;
  std::size_t count = 0, beyond = 0;
  for (const ComparedSeries& series : report.series) {
    if (std::find(kinds.begin(), kinds.end(), kind_of(series)) == kinds.end())
      kinds.push_back(kind_of(series));
    for (std::size_t i = 0; i < std::min(series.time.size(), series.residual.size()); ++i) {
      if (!std::isfinite(series.residual[i])) continue;
      times.add(series.time[i]);
      ++count;
      beyond += std::abs(series.residual[i]) > size;
    }
  }
  if (count == 0) return nothing_html("There are no residuals.");
  SvgPlot plot(k_figure_width, k_figure_height, times.axis("time [s]"),
               {-size, size, false, "residual [standard deviations]"});
  plot.band(-2.0, 2.0, "normal");
  plot.line_at_y(0.0, "zero");
  constexpr std::size_t k_most_points = 6000;  // of all series together: more is a blot
  const int columns = static_cast<int>(std::clamp<std::size_t>(
      k_most_points / (3 * std::max<std::size_t>(report.series.size(), 1)), 2, k_curve_columns));
  const auto css_class = [](std::size_t kind) {
    return fmt::format("faint c{}", std::min<std::size_t>(kind, 6));
  };
  const auto mark = [](std::size_t kind) { return k_marks[kind % k_marks.size()]; };
  for (const ComparedSeries& series : report.series) {
    const auto kind =
        static_cast<std::size_t>(std::find(kinds.begin(), kinds.end(), kind_of(series)) - kinds.begin());
    const auto seen = visible_samples(series.residual, columns);
    std::vector<double> residual = picked(series.residual, seen);
    for (double& r : residual) {
      if (std::isfinite(r)) r = std::clamp(r, -0.97 * size, 0.97 * size);
    }
    plot.marks(picked(series.time, seen), residual, mark(kind), css_class(kind));
  }
  std::string keys;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    keys += key_html(mark_sample(mark(kind), css_class(kind)), escaped(kinds[kind]));
  keys +=
      key_html("<rect class=\"normal\" x=\"2\" width=\"22\" height=\"12\"/>", "−2 to 2, where 95 % belong");
  keys += beyond_text(beyond, size);
  return figure_html("Residuals over time", plot.svg("Residuals over time in standard deviations"), keys);
}

std::string histogram_figure_html(const IdentificationReport& report) {
  const std::vector<double> residuals = all_residuals(report);
  if (residuals.empty()) return {};
  const double size = shown_size(residuals);
  // Bars of about the width that Scott (1979) finds best for normal numbers, symmetric about 0.
  const double wanted =
      std::clamp(3.49 / std::cbrt(static_cast<double>(residuals.size())), 0.2, 1.0) * (size / 4.0);
  const int half = std::max(1, static_cast<int>(std::lround(size / wanted)));
  const double width = size / half;
  std::vector<double> density(static_cast<std::size_t>(2 * half), 0.0);
  std::size_t beyond = 0;
  for (const double r : residuals) {
    const double place = std::floor((r + size) / width);
    if (place < 0.0 || place >= static_cast<double>(density.size())) {
      ++beyond;
      continue;
    }
    density[static_cast<std::size_t>(place)] += 1.0 / (width * static_cast<double>(residuals.size()));
  }
  const double peak =
      std::max(*std::max_element(density.begin(), density.end()), std::sqrt(0.5 / std::numbers::pi));
  SvgPlot plot(k_figure_width, k_figure_height, {-size, size, false, "residual [standard deviations]"},
               {0.0, 1.08 * peak, false, "density"});
  for (std::size_t i = 0; i < density.size(); ++i) {
    const double from = -size + width * static_cast<double>(i);
    plot.bar(from, from + width, density[i], "bar");
  }
  std::vector<double> x, normal;
  constexpr int k_points = 160;
  for (int i = 0; i <= k_points; ++i) {
    x.push_back(size * (2.0 * i / k_points - 1.0));
    normal.push_back(std::exp(-0.5 * x.back() * x.back()) / std::sqrt(2.0 * std::numbers::pi));
  }
  plot.curve(x, normal, "curve expected");
  const std::string keys = key_html("<rect class=\"bar\" x=\"4\" y=\"1\" width=\"18\" height=\"11\"/>",
                                    count_text(residuals.size(), "residual")) +
                           key_html("<path class=\"curve expected\" d=\"M0 6H26\"/>", "normal density") +
                           beyond_text(beyond, size);
  return figure_html("Distribution of the residuals", plot.svg("Histogram of residuals and normal density"),
                     keys);
}

std::string fit_figures_html(const IdentificationReport& report) {
  constexpr std::size_t k_shown = 24;
  if (report.series.empty()) return nothing_html("There is no series to compare.");
  const std::string keys =
      "<p class=\"keys\">" +
      key_html("<path class=\"error\" d=\"M13 0V12\"/><path class=\"dot data\" d=\"M13 6h0\"/>",
               "measured; the bar is a standard deviation of the noise stated to either side") +
      key_html("<path class=\"curve simulated\" d=\"M0 6H26\"/>", "simulated with what was found") +
      "<span class=\"key\">rms: of residuals, in standard deviations σ of the noise</span>" + "</p>";
  std::vector<const ComparedSeries*> series;
  for (const ComparedSeries& s : report.series) series.push_back(&s);
  if (series.size() <= k_shown) return keys + fits_of_html(series);

  const auto badness = [](const ComparedSeries* s) {
    const double rms = rms_of(s->residual);
    return std::isfinite(rms) ? rms : -1.0;
  };
  std::stable_sort(series.begin(), series.end(),
                   [&](const ComparedSeries* a, const ComparedSeries* b) { return badness(a) > badness(b); });
  const std::vector<const ComparedSeries*> worst(series.begin(), series.begin() + k_shown);
  std::string html =
      fmt::format("<p>The {} of {} that fit worst, worst first; the others are below, by motion.</p>",
                  k_shown, series.size()) +
      keys + fits_of_html(worst);
  std::vector<std::string> motions;
  std::map<std::string, std::vector<const ComparedSeries*>> rest;
  for (const ComparedSeries& s : report.series) {
    if (std::find(worst.begin(), worst.end(), &s) != worst.end()) continue;
    if (rest[s.motion].empty()) motions.push_back(s.motion);
    rest[s.motion].push_back(&s);
  }
  for (const std::string& motion : motions) {
    html += fmt::format("<details><summary>{} <small>{} more</small></summary>{}</details>\n",
                        escaped(motion), rest[motion].size(), fits_of_html(rest[motion]));
  }
  return html;
}

}  // namespace abut
