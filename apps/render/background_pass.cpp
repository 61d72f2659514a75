#include "apps/render/background_pass.h"

#include "apps/picture/colours.h"
#include "apps/render/shaders.h"

namespace abut {
namespace {

const std::string k_background_fragment = shaders::k_version + shaders::k_background + R"(
out vec4 pixel;
void main() { pixel = vec4(background(), 1.0); }
)";

}  // namespace

BackgroundPass::BackgroundPass()
    : program_("background", shaders::k_whole_picture_vertex, k_background_fragment) {}

void set_background(const Program& program, const SceneView& scene) {
  program.set("sky", k_background_sky);
  program.set("horizon", k_background_horizon);
  program.set("ground", k_background_ground);
  program.set("picture_size", Vec2<double>(scene.width, scene.height));
  program.set("slope", scene.slope());
  program.set("world_up", scene.up);
}

void BackgroundPass::draw(const SceneView& scene) const {
  program_.use();
  set_background(program_, scene);
  glBindVertexArray(no_attributes_.name());
  glDrawArrays(GL_TRIANGLES, 0, 3);
}

}  // namespace abut
