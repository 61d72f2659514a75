/// Scenes of the repository by their names.
#pragma once

#include <string>

namespace abut::viewer {

inline std::string scene_file(const std::string& name) {
  return ABUT_SOURCE_DIR "/assets/scenes/" + name + ".toml";
}

}  // namespace abut::viewer
