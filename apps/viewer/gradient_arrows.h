/// Arrows of a gradient, and where their numbers stand in the picture.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/picture/colours.h"
#include "apps/viewer/layout.h"
#include "apps/viewer/picture_maker.h"

namespace abut::viewer {

/// dL/d(initial position, initial velocity or force in the step that is shown) of a moving body.
struct GradientArrow {
  int body = -1;
  Vec3<double> from_W, to_W;
  double radius = 0.0;  ///< [m]
  Colour colour;
  double share = 0.0;  ///< of the longest of its kind
  std::string label;   ///< "dL/dv 0.31 m/(m/s)"
};

/// At where bodies are in the frame, side by side; the longest of each kind is k_largest_length times `size`
/// long. Forces only where the frame shows one of the gradient's steps. None of a gradient of other bodies.
[[nodiscard]] std::vector<GradientArrow> gradient_arrows(const Frame& frame, const GradientResult& result,
                                                         double size, const GlyphScale& scale);

/// The arrows whose numbers are shown: those of the selected body first, then the longest, as many as can be
/// read.
[[nodiscard]] std::vector<const GradientArrow*> labelled_arrows(std::span<const GradientArrow> arrows,
                                                                int selected_body);

/// A place for each label, of the given sizes, beside its point: inside the area, and overlapping no other
/// where there is room.
///
/// @param points, sizes  of the same length
[[nodiscard]] std::vector<Rectangle> place_labels(std::span<const Vec2<double>> points,
                                                  std::span<const Vec2<double>> sizes, const Rectangle& area);

}  // namespace abut::viewer
