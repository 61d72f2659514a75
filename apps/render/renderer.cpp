#include "apps/render/renderer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include <epoxy/gl.h>
#include <spdlog/fmt/fmt.h>

#include "apps/render/gl_objects.h"
#include "apps/render/glyph_meshes.h"
#include "apps/render/shaders.h"
#include "engine/check.h"

namespace abut {
namespace {

constexpr int k_wanted_samples = 4;
constexpr double k_floor_radius = 9.0;       // in distances of the camera from the floor's middle
constexpr double k_floor_square = 0.16;      // width of its squares; the power of ten below is taken
constexpr double k_floor_from_below = 0.25;  // its opacity to who looks from inside of its solid
const Colour k_floor_light = rgb(138, 146, 156), k_floor_dark = rgb(119, 127, 138);

Mat4<double> matrix_of(const Pose<double>& X) {
  Mat4<double> matrix = Mat4<double>::Identity();
  matrix.topLeftCorner<3, 3>() = X.rotation();
  matrix.topRightCorner<3, 1>() = X.p;
  return matrix;
}

/// A pointer to a place in the buffer that is bound, as OpenGL has wanted it since it had no buffers.
const void* offset(std::size_t bytes) {
  return reinterpret_cast<const void*>(bytes);  // NOLINT(performance-no-int-to-ptr)
}

int allowed_samples() {
  GLint most = 0;
  glGetIntegerv(GL_MAX_SAMPLES, &most);
  return std::min(k_wanted_samples, static_cast<int>(most));
}

/// Triangles that OpenGL keeps: positions, normals and, if there are any, colours one after the other.
class UploadedMesh {
 public:
  explicit UploadedMesh(const Surface& surface)
      : index_count_(static_cast<GLsizei>(surface.triangles.size())),
        has_colours_(!surface.colours.empty()),
        two_sided_(surface.two_sided) {
    const std::size_t count = surface.positions.size();
    ABUT_ASSERT(surface.normals.size() == count && (!has_colours_ || surface.colours.size() == count));
    const std::size_t positions = count * sizeof(Eigen::Vector3f), normals = positions,
                      colours = has_colours_ ? count * sizeof(Colour) : 0;
    glBindVertexArray(array_.name());
    glBindBuffer(GL_ARRAY_BUFFER, vertices_.name());
    glBufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(positions + normals + colours), nullptr,
                 GL_STATIC_DRAW);
    const auto fill = [](std::size_t at, std::size_t bytes, const void* data) {
      if (bytes > 0)
        glBufferSubData(GL_ARRAY_BUFFER, static_cast<GLintptr>(at), static_cast<GLsizeiptr>(bytes), data);
    };
    fill(0, positions, surface.positions.data());
    fill(positions, normals, surface.normals.data());
    fill(positions + normals, colours, surface.colours.data());
    const auto attribute = [](GLuint location, GLint size, std::size_t at) {
      glEnableVertexAttribArray(location);
      glVertexAttribPointer(location, size, GL_FLOAT, GL_FALSE, 0, offset(at));
    };
    attribute(0, 3, 0);
    attribute(1, 3, positions);
    if (has_colours_) attribute(2, 4, positions + normals);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, indices_.name());
    glBufferData(GL_ELEMENT_ARRAY_BUFFER,
                 static_cast<GLsizeiptr>(surface.triangles.size() * sizeof(std::uint32_t)),
                 surface.triangles.data(), GL_STATIC_DRAW);
    Eigen::AlignedBox3f box;
    for (const Eigen::Vector3f& position : surface.positions) box.extend(position);
    if (!box.isEmpty()) centre_ = box.center().cast<double>();
  }

  [[nodiscard]] const Vec3<double>& centre() const { return centre_; }
  [[nodiscard]] bool has_colours() const { return has_colours_; }
  [[nodiscard]] bool two_sided() const { return two_sided_; }
  [[nodiscard]] const VertexArray& array() const { return array_; }
  [[nodiscard]] GLsizei index_count() const { return index_count_; }

  void draw() const {
    glBindVertexArray(array_.name());
    glDrawElements(GL_TRIANGLES, index_count_, GL_UNSIGNED_INT, nullptr);
  }

 private:
  VertexArray array_;
  Buffer vertices_, indices_;
  GLsizei index_count_;
  bool has_colours_, two_sided_;
  Vec3<double> centre_ = Vec3<double>::Zero();  // of a box around it
};

/// The surfaces that have been drawn, as long as somebody owns them.
class SurfaceStore {
 public:
  /// To be called before a picture is drawn: an address may have a new owner afterwards.
  void forget_unowned() {
    std::erase_if(meshes_, [](const auto& entry) { return entry.second.surface.expired(); });
  }
  const UploadedMesh& mesh_of(const SharedSurface& surface) {
    const auto found = meshes_.find(surface.get());
    if (found != meshes_.end()) return found->second.mesh;
    return meshes_.emplace(surface.get(), Entry{surface, UploadedMesh(*surface)}).first->second.mesh;
  }

 private:
  struct Entry {
    std::weak_ptr<const Surface> surface;
    UploadedMesh mesh;
  };
  std::unordered_map<const Surface*, Entry> meshes_;
};

/// One shape, and a buffer for all the glyphs that have it.
class GlyphBatch {
 public:
  explicit GlyphBatch(GlyphShape shape) : mesh_(glyph_mesh(shape)) {
    glBindVertexArray(mesh_.array().name());
    glBindBuffer(GL_ARRAY_BUFFER, glyphs_.name());
    const auto attribute = [](GLuint location, GLint size, std::size_t floats_before) {
      glEnableVertexAttribArray(location);
      glVertexAttribPointer(location, size, GL_FLOAT, GL_FALSE, sizeof(Glyph),
                            offset(floats_before * sizeof(float)));
      glVertexAttribDivisor(location, 1);
    };
    attribute(2, 3, 0);
    attribute(3, 3, 3);
    attribute(4, 3, 6);
    attribute(5, 3, 9);
    attribute(6, 4, 12);
  }

  void draw(const std::vector<Glyph>& glyphs) const {
    if (glyphs.empty()) return;
    glBindBuffer(GL_ARRAY_BUFFER, glyphs_.name());
    glBufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(glyphs.size() * sizeof(Glyph)), glyphs.data(),
                 GL_STREAM_DRAW);
    glBindVertexArray(mesh_.array().name());
    glDrawElementsInstanced(GL_TRIANGLES, mesh_.index_count(), GL_UNSIGNED_INT, nullptr,
                            static_cast<GLsizei>(glyphs.size()));
  }

 private:
  UploadedMesh mesh_;
  Buffer glyphs_;
};

/// Offset of a point in a checker pattern, in squares, where a float still has digits: modulo 2.
Vec2<double> pattern_offset(const Vec3<double>& p_P, double square) {
  return {std::fmod(p_P.x() / square, 2.0), std::fmod(p_P.y() / square, 2.0)};
}

}  // namespace

struct Renderer::Resources {
  Program background{"background", shaders::k_background_vertex, shaders::k_background_fragment};
  Program surface{"surface", shaders::k_surface_vertex, shaders::k_surface_fragment};
  Program glyph{"glyph", shaders::k_glyph_vertex, shaders::k_glyph_fragment};
  Program floor{"floor", shaders::k_floor_vertex, shaders::k_floor_fragment};
  Program slice{"slice", shaders::k_slice_vertex, shaders::k_slice_fragment};
  DrawingBuffer samples{allowed_samples(), true}, resolved{0, false};
  VertexArray no_attributes;  // of what the vertex shader makes from gl_VertexID
  Texture slice_image;
  std::vector<std::uint8_t> slice_pixels;  // what it shows: a slice is the same in many pictures
  SurfaceStore surfaces;
  std::array<GlyphBatch, k_glyph_shapes> glyphs{GlyphBatch(GlyphShape::sphere),
                                                GlyphBatch(GlyphShape::cylinder),
                                                GlyphBatch(GlyphShape::cone), GlyphBatch(GlyphShape::disc)};

  // Of the picture that is being drawn.
  Mat4<double> view, projection;
  Vec3<double> up;  // of the world, seen by the camera

  void draw(const Picture& picture, int width, int height);
  void set_background(const Program& program) const;
  void draw_background() const;
  void draw_opaque_surfaces(const Picture& picture);
  void draw_translucent_surfaces(const Picture& picture);
  void draw_wireframes(const Picture& picture);
  void set_surface(const DrawnSurface& drawn, const UploadedMesh& mesh) const;
  void draw_glyphs(const GlyphList& list) const;
  void draw_floors(const Picture& picture, bool from_above) const;
  void draw_floor(const DrawnFloor& drawn, const OrbitCamera& camera, bool from_above) const;
  void draw_slice(const SlicePicture& picture);
  void upload_slice(const SlicePicture& picture);
};

// The order is that of who may be seen through whom: what is opaque, the floor, which fades, the slice,
// surfaces that are seen through, and on top, before a depth that is cleared again, what must be seen anyway.
void Renderer::Resources::draw(const Picture& picture, int width, int height) {
  const double aspect = static_cast<double>(width) / height;
  view = picture.camera.view();
  projection = picture.camera.projection(aspect);
  up = view.topLeftCorner<3, 3>() * Vec3<double>::UnitZ();
  surfaces.forget_unowned();

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

  glBindFramebuffer(GL_FRAMEBUFFER, samples.name());
  glViewport(0, 0, width, height);
  glClear(GL_DEPTH_BUFFER_BIT);
  glEnable(GL_DEPTH_TEST);
  draw_opaque_surfaces(picture);
  draw_floors(picture, true);
  draw_background();
  glEnable(GL_BLEND);
  draw_glyphs(picture.glyphs);
  draw_wireframes(picture);
  draw_floors(picture, false);
  if (picture.slice && picture.slice->resolution > 0) draw_slice(*picture.slice);
  draw_translucent_surfaces(picture);
  glClear(GL_DEPTH_BUFFER_BIT);
  draw_glyphs(picture.glyphs_on_top);
  glDisable(GL_BLEND);
  glDisable(GL_DEPTH_TEST);
  glBindVertexArray(0);
  glBindBuffer(GL_ARRAY_BUFFER, 0);
  glUseProgram(0);
}

void Renderer::Resources::set_background(const Program& program) const {
  program.set("top", k_background_top);
  program.set("bottom", k_background_bottom);
  program.set("picture_height", static_cast<double>(samples.height()));
}

void Renderer::Resources::draw_background() const {
  background.use();
  set_background(background);
  glBindVertexArray(no_attributes.name());
  glDrawArrays(GL_TRIANGLES, 0, 3);
}

namespace {

/// The far side of a closed surface is never seen.
void cull_faces_of(const UploadedMesh& mesh) {
  mesh.two_sided() ? glDisable(GL_CULL_FACE) : glEnable(GL_CULL_FACE);
}

bool is_opaque(const DrawnSurface& drawn) { return drawn.colour.w() >= 1.0f; }
bool is_drawn(const DrawnSurface& drawn) {
  return drawn.surface && !drawn.surface->triangles.empty() && drawn.colour.w() > 0.0f &&
         drawn.X_WB.p.allFinite() && drawn.X_WB.q.coeffs().allFinite();
}

}  // namespace

void Renderer::Resources::set_surface(const DrawnSurface& drawn, const UploadedMesh& mesh) const {
  surface.set("model_view", Mat4<double>(view * matrix_of(drawn.X_WB)));
  surface.set("colour", drawn.colour);
  surface.set("has_colours", mesh.has_colours() && drawn.own_colours ? 1 : 0);
  surface.set("highlight", drawn.highlighted ? 1.0 : 0.0);
}

void Renderer::Resources::draw_opaque_surfaces(const Picture& picture) {
  surface.use();
  surface.set("projection", projection);
  surface.set("up", up);
  surface.set("ink", 0.0);
  glCullFace(GL_BACK);
  for (const DrawnSurface& drawn : picture.surfaces) {
    if (!is_drawn(drawn) || !is_opaque(drawn)) continue;
    const UploadedMesh& mesh = surfaces.mesh_of(drawn.surface);
    set_surface(drawn, mesh);
    cull_faces_of(mesh);
    mesh.draw();
  }
  glDisable(GL_CULL_FACE);
}

void Renderer::Resources::draw_wireframes(const Picture& picture) {
  surface.use();
  surface.set("projection", projection);
  surface.set("up", up);
  surface.set("ink", 1.0);
  glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
  glEnable(GL_POLYGON_OFFSET_LINE);
  glPolygonOffset(-1.0f, -2.0f);  // before the triangles they are edges of
  glCullFace(GL_BACK);
  glDepthMask(GL_FALSE);
  for (const DrawnSurface& drawn : picture.surfaces) {
    if (!is_drawn(drawn) || !drawn.wireframe) continue;
    const UploadedMesh& mesh = surfaces.mesh_of(drawn.surface);
    set_surface(drawn, mesh);
    cull_faces_of(mesh);
    mesh.draw();
  }
  glDepthMask(GL_TRUE);
  glDisable(GL_CULL_FACE);
  glDisable(GL_POLYGON_OFFSET_LINE);
  glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
}

/// The farthest first; of each the sides that look away first.
void Renderer::Resources::draw_translucent_surfaces(const Picture& picture) {
  struct Layer {
    double z;  // in front of the camera, hence the least is the farthest [m]
    const DrawnSurface* drawn;
    const UploadedMesh* mesh;
  };
  std::vector<Layer> layers;
  for (const DrawnSurface& drawn : picture.surfaces) {
    if (!is_drawn(drawn) || is_opaque(drawn)) continue;
    const UploadedMesh& mesh = surfaces.mesh_of(drawn.surface);
    const Vec3<double> centre_W = drawn.X_WB * mesh.centre();
    layers.push_back({view.row(2).head<3>().dot(centre_W), &drawn, &mesh});
  }
  std::stable_sort(layers.begin(), layers.end(), [](const Layer& a, const Layer& b) { return a.z < b.z; });
  surface.use();
  surface.set("projection", projection);
  surface.set("up", up);
  surface.set("ink", 0.0);
  glEnable(GL_CULL_FACE);
  glDepthMask(GL_FALSE);
  for (const Layer& layer : layers) {
    set_surface(*layer.drawn, *layer.mesh);
    for (const GLenum hidden : {GL_FRONT, GL_BACK}) {
      glCullFace(hidden);
      layer.mesh->draw();
    }
  }
  glDepthMask(GL_TRUE);
  glDisable(GL_CULL_FACE);
}

void Renderer::Resources::draw_glyphs(const GlyphList& list) const {
  glyph.use();
  glyph.set("view", view);
  glyph.set("projection", projection);
  glyph.set("up", up);
  glCullFace(GL_BACK);
  for (const GlyphShape shape :
       {GlyphShape::sphere, GlyphShape::cylinder, GlyphShape::cone, GlyphShape::disc}) {
    if (shape == GlyphShape::disc) {
      glDisable(GL_CULL_FACE);
    } else {
      glEnable(GL_CULL_FACE);
    }
    glyphs[static_cast<std::size_t>(shape)].draw(list.glyphs(shape));
  }
  glDisable(GL_CULL_FACE);
}

void Renderer::Resources::draw_floors(const Picture& picture, bool from_above) const {
  for (const DrawnFloor& drawn : picture.floors) {
    const double height = inverse_point(drawn.X_WP, picture.camera.position()).z();  // NaN is neither
    if (from_above ? height >= 0.0 : height < 0.0) draw_floor(drawn, picture.camera, from_above);
  }
}

void Renderer::Resources::draw_floor(const DrawnFloor& drawn, const OrbitCamera& camera,
                                     bool from_above) const {
  Vec3<double> middle_P = inverse_point(drawn.X_WP, camera.target);
  const double height = std::abs(middle_P.z());
  middle_P.z() = 0.0;
  const Pose<double> X_PM{Quat<double>::Identity(), middle_P};
  const double radius = k_floor_radius * (camera.distance + height);

  // Squares grow by ten at a time, in the middle third of the way from one power of ten to the next.
  const double decades = std::log10(k_floor_square * (camera.distance + height)),
               decade = std::floor(decades);
  const double square = std::pow(10.0, decade);
  const double way = std::clamp(3.0 * (decades - decade) - 1.0, 0.0, 1.0);

  floor.use();
  floor.set("model_view", Mat4<double>(view * matrix_of(drawn.X_WP * X_PM)));
  floor.set("projection", projection);
  set_background(floor);
  floor.set("radius", radius);
  floor.set("opacity", from_above ? 1.0 : k_floor_from_below);
  floor.set("square", square);
  floor.set("coarse_share", way * way * (3.0 - 2.0 * way));
  floor.set("fine_offset", pattern_offset(middle_P, square));
  floor.set("coarse_offset", pattern_offset(middle_P, 10.0 * square));
  constexpr float k_shade = 0.86f;  // of the darker squares
  floor.set("light_colour", drawn.colour.value_or(k_floor_light));
  floor.set("dark_colour", drawn.colour ? Colour(k_shade * *drawn.colour) : k_floor_dark);
  glDepthMask(from_above ? GL_TRUE : GL_FALSE);
  glBindVertexArray(no_attributes.name());
  glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
  glDepthMask(GL_TRUE);
}

/// Into the texture that is bound.
void Renderer::Resources::upload_slice(const SlicePicture& picture) {
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  for (const GLenum unpack : {GL_UNPACK_ROW_LENGTH, GL_UNPACK_SKIP_ROWS, GL_UNPACK_SKIP_PIXELS}) {
    glPixelStorei(unpack, 0);
  }
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, picture.resolution, picture.resolution, 0, GL_RGBA,
               GL_UNSIGNED_BYTE, picture.pixels.data());
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  glGenerateMipmap(GL_TEXTURE_2D);
  slice_pixels = picture.pixels;
}

void Renderer::Resources::draw_slice(const SlicePicture& picture) {
  const auto side = static_cast<std::size_t>(picture.resolution);
  ABUT_ASSERT(picture.pixels.size() == 4 * side * side);
  slice.use();
  glActiveTexture(GL_TEXTURE0);
  glBindSampler(0, 0);
  glBindTexture(GL_TEXTURE_2D, slice_image.name());
  if (picture.pixels != slice_pixels) upload_slice(picture);
  const SlicePlane& plane = picture.plane;
  slice.set("view_projection", Mat4<double>(projection * view));
  slice.set("centre", plane.centre);
  slice.set("half_right", Vec3<double>(0.5 * plane.size * plane.right));
  slice.set("half_up", Vec3<double>(0.5 * plane.size * plane.up));
  slice.set("image", 0);
  glBindVertexArray(no_attributes.name());
  glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
  glBindTexture(GL_TEXTURE_2D, 0);
}

Renderer::Renderer() : resources_(std::make_unique<Resources>()) {}
Renderer::~Renderer() = default;

// By way of a framebuffer with one sample a pixel, as samples may be resolved only into the same format and
// place.
void Renderer::draw(const Picture& picture, const Viewport& viewport, unsigned target) {
  const int width = viewport.width, height = viewport.height;
  if (width <= 0 || height <= 0) {
    resources_->surfaces.forget_unowned();
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
