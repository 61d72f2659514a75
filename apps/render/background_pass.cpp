#include "apps/render/background_pass.h"

#include "apps/picture/colours.h"
#include "apps/render/shaders.h"

namespace abut {
namespace {

/// One triangle that is larger than the picture, behind everything.
const std::string k_background_vertex = shaders::k_version + R"(
void main() {
  gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 1.0, 1.0);
}
)";

const std::string k_background_fragment = shaders::k_version + shaders::k_background + R"(
out vec4 pixel;
void main() { pixel = vec4(background(), 1.0); }
)";

}  // namespace

BackgroundPass::BackgroundPass() : program_("background", k_background_vertex, k_background_fragment) {}

void set_background(const Program& program, const SceneView& scene) {
  program.set("top", k_background_top);
  program.set("bottom", k_background_bottom);
  program.set("picture_height", static_cast<double>(scene.height));
}

void BackgroundPass::draw(const SceneView& scene) const {
  program_.use();
  set_background(program_, scene);
  glBindVertexArray(no_attributes_.name());
  glDrawArrays(GL_TRIANGLES, 0, 3);
}

}  // namespace abut
