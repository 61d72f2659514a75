#include "apps/viewer/simulation/ghost_file.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/report.h"
#include "apps/abut/trajectory_file.h"
#include "apps/identification/measurement_io.h"
#include "collision/fitting/shape_surface.h"
#include "collision/fitting/surface_cache.h"
#include "engine/input_error.h"
#include "engine/scene_io.h"

namespace abut::viewer {
namespace {

namespace fs = std::filesystem;

std::vector<State> recorded_states(const fs::path& file, const Model& model) {
  const RecordedTrajectory trajectory(file, model);
  std::vector<State> states;
  for (std::size_t i = 0; i < trajectory.size(); ++i) states.push_back(trajectory.state(i));
  const auto earlier = [](const State& a, const State& b) { return a.time < b.time; };
  if (!std::is_sorted(states.begin(), states.end(), earlier))
    throw InputError(file.string(), 0, "time goes back, so that nobody can tell where bodies are at a time");
  return states;
}

GhostSource simulated_ghosts(const fs::path& file, const Model& model) {
  auto scene = std::make_shared<const Scene>(read_scene(file, surface_maker(user_cache_folder())));
  const bool same_bodies =
      std::equal(scene->model.bodies.begin(), scene->model.bodies.end(), model.bodies.begin(),
                 model.bodies.end(), [](const Body& a, const Body& b) { return a.name == b.name; });
  if (!same_bodies) throw InputError(file.string(), 0, "has other bodies than the scene that is shown");
  auto simulator = naming_file(
      file.string(), [&] { return std::make_shared<const Simulator>(scene->model, scene->config.step); });
  const int steps = std::max(1, scene->config.steps);
  const auto make = [file, scene, simulator, steps](const std::function<bool(int)>& may_go_on) {
    std::vector<State> states{scene->initial};
    State last;
    const StepReport report =
        simulate(simulator->stepper(), scene->initial, steps, controls_of(*scene, steps), last,
                 [&](int step, const State& state, const StepReport& of_step) {
                   if (of_step.status == StepStatus::ok) states.push_back(state);
                   return may_go_on(step + 1);
                 });
    if (report.status != StepStatus::ok)
      throw InputError(
          file.string(), 0,
          failure_text(scene->model, scene->config.step, states.back().time + scene->config.step.h, report));
    return motion_ghosts(simulator->model(), states, file.filename().string());
  };
  return {steps, make};
}

bool has_rotations(const fs::path& table) {
  std::ifstream stream(table);
  std::string header;
  std::getline(stream, header);
  return header.find("orientation_") != std::string::npos ||
         header.find("rotation_vector_") != std::string::npos;
}

}  // namespace

GhostSource open_ghosts(const fs::path& file, const SceneModel& model) {
  const std::string extension = file.extension().string(), name = file.filename().string();
  if (extension == ".toml") return simulated_ghosts(file, model.model());
  const auto known = [](Ghosts ghosts) {
    return GhostSource{0, [ghosts = std::move(ghosts)](const std::function<bool(int)>&) { return ghosts; }};
  };
  if (extension == ".csv") {
    MeasurementSource source;
    source.file = file;
    source.kind = has_rotations(file) ? MeasurementSource::Kind::poses : MeasurementSource::Kind::positions;
    const std::vector<Measurement> measurements =
        read_measurements(source, model.model(), model.scene->initial.time);
    return known(measured_ghosts(model.model(), model.scene->initial, measurements, name));
  }
  return known(motion_ghosts(model.model(), recorded_states(file, model.model()), name));
}

}  // namespace abut::viewer
