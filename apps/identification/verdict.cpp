#include "apps/identification/verdict.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

#include <spdlog/fmt/fmt.h>

#include "apps/identification/identification_report.h"
#include "apps/identification/number_text.h"
#include "engine/count_text.h"

namespace abut {
namespace {

using EstimateState = EstimateRow::State;
using VerdictStatus = Verdict::Status;

std::size_t count_of(const IdentificationReport& report, EstimateState state) {
  return static_cast<std::size_t>(std::count_if(report.estimates.begin(), report.estimates.end(),
                                                [&](const EstimateRow& row) { return row.state == state; }));
}

// Noise ----------------------------------------------------------------------------------------------------

/// What the sizes of residuals say about the noise that was stated.
enum class NoiseLevel { unknown, as_stated, larger, far_larger, smaller };

/// The quantile of the reduced chi square beyond which one in ten thousand lies, by Wilson and Hilferty
/// (1931).
double rare_chi_square(double freedom) {
  constexpr double k_deviations = 3.719;  // of a normal distribution, of which 1e-4 lies beyond
  const double variance = 2.0 / (9.0 * freedom);
  return std::pow(1.0 - variance + k_deviations * std::sqrt(variance), 3);
}

/// The reduced chi square or, where there is none, what stands in for it.
double spread_of(const IdentificationReport& report) {
  return std::isfinite(report.reduced_chi_square) ? report.reduced_chi_square
                                                  : std::pow(report.residual_check.typical_size, 2);
}

/// Whether residuals follow each other as noise does not.
bool is_systematic(const ResidualCheck& check) {
  constexpr double k_much = 0.5;
  constexpr int k_least_pairs = 20;
  return check.serial_pairs >= k_least_pairs && check.serial_correlation > k_much;
}

/// Reduced chi square is 1 with a standard deviation of sqrt(2 / degrees of freedom) where all is as stated.
/// Noise is never stated that exactly: a fifth to either side is no finding.
NoiseLevel noise_of(const IdentificationReport& report) {
  constexpr double k_usual = 0.2, k_usual_median = 0.5, k_deviations = 3.0, k_far = 2.0;
  const double spread = spread_of(report);
  const bool is_median = !std::isfinite(report.reduced_chi_square);
  const bool has_freedom = !is_median || report.loss != "square";
  if (is_optimization(report) || !has_freedom || !std::isfinite(spread)) return NoiseLevel::unknown;
  const double freedom = std::max(report.residuals - report.unknowns, 1);
  if (spread > std::max(k_far, rare_chi_square(freedom))) {
    if (report.intervals == IntervalBasis::stated) return NoiseLevel::far_larger;
    // Noise may have any size, but has to be noise.
    return is_systematic(report.residual_check) && spread > 4.0 ? NoiseLevel::far_larger : NoiseLevel::larger;
  }
  const double near = std::max(is_median ? k_usual_median : k_usual, k_deviations * std::sqrt(2.0 / freedom));
  if (spread > 1.0 + near) return NoiseLevel::larger;
  return spread < 1.0 - near ? NoiseLevel::smaller : NoiseLevel::as_stated;
}

std::string chi_square_text(const IdentificationReport& report) {
  if (std::isfinite(report.reduced_chi_square))
    return fmt::format("chi square is {} per degree of freedom, where 1 is expected",
                       number_text(report.reduced_chi_square, 3));
  return fmt::format("a typical residual is {} standard deviations, where 1 is expected",
                     number_text(report.residual_check.typical_size, 3));
}

void add_noise_reason(const IdentificationReport& report, std::vector<std::string>& reasons) {
  const bool is_stated = report.intervals == IntervalBasis::stated;
  const std::string chi = chi_square_text(report);
  switch (noise_of(report)) {
    case NoiseLevel::as_stated:
      reasons.push_back(fmt::format(
          "What is simulated agrees with what was measured to within the noise stated: {}.", chi));
      break;
    case NoiseLevel::larger:
    case NoiseLevel::far_larger:
      reasons.push_back(fmt::format(
          "Residuals are {} times as large as the noise stated ({}): the noise is larger than stated, or the "
          "scene cannot move as what was measured. {}",
          number_text(std::sqrt(spread_of(report)), 3), chi,
          is_stated ? "The intervals are too narrow by about that factor."
                    : "The intervals are those of the residuals, and allow for it."));
      break;
    case NoiseLevel::smaller:
      reasons.push_back(
          fmt::format("Residuals are smaller than the noise stated ({}): the noise is stated too large{}.",
                      chi, is_stated ? ", and the intervals are too wide" : ""));
      break;
    case NoiseLevel::unknown:
      if (is_optimization(report)) break;
      reasons.emplace_back(
          report.loss != "square"
              ? "With a robust loss, chi square does not tell whether noise is as stated."
              : "There are no more residuals than unknowns: nothing is left to check the fit by.");
      break;
  }
}

/// Where residuals are too large: what would explain that, the likeliest first.
void add_noise_checks(const IdentificationReport& report, std::vector<std::string>& checks) {
  const ResidualCheck& check = report.residual_check;
  for (const std::string& text : report.suspected_units)
    checks.push_back(fmt::format("Units: {}. Measurements are in metres, seconds and radians.", text));
  if (!report.suspected_units.empty()) return;  // with other units, the rest says nothing
  constexpr double k_few = 0.2;                 // of the measurements: more of them are no outliers
  const bool has_outliers = !check.outliers.empty() && check.outlier_count <= k_few * check.measurement_count;
  if (has_outliers) {
    std::string rows;
    for (const OutlyingMeasurement& one : check.outliers)
      rows += fmt::format("{}{} ({}, {} standard deviations)", rows.empty() ? "" : "; ", one.place, one.what,
                          number_text(one.deviations, 3));
    checks.push_back(fmt::format(
        "Outliers: {} of {} measurements; the farthest: {}. Take them out if they are wrong, or say loss = "
        "\"cauchy\" in [search].",
        check.outlier_count, check.measurement_count, rows));
  }
  if (is_systematic(check)) {
    checks.push_back(fmt::format(
        "The scene: residuals follow each other (serial correlation {}), as they do where bodies are pushed, "
        "shaped or placed otherwise than in the scene, and not as noise. Poses are those of the assets' "
        "frames.",
        number_text(check.serial_correlation, 2)));
    if (report.starts.size() < 2)
      checks.emplace_back(
          "The guesses: the search may have ended in another minimum; starts = 8 in [search] tries others.");
  } else if (!has_outliers) {
    checks.push_back(fmt::format(
        "The noise: residuals look like noise {} times as large as stated. If that is what was measured "
        "with, "
        "say so in position_noise and rotation_noise, or say intervals = \"residuals\" in [search].",
        number_text(std::sqrt(spread_of(report)), 2)));
  }
}

// Estimates ------------------------------------------------------------------------------------------------

/// Of how many numbers with an interval the truth is known, and how many intervals hold it.
struct Truths {
  std::size_t known = 0, within = 0;
  /// 5 % may well miss it, and one by chance.
  [[nodiscard]] bool are_missed() const {
    constexpr double k_many = 0.15;
    const std::size_t missed = known - within;
    return missed > 1 && static_cast<double>(missed) > k_many * static_cast<double>(known);
  }
};

Truths truths_of(const IdentificationReport& report) {
  Truths truths;
  for (const EstimateRow& row : report.estimates) {
    if (!row.truth || row.state != EstimateState::told) continue;
    ++truths.known;
    truths.within += *row.truth >= row.lower_95 && *row.truth <= row.upper_95;
  }
  return truths;
}

void add_estimate_reasons(const IdentificationReport& report, std::vector<std::string>& reasons) {
  if (is_optimization(report) || report.status != "converged")
    reasons.push_back(fmt::format("The loss went from {} to {}.", number_text(report.initial_cost, 4),
                                  number_text(report.cost, 4)));
  if (const Truths truths = truths_of(report); truths.known > 0)
    reasons.push_back(
        fmt::format("The truth is known of {}; {} within the 95 % {}.", count_text(truths.known, "number"),
                    truths.known == 1               ? (truths.within == 1 ? "it lies" : "it does not lie")
                    : truths.within == truths.known ? "all lie"
                                                    : fmt::format("{} of them lie", truths.within),
                    truths.known == 1 ? "interval" : "intervals"));
  if (const std::size_t count = count_of(report, EstimateState::at_bound); count > 0)
    reasons.push_back(fmt::format("{} at a bound: the intervals of the others hold only if {} there.",
                                  count_text(count, "number lies", "numbers lie"),
                                  count == 1 ? "it belongs" : "they belong"));
}

void add_bound_checks(const IdentificationReport& report, std::vector<std::string>& checks) {
  for (const EstimateRow& row : report.estimates) {
    if (row.state != EstimateState::at_bound) continue;
    const bool is_lower = row.lower_bound && (!row.upper_bound || std::abs(row.value - *row.lower_bound) <
                                                                      std::abs(row.value - *row.upper_bound));
    const std::string bound = number_text(is_lower ? *row.lower_bound : *row.upper_bound, 4);
    checks.push_back(fmt::format(
        "The bound: {} lies at its {} bound, {}. Move the bound if more is possible; if {} is right, put it "
        "into the scene and take the unknown out.",
        row.name, is_lower ? "lower" : "upper", bound, bound));
  }
}

// Goals ----------------------------------------------------------------------------------------------------

std::size_t missed_goals(const IdentificationReport& report) {
  return static_cast<std::size_t>(std::count_if(report.goals.begin(), report.goals.end(),
                                                [](const GoalRow& goal) { return !goal.is_reached(); }));
}

void add_goal_checks(const IdentificationReport& report, std::vector<std::string>& checks) {
  const std::size_t starts = report.starts.size();
  checks.push_back(starts < 2
                       ? std::string("Starts: this was the search from one guess; starts = 12 in "
                                     "[search] begins at others, too.")
                       : fmt::format("Starts: the best of {} missed; more 'starts' in [search], or other "
                                     "bounds and priors to draw them from.",
                                     starts));
  if (report.status == "max_iterations")
    checks.emplace_back("Iterations: the search was still on its way; raise max_iterations in [search].");
  add_bound_checks(report, checks);
  checks.emplace_back(
      "Tolerances and priors: a goal gives way to priors of small deviation, and to other goals "
      "of small tolerance.");
}

// The whole ------------------------------------------------------------------------------------------------

VerdictStatus status_of(const IdentificationReport& report) {
  if (report.status == "failed") return VerdictStatus::failed;
  if (is_optimization(report)) {
    if (report.status == "stopped") return VerdictStatus::unfinished;
    return missed_goals(report) > 0 ? VerdictStatus::not_reached : VerdictStatus::reached;
  }
  if (report.status != "converged") return VerdictStatus::unfinished;
  const NoiseLevel noise = noise_of(report);
  if (noise == NoiseLevel::far_larger) return VerdictStatus::not_explained;
  if (!report.implausible.empty()) return VerdictStatus::implausible;
  const std::size_t all = report.estimates.size();
  if (all > 0 && count_of(report, EstimateState::open) == all) return VerdictStatus::undetermined;
  if (count_of(report, EstimateState::at_bound) > 0) return VerdictStatus::at_bound;
  return noise == NoiseLevel::unknown ? VerdictStatus::unchecked : VerdictStatus::explained;
}

/// How many of the numbers were found.
std::string found_text(const IdentificationReport& report) {
  const std::size_t told = count_of(report, EstimateState::told), all = report.estimates.size();
  const char* verb = is_optimization(report) ? "optimized" : "found";
  if (all == 0) return "nothing was asked for";
  if (told == all || is_optimization(report))
    return fmt::format("{}{} {}", all > 2 ? "all " : "", count_text(all, "number"), verb);
  return fmt::format("{} of {} {}", told, count_text(all, "number"), verb);
}

std::vector<std::string> cautions_of(const IdentificationReport& report) {
  std::vector<std::string> cautions;
  const NoiseLevel noise = noise_of(report);
  if (noise == NoiseLevel::larger) cautions.emplace_back("the fit is worse than the noise");
  if (noise == NoiseLevel::smaller) cautions.emplace_back("the noise is stated too large");
  if (!report.open_directions.empty() && !is_optimization(report))
    cautions.push_back(count_text(report.open_directions.size(), "direction is open", "directions are open"));
  if (!report.warnings.empty())
    cautions.push_back((report.warnings.size() == 1 ? "there is " : "there are ") +
                       count_text(report.warnings.size(), "warning"));
  if (truths_of(report).are_missed()) cautions.emplace_back("intervals miss the truth");
  return cautions;
}

std::string headline_of(const IdentificationReport& report, VerdictStatus status,
                        const std::vector<std::string>& cautions) {
  const std::string found = found_text(report);
  const std::size_t goals = report.goals.size(), missed = missed_goals(report);
  switch (status) {
    case VerdictStatus::failed:
      return "The search failed";
    case VerdictStatus::unfinished:
      return "Unfinished: " + found + ", but the search ended before it had converged";
    case VerdictStatus::not_explained:
      return fmt::format("Not explained: the residuals are {} times the noise stated",
                         number_text(std::sqrt(spread_of(report)), 3));
    case VerdictStatus::implausible:
      return "Implausible: " + report.implausible.front();
    case VerdictStatus::undetermined:
      return "Undetermined: the motions tell nothing of what was asked for";
    case VerdictStatus::not_reached:
      return goals == 1 ? std::string("Not reached: the goal is missed")
                        : fmt::format("Not reached: {} of {} goals {} missed", missed, goals,
                                      missed == 1 ? "is" : "are");
    default:
      break;
  }
  std::string list;
  for (std::size_t i = 0; i < cautions.size(); ++i)
    list += (i == 0 ? "; " : i + 1 == cautions.size() ? " and " : ", ") + cautions[i];
  if (status == VerdictStatus::reached)
    return fmt::format("{}{}{}",
                       goals > 0 ? fmt::format("Reached: {} within tolerance; ",
                                               goals == 1 ? std::string("the goal is")
                                                          : fmt::format("all {} goals are", goals))
                                 : std::string(),
                       found, list);
  if (status == VerdictStatus::at_bound) return "At a bound: " + found + list;
  if (status == VerdictStatus::unchecked) return "Found, but not checked: " + found + list;
  if (cautions.empty()) return "Explained: " + found + ", and the fit is as good as the noise allows";
  return "Explained: " + found + list;
}

}  // namespace

const char* to_string(VerdictStatus status) {
  switch (status) {
    case VerdictStatus::explained:
      return "explained";
    case VerdictStatus::unchecked:
      return "unchecked";
    case VerdictStatus::reached:
      return "reached";
    case VerdictStatus::at_bound:
      return "at_bound";
    case VerdictStatus::undetermined:
      return "undetermined";
    case VerdictStatus::implausible:
      return "implausible";
    case VerdictStatus::not_explained:
      return "not_explained";
    case VerdictStatus::not_reached:
      return "not_reached";
    case VerdictStatus::unfinished:
      return "unfinished";
    case VerdictStatus::failed:
      return "failed";
  }
  return "unknown";
}

Verdict verdict_of(const IdentificationReport& report) {
  Verdict verdict;
  verdict.status = status_of(report);
  const std::vector<std::string> cautions = cautions_of(report);
  verdict.headline = headline_of(report, verdict.status, cautions);
  verdict.has_doubts = !cautions.empty();
  if (verdict.status == VerdictStatus::failed) {
    if (!report.message.empty()) verdict.reasons.push_back(report.message);
    return verdict;
  }
  if (report.status != "converged" && !report.message.empty()) verdict.reasons.push_back(report.message);
  for (const GoalRow& goal : report.goals) verdict.reasons.push_back(goal.text());
  for (const std::string& text : report.implausible) verdict.reasons.push_back(text);
  add_noise_reason(report, verdict.reasons);
  add_estimate_reasons(report, verdict.reasons);
  if (verdict.is_answer()) return verdict;
  if (is_optimization(report)) {
    add_goal_checks(report, verdict.checks);
    return verdict;
  }
  if (noise_of(report) == NoiseLevel::far_larger) {
    add_noise_checks(report, verdict.checks);
  } else if (verdict.status == VerdictStatus::implausible) {
    for (const std::string& text : report.suspected_units)
      verdict.checks.push_back(fmt::format("Units: {}.", text));
    verdict.checks.emplace_back(
        "The units of the measurements (metres, seconds, radians), the masses and materials of the other "
        "bodies, "
        "and whether bounds or a prior keep the unknown where it is possible.");
  }
  add_bound_checks(report, verdict.checks);
  if (verdict.status == VerdictStatus::unfinished && report.status == "max_iterations")
    verdict.checks.emplace_back("Iterations: raise max_iterations in [search], or begin nearer.");
  if (verdict.status == VerdictStatus::undetermined)
    verdict.checks.emplace_back(
        "The motions: they have to feel what is asked for, such as a contact, a push or a "
        "different start.");
  return verdict;
}

std::string text_of(const Verdict& verdict) {
  std::string text = fmt::format("{}\n", verdict.headline);
  for (const std::string& reason : verdict.reasons) text += fmt::format("  - {}\n", reason);
  if (!verdict.checks.empty()) text += "What to check:\n";
  for (const std::string& check : verdict.checks) text += fmt::format("  - {}\n", check);
  return text;
}

Json json_of(const Verdict& verdict) {
  return {{"status", to_string(verdict.status)},
          {"is_answer", verdict.is_answer()},
          {"headline", verdict.headline},
          {"reasons", verdict.reasons},
          {"checks", verdict.checks}};
}

}  // namespace abut
