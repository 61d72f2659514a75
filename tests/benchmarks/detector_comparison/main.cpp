/// Every detector with every contact law on four bundled scenes, and what searches by gradients make of them:
///
///     abut_detector_comparison [motion|laws|search]
///
/// motion: a row for each scene and detector, with the default law; laws: for each detector and law, on the
/// stack
///   steps/s      median of three rollouts, by processor time
///   depth        deepest overlap of the bodies' solids at the end, in per cent of the smaller body [%]
///   jitter       root mean square of what twists of the last 50 steps differ from their mean [m/s, rad/s]
///   error        median relative error of the adjoint against differences, of 24 random directions (8 where
///                fewer than 200 steps are taken in a second)
///   useless      share of them where the adjoint is 0 and differences are not, is not finite, or is over 100
///                times as large as differences
/// search: of 20 random guesses, how many end within 5 % of the least cost that any detector finds
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "apps/identification/experiment_io.h"
#include "apps/identification/search.h"
#include "dynamics/gradient_check/gradient_check.h"
#include "dynamics/simulator.h"
#include "engine/config_fields.h"
#include "engine/detector_choice.h"
#include "engine/scene_io.h"
#include "tests/benchmarks/support/table.h"
#include "tests/benchmarks/timer.h"

namespace abut::benchmarks {
namespace {

const std::filesystem::path k_assets = std::filesystem::path(ABUT_SOURCE_DIR) / "assets";

struct NamedDetector {
  const char* name;
  DetectorKind kind;
};
constexpr NamedDetector k_detectors[] = {{"manifold", DetectorKind::manifold},
                                         {"gjk", DetectorKind::gjk},
                                         {"proximity_qp", DetectorKind::proximity_qp},
                                         {"frank_wolfe", DetectorKind::frank_wolfe}};

struct NamedScene {
  const char* name;
  const char* file;
  int steps;           ///< of the motion
  int gradient_steps;  ///< of the checked gradient
};
constexpr NamedScene k_scenes[] = {{"stack", "scenes/box_stack.toml", 300, 30},
                                   {"gripper", "scenes/gripper.toml", 500, 30},
                                   {"armadillo drop", "scenes/armadillo_drop.toml", 300, 80},
                                   {"throw", "experiments/throw_through_gap/scene.toml", 400, 200}};

double jitter_of(const Trajectory& trajectory) {
  constexpr std::size_t k_last = 50;
  const std::size_t count = trajectory.states.size(), bodies = trajectory.states[0].V_WB.size();
  double largest = 0.0;
  for (std::size_t b = 0; b < bodies; ++b) {
    Vec6<double> mean = Vec6<double>::Zero();
    for (std::size_t k = count - k_last; k < count; ++k) mean += trajectory.states[k].V_WB[b] / k_last;
    double sum = 0.0;
    for (std::size_t k = count - k_last; k < count; ++k)
      sum += (trajectory.states[k].V_WB[b] - mean).squaredNorm() / k_last;
    largest = std::max(largest, std::sqrt(sum));
  }
  return largest;
}

bool is_useless(const GradientSample& sample) {
  if (sample.non_finite) return true;
  const double size = std::abs(sample.difference);
  return size > 1e-9 * sample.largest && (sample.adjoint == 0.0 || std::abs(sample.adjoint) > 100.0 * size) &&
         sample.relative_error > 0.5;
}

/// Overlaps are those of the solids themselves, so they are asked of the manifold's detector.
double deepest_overlap(const Scene& scene, const State& state) {
  const Simulator simulator(scene.model, StepConfig());
  double deepest = 0.0;
  for (const Overlap& overlap : simulator.overlaps(state)) {
    const double size =
        std::min(scene.model.bodies[at(overlap.body_A)].size, scene.model.bodies[at(overlap.body_B)].size);
    deepest = std::max(deepest, overlap.depth / size);
  }
  return deepest;
}

void add_motion(const NamedScene& named, const NamedDetector& detector, std::string_view law_name,
                ContactLaw law, Table& table) {
  Scene scene = read_scene(k_assets / named.file);
  StepConfig config = scene.config.step;
  config.contact.detector = detector.kind;
  config.law = law;
  const auto add = [&](const std::string& steps, const std::string& depth, const std::string& jitter,
                       const std::string& error, const std::string& useless) {
    table.add_row({std::string(named.name), std::string(detector.name), std::string(law_name), steps, depth,
                   jitter, error, useless});
    std::fprintf(stderr, "%s %s %s: %s %s %s %s %s\n", named.name, detector.name,
                 std::string(law_name).c_str(), steps.c_str(), depth.c_str(), jitter.c_str(), error.c_str(),
                 useless.c_str());
  };
  if (first_refused_pair(scene.model, config.contact)) return add("refused", "–", "–", "–", "–");
  const Simulator simulator(scene.model, config);
  std::vector<double> seconds;
  Trajectory trajectory;
  for (int i = 0; i < 3; ++i) {
    double time = 0.0;
    {
      const CpuTimer timer(time);
      trajectory = simulator.rollout(scene.initial, named.steps);
    }
    seconds.push_back(time);
  }
  std::sort(seconds.begin(), seconds.end());
  if (!trajectory.ok())
    return add(fmt::format("fails at step {}", trajectory.failed_step), "–", "–", "–", "–");

  GradientCheckConfig check;
  check.steps = named.gradient_steps;
  check.samples = named.steps / seconds[1] < 200.0 ? 8 : 24;
  const GradientCheck result = check_gradient(scene.model, config, scene.initial, check);
  std::vector<double> errors;
  int useless = 0;
  for (const GradientSample& sample : result.samples) {
    errors.push_back(std::isfinite(sample.relative_error) ? sample.relative_error : k_infinity);
    useless += is_useless(sample);
  }
  std::sort(errors.begin(), errors.end());
  const bool has_gradient = !errors.empty();
  add(fmt::format("{:.3g}", named.steps / seconds[1]),
      fmt::format("{:.2g}", 100.0 * deepest_overlap(scene, trajectory.states.back())),
      fmt::format("{:.1g}", jitter_of(trajectory)),
      has_gradient ? fmt::format("{:.1g}", errors[errors.size() / 2]) : "fails",
      has_gradient ? fmt::format("{:.0f} %", 100.0 * useless / static_cast<double>(errors.size())) : "–");
}

Table motion_table() {
  return Table(
      {"scene", "detector", "law", "steps/s", "depth, % of size", "jitter", "error of gradient", "useless"});
}

void print_motion() {
  Table table = motion_table();
  for (const NamedScene& scene : k_scenes) {
    for (const NamedDetector& detector : k_detectors)
      add_motion(scene, detector, "smooth_coulomb", ContactLaw::smooth_coulomb, table);
  }
  std::puts(table.markdown().c_str());
}

void print_laws() {
  Table table = motion_table();
  for (const NamedDetector& detector : k_detectors) {
    for (const auto& [name, law] : contact_laws()) add_motion(k_scenes[0], detector, name, law, table);
  }
  std::puts(table.markdown().c_str());
}

/// The costs that 20 starts end with, in ascending order; infinite where a search failed.
std::vector<double> costs_of_starts(const char* name, DetectorKind detector) {
  ExperimentFile file = read_experiment(k_assets / "experiments" / name);
  file.experiment.scene.config.step.contact.detector = detector;
  if (file.experiment.motions.size() > 4) file.experiment.motions.resize(4);
  file.data.resize(file.experiment.motions.size());
  file.search.starts = 20;
  file.search.seed = 1;
  SearchOptions options;
  options.threads = 2;
  std::vector<double> costs;
  for (const StartState& start : search(file, options).starts)
    costs.push_back(std::isfinite(start.cost) ? start.cost : k_infinity);
  std::sort(costs.begin(), costs.end());
  return costs;
}

void print_search() {
  Table table(
      {"search", "detector", "least cost", "median cost", "within 5 % of its least", "of the least of all"});
  for (const char* const name : {"box_friction.toml", "throw_through_gap.toml"}) {
    std::vector<std::vector<double>> costs;
    double least = k_infinity;
    for (const NamedDetector& detector : k_detectors) {
      costs.push_back(costs_of_starts(name, detector.kind));
      least = std::min(least, costs.back().front());
      std::fprintf(stderr, "%s %s: %g\n", name, detector.name, costs.back().front());
    }
    for (std::size_t d = 0; d < costs.size(); ++d) {
      const auto within = [&](double limit) {
        return static_cast<double>(
            std::count_if(costs[d].begin(), costs[d].end(), [&](double c) { return c <= 1.05 * limit; }));
      };
      table.add_row({std::string(name), std::string(k_detectors[d].name), costs[d].front(),
                     costs[d][costs[d].size() / 2], within(costs[d].front()), within(least)});
    }
  }
  std::puts(table.markdown().c_str());
}

}  // namespace
}  // namespace abut::benchmarks

int main(int argc, char** argv) {
  try {
    const std::string_view what = argc > 1 ? argv[1] : "";
    if (what == "motion" || what.empty()) abut::benchmarks::print_motion();
    if (what == "laws" || what.empty()) abut::benchmarks::print_laws();
    if (what == "search" || what.empty()) abut::benchmarks::print_search();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "abut_detector_comparison: %s\n", error.what());
    return 1;
  }
}
