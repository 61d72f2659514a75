/// Colours of bodies in pictures.
#pragma once

#include <array>

namespace abut {

/// Orange, sky blue, bluish green, vermilion, reddish purple, yellow and blue (sRGB), which colour-blind people
/// can tell apart.
/// @see  Okabe and Ito (2008), "Color universal design".
inline constexpr std::array<std::array<int, 3>, 7> k_body_palette{{{230, 159, 0},
                                                                   {86, 180, 233},
                                                                   {0, 158, 115},
                                                                   {213, 94, 0},
                                                                   {204, 121, 167},
                                                                   {240, 228, 66},
                                                                   {0, 114, 178}}};

}  // namespace abut
