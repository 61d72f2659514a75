#include "apps/render/slice_pass.h"

#include "apps/render/shaders.h"
#include "engine/check.h"

namespace abut {
namespace {

const std::string k_slice_vertex = shaders::k_version + R"(
uniform mat4 view_projection;
uniform vec3 centre, half_right, half_up;
out vec2 place;
void main() {
  vec2 corner = vec2((gl_VertexID & 1) == 0 ? -1.0 : 1.0, (gl_VertexID & 2) == 0 ? -1.0 : 1.0);
  place = 0.5 + 0.5 * corner;
  gl_Position = view_projection * vec4(centre + corner.x * half_right + corner.y * half_up, 1.0);
}
)";

const std::string k_slice_fragment = shaders::k_version + R"(
uniform sampler2D image;
in vec2 place;
out vec4 pixel;
void main() {
  vec2 inwards = min(place, 1.0 - place);
  float frame = 1.0 - smoothstep(0.5, 1.5, min(inwards.x / fwidth(place.x), inwards.y / fwidth(place.y)));
  vec4 colour = texture(image, place);
  pixel = vec4(mix(colour.rgb, vec3(0.1), 0.8 * frame), colour.a);
}
)";

}  // namespace

SlicePass::SlicePass() : program_("slice", k_slice_vertex, k_slice_fragment) {}

/// Into the texture that is bound.
void SlicePass::upload(const SlicePicture& picture) {
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
  pixels_ = picture.pixels;
}

void SlicePass::draw(const SceneView& scene, const SlicePicture& picture) {
  const auto side = static_cast<std::size_t>(picture.resolution);
  ABUT_ASSERT(picture.pixels.size() == 4 * side * side);
  program_.use();
  glActiveTexture(GL_TEXTURE0);
  glBindSampler(0, 0);
  glBindTexture(GL_TEXTURE_2D, image_.name());
  if (picture.pixels != pixels_) upload(picture);
  const SlicePlane& plane = picture.plane;
  program_.set("view_projection", Mat4<double>(scene.projection * scene.view));
  program_.set("centre", plane.centre);
  program_.set("half_right", Vec3<double>(0.5 * plane.size * plane.right));
  program_.set("half_up", Vec3<double>(0.5 * plane.size * plane.up));
  program_.set("image", 0);
  glBindVertexArray(no_attributes_.name());
  glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
  glBindTexture(GL_TEXTURE_2D, 0);
}

}  // namespace abut
