#include "apps/render/floor_pass.h"

#include <algorithm>
#include <cmath>

#include "apps/render/background_pass.h"
#include "apps/render/shaders.h"

namespace abut {
namespace {

constexpr double k_floor_radius = 9.0;       // in distances of the camera from the floor's middle
constexpr double k_floor_square = 0.16;      // width of its squares; the power of ten below is taken
constexpr double k_floor_from_below = 0.25;  // its opacity to who looks from inside of its solid
const Colour k_floor_light = rgb(138, 146, 156), k_floor_dark = rgb(119, 127, 138);

/// A square of the plane z = 0, `radius` around the point below the camera's target.
const std::string k_floor_vertex = shaders::k_version + R"(
uniform mat4 model_view, projection;      // model: the origin is that point
uniform float radius;
out vec2 place;                           // from that point
void main() {
  place = radius * vec2((gl_VertexID & 1) == 0 ? -1.0 : 1.0, (gl_VertexID & 2) == 0 ? -1.0 : 1.0);
  gl_Position = projection * model_view * vec4(place, 0.0, 1.0);
}
)";

/// Squares of two sizes, of which the smaller fade away as the camera leaves; each is averaged over the
/// pixel. Of a wave that is 1 and -1 by turns the average over a width w is the difference of its integral, a
/// triangle wave, over w. It fades into the background by mixing, not by blending: software renderers blend
/// each sample of each pixel.
const std::string k_floor_fragment = shaders::k_version + shaders::k_background + R"(
uniform float radius, opacity;
uniform float square, coarse_share;       // width of the smaller squares; of the ten times larger ones, 0 to 1
uniform vec2 fine_offset, coarse_offset;  // of that point in the pattern of each
uniform vec4 light_colour, dark_colour;
in vec2 place;
out vec4 pixel;

vec2 triangle_wave(vec2 x) { return 2.0 * abs(fract(0.5 * x) - 0.5); }  // slope -1 in (0, 1), 1 in (1, 2)

float checker(vec2 x, vec2 width) {
  vec2 mean = (triangle_wave(x + 0.5 * width) - triangle_wave(x - 0.5 * width)) / width;
  return mean.x * mean.y;
}

void main() {
  vec2 width = max(fwidth(place) / square, vec2(1e-3));
  float fine = checker(fine_offset + place / square, width);
  float coarse = checker(coarse_offset + place / (10.0 * square), 0.1 * width);
  float shade = 0.5 + 0.5 * mix(fine, coarse, coarse_share);
  float fade = 1.0 - smoothstep(0.15, 1.0, length(place) / radius);
  vec3 colour = mix(dark_colour.rgb, light_colour.rgb, shade);
  pixel = vec4(mix(background(), colour, fade * fade), opacity < 1.0 ? opacity * fade * fade : 1.0);
}
)";

/// Offset of a point in a checker pattern, in squares, where a float still has digits: modulo 2.
Vec2<double> pattern_offset(const Vec3<double>& p_P, double square) {
  return {std::fmod(p_P.x() / square, 2.0), std::fmod(p_P.y() / square, 2.0)};
}

}  // namespace

FloorPass::FloorPass() : program_("floor", k_floor_vertex, k_floor_fragment) {}

void FloorPass::draw(const SceneView& scene, const Picture& picture, bool from_above) const {
  for (const DrawnFloor& drawn : picture.floors) {
    const double height = inverse_point(drawn.X_WP, picture.camera.position()).z();  // NaN is neither
    if (from_above ? height >= 0.0 : height < 0.0) draw_one(scene, drawn, from_above);
  }
}

void FloorPass::draw_one(const SceneView& scene, const DrawnFloor& drawn, bool from_above) const {
  const OrbitCamera& camera = scene.camera;
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

  program_.use();
  program_.set("model_view", Mat4<double>(scene.view * matrix_of(drawn.X_WP * X_PM)));
  program_.set("projection", scene.projection);
  set_background(program_, scene);
  program_.set("radius", radius);
  program_.set("opacity", from_above ? 1.0 : k_floor_from_below);
  program_.set("square", square);
  program_.set("coarse_share", way * way * (3.0 - 2.0 * way));
  program_.set("fine_offset", pattern_offset(middle_P, square));
  program_.set("coarse_offset", pattern_offset(middle_P, 10.0 * square));
  constexpr float k_shade = 0.86f;  // of the darker squares
  program_.set("light_colour", drawn.colour.value_or(k_floor_light));
  program_.set("dark_colour", drawn.colour ? Colour(k_shade * *drawn.colour) : k_floor_dark);
  glDepthMask(from_above ? GL_TRUE : GL_FALSE);
  glBindVertexArray(no_attributes_.name());
  glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
  glDepthMask(GL_TRUE);
}

}  // namespace abut
