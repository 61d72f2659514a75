/// Numbers with units, drawn by strokes: smooth at any size, and the same on every machine.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace abut {

/// A line of text in pixels, rows from the top: how much of each is ink, and how much is ink or the rim
/// around it, from 0 to 255.
struct StrokeText {
  int width = 0, height = 0;
  std::vector<std::uint8_t> ink, rim;
};

/// Letters other than figures, signs, and those of lengths along x and y ("x -0.25 mm") are left blank.
///
/// @param cap_height  of figures [pixels], > 0
/// @see  A. V. Hershey (1967), "Calligraphy for computers", U.S. National Bureau of Standards: Roman simplex.
[[nodiscard]] StrokeText stroke_text(std::string_view text, double cap_height);

}  // namespace abut
