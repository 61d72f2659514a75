/// Curves with axes, drawn by ImGui's lists of lines.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/picture/colours.h"

namespace abut::viewer {

struct PlotOptions {
  const char* title = "";
  const char* unit = "";  ///< of y
  const char* x_unit = "s";
  double scale = 1.0;              ///< of y, so that e.g. metres are shown in millimetres
  bool logarithmic = false;        ///< y; what is <= 0 is left out
  bool from_zero = false;          ///< the axis of y begins at 0
  float height = 6.0f;             ///< in lines of text, without the title
  std::optional<double> cursor{};  ///< a line at this x, with the value there in the title
  Colour colour = rgb(86, 180, 233);
  std::span<const float> second{};  ///< another curve over the same x; may be empty
  Colour second_colour = rgb(230, 159, 0);
};

/// A plot as wide as the window. Returns the x where the user presses or drags the mouse, if so. x ascends;
/// both have the same length.
std::optional<double> plot(const char* id, std::span<const float> x, std::span<const float> y,
                           const PlotOptions& options);

}  // namespace abut::viewer
