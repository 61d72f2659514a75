#include "apps/render/glyph_pass.h"

#include "apps/render/shaders.h"

namespace abut {
namespace {

const std::string k_glyph_vertex = shaders::k_version + R"(
uniform mat4 view, projection;
layout(location = 0) in vec3 vertex_position;
layout(location = 1) in vec3 vertex_normal;
layout(location = 2) in vec3 axis_x;      // these four: of each glyph
layout(location = 3) in vec3 axis_y;
layout(location = 4) in vec3 axis_z;
layout(location = 5) in vec3 origin;
layout(location = 6) in vec4 glyph_colour;
out vec3 position, normal;
out vec4 paint;
void main() {
  mat3 axes = mat3(axis_x, axis_y, axis_z);
  position = (view * vec4(axes * vertex_position + origin, 1.0)).xyz;
  // Normals go by cofactors, which do not mind an axis of no length; in units that do not underflow.
  float size = max(max(length(axis_x), length(axis_y)), max(length(axis_z), 1e-30));
  vec3 x = axis_x / size, y = axis_y / size, z = axis_z / size;
  normal = mat3(view) * (mat3(cross(y, z), cross(z, x), cross(x, y)) * vertex_normal);
  paint = glyph_colour;
  gl_Position = projection * vec4(position, 1.0);
}
)";

const std::string k_glyph_fragment = shaders::k_version + shaders::k_light + R"(
uniform float opacity;
in vec3 position, normal;
in vec4 paint;
out vec4 pixel;
void main() {
  vec3 n = normalize(gl_FrontFacing ? normal : -normal);
  vec3 light = lit(to_linear(paint.rgb), n, normalize(-position), 1.0, 0.7);
  pixel = vec4(to_screen(light), opacity * paint.a);
}
)";

}  // namespace

GlyphPass::GlyphPass()
    : program_("glyph", k_glyph_vertex, k_glyph_fragment),
      batches_{GlyphBatch(GlyphShape::sphere), GlyphBatch(GlyphShape::cylinder), GlyphBatch(GlyphShape::cone),
               GlyphBatch(GlyphShape::disc)} {}

void GlyphPass::draw(const SceneView& scene, const GlyphList& list, PendingTriangles& pending) const {
  draw_batches(scene, list, 1.0, pending);
}

// The nearest of them alone, or what lies behind it would shine through.
void GlyphPass::draw_faintly(const SceneView& scene, const GlyphList& list, PendingTriangles& pending) const {
  constexpr double k_faint = 0.45;
  glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
  draw_batches(scene, list, 1.0, pending);
  glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
  draw_batches(scene, list, k_faint, pending);
}

void GlyphPass::draw_batches(const SceneView& scene, const GlyphList& list, double opacity,
                             PendingTriangles& pending) const {
  program_.use();
  program_.set("view", scene.view);
  program_.set("projection", scene.projection);
  program_.set("opacity", opacity);
  scene.set_light(program_);
  glCullFace(GL_BACK);
  for (const GlyphShape shape :
       {GlyphShape::sphere, GlyphShape::cylinder, GlyphShape::disc, GlyphShape::cone}) {
    if (shape == GlyphShape::disc) {
      glDisable(GL_CULL_FACE);
    } else {
      glEnable(GL_CULL_FACE);
    }
    batches_[static_cast<std::size_t>(shape)].draw(list.glyphs(shape), pending);
  }
  glDisable(GL_CULL_FACE);
}

}  // namespace abut
