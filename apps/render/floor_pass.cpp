#include "apps/render/floor_pass.h"

#include <cmath>

#include "apps/picture/floor_grid.h"
#include "apps/render/background_pass.h"
#include "apps/render/shaders.h"

namespace abut {
namespace {

constexpr double k_floor_radius = 9.0;       // in distances of the camera from the floor's middle
constexpr double k_floor_from_below = 0.25;  // its opacity to who looks from inside of its solid

/// A square of the plane z = 0, `radius` around the point below the camera's target.
const std::string k_floor_vertex = shaders::k_version + R"(
uniform mat4 model_view, projection;      // model: the origin is that point
uniform float radius;
out vec2 place;                           // from that point
out vec3 position;
void main() {
  place = radius * vec2((gl_VertexID & 1) == 0 ? -1.0 : 1.0, (gl_VertexID & 2) == 0 ? -1.0 : 1.0);
  position = (model_view * vec4(place, 0.0, 1.0)).xyz;
  gl_Position = projection * vec4(position, 1.0);
}
)";

/// Lines are as wide in the picture at any distance, and fade where they come close together. The floor fades
/// into the background by mixing, not by blending: software renderers blend each sample of each pixel.
const std::string k_floor_fragment = shaders::k_light + shaders::k_background + R"(
uniform float radius, opacity;
uniform float minor, major;               // between thin lines, between thick ones
uniform vec2 minor_offset, major_offset;  // of the point below the target, in lines
uniform vec3 normal;                      // seen by the camera
uniform vec4 floor_colour;
in vec2 place;
in vec3 position;
out vec4 pixel;

// How much of a pixel is on lines of `wide` pixels at whole numbers.
float on_lines(vec2 x, float wide) {
  vec2 size = max(fwidth(x), vec2(1e-9)), off = abs(fract(x + 0.5) - 0.5);
  vec2 on = clamp(0.5 * wide + 0.5 - off / size, 0.0, 1.0) * (1.0 - smoothstep(0.12, 0.4, size));
  return max(on.x, on.y);
}

void main() {
  float thin = on_lines(minor_offset + place / minor, 1.0);
  float thick = on_lines(major_offset + place / major, 1.6);
  vec3 painted = to_linear(floor_colour.rgb) * (1.0 - max(0.2 * thin, 0.5 * thick));
  vec3 unshaded = from_sky(up) + k_key * dot(up, to_key);
  vec3 light = from_sky(normal) + k_key * max(0.0, dot(normal, to_key)) * seen_by_key(position, normal);
  float fade = 1.0 - smoothstep(0.15, 1.0, length(place) / radius);
  vec3 colour = mix(background(), to_screen(painted * light / unshaded), fade * fade);
  pixel = vec4(colour, opacity < 1.0 ? opacity * fade * fade : 1.0);
}
)";

/// A place in lines, where a float still has digits.
Vec2<double> remainder_of(const Vec2<double>& lines) {
  return {std::remainder(lines.x(), 1.0), std::remainder(lines.y(), 1.0)};
}

void draw_one(const Program& program, const SceneView& scene, const DrawnFloor& drawn, bool from_above) {
  const FloorGrid grid = floor_grid(drawn, scene.camera);
  const Pose<double> X_GM{Quat<double>::Identity(), Vec3<double>(grid.middle.x(), grid.middle.y(), 0.0)};
  const Mat4<double> model_view = scene.view * matrix_of(grid.X_WG * X_GM);
  program.set("model_view", model_view);
  program.set("normal", Vec3<double>(model_view.block<3, 1>(0, 2)));
  program.set("radius", k_floor_radius * grid.reach);
  program.set("opacity", from_above ? 1.0 : k_floor_from_below);
  program.set("minor", grid.minor);
  program.set("major", grid.major);
  program.set("minor_offset", remainder_of(grid.middle / grid.minor));
  program.set("major_offset", remainder_of(grid.middle / grid.major));
  program.set("floor_colour", drawn.colour.value_or(k_floor_colour));
  glDepthMask(from_above ? GL_TRUE : GL_FALSE);
  glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
  glDepthMask(GL_TRUE);
}

}  // namespace

FloorPass::FloorPass()
    : shaded_("floor", k_floor_vertex, shaders::k_version + shaders::k_shadow + k_floor_fragment),
      unshaded_("floor", k_floor_vertex, shaders::k_version + shaders::k_no_shadow + k_floor_fragment) {}

void FloorPass::draw(const SceneView& scene, const Picture& picture, const ShadowMap& shadows,
                     bool from_above) const {
  const Program& program = shadows.use(shaded_, unshaded_, scene);
  program.set("projection", scene.projection);
  scene.set_light(program);
  set_background(program, scene);
  glBindVertexArray(no_attributes_.name());
  for (const DrawnFloor& drawn : picture.floors) {
    const double height = inverse_point(drawn.X_WP, picture.camera.position()).z();  // NaN is neither
    if (from_above ? height >= 0.0 : height < 0.0) draw_one(program, scene, drawn, from_above);
  }
}

}  // namespace abut
