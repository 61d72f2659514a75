/// A canvas for pictures, drawn without a display.
#pragma once

#include <memory>
#include <span>

#include "apps/picture/image.h"
#include "apps/picture/picture.h"

namespace abut {

class Canvas {
 public:
  /// Throws std::runtime_error saying what is missing where this machine, or this build, cannot draw.
  Canvas(int width, int height);
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  /// The pixels of pictures of equal width, from left to right. Throws std::runtime_error with OpenGL's
  /// errors.
  [[nodiscard]] Image draw(std::span<const Picture> pictures);

 private:
  struct Resources;
  std::unique_ptr<Resources> resources_;
};

}  // namespace abut
