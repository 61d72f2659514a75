/// How a body is drawn. No result of a simulation depends on it.
#pragma once

#include <array>
#include <optional>
#include <string>

namespace abut {

/// Red, green and blue in [0, 1], as a screen has them (sRGB).
using Rgb = std::array<float, 3>;

struct Appearance {
  std::optional<Rgb> colour;  ///< none: a colour of the palette
  /// Path of the mesh that is drawn in place of the collision mesh, in the asset's frame A [m]; empty: none.
  std::string visual_mesh{};
  bool paints_visual_mesh = false;  ///< whether `colour` replaces the colours of the visual mesh's file
};

}  // namespace abut
