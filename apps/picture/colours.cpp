#include "apps/picture/colours.h"

#include <cmath>
#include <span>

#include "apps/picture/palette.h"

namespace abut {
namespace {

/// Between stops at equal steps from 0 to 1; NaN is the first.
Colour blend_of_stops(std::span<const Colour> stops, double x) {
  const auto last = static_cast<double>(stops.size() - 1);
  const double place = x > 0.0 ? std::fmin(x, 1.0) * last : 0.0;
  const double first = std::fmin(std::floor(place), last - 1.0);
  const auto t = static_cast<float>(place - first);
  const auto i = static_cast<std::size_t>(first);
  return (1.0f - t) * stops[i] + t * stops[i + 1];
}

}  // namespace

Colour body_colour(int body) {
  const auto& [r, g, b] =
      k_body_palette[static_cast<std::size_t>(body < 0 ? 0 : body) % k_body_palette.size()];
  return rgb(r, g, b);
}

Colour sequential_colour(double x) {
  static const std::array<Colour, 9> k_stops{rgb(68, 1, 84),    rgb(71, 44, 122),  rgb(59, 81, 139),
                                             rgb(44, 113, 142), rgb(33, 144, 141), rgb(39, 173, 129),
                                             rgb(92, 200, 99),  rgb(170, 220, 50), rgb(253, 231, 37)};
  return blend_of_stops(k_stops, x);
}

Colour diverging_colour(double x) {
  static const std::array<Colour, 5> k_stops{rgb(8, 72, 138), rgb(84, 155, 209), rgb(244, 243, 240),
                                             rgb(240, 163, 84), rgb(190, 80, 0)};
  return blend_of_stops(k_stops, std::isnan(x) ? 0.5 : 0.5 + 0.5 * x);
}

}  // namespace abut
