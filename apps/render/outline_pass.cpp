#include "apps/render/outline_pass.h"

#include "apps/render/shaders.h"

namespace abut {
namespace {

const std::string k_outline_fragment = shaders::k_version + shaders::k_places + R"(
uniform float distance_to_target;
out vec4 pixel;
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  float middle = raw_depth(at), nearest = middle, bend = 0.0;
  for (int axis = 0; axis < 2; ++axis) {
    ivec2 step = axis == 0 ? ivec2(1, 0) : ivec2(0, 1);
    if (any(lessThan(at, step)) || any(greaterThanEqual(at + step, textureSize(depths, 0)))) continue;
    float a = raw_depth(at - step), b = raw_depth(at + step);
    bend = max(bend, abs(a + b - 2.0 * middle));
    nearest = min(nearest, min(a, b));
  }
  // From raw depths to metres, to pixels.
  vec3 p = place_of(vec2(at), nearest), beside = place_of(vec2(at + 1), nearest);
  float along = depth_terms.z * (2.0 * nearest - 1.0) - depth_terms.x;
  float metres = bend * 2.0 * abs(depth_terms.x * depth_terms.w - depth_terms.y * depth_terms.z) / (along * along);
  float pixels = metres / max(beside.x - p.x, 1e-30);
  // The far end of a floor is no edge.
  float near = 1.0 - smoothstep(3.0, 6.0, -p.z / distance_to_target);
  pixel = vec4(vec3(0.05), 0.85 * smoothstep(0.7, 1.5, pixels) * near);
}
)";

}  // namespace

OutlinePass::OutlinePass() : program_("outline", shaders::k_whole_picture_vertex, k_outline_fragment) {}

void OutlinePass::draw(const SceneView& scene, const TextureBuffer& depths) const {
  program_.use();
  scene.set_places(program_);
  const OrbitCamera& camera = scene.camera;
  program_.set("distance_to_target", (camera.position() - camera.target).norm());
  glDisable(GL_DEPTH_TEST);
  glEnable(GL_BLEND);
  glActiveTexture(GL_TEXTURE0);
  glBindSampler(0, 0);
  glBindTexture(GL_TEXTURE_2D, depths.texture());
  glBindVertexArray(no_attributes_.name());
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glBindTexture(GL_TEXTURE_2D, 0);
  glDisable(GL_BLEND);
  glEnable(GL_DEPTH_TEST);
}

}  // namespace abut
