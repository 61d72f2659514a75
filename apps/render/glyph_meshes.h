/// The shapes of glyphs as triangles: few, as there are hundreds of glyphs in a picture.
#pragma once

#include "apps/picture/glyph_list.h"
#include "apps/picture/surface.h"

namespace abut {

/// In the frame of Glyph, oriented outwards; the disc's only side is that of +z.
[[nodiscard]] Surface glyph_mesh(GlyphShape shape);

}  // namespace abut
