/// Arrows of a gradient, and their numbers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/picture/colours.h"
#include "apps/viewer/contact_glyphs.h"
#include "apps/viewer/simulation/gradient_job.h"

namespace abut::viewer {

/// dL/d(initial position, initial velocity or force in the step that is shown) of a moving body.
struct GradientArrow {
  int body = -1;
  Vec3<double> from_W, to_W;
  double radius = 0.0;  ///< [m]
  Colour colour;
  double share = 0.0;          ///< of the longest of its kind
  double value = 0.0;          ///< length of the derivative
  double points_per_unit = 0;  ///< length of the arrow in the picture, by the value [points]
  std::string unit;            ///< of the value
  std::string label;           ///< "dL/dv 0.31 m/(m/s)"
  std::string meaning{};       ///< "dL/dv by initial velocity"
};

/// At where bodies are in the frame, side by side; the longest of each kind is k_largest_length times `size`
/// long. Forces only where the frame shows one of the gradient's steps. None of a gradient of other bodies.
[[nodiscard]] std::vector<GradientArrow> gradient_arrows(const Frame& frame, const GradientResult& result,
                                                         double size, const GlyphScale& scale);

/// The arrows whose numbers are shown: those of the selected body first, then the longest, as many as can be
/// read.
[[nodiscard]] std::vector<const GradientArrow*> labelled_arrows(std::span<const GradientArrow> arrows,
                                                                int selected_body);

}  // namespace abut::viewer
