/// Ambient occlusion of a picture.
#pragma once

#include "apps/render/scene_view.h"

namespace abut {

/// Less light from all sides where surfaces are close to each other, found from the depths of the picture.
/// @see  McGuire, Mara and Luebke (2012), "Scalable ambient obscurance".
class OcclusionPass {
 public:
  OcclusionPass();
  /// Darkens the framebuffer `target`, which it leaves bound.
  void draw(const SceneView& scene, const TextureBuffer& depths, GLuint target);

 private:
  Program occlusion_, darken_;
  TextureBuffer result_{TextureBuffer::Content::grey};
  VertexArray no_attributes_;
};

}  // namespace abut
