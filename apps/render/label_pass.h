/// Numbers of floors in a picture.
#pragma once

#include <string>
#include <vector>

#include "apps/picture/floor_grid.h"
#include "apps/render/scene_view.h"

namespace abut {

/// Text that stands upright where it belongs, in letters of one size; left out where it would cover a body,
/// or a body it.
class LabelPass {
 public:
  LabelPass();
  /// Whether a picture of so many pixels is high enough for numbers.
  [[nodiscard]] static bool has_room(int height);
  /// @param body_depths  of the picture's bodies alone, seen through or not
  void draw(const SceneView& scene, const std::vector<GridLabel>& labels, const TextureBuffer& body_depths);

 private:
  struct Text {
    std::string words;
    int width = 0, height = 0, first_row = 0;  // in the texture [pixels]
  };
  void upload(const std::vector<GridLabel>& labels, double letter_height);

  Program program_;
  VertexArray no_attributes_;
  Texture letters_;
  std::vector<Text> texts_;  // in the texture, from above
  double letter_height_ = 0.0;
};

}  // namespace abut
