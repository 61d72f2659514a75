/// Glyphs of a picture.
#pragma once

#include <array>

#include "apps/render/glyph_batch.h"
#include "apps/render/scene_view.h"

namespace abut {

class GlyphPass {
 public:
  GlyphPass();
  void draw(const SceneView& scene, const GlyphList& list) const;

 private:
  Program program_;
  std::array<GlyphBatch, k_glyph_shapes> batches_;
};

}  // namespace abut
