/// What the glyphs of a picture mean: made along with them, so that it tells of nothing else.
#pragma once

#include <string>
#include <vector>

#include "apps/picture/colours.h"

namespace abut::viewer {

enum class LegendMark { none, ball, arrow, rod, disc, cone, scale };

struct LegendEntry {
  LegendMark mark = LegendMark::ball;
  Colour colour = Colour::Ones();
  std::string text;
  double length = 0.0;                      ///< of an arrow [points]; 0: of any
  Colour (*colour_at)(double x) = nullptr;  ///< of a scale, x from 0 to 1
  std::string low{}, high{};                ///< at the ends of a scale
};

/// One entry for each text, in the order of their first glyphs.
struct Legend {
  std::vector<LegendEntry> entries;

  void add(LegendEntry entry);
};

/// The nearest of 1, 2 and 5 times a power of ten that is not larger than a positive number.
[[nodiscard]] double round_down(double value);
/// The nearest one that is not smaller.
[[nodiscard]] double round_up(double value);

}  // namespace abut::viewer
