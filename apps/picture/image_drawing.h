/// Rectangles and lettering on pixels. Places are in pixels from the upper left corner, y downwards.
#pragma once

#include <string_view>

#include "apps/picture/colours.h"
#include "apps/picture/image.h"

namespace abut {

/// A picture of one colour.
[[nodiscard]] Image blank_image(int width, int height, const Colour& colour);

/// Copies `part` to (x, y), as far as it lies in `image`.
void paste(Image& image, int x, int y, const Image& part);

/// Fills a rectangle, as far as it lies in the picture.
void fill_rectangle(Image& image, int x, int y, int width, int height, const Colour& colour);

/// Height of capital letters and figures, and width of a text, in pixels.
[[nodiscard]] int text_height();
[[nodiscard]] int text_width(std::string_view text);

/// Writes a line with the upper left corner of its capitals at (x, y). Characters beyond ASCII appear as '?'.
void draw_text(Image& image, int x, int y, std::string_view text, const Colour& colour);

}  // namespace abut
