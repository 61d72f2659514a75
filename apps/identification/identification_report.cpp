#include "apps/identification/identification_report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include <spdlog/fmt/fmt.h>

#include "apps/identification/number_text.h"
#include "apps/identification/verdict.h"
#include "engine/count_text.h"

namespace abut {

std::string GoalRow::text() const {
  return fmt::format("{}: {} off by {} {}, tolerance {}: {}", motion, what, number_text(error, 3), unit,
                     number_text(tolerance, 3), is_reached() ? "reached" : "not reached");
}

namespace {

Json json_of(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json json_of(const std::optional<double>& value) { return value ? json_of(*value) : Json(nullptr); }

Json json_of(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double value : values) json.push_back(json_of(value));
  return json;
}

const char* json_text(EstimateRow::State state) {
  switch (state) {
    case EstimateRow::State::told:
      return "told";
    case EstimateRow::State::open:
      return "open";
    case EstimateRow::State::at_bound:
      return "at_bound";
  }
  return "";
}

const char* state_text(EstimateRow::State state) {
  switch (state) {
    case EstimateRow::State::told:
      return "";
    case EstimateRow::State::open:
      return "not told";
    case EstimateRow::State::at_bound:
      return "at its bound";
  }
  return "";
}

Json json_of(const std::vector<EstimateRow>& rows) {
  Json json = Json::array();
  for (const EstimateRow& row : rows) {
    json.push_back({{"name", row.name},
                    {"unit", row.unit},
                    {"state", json_text(row.state)},
                    {"value", json_of(row.value)},
                    {"deviation", json_of(row.deviation)},
                    {"lower_95", json_of(row.lower_95)},
                    {"upper_95", json_of(row.upper_95)},
                    {"half_width_95", json_of(row.half_width_95())},
                    {"initial", json_of(row.initial)},
                    {"truth", json_of(row.truth)},
                    {"lower_bound", json_of(row.lower_bound)},
                    {"upper_bound", json_of(row.upper_bound)},
                    {"prior_mean", json_of(row.prior_mean)},
                    {"prior_deviation", json_of(row.prior_deviation)}});
    if (!row.of.empty()) json.back()["of"] = row.of;
  }
  return json;
}

Json json_of(const std::vector<GoalRow>& goals) {
  Json json = Json::array();
  for (const GoalRow& goal : goals) {
    json.push_back({{"motion", goal.motion},
                    {"what", goal.what},
                    {"unit", goal.unit},
                    {"error", json_of(goal.error)},
                    {"tolerance", json_of(goal.tolerance)},
                    {"reached", goal.is_reached()}});
  }
  return json;
}

Json json_of(const ResidualCheck& check) {
  Json json{{"typical_size", json_of(check.typical_size)},
            {"serial_correlation", json_of(check.serial_correlation)},
            {"outlier_count", check.outlier_count},
            {"outliers", Json::array()}};
  for (const OutlyingMeasurement& one : check.outliers)
    json["outliers"].push_back({{"place", one.place}, {"what", one.what}, {"deviations", one.deviations}});
  return json;
}

/// Its rows.
Json json_of(const Eigen::MatrixXd& matrix) {
  Json json = Json::array();
  for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
    Json row = Json::array();
    for (Eigen::Index c = 0; c < matrix.cols(); ++c) row.push_back(json_of(matrix(r, c)));
    json.push_back(std::move(row));
  }
  return json;
}

Json json_of(const std::vector<IterationRow>& rows) {
  Json json = Json::array();
  for (const IterationRow& row : rows) {
    json.push_back({{"start", row.start},
                    {"stage", row.stage},
                    {"number", row.number},
                    {"smoothing", json_of(row.smoothing)},
                    {"cost", json_of(row.cost)},
                    {"gradient", json_of(row.gradient)},
                    {"step", json_of(row.step)},
                    {"contacts", json_of(row.contacts)},
                    {"seconds", json_of(row.seconds)},
                    {"accepted", row.accepted}});
  }
  return json;
}

Json json_of(const std::vector<StartRow>& rows) {
  Json json = Json::array();
  for (const StartRow& row : rows) {
    json.push_back({{"number", row.number},
                    {"status", row.status},
                    {"initial_cost", json_of(row.initial_cost)},
                    {"cost", json_of(row.cost)},
                    {"iterations", row.iterations},
                    {"is_best", row.is_best}});
  }
  return json;
}

Json json_of(const std::vector<ComparedSeries>& all) {
  Json json = Json::array();
  for (const ComparedSeries& series : all) {
    json.push_back({{"motion", series.motion},
                    {"body", series.body},
                    {"joint", series.joint},
                    {"quantity", series.quantity},
                    {"unit", series.unit},
                    {"time", json_of(series.time)},
                    {"measured", json_of(series.measured)},
                    {"deviation", json_of(series.deviation)},
                    {"residual", json_of(series.residual)},
                    {"simulated_time", json_of(series.simulated_time)},
                    {"simulated", json_of(series.simulated)}});
  }
  return json;
}

std::string joined(const std::string& a, const char* between, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + between + b;
}

/// What was asked and what came of it, a line each.
std::string summary_text(const IdentificationReport& report) {
  const bool has_goals = is_optimization(report);
  std::string text = fmt::format("{}: {}{} by {} of {}\n", report.title.empty() ? "Experiment" : report.title,
                                 report.question.empty() ? "" : report.question + " ",
                                 count_text(report.unknowns, "unknown"),
                                 has_goals ? count_text(static_cast<long long>(report.goals.size()), "goal")
                                           : count_text(std::max(report.residuals, 0), "residual"),
                                 count_text(report.motions, "motion"));
  const auto line = [&](const char* what, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<12}{}\n", what, value);
  };
  line("experiment", report.experiment);
  line("scene", report.scene);
  for (const std::string& note : report.notes) line("note", note);
  line("method", report.method);
  line("Jacobian", joined(report.jacobian, ": ", report.jacobian_reason));
  if (!has_goals) line("loss", report.loss);
  if (report.intervals == IntervalBasis::residuals)
    line("intervals", "of the spread of the residuals, not of the noise stated");
  line("status", joined(report.status, ": ", report.message));
  line(has_goals ? "loss" : "cost", fmt::format("{} at the guess, {} at the end",
                                                number_text(report.initial_cost), number_text(report.cost)));
  if (std::isfinite(report.reduced_chi_square) && report.question != "optimize")
    line("chi square", fmt::format("{} per degree of freedom; 1 where noise is as stated",
                                   number_text(report.reduced_chi_square, 4)));
  line("condition", number_text(report.condition, 3));
  line("effort", fmt::format("{}, {} with derivatives, {} s", count_text(report.evaluations, "evaluation"),
                             report.jacobians, number_text(report.seconds, 3)));
  return text;
}

enum class GuessColumn { shown, hidden };

std::string estimates_text(const char* title, const std::vector<EstimateRow>& rows, GuessColumn guess) {
  if (rows.empty()) return {};
  const bool has_guess = guess == GuessColumn::shown;
  bool has_truth = false, has_state = false;
  for (const EstimateRow& row : rows) {
    has_truth = has_truth || row.truth;
    has_state = has_state || row.state != EstimateRow::State::told;
  }
  std::vector<std::string> header{title, "unit", "value", "+- (95 %)", "95 % from", "to"};
  if (has_guess) header.emplace_back("guess");
  if (has_truth) header.emplace_back("truth");
  if (has_state) header.emplace_back("state");
  Table table(header);
  for (const EstimateRow& row : rows) {
    const bool is_told = row.state == EstimateRow::State::told;
    const double half = row.half_width_95();
    const auto rounded = [&](double value) {
      return is_told ? rounded_text(value, half) : number_text(value);
    };
    std::vector<std::string> texts{row.of.empty() ? row.name : "  acts: " + row.name,
                                   row.unit,
                                   rounded(row.value),
                                   is_told ? rounded(half) : "-",
                                   is_told ? rounded(row.lower_95) : "-",
                                   is_told ? rounded(row.upper_95) : "-"};
    if (has_guess) texts.push_back(number_text(row.initial));
    if (has_truth) texts.push_back(row.truth ? number_text(*row.truth) : "-");
    if (has_state) texts.emplace_back(state_text(row.state));
    table.add(std::move(texts));
  }
  return '\n' + table.text(2);
}

/// What was chosen, in full, however little the goals depend on it.
std::string plan_text(const std::vector<EstimateRow>& rows) {
  if (rows.empty()) return {};
  Table table({"unknown", "unit", "value", "guess", "state"});
  for (const EstimateRow& row : rows)
    table.add({row.name, row.unit, number_text(row.value), number_text(row.initial),
               row.state == EstimateRow::State::at_bound ? "at its bound" : ""});
  return '\n' + table.text(2);
}

std::string list_text(const char* title, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return {};
  std::string text = fmt::format("\n{}:\n", title);
  for (const std::string& sentence : sentences) text += fmt::format("  - {}\n", sentence);
  return text;
}

std::string starts_text(const std::vector<StartRow>& starts) {
  if (starts.size() < 2) return {};
  Table table({"start", "status", "cost at first", "at the end", "iterations", ""});
  for (const StartRow& start : starts) {
    table.add({fmt::format("{}", start.number), start.status, number_text(start.initial_cost),
               number_text(start.cost), fmt::format("{}", start.iterations), start.is_best ? "best" : ""});
  }
  return '\n' + table.text(2);
}

}  // namespace

bool is_optimization(const IdentificationReport& report) { return report.question == "optimize"; }

std::vector<EstimateRow> with_derived(const IdentificationReport& report) {
  std::vector<EstimateRow> rows;
  for (const EstimateRow& row : report.estimates) {
    rows.push_back(row);
    std::copy_if(report.derived.begin(), report.derived.end(), std::back_inserter(rows),
                 [&](const EstimateRow& derived) { return derived.of == row.name; });
  }
  return rows;
}

std::vector<EstimateRow> derived_alone(const IdentificationReport& report) {
  std::vector<EstimateRow> rows;
  std::copy_if(report.derived.begin(), report.derived.end(), std::back_inserter(rows),
               [](const EstimateRow& derived) { return derived.of.empty(); });
  return rows;
}

std::string text_of(const IdentificationReport& report) {
  const std::string numbers = is_optimization(report)
                                  ? plan_text(report.estimates)
                                  : estimates_text("unknown", with_derived(report), GuessColumn::shown) +
                                        estimates_text("derived", derived_alone(report), GuessColumn::hidden);
  return text_of(verdict_of(report)) + '\n' + summary_text(report) + numbers +
         list_text(is_optimization(report) ? "What the goals leave open" : "What the motions do not tell",
                   report.open_directions) +
         list_text("Warnings", report.warnings) + starts_text(report.starts);
}

Json json_of(const IdentificationReport& report) {
  return {{"verdict", json_of(verdict_of(report))},
          {"title", report.title},
          {"experiment", report.experiment},
          {"scene", report.scene},
          {"question", report.question},
          {"status", report.status},
          {"message", report.message},
          {"method", report.method},
          {"jacobian", report.jacobian},
          {"jacobian_reason", report.jacobian_reason},
          {"loss", report.loss},
          {"intervals", to_string(report.intervals)},
          {"motions", report.motions},
          {"residuals", report.residuals},
          {"unknowns", report.unknowns},
          {"evaluations", report.evaluations},
          {"jacobians", report.jacobians},
          {"seconds", json_of(report.seconds)},
          {"initial_cost", json_of(report.initial_cost)},
          {"cost", json_of(report.cost)},
          {"reduced_chi_square", json_of(report.reduced_chi_square)},
          {"condition", json_of(report.condition)},
          {"estimates", json_of(report.estimates)},
          {"derived", json_of(report.derived)},
          {"correlation", json_of(report.correlation)},
          {"goals", json_of(report.goals)},
          {"residual_check", json_of(report.residual_check)},
          {"suspected_units", report.suspected_units},
          {"implausible", report.implausible},
          {"notes", report.notes},
          {"open_directions", report.open_directions},
          {"warnings", report.warnings},
          {"iterations", json_of(report.iterations)},
          {"starts", json_of(report.starts)},
          {"series", json_of(report.series)}};
}

}  // namespace abut
