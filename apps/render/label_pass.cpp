#include "apps/render/label_pass.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "apps/picture/stroke_text.h"
#include "apps/render/shaders.h"

namespace abut {
namespace {

constexpr int k_least_height = 300;        // of a picture that has room for numbers [pixels]
constexpr double k_least_letters = 11.0;   // height of figures [pixels]
constexpr double k_letters_share = 0.013;  // of the picture's height

/// A rectangle of pixels that has its lower border at a point; nowhere if there is a body in any part of it.
const std::string k_label_vertex = shaders::k_version + R"(
uniform vec3 place;             // of its lower left corner: pixels, pixels, depth in [-1, 1]
uniform vec2 size;              // of the text, with its rim [pixels]
uniform vec2 picture_size;      // [pixels]
uniform sampler2D body_depths;  // 1 where there is none
out vec2 letter;                // pixels from the upper left corner of the text

bool is_free() {
  const int k_columns = 9, k_rows = 5;
  bool is_free = true;
  for (int i = 0; i < k_columns * k_rows; ++i) {
    vec2 part = vec2(float(i % k_columns) / float(k_columns - 1), float(i / k_columns) / float(k_rows - 1));
    ivec2 at = clamp(ivec2(place.xy + part * size), ivec2(0), textureSize(body_depths, 0) - 1);
    is_free = is_free && texelFetch(body_depths, at, 0).r == 1.0;
  }
  return is_free;
}

void main() {
  vec2 corner = vec2((gl_VertexID & 1) == 0 ? 0.0 : 1.0, (gl_VertexID & 2) == 0 ? 0.0 : 1.0);
  letter = vec2(corner.x, 1.0 - corner.y) * size;
  vec2 at = place.xy + corner * size;
  gl_Position = is_free() ? vec4(2.0 * at / picture_size - 1.0, place.z, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
}
)";

/// Dark letters on a light rim.
const std::string k_label_fragment = shaders::k_version + R"(
uniform sampler2D letters;  // how much is ink, and how much ink or rim
uniform int first_row;
in vec2 letter;
out vec4 pixel;

void main() {
  vec2 cover = texelFetch(letters, ivec2(floor(letter)) + ivec2(0, first_row), 0).rg;
  pixel = vec4(mix(vec3(0.86, 0.88, 0.90), vec3(0.06, 0.07, 0.09), cover.r), max(cover.r, 0.6 * cover.g));
}
)";

double letter_height(const SceneView& scene) {
  return std::max(k_least_letters, std::round(k_letters_share * scene.height));
}

}  // namespace

LabelPass::LabelPass() : program_("label", k_label_vertex, k_label_fragment) {}

bool LabelPass::has_room(int height) { return height >= k_least_height; }

/// Into the texture that is bound, one below the other.
void LabelPass::upload(const std::vector<GridLabel>& labels, double letter_height) {
  texts_.clear();
  letter_height_ = letter_height;
  std::vector<StrokeText> drawn;
  int width = 1, height = 0;
  for (const GridLabel& label : labels) {
    drawn.push_back(stroke_text(label.text, letter_height));
    texts_.push_back({label.text, drawn.back().width, drawn.back().height, height});
    width = std::max(width, drawn.back().width);
    height += drawn.back().height;
  }
  const auto row = static_cast<std::size_t>(width);
  std::vector<std::uint8_t> pixels(2 * row * static_cast<std::size_t>(height), 0);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const auto columns = static_cast<std::size_t>(drawn[i].width);
    for (std::size_t p = 0; p < drawn[i].ink.size(); ++p) {
      const std::size_t at =
          2 * ((static_cast<std::size_t>(texts_[i].first_row) + p / columns) * row + p % columns);
      pixels[at] = drawn[i].ink[p];
      pixels[at + 1] = drawn[i].rim[p];
    }
  }
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  for (const GLenum unpack : {GL_UNPACK_ROW_LENGTH, GL_UNPACK_SKIP_ROWS, GL_UNPACK_SKIP_PIXELS})
    glPixelStorei(unpack, 0);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RG8, width, height, 0, GL_RG, GL_UNSIGNED_BYTE, pixels.data());
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
    glTexParameteri(GL_TEXTURE_2D, filter, GL_NEAREST);
}

void LabelPass::draw(const SceneView& scene, const std::vector<GridLabel>& labels,
                     const TextureBuffer& body_depths) {
  if (labels.empty()) return;
  constexpr GLuint k_depth_unit = 1;
  for (const auto& [unit, texture] :
       {std::pair(k_depth_unit, body_depths.texture()), {0U, letters_.name()}}) {
    glActiveTexture(GL_TEXTURE0 + unit);
    glBindSampler(unit, 0);
    glBindTexture(GL_TEXTURE_2D, texture);
  }
  const bool is_same =
      letter_height_ == letter_height(scene) &&
      std::equal(labels.begin(), labels.end(), texts_.begin(), texts_.end(),
                 [](const GridLabel& label, const Text& text) { return label.text == text.words; });
  if (!is_same) upload(labels, letter_height(scene));

  program_.use();
  program_.set("letters", 0);
  program_.set("body_depths", static_cast<int>(k_depth_unit));
  program_.set("picture_size", Vec2<double>(scene.width, scene.height));
  glBindVertexArray(no_attributes_.name());
  glDepthMask(GL_FALSE);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const Vec4<double> clip = scene.projection * scene.view * labels[i].p_W.homogeneous();
    if (!(clip.w() > 0.0) || std::abs(clip.z()) > clip.w()) continue;
    const Text& text = texts_[i];
    // On whole pixels, as the letters are made.
    const double x = std::round(0.5 * (1.0 + clip.x() / clip.w()) * scene.width - 0.5 * text.width),
                 y = std::round(0.5 * (1.0 + clip.y() / clip.w()) * scene.height);
    // Cut off, -0.1 may read 0.1.
    if (x < 0.0 || x + text.width > scene.width || y < 0.0 || y + text.height > scene.height) continue;
    program_.set("place", Vec3<double>(x, y, clip.z() / clip.w()));
    program_.set("size", Vec2<double>(text.width, text.height));
    program_.set("first_row", text.first_row);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
  }
  glDepthMask(GL_TRUE);
  glBindTexture(GL_TEXTURE_2D, 0);
}

}  // namespace abut
