/// Colours as people see them: CIELAB, and a scale of colours that is even in it.
#pragma once

#include "apps/picture/colours.h"

namespace abut {

/// L*, a*, b* of a screen's colour (sRGB, white D65); its opacity does not count.
/// @see  IEC 61966-2-1 (sRGB); CIE 15:2004 (CIELAB)
[[nodiscard]] Vec3<double> to_lab(const Colour& colour);
/// The inverse, clamped to what a screen has.
[[nodiscard]] Colour from_lab(const Vec3<double>& lab);
/// A colour's share of light of each of the screen's primaries, and back.
[[nodiscard]] Vec3<double> to_linear(const Colour& colour);
[[nodiscard]] Colour from_linear(const Vec3<double>& light);

/// From dark violet at 0 over red to light yellow at 1, of a lightness that grows evenly; clamped.
[[nodiscard]] Colour heat_colour(double x);

}  // namespace abut
