/// Floors of a picture.
#pragma once

#include "apps/picture/picture.h"
#include "apps/render/shadow_map.h"

namespace abut {

class FloorPass {
 public:
  FloorPass();
  /// @param from_above  those that the camera sees from above, else those that it sees through from below
  void draw(const SceneView& scene, const Picture& picture, const ShadowMap& shadows, bool from_above) const;

 private:
  Program shaded_, unshaded_;
  VertexArray no_attributes_;
};

}  // namespace abut
