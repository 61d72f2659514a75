/// Curves with axes, drawn by ImGui's lists of lines.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/viewer/picture/colours.h"

namespace abut::viewer {

/// At most about `most` round numbers (1, 2 or 5 times a power of ten apart) within [lowest, highest]; powers
/// of ten of a logarithmic axis, whose bounds are > 0. None if the bounds are not finite or not in this
/// order.
[[nodiscard]] std::vector<double> axis_ticks(double lowest, double highest, int most,
                                             bool logarithmic = false);

/// A tick as short as tells it from its neighbours, `spacing` away.
[[nodiscard]] std::string tick_text(double tick, double spacing);

/// A curve thinned to what a plot of that many pixels can show: the first and last sample, and the least and
/// largest of each pixel column. Where a value is not finite the curve is broken. Indices into the samples,
/// ascending.
[[nodiscard]] std::vector<std::size_t> visible_samples(std::span<const float> x, std::span<const float> y,
                                                       int pixels);

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
};

/// A plot as wide as the window. Returns the x where the user presses or drags the mouse, if so. x ascends;
/// both have the same length.
std::optional<double> plot(const char* id, std::span<const float> x, std::span<const float> y,
                           const PlotOptions& options);

}  // namespace abut::viewer
