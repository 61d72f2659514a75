#include "apps/render/renderer.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <epoxy/gl.h>
#include <spdlog/fmt/fmt.h>

#include "apps/render/background_pass.h"
#include "apps/render/floor_pass.h"
#include "apps/render/glyph_pass.h"
#include "apps/render/label_pass.h"
#include "apps/render/occlusion_pass.h"
#include "apps/render/outline_pass.h"
#include "apps/render/slice_pass.h"
#include "apps/render/surface_pass.h"

namespace abut {
namespace {

constexpr int k_wanted_samples = 4;

int allowed_samples() {
  GLint most = 0;
  glGetIntegerv(GL_MAX_SAMPLES, &most);
  return std::min(k_wanted_samples, static_cast<int>(most));
}

}  // namespace

struct Renderer::Resources {
  DrawingBuffer samples{allowed_samples(), true}, resolved{0, false};
  // One sample of each pixel.
  TextureBuffer depths{TextureBuffer::Content::depth}, body_depths{TextureBuffer::Content::depth};
  SurfaceStore store;
  ShadowMap shadows;
  BackgroundPass background;
  SurfacePass surfaces;
  FloorPass floors;
  OcclusionPass occlusion;
  OutlinePass outlines;
  LabelPass labels;
  GlyphPass glyphs;
  SlicePass slice;

  void draw(const Picture& picture, int width, int height);
  void draw_post_passes(const Picture& picture, const SceneView& scene);
  /// Leaves the framebuffer of samples bound.
  void copy_depths(GLuint from, TextureBuffer& to, const SceneView& scene) const;
};

// The order is that of who may be seen through whom: what is opaque and what is made of its depths, the
// floor's numbers, what is seen through, and glyphs that must be seen anyway: faintly, as if nothing else
// were there, and again, where nothing hides them.
void Renderer::Resources::draw(const Picture& picture, int width, int height) {
  const SceneView scene(picture.camera, width, height);
  store.forget_unowned();

  // Whoever drew before may have left anything.
  for (const GLenum off :
       {GL_SCISSOR_TEST, GL_STENCIL_TEST, GL_FRAMEBUFFER_SRGB, GL_CULL_FACE, GL_DEPTH_TEST, GL_BLEND,
        GL_PRIMITIVE_RESTART, GL_COLOR_LOGIC_OP, GL_DEPTH_CLAMP, GL_RASTERIZER_DISCARD, GL_SAMPLE_COVERAGE,
        GL_SAMPLE_MASK, GL_SAMPLE_ALPHA_TO_COVERAGE, GL_POLYGON_OFFSET_FILL}) {
    glDisable(off);
  }
  glEnable(GL_MULTISAMPLE);
  glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
  glDepthMask(GL_TRUE);
  glDepthFunc(GL_LEQUAL);
  glClearDepth(1.0);
  glBlendEquation(GL_FUNC_ADD);
  glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
  glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
  glFrontFace(GL_CCW);
  glLineWidth(1.0f);

  shadows.clear();
  if (picture.look.quality == Quality::full) {
    glEnable(GL_DEPTH_TEST);
    shadows.draw(scene, SurfacePass::casters(picture, store), store);
    glDisable(GL_DEPTH_TEST);
  }
  glBindFramebuffer(GL_FRAMEBUFFER, samples.name());
  glViewport(0, 0, width, height);
  glClear(GL_DEPTH_BUFFER_BIT);
  background.draw(scene);  // software renderers compare depths sample by sample: it is first, without
  glEnable(GL_DEPTH_TEST);
  surfaces.draw_opaque(scene, picture, store, shadows);
  std::vector<GridLabel> numbers;
  for (const DrawnFloor& floor : picture.floors) {
    if (!LabelPass::has_room(height)) break;
    const std::vector<GridLabel> of_floor =
        grid_labels(floor_grid(floor, picture.camera), picture.camera, static_cast<double>(width) / height);
    numbers.insert(numbers.end(), of_floor.begin(), of_floor.end());
  }
  const bool sees_through = std::any_of(picture.surfaces.begin(), picture.surfaces.end(),
                                        [](const DrawnSurface& drawn) { return drawn.colour.w() < 1.0f; });
  if (!numbers.empty() && !sees_through) copy_depths(samples.name(), body_depths, scene);
  if (!numbers.empty() && sees_through) {
    glBindFramebuffer(GL_FRAMEBUFFER, samples.name_with_second_depth());
    glClear(GL_DEPTH_BUFFER_BIT);
    surfaces.draw_depths(scene, picture, store);
    copy_depths(samples.name_with_second_depth(), body_depths, scene);
  }
  floors.draw(scene, picture, shadows, true);
  draw_post_passes(picture, scene);
  glEnable(GL_BLEND);
  labels.draw(scene, numbers, body_depths);
  glyphs.draw(scene, picture.glyphs, store.pending());
  surfaces.draw_wireframes(scene, picture, store, shadows);
  floors.draw(scene, picture, shadows, false);
  if (picture.slice && picture.slice->resolution > 0) slice.draw(scene, *picture.slice);
  surfaces.draw_translucent(scene, picture, store, shadows);
  glBindFramebuffer(GL_FRAMEBUFFER, samples.name_with_second_depth());
  glClear(GL_DEPTH_BUFFER_BIT);
  glDepthMask(GL_FALSE);
  surfaces.draw_painted(scene, picture.see_through_surfaces, store);
  glyphs.draw(scene, picture.see_through_glyphs, store.pending());
  glDepthMask(GL_TRUE);
  glyphs.draw_faintly(scene, picture.glyphs_on_top, store.pending());
  glBindFramebuffer(GL_FRAMEBUFFER, samples.name());
  glyphs.draw(scene, picture.glyphs_on_top, store.pending());
  glDisable(GL_BLEND);
  glDisable(GL_DEPTH_TEST);
  glBindVertexArray(0);
  glBindBuffer(GL_ARRAY_BUFFER, 0);
  glUseProgram(0);
}

void Renderer::Resources::draw_post_passes(const Picture& picture, const SceneView& scene) {
  const bool is_full = picture.look.quality == Quality::full;
  if (!is_full && !picture.look.outlines) return;
  copy_depths(samples.name(), depths, scene);
  if (is_full) occlusion.draw(scene, depths, samples.name());
  if (picture.look.outlines) outlines.draw(scene, depths);
}

void Renderer::Resources::copy_depths(GLuint from, TextureBuffer& to, const SceneView& scene) const {
  to.resize(scene.width, scene.height);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to.framebuffer());
  glBlitFramebuffer(0, 0, scene.width, scene.height, 0, 0, scene.width, scene.height, GL_DEPTH_BUFFER_BIT,
                    GL_NEAREST);
  glBindFramebuffer(GL_FRAMEBUFFER, samples.name());
}

Renderer::Renderer() : resources_(std::make_unique<Resources>()) {}
Renderer::~Renderer() = default;

// By way of a framebuffer with one sample a pixel, as samples may be resolved only into the same format and
// place.
void Renderer::draw(const Picture& picture, const Viewport& viewport, unsigned target) {
  const int width = viewport.width, height = viewport.height;
  if (width <= 0 || height <= 0) {
    resources_->store.forget_unowned();
    return;
  }
  resources_->samples.resize(width, height);
  resources_->resolved.resize(width, height);
  resources_->draw(picture, width, height);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, resources_->samples.name());
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, resources_->resolved.name());
  glBlitFramebuffer(0, 0, width, height, 0, 0, width, height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, resources_->resolved.name());
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, target);
  glBlitFramebuffer(0, 0, width, height, viewport.x, viewport.y, viewport.x + width, viewport.y + height,
                    GL_COLOR_BUFFER_BIT, GL_NEAREST);
  glBindFramebuffer(GL_FRAMEBUFFER, target);
  glViewport(viewport.x, viewport.y, width, height);
}

Image read_pixels(int width, int height, unsigned framebuffer) {
  Image image{width, height, {}};
  if (width <= 0 || height <= 0) return {};
  const std::size_t row = 3 * static_cast<std::size_t>(width);
  std::vector<std::uint8_t> from_below(row * static_cast<std::size_t>(height));
  glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  for (const GLenum pack : {GL_PACK_ROW_LENGTH, GL_PACK_SKIP_ROWS, GL_PACK_SKIP_PIXELS})
    glPixelStorei(pack, 0);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, from_below.data());
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  image.pixels.reserve(from_below.size());
  for (int y = height - 1; y >= 0; --y) {
    const auto begin = from_below.begin() + static_cast<std::ptrdiff_t>(row) * y;
    image.pixels.insert(image.pixels.end(), begin, begin + static_cast<std::ptrdiff_t>(row));
  }
  return image;
}

void require_no_gl_error(const char* where) {
  const auto name = [](GLenum error) -> std::string {
    switch (error) {
      case GL_INVALID_ENUM:
        return "invalid enum";
      case GL_INVALID_VALUE:
        return "invalid value";
      case GL_INVALID_OPERATION:
        return "invalid operation";
      case GL_INVALID_FRAMEBUFFER_OPERATION:
        return "invalid framebuffer operation";
      case GL_OUT_OF_MEMORY:
        return "out of memory";
      default:
        return fmt::format("error {:#x}", error);
    }
  };
  constexpr int k_most = 16;  // a lost context has errors without end
  std::string errors;
  for (int i = 0; i < k_most; ++i) {
    const GLenum error = glGetError();
    if (error == GL_NO_ERROR) break;
    errors += (errors.empty() ? "" : ", ") + name(error);
  }
  if (!errors.empty()) throw std::runtime_error(fmt::format("OpenGL, {}: {}", where, errors));
}

}  // namespace abut
