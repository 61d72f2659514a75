#include "apps/identification/html_report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <spdlog/fmt/fmt.h>

#include "apps/identification/html_estimates.h"
#include "apps/identification/html_figures.h"
#include "apps/identification/html_style.h"
#include "apps/identification/number_text.h"
#include "apps/identification/verdict.h"
#include "apps/picture/markup_text.h"
#include "engine/count_text.h"

namespace abut {
namespace {

using EstimateState = EstimateRow::State;

// Verdict --------------------------------------------------------------------------------------------------

/// Sentences from elsewhere; many of them are folded away.
std::string list_html(const char* title, const std::vector<std::string>& sentences) {
  constexpr std::size_t k_shown = 8;
  if (sentences.empty()) return {};
  const auto items = [&](std::size_t from, std::size_t to) {
    std::string html = "<ul>";
    for (std::size_t i = from; i < to; ++i) html += fmt::format("<li>{}</li>", escaped(sentences[i]));
    return html + "</ul>";
  };
  std::string html = fmt::format("<h3>{}</h3>{}", title, items(0, std::min(sentences.size(), k_shown)));
  if (sentences.size() > k_shown)
    html += fmt::format("<details><summary>{} more</summary>{}</details>", sentences.size() - k_shown,
                        items(k_shown, sentences.size()));
  return html;
}

/// The numbers at a glance.
std::string answers_html(const IdentificationReport& report) {
  constexpr std::size_t k_most = 12;
  if (report.estimates.empty()) return {};
  std::string html = "<dl class=\"answers\">";
  for (std::size_t i = 0; i < std::min(report.estimates.size(), k_most); ++i) {
    const EstimateRow& row = report.estimates[i];
    // What was chosen is wanted in full, however little the goals depend on it.
    const std::string chosen = fmt::format("{} {}", number_html(row.value, 6), unit_html(row.unit));
    const std::string found = row.state == EstimateState::open ? "not told" : estimate_html(row);
    html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", escaped(row.name),
                        is_optimization(report) ? chosen : found);
  }
  html += "</dl>";
  if (report.estimates.size() > k_most)
    html += fmt::format("<p>and {} more, in the table below.</p>", report.estimates.size() - k_most);
  return html;
}

std::string verdict_html(const IdentificationReport& report) {
  const Verdict verdict = verdict_of(report);
  const bool is_good = verdict.is_answer() && !verdict.has_doubts;
  // A bound that is reached, or a search that ended early, may still be what is wanted.
  const bool is_caution = verdict.is_answer() || verdict.status == Verdict::Status::at_bound ||
                          verdict.status == Verdict::Status::unfinished;
  std::string html = fmt::format("<section class=\"verdict {}\"><h2><b>{}</b>{}</h2>",
                                 is_good      ? "good"
                                 : is_caution ? "caution"
                                              : "bad",
                                 is_good      ? "✓"
                                 : is_caution ? "!"
                                              : "✕",
                                 escaped(verdict.headline));
  const auto first = verdict.is_answer() ? std::string() : list_html("What to check", verdict.checks);
  for (const std::string& reason : verdict.reasons) html += fmt::format("<p>{}</p>", escaped(reason));
  html += first + answers_html(report);
  return html +
         list_html(is_optimization(report) ? "What the goals leave open" : "What the motions do not tell",
                   report.open_directions) +
         list_html("Warnings", report.warnings) + "</section>\n";
}

std::string facts_html(const IdentificationReport& report) {
  std::string html = "<dl class=\"facts\">";
  const auto fact = [&](const char* what, const std::string& value, const std::string& more) {
    html += fmt::format("<div><dt>{}</dt><dd>{}<small>{}</small></dd></div>", what, value, more);
  };
  std::string status = report.status;
  std::replace(status.begin(), status.end(), '_', ' ');
  fact("Search", escaped(status),
       fmt::format("{} in {} s", count_text(report.iterations.size(), "iteration"),
                   number_text(report.seconds, 3)));
  fact("Loss", number_html(report.cost), fmt::format("{} at the guess", number_html(report.initial_cost)));
  const std::string motions = count_text(std::max(report.motions, 0), "motion");
  if (is_optimization(report)) {
    fact("Goals", count_text(report.goals.size(), "goal"), fmt::format("of {}", motions));
    fact("Condition", number_html(report.condition, 3), "1: goals ask for all numbers alike");
    return html + "</dl>\n";
  }
  fact("Reduced chi square", number_html(report.reduced_chi_square, 3), "1 where noise is as stated");
  fact("Data", count_text(std::max(report.residuals, 0), "residual"), fmt::format("of {}", motions));
  fact("Condition", number_html(report.condition, 3), "1: all told equally well");
  return html + "</dl>\n";
}

// Numbers --------------------------------------------------------------------------------------------------

/// What the drawings of the table of estimates mean.
std::string estimate_keys(const std::vector<EstimateRow>& rows) {
  const auto key = [](const char* drawing, const char* text) {
    return fmt::format(
        "<span class=\"key\"><svg class=\"sample\" width=\"26\" height=\"14\" "
        "aria-hidden=\"true\">{}</svg>{}</span>",
        drawing, text);
  };
  const auto any = [&](auto has) { return std::any_of(rows.begin(), rows.end(), has); };
  std::string keys = key("<rect class=\"interval\" x=\"1\" y=\"2\" width=\"24\" height=\"10\" rx=\"2\"/>"
                         "<circle class=\"estimate\" cx=\"13\" cy=\"7\" r=\"3.5\"/>",
                         "found, 95&nbsp;% interval") +
                     key("<circle class=\"guess\" cx=\"13\" cy=\"7\" r=\"5.5\"/>", "guess at first");
  if (any([](const EstimateRow& row) { return row.truth.has_value(); }))
    keys += key("<path class=\"truth\" d=\"M13 8L8 1H18L13 8V14\"/>", "truth");
  if (any([](const EstimateRow& row) { return row.prior_mean.has_value(); }))
    keys +=
        key("<line class=\"prior\" x1=\"1\" x2=\"25\" y1=\"7\" y2=\"7\"/>"
            "<line class=\"prior\" x1=\"13\" x2=\"13\" y1=\"4\" y2=\"10\"/>",
            "prior, 95&nbsp;%");
  if (any([](const EstimateRow& row) { return row.lower_bound || row.upper_bound; }))
    keys +=
        key("<rect class=\"forbidden\" x=\"2\" width=\"14\" height=\"14\"/>"
            "<line class=\"bound\" x1=\"16\" x2=\"16\" y1=\"0\" y2=\"14\"/>",
            "beyond a bound");
  return fmt::format(
      "<p class=\"keys\">{}<br>Drawn by distance from what was found, in its standard deviations; the steps "
      "widen "
      "outwards. Arrows point to what is farther away.</p>",
      keys);
}

std::string estimates_html(const IdentificationReport& report) {
  constexpr std::size_t k_shown = 40;
  const std::vector<EstimateRow> rows = with_derived(report);
  if (rows.empty()) return {};
  std::string html = "<section><h2>What was found</h2>";
  html += "<p class=\"soft\">± is half the width of the 95&nbsp;% interval.</p>";
  if (rows.size() <= k_shown) return html + estimate_table_html(rows) + estimate_keys(rows) + "</section>\n";
  const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(k_shown);
  html += estimate_table_html({rows.begin(), middle}) + estimate_keys(rows);
  return html + fmt::format("<details><summary>{} more</summary>{}</details></section>\n",
                            rows.size() - k_shown, estimate_table_html({middle, rows.end()}));
}

/// A table of texts that are HTML already, the first `words` columns of which are words.
class HtmlTable {
 public:
  HtmlTable(const std::vector<std::string>& header, std::size_t words) : words_(words) {
    add_row(header, "th");
    html_ = "<thead>" + html_ + "</thead><tbody>";
  }
  void add(const std::vector<std::string>& row) { add_row(row, "td"); }
  [[nodiscard]] std::string html() const {
    return "<div class=\"scroll\"><table class=\"numbers\">" + html_ + "</tbody></table></div>";
  }

 private:
  void add_row(const std::vector<std::string>& row, const char* cell) {
    html_ += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      html_ += fmt::format("<{0}{1}>{2}</{0}>", cell, i < words_ ? " class=\"word\"" : "", row[i]);
    html_ += "</tr>\n";
  }
  std::size_t words_;
  std::string html_;
};

/// What was chosen, in full, and the goals that it was chosen for.
std::string plan_html(const IdentificationReport& report) {
  HtmlTable goals({"Motion", "Goal", "Off by", "Tolerance", "Unit", ""}, 2);
  for (const GoalRow& goal : report.goals)
    goals.add({escaped(goal.motion), escaped(goal.what), number_html(goal.error, 3),
               number_html(goal.tolerance, 3), unit_html(goal.unit),
               goal.is_reached() ? "reached" : "<b class=\"badge caution\">not reached</b>"});
  HtmlTable numbers({"Number", "Value", "Unit", "Guess", "Lower bound", "Upper bound"}, 1);
  const auto bound = [](const std::optional<double>& value) { return value ? number_html(*value) : ""; };
  for (const EstimateRow& row : report.estimates)
    numbers.add({escaped(row.name), number_html(row.value, 6), unit_html(row.unit), number_html(row.initial),
                 bound(row.lower_bound), bound(row.upper_bound)});
  return "<section><h2>Goals</h2>" + goals.html() + "</section>\n<section><h2>The plan</h2>" +
         numbers.html() + "</section>\n";
}

std::string derived_html(const IdentificationReport& report) {
  const std::vector<EstimateRow> rows = derived_alone(report);
  if (rows.empty()) return {};
  HtmlTable table({"Number", "Value, with 95&nbsp;% interval", "Truth"}, 1);
  for (const EstimateRow& row : rows)
    table.add({escaped(row.name), estimate_html(row), row.truth ? number_text(*row.truth) : ""});
  return "<section><h2>What follows from it</h2>" + table.html() + "</section>\n";
}

std::string starts_html(const IdentificationReport& report) {
  if (report.starts.size() < 2) return {};
  HtmlTable table({"Start", "Status", "Loss at first", "Loss at the end", "Iterations"}, 2);
  for (const StartRow& start : report.starts) {
    table.add({fmt::format("{}{}", start.number, start.is_best ? ", <b>the best</b>" : ""),
               escaped(start.status), number_text(start.initial_cost), number_text(start.cost),
               fmt::format("{}", start.iterations)});
  }
  return fmt::format("<details><summary>{} starts</summary>{}</details>\n", report.starts.size(),
                     table.html());
}

std::string iterations_html(const IdentificationReport& report) {
  constexpr std::size_t k_shown = 1000;
  if (report.iterations.empty()) return {};
  HtmlTable table({"Start", "Stage", "Smoothing", "Iteration", "Loss", "Largest of gradient", "Step",
                   "Contacts a step", "Time [s]", "Step taken"},
                  0);
  const std::size_t shown = std::min(report.iterations.size(), k_shown);
  for (std::size_t i = 0; i < shown; ++i) {
    const IterationRow& row = report.iterations[i];
    table.add({fmt::format("{}", row.start), fmt::format("{}", row.stage), number_text(row.smoothing, 3),
               fmt::format("{}", row.number), number_text(row.cost, 8), number_text(row.gradient, 3),
               number_text(row.step, 3), number_text(row.contacts, 3), number_text(row.seconds, 3),
               row.accepted ? "yes" : "no"});
  }
  std::string html = fmt::format("<details><summary>{}</summary>{}",
                                 count_text(report.iterations.size(), "iteration"), table.html());
  if (shown < report.iterations.size())
    html += fmt::format("<p class=\"soft\">The first {} are shown; the JSON report has all.</p>", shown);
  return html + "</details>\n";
}

std::string settings_html(const IdentificationReport& report) {
  std::string html = "<details><summary>How it was searched</summary><dl class=\"settings\">";
  const auto line = [&](const char* what, const std::string& value) {
    if (!value.empty()) html += fmt::format("<dt>{}</dt><dd>{}</dd>", what, escaped(value));
  };
  line("Experiment", report.experiment);
  line("Scene", report.scene);
  line("Question", report.question);
  line("Method", report.method);
  line("Jacobian", report.jacobian);
  line("Why so", report.jacobian_reason);
  line("Loss", report.loss);
  if (report.intervals == IntervalBasis::residuals) line("Intervals", "of the spread of the residuals");
  line("Message", report.message);
  line("Evaluations", fmt::format("{}, {} of them with derivatives", report.evaluations, report.jacobians));
  return html + "</dl></details>\n";
}

std::string title_of(const IdentificationReport& report) {
  if (!report.title.empty()) return report.title;
  return report.experiment.empty() ? "Identification" : report.experiment;
}

std::string files_html(const IdentificationReport& report) {
  std::string html;
  for (const std::string* file : {&report.experiment, &report.scene}) {
    if (!file->empty()) html += (html.empty() ? "" : " · ") + escaped(*file);
  }
  return html.empty() ? html : fmt::format("<p class=\"files\">{}</p>", html);
}

}  // namespace

std::string html_report(const IdentificationReport& report) {
  const std::string title = escaped(title_of(report));
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n";
  html += fmt::format("<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n<h1>{}</h1>\n{}\n",
                      title, style_sheet(), title, files_html(report));
  const bool has_goals = is_optimization(report);
  html += verdict_html(report) + facts_html(report);
  html += has_goals ? plan_html(report) : estimates_html(report) + derived_html(report);
  const std::string correlation = correlation_figure_html(report);
  html += fmt::format("<section><h2>{}</h2><div class=\"wide\">{}{}</div></section>\n",
                      correlation.empty() ? "Search" : "Search and correlation", loss_figure_html(report),
                      correlation);
  if (!has_goals) {
    html += "<section><h2>Residuals</h2><div class=\"wide\">" + residual_figure_html(report) +
            histogram_figure_html(report) + "</div></section>\n";
    html += "<section><h2>Fit against data</h2>" + fit_figures_html(report) + "</section>\n";
  }
  html += "<section><h2>Details</h2>" + settings_html(report) + starts_html(report) +
          iterations_html(report) + "</section>\n";
  return html + "</main>\n</body>\n</html>\n";
}

}  // namespace abut
