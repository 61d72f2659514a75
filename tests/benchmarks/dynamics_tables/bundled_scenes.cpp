#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dynamics/rollout/rollout.h"
#include "engine/law_settings.h"
#include "engine/scene_io.h"
#include "tests/benchmarks/dynamics_tables/tables.h"

namespace abut::tables {
namespace {

/// The largest rise of the mechanical energy above its lowest value before [J].
double energy_gained(const Scene& scene, StepConfig config) {
  const Stepper stepper(scene.model, config);
  double lowest = mechanical_energy(scene.model, scene.initial), gained = 0.0;
  State end;
  const StepReport report = simulate(stepper, scene.initial, scene.config.steps, {}, end,
                                     [&](int, const State& state, const StepReport&) {
                                       const double energy = mechanical_energy(scene.model, state);
                                       gained = std::max(gained, energy - lowest);
                                       lowest = std::min(lowest, energy);
                                       return true;
                                     });
  if (report.status != StepStatus::ok) throw std::runtime_error(to_string(report.status));
  return gained;
}

/// What a law takes for a scene: processor time of a step [ms], Newton iterations of a step on average and at
/// most.
std::vector<std::string> effort(const Scene& scene, ContactLaw law, int& most_contacts) {
  StepConfig config = scene.config.step;
  config.law = law;
  reset_ignored(!scene.model.joints.empty(), config);  // settings of the scene's own law
  const Stepper stepper(scene.model, config);
  int most = 0;
  double sum = 0.0;
  State end;
  const double start = processor_time();
  const StepReport report = simulate(stepper, scene.initial, scene.config.steps, {}, end,
                                     [&](int, const State&, const StepReport& step) {
                                       sum += step.iterations;
                                       most = std::max(most, step.iterations);
                                       most_contacts = std::max(most_contacts, step.contacts);
                                       return true;
                                     });
  if (report.status != StepStatus::ok) return {std::string(to_string(report.status)), "", ""};
  return {fmt::format("{:.2f}", 1e3 * (processor_time() - start) / scene.config.steps),
          fmt::format("{:.1f}", sum / scene.config.steps), fmt::format("{}", most)};
}

std::filesystem::path scene_path(const std::string& name) {
  return ABUT_SOURCE_DIR "/assets/scenes/" + name + ".toml";
}

}  // namespace

void print_energy(const Options&) {
  fmt::print("\nMechanical energy that bodies gain.\n\n");
  print_header({"scene", "at the start [J]", "gained [mJ]", "gained without edge contacts [mJ]"});
  for (const std::string name :
       {"armadillo_drop", "armadillo_armadillo", "drill_mustard", "spot_on_pole", "box_stack"}) {
    const Scene scene = read_scene(scene_path(name));
    StepConfig without = scene.config.step;
    without.contact.edge_edge = false;
    print_row({name, fmt::format("{:.3f}", mechanical_energy(scene.model, scene.initial)),
               fmt::format("{:.2f}", 1e3 * energy_gained(scene, scene.config.step)),
               fmt::format("{:.2f}", 1e3 * energy_gained(scene, without))});
  }
}

void print_complementarity(const Options&) {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(ABUT_SOURCE_DIR "/assets/scenes"))
    if (file.path().extension() == ".toml") names.push_back(file.path().stem().string());
  std::sort(names.begin(), names.end());
  fmt::print("\nEvery bundled scene under the complementarity laws.\n\n");
  print_header({"scene", "steps", "contacts, most", "`lcp`: ms a step", "iterations", "most",
                "`relaxed_complementarity`: ms a step", "iterations", "most"});
  for (const std::string& name : names) {
    const Scene scene = read_scene(scene_path(name));
    int contacts = 0;
    const std::vector<std::string> lcp = effort(scene, ContactLaw::lcp, contacts),
                                   relaxed = effort(scene, ContactLaw::relaxed_complementarity, contacts);
    std::vector<std::string> row{name, fmt::format("{}", scene.config.steps), fmt::format("{}", contacts)};
    row.insert(row.end(), lcp.begin(), lcp.end());
    row.insert(row.end(), relaxed.begin(), relaxed.end());
    print_row(row);
  }
}

}  // namespace abut::tables
