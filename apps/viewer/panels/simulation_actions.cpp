/// Actions of the simulation: its file, time and speed.
#include <algorithm>
#include <exception>

#include "apps/abut/trajectory_file.h"
#include "apps/viewer/panels/actions.h"
#include "apps/viewer/simulation/ghost_file.h"

namespace abut::viewer {

std::future<std::string> open_files(SimulationThread& simulation, const std::filesystem::path& scene,
                                    const std::filesystem::path& trajectory,
                                    const std::filesystem::path& measurements) {
  return simulation.ask([scene, trajectory, measurements](SimulationCore& core) -> std::string {
    try {
      if (trajectory.empty() && is_experiment(scene)) {
        core.open_experiment({scene, {}, {}, UnknownValues::guesses});
      } else if (!scene.empty() || !trajectory.empty()) {
        core.open(scene.empty() ? scene_of_trajectory(trajectory) : scene, trajectory);
      } else {
        core.dismiss_message();  // of something else
      }
      if (core.message().empty() && !measurements.empty())
        core.set_ghosts(read_ghosts(measurements, *core.model()));
    } catch (const std::exception& error) {
      core.set_message(error.what());
    }
    return core.message();
  });
}

void step_by(PanelContext& context, int steps) {
  context.simulation.post([steps](SimulationCore& core) {
    core.set_running(false);
    if (steps < 0) return core.seek(core.number() + steps);
    for (int i = 0; i < steps; ++i) {
      const std::int64_t before = core.number();
      core.step_forward();
      if (core.number() == before) return;  // it failed, or a replay is over
    }
  });
}

void change_speed(PanelContext& context, double factor) {
  context.simulation.post([factor](SimulationCore& core) {
    core.set_speed(std::clamp(core.speed() * factor, 1.0 / 16.0, 16.0));
  });
}

}  // namespace abut::viewer
