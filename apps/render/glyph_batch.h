/// Glyphs of one shape, drawn at once.
#pragma once

#include <vector>

#include "apps/picture/glyph_list.h"
#include "apps/render/uploaded_mesh.h"

namespace abut {

/// One shape, and a buffer for all the glyphs that have it.
class GlyphBatch {
 public:
  explicit GlyphBatch(GlyphShape shape);
  void draw(const std::vector<Glyph>& glyphs, PendingTriangles& pending) const;

 private:
  UploadedMesh mesh_;
  Buffer glyphs_;
};

}  // namespace abut
