/// Places for labels in a picture, clear of each other.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "apps/viewer/layout.h"
#include "engine/types.h"

namespace abut::viewer {

struct LabelRequest {
  Vec2<double> anchor = Vec2<double>::Zero();      ///< what it belongs to [points of the window]
  Vec2<double> direction = Vec2<double>::UnitX();  ///< in which it had best lie from there
  float width = 0, height = 0;
  double priority = 0;  ///< those of more are placed first
};

/// A line that labels had better not cover.
struct ScreenSegment {
  Vec2<double> from, to;
};

/// The point of a line within `area` that is nearest to its end; none if all of it lies outside.
[[nodiscard]] std::optional<Vec2<double>> visible_end(const ScreenSegment& line, const Rectangle& area);

/// Of each request its place within `bounds`, as near its anchor as it finds room; none where there is no
/// room for it. No two places overlap, nor does any with `taken`.
[[nodiscard]] std::vector<std::optional<Rectangle>> place_labels(std::span<const LabelRequest> requests,
                                                                 const Rectangle& bounds,
                                                                 std::vector<Rectangle> taken,
                                                                 std::span<const ScreenSegment> lines);

[[nodiscard]] bool intersect(const Rectangle& a, const Rectangle& b);

}  // namespace abut::viewer
