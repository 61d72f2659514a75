/// Ghosts from files.
#pragma once

#include <filesystem>

#include "apps/viewer/simulation/ghosts.h"
#include "apps/viewer/simulation/scene_model.h"

namespace abut::viewer {

/// Of a trajectory of the scene (.npz), of another scene of the same bodies, which is simulated (.toml), or
/// of a table of measured poses or positions (.csv). Throws InputError.
[[nodiscard]] Ghosts read_ghosts(const std::filesystem::path& file, const SceneModel& model);

}  // namespace abut::viewer
