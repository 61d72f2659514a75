/// Numbers of floors in a picture.
#pragma once

#include <string>
#include <vector>

#include "apps/picture/floor_grid.h"
#include "apps/render/scene_view.h"

namespace abut {

/// Text that stands upright where it belongs, in letters of one size; faint behind what is nearer.
class LabelPass {
 public:
  LabelPass();
  void draw(const SceneView& scene, const std::vector<GridLabel>& labels);

 private:
  void upload(const std::vector<GridLabel>& labels);
  void draw_all(const SceneView& scene, const std::vector<GridLabel>& labels, double opacity) const;

  Program program_;
  VertexArray no_attributes_;
  Texture letters_;
  std::vector<std::string> texts_;  // in the texture, from above
};

}  // namespace abut
