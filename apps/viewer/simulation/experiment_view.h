/// Experiments of `abut identify` and `abut optimize`, to be looked at: a motion of theirs as a scene, and
/// what was measured or is wanted of it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/identification/experiment.h"
#include "engine/scene.h"

namespace abut::viewer {

/// Which values unknowns have.
enum class UnknownValues { guesses, estimates, truth };

/// What is to be seen of an experiment.
struct ExperimentChoice {
  std::filesystem::path file;
  std::filesystem::path result;  ///< result.json with estimates; may be empty
  std::string motion;            ///< its name, also without extension, or its number from 0; empty: the first
  UnknownValues values = UnknownValues::guesses;
};

struct ExperimentView {
  struct Row {
    std::string name, unit;  ///< of an unknown, or a component of an orientation
    double guess = 0;
    std::optional<double> estimate, truth;
  };
  ExperimentChoice choice;
  std::string name;
  std::vector<std::string> motions;  ///< their names
  int motion = 0;                    ///< of these
  int steps = 0;                     ///< of the motion
  std::shared_ptr<const MeasuredMotion> measured;
  std::vector<Row> unknowns;  ///< of the motion
  bool has_truth = false;
};

struct ExperimentScene {
  std::filesystem::path scene_file;
  Scene scene;  ///< with the values of the unknowns, the motion's settings, and pushes for unknown controls
  ExperimentView view;
};

/// Whether a .toml file is an experiment rather than a scene. A file that cannot be read is none.
[[nodiscard]] bool is_experiment(const std::filesystem::path& file);

/// Throws InputError, as read_experiment(): "file:line: what is wrong".
[[nodiscard]] ExperimentScene read_experiment_scene(const ExperimentChoice& choice);

}  // namespace abut::viewer
