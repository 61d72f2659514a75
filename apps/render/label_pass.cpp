#include "apps/render/label_pass.h"

#include <algorithm>
#include <cmath>

#include "apps/picture/image_drawing.h"
#include "apps/render/shaders.h"

namespace abut {
namespace {

constexpr int k_rim = 2;                 // around a text [pixels]
constexpr int k_least_height = 300;      // of a picture that has room for numbers [pixels]
constexpr double k_usual_height = 1080;  // letters are twice as large from twice that on [pixels]

/// Of capitals and what hangs below them.
int row_height() { return text_height() * 10 / 7 + 2 * k_rim; }

/// A rectangle of pixels that has its lower border at a point.
const std::string k_label_vertex = shaders::k_version + R"(
uniform vec3 place;          // of its lower left corner: pixels, pixels, depth in [-1, 1]
uniform vec2 size;           // of the text, with its rim [pixels of the texture]
uniform float magnified;
uniform vec2 picture_size;   // [pixels]
out vec2 letter;             // pixels of the texture, from the upper left corner of the text
void main() {
  vec2 corner = vec2((gl_VertexID & 1) == 0 ? 0.0 : 1.0, (gl_VertexID & 2) == 0 ? 0.0 : 1.0);
  letter = vec2(corner.x, 1.0 - corner.y) * size;
  vec2 at = place.xy + magnified * corner * size;
  gl_Position = vec4(2.0 * at / picture_size - 1.0, place.z, 1.0);
}
)";

/// Dark letters on a light rim.
const std::string k_label_fragment = shaders::k_version + R"(
uniform sampler2D letters;
uniform int first_row;
uniform vec2 size;
uniform float opacity;
in vec2 letter;
out vec4 pixel;

float ink(ivec2 at) {
  bool inside = all(greaterThanEqual(at, ivec2(0))) && all(lessThan(at, ivec2(size)));
  return inside ? texelFetch(letters, ivec2(at.x, at.y + first_row), 0).r : 0.0;
}

void main() {
  ivec2 at = ivec2(floor(letter));
  float here = ink(at), around = 0.0;
  for (int y = -1; y <= 1; ++y)
    for (int x = -1; x <= 1; ++x) around = max(around, ink(at + ivec2(x, y)));
  if (around < 0.5) discard;
  pixel = here > 0.5 ? vec4(0.06, 0.07, 0.09, opacity) : vec4(0.86, 0.88, 0.90, 0.55 * opacity);
}
)";

}  // namespace

LabelPass::LabelPass() : program_("label", k_label_vertex, k_label_fragment) {}

/// Into the texture that is bound.
void LabelPass::upload(const std::vector<GridLabel>& labels) {
  texts_.clear();
  int width = 1;
  for (const GridLabel& label : labels) {
    texts_.push_back(label.text);
    width = std::max(width, text_width(label.text) + 2 * k_rim);
  }
  Image image = blank_image(width, row_height() * static_cast<int>(labels.size()), rgb(0, 0, 0));
  for (std::size_t i = 0; i < texts_.size(); ++i)
    draw_text(image, k_rim, row_height() * static_cast<int>(i) + k_rim, texts_[i], rgb(255, 255, 255));
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  for (const GLenum unpack : {GL_UNPACK_ROW_LENGTH, GL_UNPACK_SKIP_ROWS, GL_UNPACK_SKIP_PIXELS})
    glPixelStorei(unpack, 0);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, image.width, image.height, 0, GL_RGB, GL_UNSIGNED_BYTE,
               image.pixels.data());
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
    glTexParameteri(GL_TEXTURE_2D, filter, GL_NEAREST);
}

void LabelPass::draw(const SceneView& scene, const std::vector<GridLabel>& labels) {
  if (labels.empty() || scene.height < k_least_height) return;
  glActiveTexture(GL_TEXTURE0);
  glBindSampler(0, 0);
  glBindTexture(GL_TEXTURE_2D, letters_.name());
  const bool is_same =
      std::equal(labels.begin(), labels.end(), texts_.begin(), texts_.end(),
                 [](const GridLabel& label, const std::string& text) { return label.text == text; });
  if (!is_same) upload(labels);

  constexpr double k_faint = 0.4;
  program_.use();
  program_.set("letters", 0);
  glBindVertexArray(no_attributes_.name());
  glDepthMask(GL_FALSE);
  glDisable(GL_DEPTH_TEST);
  draw_all(scene, labels, k_faint);
  glEnable(GL_DEPTH_TEST);
  draw_all(scene, labels, 1.0);
  glDepthMask(GL_TRUE);
  glBindTexture(GL_TEXTURE_2D, 0);
}

void LabelPass::draw_all(const SceneView& scene, const std::vector<GridLabel>& labels, double opacity) const {
  const double magnified = std::max(1.0, std::floor(scene.height / k_usual_height));
  program_.set("magnified", magnified);
  program_.set("opacity", opacity);
  program_.set("picture_size", Vec2<double>(scene.width, scene.height));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const Vec4<double> clip = scene.projection * scene.view * labels[i].p_W.homogeneous();
    if (!(clip.w() > 0.0) || std::abs(clip.z()) > clip.w()) continue;
    const int width = text_width(texts_[i]) + 2 * k_rim;
    // On whole pixels, or its dots would be of different sizes.
    const double x = std::round(0.5 * (1.0 + clip.x() / clip.w()) * scene.width - 0.5 * magnified * width),
                 y = std::round(0.5 * (1.0 + clip.y() / clip.w()) * scene.height);
    program_.set("place", Vec3<double>(x, y, clip.z() / clip.w()));
    program_.set("size", Vec2<double>(width, row_height()));
    program_.set("first_row", row_height() * static_cast<int>(i));
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
  }
}

}  // namespace abut
