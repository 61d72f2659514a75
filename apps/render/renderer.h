/// Pictures of the world by OpenGL 3.3 core.
#pragma once

#include <memory>

#include "apps/picture/image.h"
#include "apps/picture/picture.h"

namespace abut {

/// A part of the framebuffer [pixels], its origin at the lower left.
struct Viewport {
  int x = 0, y = 0, width = 0, height = 0;
};

/// Needs a current OpenGL 3.3 context as long as it lives. Keeps what it has uploaded of a Surface until the
/// last owner but itself lets go of it.
class Renderer {
 public:
  /// Throws std::runtime_error with the compiler's words if a shader does not compile.
  Renderer();
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  /// Draws into a part of the framebuffer `target` (0: the window's), edges smoothed by 4 samples a pixel. An
  /// empty viewport is no error.
  void draw(const Picture& picture, const Viewport& viewport, unsigned target = 0);

 private:
  struct Resources;
  std::unique_ptr<Resources> resources_;
};

/// The pixels of a framebuffer (0: the window's back buffer).
[[nodiscard]] Image read_pixels(int width, int height, unsigned framebuffer = 0);

/// Throws std::runtime_error naming `where` and the errors if OpenGL has noted any since the last call.
void require_no_gl_error(const char* where);

}  // namespace abut
