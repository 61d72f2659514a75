/// The background of a picture.
#pragma once

#include "apps/render/gl_objects.h"
#include "apps/render/scene_view.h"

namespace abut {

/// Sets what the background's part of a shader needs (shaders::k_background).
void set_background(const Program& program, const SceneView& scene);

/// Where nothing else has been drawn.
class BackgroundPass {
 public:
  BackgroundPass();
  void draw(const SceneView& scene) const;

 private:
  Program program_;
  VertexArray no_attributes_;
};

}  // namespace abut
