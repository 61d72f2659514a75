/// Ghosts from files.
#pragma once

#include <filesystem>
#include <functional>

#include "apps/viewer/simulation/ghosts.h"
#include "apps/viewer/simulation/scene_model.h"

namespace abut::viewer {

/// A file of ghosts that has been read.
struct GhostSource {
  int steps = 0;  ///< that are still to be simulated; 0: none
  /// The ghosts; they end where `may_go_on` says no, which is asked after each step with the number of those
  /// done. Throws InputError if a step fails.
  std::function<Ghosts(const std::function<bool(int done)>& may_go_on)> make;
};

/// Of a trajectory of the scene (.npz), of another scene of the same bodies, which is simulated (.toml), or
/// of a table of measured poses or positions (.csv). Throws InputError.
[[nodiscard]] GhostSource open_ghosts(const std::filesystem::path& file, const SceneModel& model);
/// All of them at once.
[[nodiscard]] inline Ghosts read_ghosts(const std::filesystem::path& file, const SceneModel& model) {
  return open_ghosts(file, model).make([](int) { return true; });
}

}  // namespace abut::viewer
