/// The plan that a search has found, as files that other verbs open.
#pragma once

#include <filesystem>
#include <vector>

#include "apps/identification/experiment_io.h"
#include "apps/identification/unknown_space.h"

namespace abut {

/// Wrenches of steps as pushes: one for each run of steps in which a body feels the same, but none.
[[nodiscard]] std::vector<Push> pushes_of(const Controls& controls, double start_time, double time_step);

/// Commands of steps as tables: one for each motor that has any but zero, with a time at the start of each step in
/// which its command changes. The last is held beyond the last step.
///
/// @param controls  whose commands are those of motors_of(model), or none
[[nodiscard]] std::vector<CommandTable> commands_of(const Controls& controls, const Model& model,
                                                    double start_time, double time_step);

/// Writes of each motion at x the scene that is the plan, `best.toml`, and its trajectory, `best.npz`; those
/// of a second motion are called best_1, and so on. `abut run` of the scene repeats the trajectory. A motion
/// whose goals are all at the start has one state, and a scene of one step. Returns the names of the scenes.
/// Throws InputError.
std::vector<std::filesystem::path> write_plan(const ExperimentFile& file, const Eigen::VectorXd& x,
                                              const std::filesystem::path& folder);

}  // namespace abut
