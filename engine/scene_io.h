/// Scene files: TOML with settings, bodies, their initial state, and pairs. Every key: docs/scene_format.md.
#pragma once

#include <string>

#include "engine/scene.h"
#include "engine/shape_surface.h"

namespace abut {

/// Throws InputError: "file:line: what is wrong (value), what is allowed; did you mean ...?". What it returns
/// is valid: every number finite but where the format allows inf, names unique, orientations of unit length.
///
/// @param make_surface  for bodies without a mesh, see read_body()
[[nodiscard]] Scene read_scene(const std::string& path, const SurfaceMaker& make_surface = {});

}  // namespace abut
