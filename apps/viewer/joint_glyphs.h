/// Glyphs of a joint: where it is, along or about what it moves, and the bodies that it ties together.
#pragma once

#include "apps/picture/glyph_list.h"
#include "apps/viewer/simulation/frame.h"

namespace abut::viewer {

struct GlyphScale;

/// A ball at the joint's frame on body B, rods between its frames and the centres of its bodies, and of a
/// hinge or a slider an arrow along its axis.
void add_joint_glyphs(const Frame& frame, int joint, const GlyphScale& scale, GlyphList& glyphs);

}  // namespace abut::viewer
