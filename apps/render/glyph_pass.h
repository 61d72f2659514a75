/// Glyphs of a picture.
#pragma once

#include <array>

#include "apps/render/glyph_batch.h"
#include "apps/render/scene_view.h"

namespace abut {

class GlyphPass {
 public:
  GlyphPass();
  /// As solid bodies.
  void draw(const SceneView& scene, const GlyphList& list, PendingTriangles& pending) const;
  /// Faintly, as if nothing but they were there. Needs a depth buffer that is clear, which it fills.
  void draw_faintly(const SceneView& scene, const GlyphList& list, PendingTriangles& pending) const;

 private:
  void draw_batches(const SceneView& scene, const GlyphList& list, double opacity,
                    PendingTriangles& pending) const;

  Program program_;
  std::array<GlyphBatch, k_glyph_shapes> batches_;
};

}  // namespace abut
