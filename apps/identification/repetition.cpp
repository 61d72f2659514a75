#include "apps/identification/repetition.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>

#include <spdlog/fmt/fmt.h>

#include "apps/identification/estimate_rows.h"
#include "apps/identification/identifiability.h"
#include "apps/identification/search.h"
#include "engine/count_text.h"

namespace abut {
namespace {

/// What one repetition came to.
struct Repetition {
  bool is_done = false;
  std::string failure;
  Eigen::VectorXd error, deviation;  // of tangent entries, in x
  std::vector<bool> is_told;
  double chi_square = 0, seconds = 0;
  int iterations = 0;
};

Repetition repeat_once(const ExperimentFile& file, const Eigen::VectorXd& truth, const DataFlaws& flaws,
                       std::uint64_t seed) {
  Repetition repetition;
  Random noise(seed);
  ExperimentFile noisy = file;
  const Experiment undisturbed = whole_motions(file.experiment);
  noisy.experiment = with_simulated_data(MotionFit(undisturbed), truth, &noise, flaws);
  noisy.experiment.shooting = file.experiment.shooting;
  const SearchResult result = search(noisy, {});
  const StartState& best = result.starts[static_cast<std::size_t>(result.best)];
  repetition.is_done = true;
  repetition.seconds = result.seconds;
  repetition.iterations = best.iterations;
  if (best.status == Solution::Status::failed) {
    repetition.failure = best.message;
    return repetition;
  }
  const Experiment whole = whole_motions(noisy.experiment);
  const MotionFit fit(whole);
  const Identifiability told = identifiability_of(
      fit, best.x, fit.evaluate(best.x, MotionFit::Want::jacobian), file.search.loss, file.search.intervals);
  repetition.error = fit.unknowns().minus(best.x, truth);
  repetition.deviation = told.deviation;
  repetition.chi_square = told.reduced_chi_square;
  for (const Identifiability::Entry entry : told.entries)
    repetition.is_told.push_back(entry == Identifiability::Entry::told);
  return repetition;
}

}  // namespace

RepetitionReport repeat_experiment(const ExperimentFile& file, int repetitions, const DataFlaws& flaws,
                                   std::uint64_t seed, int threads,
                                   const std::function<bool(int)>& progress) {
  const Experiment whole = whole_motions(file.experiment);
  const MotionFit fit(whole);
  const UnknownSpace& unknowns = fit.unknowns();
  const Eigen::VectorXd truth = unknowns.truth(), guess = unknowns.initial();
  std::vector<Repetition> all(static_cast<std::size_t>(repetitions));
  std::vector<std::exception_ptr> errors(all.size());
  std::atomic<int> next{0};
  std::atomic<bool> is_stopped{false};
  std::mutex mutex;
  int done = 0;
  const auto work = [&] {
    for (int r = next++; r < repetitions && !is_stopped; r = next++) {
      const auto i = static_cast<std::size_t>(r);
      try {
        all[i] = repeat_once(file, truth, flaws, seed + static_cast<std::uint64_t>(r));
      } catch (...) {
        errors[i] = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      if (progress && !progress(++done)) is_stopped = true;
    }
  };
  std::vector<std::thread> helpers;
  for (int i = 1; i < std::min(threads, repetitions); ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }

  RepetitionReport report;
  int good = 0;
  for (const Repetition& one : all) {
    if (!one.is_done) continue;
    ++report.repetitions;
    report.mean_seconds += one.seconds;
    report.mean_iterations += one.iterations;
    if (one.failure.empty()) {
      ++good;
      report.mean_chi_square += one.chi_square;
    } else if (report.failed++ == 0) {
      report.first_failure = one.failure;
    }
  }
  report.mean_seconds /= std::max(1, report.repetitions);
  report.mean_iterations /= std::max(1, report.repetitions);
  report.mean_chi_square /= std::max(1, good);
  const Eigen::VectorXd guess_error = unknowns.minus(guess, truth);
  for (int e = 0; e < unknowns.tangent_size(); ++e) {
    const Variable& variable = unknowns.variable_of(e);
    if (unknowns.unknown_of(variable) == nullptr) continue;  // the state of a segment
    const bool is_number = variable.kind == Variable::Kind::number;
    const double slope = unknowns.slope(e, truth);
    RepetitionRow row;
    row.name = unknowns.name(e);
    row.unit = unit_of(unknowns, e);
    row.truth = is_number ? unknowns.value(variable, truth[variable.begin]) : 0.0;
    row.initial_error = std::abs(slope * guess_error[e]);
    for (const Repetition& one : all) {
      if (!one.is_done || !one.failure.empty()) continue;
      const double in_x = is_number ? truth[variable.begin] + one.error[e] : one.error[e];
      const double error = is_number ? unknowns.value(variable, in_x) - row.truth : in_x;
      row.mean += (row.truth + error) / good;
      row.mean_error += std::abs(error) / good;
      row.largest_error = std::max(row.largest_error, std::abs(error));
      if (!one.is_told[static_cast<std::size_t>(e)]) continue;
      ++row.told;
      row.deviation += slope * one.deviation[e];
      row.inside += std::abs(one.error[e]) <= k_normal_95 * one.deviation[e];
    }
    row.deviation /= std::max(1, row.told);
    report.rows.push_back(std::move(row));
  }
  return report;
}

std::string text_of(const RepetitionReport& report) {
  Table table({"unknown", "unit", "truth", "guess off by", "mean", "mean error", "largest error",
               "told deviation", "truth in 95 % interval"});
  for (const RepetitionRow& row : report.rows) {
    table.add({row.name, row.unit.empty() ? "-" : row.unit, fmt::format("{:.4g}", row.truth),
               fmt::format("{:.3g}", row.initial_error), fmt::format("{:.4g}", row.mean),
               fmt::format("{:.2g}", row.mean_error), fmt::format("{:.2g}", row.largest_error),
               row.told > 0 ? fmt::format("{:.2g}", row.deviation) : "not told",
               row.told > 0 ? fmt::format("{} of {}", row.inside, row.told) : "-"});
  }
  std::string text = table.text(2);
  text += fmt::format("{}, {} failed; on average {:.1f} iterations, {:.2g} s, reduced chi square {:.3f}\n",
                      count_text(report.repetitions, "repetition"), report.failed, report.mean_iterations,
                      report.mean_seconds, report.mean_chi_square);
  if (report.failed > 0) text += fmt::format("the first failure: {}\n", report.first_failure);
  return text;
}

Json json_of(const RepetitionReport& report) {
  Json json{{"repetitions", report.repetitions},
            {"failed", report.failed},
            {"mean_iterations", report.mean_iterations},
            {"mean_seconds", report.mean_seconds},
            {"mean_reduced_chi_square", report.mean_chi_square},
            {"unknowns", Json::array()}};
  for (const RepetitionRow& row : report.rows) {
    json["unknowns"].push_back({{"name", row.name},
                                {"unit", row.unit},
                                {"truth", row.truth},
                                {"initial_error", row.initial_error},
                                {"mean", row.mean},
                                {"mean_error", row.mean_error},
                                {"largest_error", row.largest_error},
                                {"deviation", row.deviation},
                                {"told", row.told},
                                {"inside_95", row.inside}});
  }
  return json;
}

}  // namespace abut
