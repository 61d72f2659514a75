/// Scenes: a TOML file with settings, bodies, their initial state, and pairs. Every key:
/// docs/scene_format.md.
#pragma once

#include <filesystem>
#include <string>

#include "engine/config.h"
#include "engine/model.h"
#include "engine/state.h"

namespace abut {

struct Scene {
  std::string name;
  Model model;
  RunConfig config;
  State initial;
};

/// Throws InputError: "file:line: what is wrong (value), what is allowed; did you mean ...?". What it returns
/// is valid: every number finite but where the format allows inf, names unique, orientations of unit length.
[[nodiscard]] Scene read_scene(const std::filesystem::path& path);

}  // namespace abut
