#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "apps/identification/experiment_io.h"
#include "apps/identification/report_builder.h"
#include "apps/identification/search.h"
#include "apps/identification/synthetic_data.h"
#include "engine/config_fields.h"
#include "engine/detector_choice.h"
#include "tests/benchmarks/detector_comparison/comparison.h"
#include "tests/benchmarks/support/table.h"

namespace abut::benchmarks {
namespace {

constexpr int k_starts = 20, k_iterations = 50;
constexpr double k_close = 0.01;                // relative error of an unknown that is found
constexpr std::chrono::seconds k_longest{500};  // of a search

struct NamedExperiment {
  const char* name;
  const char* file;  ///< in the source tree
  Question question;
  bool takes_frank_wolfe = true;  ///< false where that takes hours
};
constexpr NamedExperiment k_experiments[] = {
    {"identify: slide", "tests/benchmarks/detector_comparison/slide.toml", Question::identify},
    {"identify: throw, landing flat", "tests/benchmarks/detector_comparison/throw.toml", Question::identify},
    {"identify: throw, landing on a corner", "tests/benchmarks/detector_comparison/throw_askew.toml",
     Question::identify},
    {"identify: slide and topple", "assets/experiments/box_friction.toml", Question::identify, false},
    {"optimize: push", "tests/benchmarks/detector_comparison/push.toml", Question::optimize},
    {"optimize: throw", "assets/experiments/throw_through_gap.toml", Question::optimize}};

/// An experiment with the same guesses and iterations for all, and without measurements.
ExperimentFile experiment_of(const NamedExperiment& named, DetectorKind detector, ContactLaw law) {
  constexpr std::size_t k_motions = 4;
  ExperimentFile file = read_experiment(k_source / named.file, DataUse::plan);
  Experiment& experiment = file.experiment;
  experiment.scene.config.step.contact.detector = detector;
  experiment.scene.config.step.law = law;
  if (experiment.motions.size() > k_motions) experiment.motions.resize(k_motions);
  file.data.resize(experiment.motions.size());
  file.search.starts = k_starts;
  file.search.seed = 1;
  file.search.max_iterations = k_iterations;
  return file;
}

/// The largest relative error of an unknown.
double error_of(const UnknownSpace& unknowns, const Eigen::VectorXd& x) {
  const Eigen::VectorXd truth = unknowns.truth(), off = unknowns.minus(x, truth);
  double largest = 0.0;
  for (int e = 0; e < unknowns.tangent_size(); ++e)
    largest = std::max(largest, std::abs(off[e] / truth[unknowns.variable_of(e).begin]));
  return largest;
}

/// How many starts find the true values (each to 1 %), or reach all goals to within their tolerances, of all
/// those that came to their end.
struct Successes {
  int count = 0, done = 0;

  [[nodiscard]] bool is_complete() const { return done == k_starts; }
  [[nodiscard]] std::string text() const {
    return is_complete() ? fmt::format("{}", count) : fmt::format("{} of {}", count, done);
  }
};
Successes successes(const NamedExperiment& named, const ExperimentFile& file, const SearchResult& result) {
  const UnknownSpace unknowns(file.experiment);
  Successes of;
  for (int s = 0; s < k_starts; ++s) {
    const StartState& start = result.starts[static_cast<std::size_t>(s)];
    of.done += start.is_done;
    if (!start.is_done || start.status == Solution::Status::failed || start.x.size() == 0) continue;
    if (named.question == Question::identify) {
      of.count += error_of(unknowns, start.x) <= k_close;
    } else {
      SearchResult one = result;
      one.best = s;
      const IdentificationReport report = build_report(file, one, named.question, 1);
      of.count += std::all_of(report.goals.begin(), report.goals.end(),
                              [](const GoalRow& goal) { return goal.is_reached(); });
    }
  }
  return of;
}

std::string percent(double share) { return fmt::format("{:.2g} %", 100.0 * share); }

/// Successes, and how far off the best start of an identification is where measurements are those of the
/// manifold with the default law.
struct Outcome {
  std::string found, off_with_other_data;

  [[nodiscard]] std::string cell() const {
    return off_with_other_data.empty() ? found : fmt::format("{} ({})", found, off_with_other_data);
  }
};

Outcome outcome_of(const NamedExperiment& named, DetectorKind detector, ContactLaw law) {
  ExperimentFile file = experiment_of(named, detector, law);
  const Scene& scene = file.experiment.scene;
  if (first_refused_pair(scene.model, scene.config.step.contact)) return {"refused", ""};
  SearchOptions options;
  options.threads = 2;
  const auto begin = std::chrono::steady_clock::now();
  options.progress = [&](const StageIteration&) {
    return std::chrono::steady_clock::now() - begin < k_longest;
  };
  Outcome outcome;
  if (named.question == Question::identify) {
    const MotionFit fit(file.experiment);
    file.experiment = with_simulated_data(fit, fit.unknowns().truth(), nullptr);
  }
  const SearchResult result = search(file, options);
  const Successes of = successes(named, file, result);
  outcome.found = of.text();
  if (named.question == Question::identify && of.is_complete()) {
    const ExperimentFile reference = experiment_of(named, DetectorKind::manifold, ContactLaw::smooth_coulomb);
    const MotionFit fit(reference.experiment);
    const StepConfig own = file.experiment.scene.config.step;
    file.experiment = with_simulated_data(fit, fit.unknowns().truth(), nullptr);
    file.experiment.scene.config.step = own;
    options.progress = nullptr;
    const SearchResult other = search(file, options);
    const StartState& best = other.starts[static_cast<std::size_t>(other.best)];
    if (best.status != Solution::Status::failed)
      outcome.off_with_other_data = percent(error_of(UnknownSpace(file.experiment), best.x));
  }
  return outcome;
}

}  // namespace

void print_search() {
  // Every detector with the default law, and every other law with the default detector.
  struct Combination {
    std::string_view law_name;
    ContactLaw law;
    NamedDetector detector;
  };
  std::vector<Combination> combinations;
  for (const NamedDetector& detector : k_detectors)
    combinations.push_back({"smooth_coulomb", ContactLaw::smooth_coulomb, detector});
  for (const auto& [name, law] : contact_laws()) {
    if (law != ContactLaw::smooth_coulomb) combinations.push_back({name, law, k_detectors[0]});
  }
  std::vector<std::string> columns{"law", "detector"};
  for (const NamedExperiment& named : k_experiments) columns.emplace_back(named.name);
  Table table(columns);
  for (const Combination& of : combinations) {
    std::vector<Cell> row{std::string(of.law_name), std::string(of.detector.name)};
    for (const NamedExperiment& named : k_experiments) {
      const bool is_left_out = of.detector.kind == DetectorKind::frank_wolfe && !named.takes_frank_wolfe;
      std::string cell = is_left_out ? "–" : "refused";
      try {
        if (!is_left_out) cell = outcome_of(named, of.detector.kind, of.law).cell();
      } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
      }
      fmt::print(stderr, "{}, {} {}: {}\n", named.name, of.law_name, of.detector.name, cell);
      row.emplace_back(cell);
    }
    table.add_row(std::move(row));
  }
  std::fputs(table.markdown().c_str(), stdout);
}

}  // namespace abut::benchmarks
