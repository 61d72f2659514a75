#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dynamics/gradient_check/gradient_check.h"
#include "dynamics/simulator.h"
#include "engine/config_fields.h"
#include "engine/detector_choice.h"
#include "engine/scene_io.h"
#include "tests/benchmarks/detector_comparison/comparison.h"
#include "tests/benchmarks/support/table.h"
#include "tests/benchmarks/timer.h"

namespace abut::benchmarks {
namespace {

struct NamedScene {
  const char* name;
  const char* file;    ///< in the source tree
  int steps;           ///< of the motion
  int gradient_steps;  ///< of the checked gradient
};
constexpr NamedScene k_scenes[] = {{"stack", "assets/scenes/box_stack.toml", 300, 30},
                                   {"gripper", "assets/scenes/gripper.toml", 500, 30},
                                   {"armadillo drop", "assets/scenes/armadillo_drop.toml", 300, 80},
                                   {"throw", "assets/experiments/throw_through_gap/scene.toml", 400, 200}};

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

/// What a scene does with a detector and a law. Cells, as a table has them; of a row that has none, the first
/// says why.
struct Motion {
  double steps_per_second = 0.0;  ///< 0: refused or failed
  std::string rate, depth = "–", jitter = "–", error = "–", useless = "–";
};

/// Rollouts and the check of the gradient, for what the columns of the table hold (main.cpp). Throws
/// std::invalid_argument where the law refuses the scene's materials.
Motion measure_motion(const NamedScene& named, DetectorKind detector, ContactLaw law) {
  const Scene scene = read_scene(k_source / named.file);
  StepConfig config = scene.config.step;
  config.contact.detector = detector;
  config.law = law;
  Motion motion;
  if (first_refused_pair(scene.model, config.contact)) {
    motion.rate = "refused";
    return motion;
  }
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
  if (!trajectory.ok()) {
    motion.rate = fmt::format("fails at step {}", trajectory.failed_step);
    return motion;
  }
  motion.steps_per_second = named.steps / seconds[1];
  motion.rate = fmt::format("{:.2g}", motion.steps_per_second);
  motion.depth = fmt::format("{:.2g}", 100.0 * deepest_overlap(scene, trajectory.states.back()));
  motion.jitter = fmt::format("{:.1g}", jitter_of(trajectory));

  GradientCheckConfig check;
  check.steps = named.gradient_steps;
  check.samples = motion.steps_per_second < 200.0 ? 8 : 24;
  const GradientCheck result = check_gradient(scene.model, config, scene.initial, check);
  if (result.samples.empty()) {
    motion.error = "fails";
    return motion;
  }
  std::vector<double> errors;
  int useless = 0;
  for (const GradientSample& sample : result.samples) {
    errors.push_back(std::isfinite(sample.relative_error) ? sample.relative_error : k_infinity);
    useless += is_useless(sample);
  }
  std::sort(errors.begin(), errors.end());
  motion.error = fmt::format("{:.1g}", errors[errors.size() / 2]);
  motion.useless = fmt::format("{:.0f}", 100.0 * useless / static_cast<double>(errors.size()));
  return motion;
}

Motion motion_of(const NamedScene& named, DetectorKind detector, ContactLaw law) {
  try {
    return measure_motion(named, detector, law);
  } catch (const std::invalid_argument& error) {
    fmt::print(stderr, "{}\n", error.what());
    Motion motion;
    motion.rate = "refused";
    return motion;
  }
}

/// One value where all are equal, else all of them.
std::string joined(std::span<const Motion> motions, std::string Motion::*value) {
  std::vector<std::string> values;
  for (const Motion& motion : motions) values.push_back(motion.*value);
  const bool is_one =
      std::all_of(values.begin(), values.end(), [&](const std::string& v) { return v == values[0]; });
  return is_one ? values[0] : fmt::format("{}", fmt::join(values, " / "));
}

}  // namespace

void print_motion() {
  Table table(
      {"scene", "detector", "steps/s", "depth, % of size", "jitter", "error of gradient", "useless %"});
  for (const NamedScene& scene : k_scenes) {
    for (const NamedDetector& detector : k_detectors) {
      const Motion m = motion_of(scene, detector.kind, ContactLaw::smooth_coulomb);
      table.add_row({std::string(scene.name), std::string(detector.name), m.rate, m.depth, m.jitter, m.error,
                     m.useless});
      fmt::print(stderr, "{} {}: {} {} {} {} {}\n", scene.name, detector.name, m.rate, m.depth, m.jitter,
                 m.error, m.useless);
    }
  }
  std::fputs(table.markdown().c_str(), stdout);
}

void print_laws() {
  Table table({"scene", "law", "steps/s of the manifold", "as multiples of it", "depth, % of size", "jitter",
               "error of gradient", "useless %"});
  for (const NamedScene& scene : k_scenes) {
    for (const auto& [name, law] : contact_laws()) {
      std::vector<Motion> motions;
      for (const NamedDetector& detector : k_detectors) {
        if (detector.kind == DetectorKind::frank_wolfe) continue;  // minutes a cell
        motions.push_back(motion_of(scene, detector.kind, law));
        Motion& m = motions.back();
        fmt::print(stderr, "{} {} {}: {} {} {} {} {}\n", scene.name, name, detector.name, m.rate, m.depth,
                   m.jitter, m.error, m.useless);
      }
      const std::string rate = motions[0].rate;
      const double reference = motions[0].steps_per_second;
      for (Motion& m : motions) {
        if (m.steps_per_second > 0.0) m.rate = fmt::format("{:.2g}", m.steps_per_second / reference);
      }
      table.add_row({std::string(scene.name), std::string(name), rate,
                     joined(std::span(motions).subspan(1), &Motion::rate), joined(motions, &Motion::depth),
                     joined(motions, &Motion::jitter), joined(motions, &Motion::error),
                     joined(motions, &Motion::useless)});
    }
  }
  std::fputs(table.markdown().c_str(), stdout);
}

}  // namespace abut::benchmarks
