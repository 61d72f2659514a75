#include "apps/abut/canvas.h"

#include <stdexcept>

#ifdef ABUT_HAVE_RENDERER
#include "apps/render/headless_context.h"
#include "apps/render/renderer.h"
#endif

namespace abut {

#ifdef ABUT_HAVE_RENDERER

struct Canvas::Resources {
  Resources(int width, int height) : context(width, height) {}

  HeadlessContext context;
  Renderer renderer;
};

Canvas::Canvas(int width, int height) : resources_(std::make_unique<Resources>(width, height)) {}

Image Canvas::draw(std::span<const Picture> pictures) {
  auto& [context, renderer] = *resources_;
  const int count = static_cast<int>(pictures.size()), width = context.width(), height = context.height();
  for (int i = 0; i < count; ++i) {
    const int left = i * width / count, right = (i + 1) * width / count;
    renderer.draw(pictures[static_cast<std::size_t>(i)], {left, 0, right - left, height},
                  context.framebuffer());
  }
  require_no_gl_error("the picture");
  return read_pixels(width, height, context.framebuffer());
}

#else

struct Canvas::Resources {};

Canvas::Canvas(int, int) {
  throw std::runtime_error("this build has no renderer: configure it with -D ABUT_BUILD_VIEWER=ON");
}

Image Canvas::draw(std::span<const Picture>) { return {}; }

#endif

Canvas::~Canvas() = default;

}  // namespace abut
