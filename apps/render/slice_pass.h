/// The slice through a picture.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/picture/slice.h"
#include "apps/render/gl_objects.h"
#include "apps/render/scene_view.h"

namespace abut {

class SlicePass {
 public:
  SlicePass();
  void draw(const SceneView& scene, const SlicePicture& picture);

 private:
  void upload(const SlicePicture& picture);

  Program program_;
  VertexArray no_attributes_;
  Texture image_;
  std::vector<std::uint8_t> pixels_;  // what it shows: a slice is the same in many pictures
};

}  // namespace abut
