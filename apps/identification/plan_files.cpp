#include "apps/identification/plan_files.h"

#include <algorithm>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/trajectory_file.h"
#include "apps/identification/search.h"
#include "collision/fitting/shape_surface.h"
#include "collision/fitting/surface_cache.h"
#include "dynamics/simulator.h"
#include "engine/control.h"
#include "engine/joint_geometry.h"
#include "engine/scene_io.h"
#include "engine/scene_writer.h"

namespace abut {
namespace {

namespace fs = std::filesystem;

/// The trajectory of a scene as it was written: of a body that became an asset of its own, the size and what
/// is relative to it are those of its new shape.
void write_trajectory(const fs::path& scene_file, int steps, const fs::path& to) {
  const Scene scene = read_scene(scene_file, surface_maker(user_cache_folder()));
  const Simulator simulator(scene.model, scene.config.step);
  Trajectory trajectory;
  trajectory.states = {scene.initial};
  if (steps > 0) trajectory = simulator.rollout(scene.initial, steps, controls_of(scene, steps));
  TrajectoryFile file(scene.model, scene_file);
  for (std::size_t k = 0; k < trajectory.states.size(); ++k) {
    const State& state = trajectory.states[k];
    file.add(state, time_after(scene.initial.time, scene.config.step.h, k),
             mechanical_energy(scene.model, state), k == 0 ? 0 : trajectory.records[k - 1].report.contacts);
  }
  file.write(to);
}

}  // namespace

std::vector<Push> pushes_of(const Controls& controls, double start_time, double time_step) {
  std::vector<Push> pushes;
  const std::size_t bodies = controls.empty() ? 0 : controls.front().wrenches.size();
  for (std::size_t b = 0; b < bodies; ++b) {
    for (std::size_t k = 0; k < controls.size();) {
      const Vec6<double>& wrench = controls[k].wrenches[b];
      std::size_t end = k + 1;
      while (end < controls.size() && controls[end].wrenches[b] == wrench) ++end;
      if (!wrench.isZero(0.0)) {
        pushes.push_back({static_cast<int>(b), start_time + static_cast<double>(k) * time_step,
                          start_time + static_cast<double>(end) * time_step, wrench});
      }
      k = end;
    }
  }
  return pushes;
}

std::vector<CommandTable> commands_of(const Controls& controls, const Model& model, double start_time,
                                      double time_step) {
  std::vector<CommandTable> tables;
  if (controls.empty() || controls.front().commands.empty()) return tables;
  const std::size_t motors = motor_count(model);
  for (std::size_t m = 0; m < motors; ++m) {
    CommandTable table;
    table.motor = static_cast<int>(m);
    for (std::size_t k = 0; k < controls.size(); ++k) {
      const double command = controls[k].commands[m];
      if (k > 0 && command == table.values.back()) continue;
      table.times.push_back(start_time + static_cast<double>(k) * time_step);
      table.values.push_back(command);
    }
    if (table.values.size() > 1 || table.values.front() != 0.0) tables.push_back(std::move(table));
  }
  return tables;
}

std::vector<fs::path> write_plan(const ExperimentFile& file, const Eigen::VectorXd& x,
                                 const fs::path& folder) {
  const Experiment whole = whole_motions(file.experiment);
  const UnknownSpace unknowns(whole);
  const Eigen::VectorXd plan = x.head(unknowns.size());  // without states of segments
  std::vector<fs::path> scenes;
  for (int m = 0; m < static_cast<int>(whole.motions.size()); ++m) {
    const UnknownSpace::Simulation simulation = unknowns.simulate(plan, m);
    Scene changed = simulation.inputs.scene;
    const double h = changed.config.step.h;
    if (const Controls& controls = simulation.inputs.controls; !controls.empty()) {
      changed.pushes = pushes_of(controls, changed.initial.time, h);
      changed.commands = commands_of(controls, changed.model, changed.initial.time, h);
    }
    const std::string name = m == 0 ? "best" : fmt::format("best_{}", m);
    const fs::path scene = folder / (name + ".toml");
    SceneStart start;
    start.state = changed.initial;
    start.time_step = h;
    start.steps = std::max(1, step_count(whole, whole.motions[at(m)]));
    start.comment = fmt::format("The plan that 'abut optimize {}' found: motion '{}'.", file.path.string(),
                                whole.motions[at(m)].name);
    if (simulation.trajectory.step_count() == 0) start.comment += " All its goals are at the start.";
    start.changed = &changed;
    start.make_surface = surface_maker(user_cache_folder());
    write_scene_at(file.scene, start, scene);
    write_trajectory(scene, simulation.trajectory.step_count(), folder / (name + ".npz"));
    scenes.push_back(scene);
  }
  return scenes;
}

}  // namespace abut
