/// Outlines of a picture.
#pragma once

#include "apps/render/scene_view.h"

namespace abut {

/// Dark lines where one thing ends in front of another, and along sharp edges, found from the depths of the
/// picture: of a plane they change evenly from pixel to pixel.
class OutlinePass {
 public:
  OutlinePass();
  void draw(const SceneView& scene, const TextureBuffer& depths) const;

 private:
  Program program_;
  VertexArray no_attributes_;
};

}  // namespace abut
