/// Actions of the simulation: its file, time and speed.
#include <algorithm>

#include "apps/abut/trajectory_file.h"
#include "apps/viewer/panels/actions.h"

namespace abut::viewer {

void open_file(SimulationThread& simulation, const std::filesystem::path& file) {
  simulation.post([file](SimulationCore& core) {
    if (file.extension() != ".npz") return core.open(file);
    core.open(scene_of_trajectory(file));
    if (core.message().empty()) core.replay(file);
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
