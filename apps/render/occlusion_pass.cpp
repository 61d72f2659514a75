#include "apps/render/occlusion_pass.h"

#include "apps/render/shaders.h"

namespace abut {
namespace {

constexpr double k_radius = 0.05;  // within which surfaces hide the sky from each other, of the distance

/// The sky that is left, from depths on a spiral about the pixel, turned from pixel to pixel of 4 x 4.
const std::string k_occlusion_fragment = shaders::k_version + shaders::k_places + R"(
uniform float radius;  // [m]
out vec4 pixel;

vec3 at_offset(ivec2 at, ivec2 offset) {
  return place_of(vec2(at + offset) + 0.5, raw_depth(at + offset));
}

// Of two neighbours the one that is on the same surface.
vec3 slope_along(ivec2 at, vec3 p, ivec2 step) {
  vec3 ahead = at_offset(at, step) - p, behind = p - at_offset(at, -step);
  return abs(ahead.z) < abs(behind.z) ? ahead : behind;
}

void main() {
  const int k_samples = 12;
  const float k_strength = 2.2;
  ivec2 at = ivec2(gl_FragCoord.xy);
  float depth = raw_depth(at);
  vec3 p = place_of(vec2(at) + 0.5, depth);
  vec3 n = normalize(cross(slope_along(at, p, ivec2(1, 0)), slope_along(at, p, ivec2(0, 1))));
  vec2 size = vec2(textureSize(depths, 0));
  float wide = 0.5 * size.y * clip_per_metre.y * radius / (depth_terms.z * p.z + depth_terms.w);
  bool counts = depth < 1.0 && wide > 2.0;
  float turn = 0.3926991 * float((at.x & 3) + 4 * (at.y & 3)), sum = 0.0;
  for (int i = 0; i < (counts ? k_samples : 0); ++i) {  // software renderers skip loops, not branches
    float share = (float(i) + 0.5) / float(k_samples), angle = turn + 2.3999632 * float(i);
    ivec2 other = at + ivec2(round(min(wide, 0.15 * size.y) * share * vec2(cos(angle), sin(angle))));
    vec3 v = place_of(vec2(other) + 0.5, raw_depth(other)) - p;
    float vv = dot(v, v), near = max(1.0 - vv / (radius * radius), 0.0);
    sum += near * max(dot(v, n) - 0.02 * radius, 0.0) * inversesqrt(vv + 1e-4 * radius * radius);
  }
  pixel = vec4(clamp(1.0 - k_strength * sum / float(k_samples), 0.0, 1.0));
}
)";

/// The mean over 4 x 4 pixels, which have all turns of the spiral, of those at about the same depth.
const std::string k_darken_fragment = shaders::k_version + shaders::k_places + R"(
uniform float radius;
uniform sampler2D result;
out vec4 pixel;
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy), last = textureSize(depths, 0) - 1;
  float z = place_of(vec2(at) + 0.5, raw_depth(at)).z, sum = 0.0, weights = 1e-6;
  for (int y = -2; y < 2; ++y) {
    for (int x = -2; x < 2; ++x) {
      ivec2 other = clamp(at + ivec2(x, y), ivec2(0), last);
      float dz = place_of(vec2(other) + 0.5, raw_depth(other)).z - z;
      float weight = max(1.0 - abs(dz) / (0.3 * radius), 0.0);
      sum += weight * texelFetch(result, other, 0).r;
      weights += weight;
    }
  }
  pixel = vec4(vec3(pow(clamp(sum / weights, 0.0, 1.0), 1.0 / 2.2)), 1.0);
}
)";

}  // namespace

OcclusionPass::OcclusionPass()
    : occlusion_("occlusion", shaders::k_whole_picture_vertex, k_occlusion_fragment),
      darken_("darken", shaders::k_whole_picture_vertex, k_darken_fragment) {}

void OcclusionPass::draw(const SceneView& scene, const TextureBuffer& depths, GLuint target) {
  result_.resize(scene.width, scene.height);
  const auto begin = [&](const Program& program) {
    program.use();
    scene.set_places(program);
    program.set("radius", k_radius * scene.camera.distance);
    glBindVertexArray(no_attributes_.name());
  };
  glDisable(GL_DEPTH_TEST);
  glActiveTexture(GL_TEXTURE0);
  glBindSampler(0, 0);
  glBindTexture(GL_TEXTURE_2D, depths.texture());
  glBindFramebuffer(GL_FRAMEBUFFER, result_.framebuffer());
  begin(occlusion_);
  glDrawArrays(GL_TRIANGLES, 0, 3);

  glBindFramebuffer(GL_FRAMEBUFFER, target);
  begin(darken_);
  darken_.set("result", 3);
  glActiveTexture(GL_TEXTURE3);
  glBindSampler(3, 0);
  glBindTexture(GL_TEXTURE_2D, result_.texture());
  glEnable(GL_BLEND);
  glBlendFuncSeparate(GL_ZERO, GL_SRC_COLOR, GL_ZERO, GL_ONE);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
  glDisable(GL_BLEND);
  glBindTexture(GL_TEXTURE_2D, 0);
  glActiveTexture(GL_TEXTURE0);
  glBindTexture(GL_TEXTURE_2D, 0);
  glEnable(GL_DEPTH_TEST);
}

}  // namespace abut
