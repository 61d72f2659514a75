/// OpenGL without a display: EGL on no surface at all, and a framebuffer to draw into.
#pragma once

#include <memory>

namespace abut {

/// An OpenGL 3.3 core context that is current in this thread, with a framebuffer object (RGBA, 8 bits, with
/// depth) of a size that can change.
class HeadlessContext {
 public:
  /// Throws std::runtime_error saying what is missing: no EGL, no platform without surfaces, no OpenGL 3.3.
  HeadlessContext(int width, int height);
  ~HeadlessContext();
  HeadlessContext(const HeadlessContext&) = delete;
  HeadlessContext& operator=(const HeadlessContext&) = delete;

  void resize(int width, int height);
  [[nodiscard]] int width() const;
  [[nodiscard]] int height() const;
  [[nodiscard]] unsigned framebuffer() const;

 private:
  struct Resources;
  std::unique_ptr<Resources> resources_;
};

}  // namespace abut
