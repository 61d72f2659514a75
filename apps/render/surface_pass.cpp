#include "apps/render/surface_pass.h"

#include <algorithm>
#include <vector>

#include "apps/render/shaders.h"

namespace abut {
namespace {

const std::string k_surface_vertex = shaders::k_version + shaders::k_colour_space + R"(
uniform mat4 model_view, projection;
uniform vec4 colour;
uniform int has_colours;  // of its own, at each vertex
layout(location = 0) in vec3 vertex_position;
layout(location = 1) in vec3 vertex_normal;
layout(location = 2) in vec4 vertex_colour;
out vec3 position, normal;
out vec4 paint;  // in linear light
void main() {
  position = (model_view * vec4(vertex_position, 1.0)).xyz;
  normal = mat3(model_view) * vertex_normal;
  bool is_coloured = has_colours != 0 && vertex_colour.a >= 0.0;
  paint = is_coloured ? vec4(vertex_colour.rgb, vertex_colour.a * colour.a) : colour;
  paint.rgb = to_linear(paint.rgb);
  gl_Position = projection * vec4(position, 1.0);
}
)";

const std::string k_surface_fragment = shaders::k_light + R"(
uniform float highlight;  // 1: selected
uniform float calm;       // 1: the colour itself is the message
uniform float ink;        // 1: a line, darker than the surface it lies on and without light
in vec3 position, normal;
in vec4 paint;
out vec4 pixel;
void main() {
  vec3 to_eye = normalize(-position);
  vec3 n = normalize(gl_FrontFacing ? normal : -normal);
  vec3 albedo = paint.rgb;
  float edge = 1.0 - clamp(dot(n, to_eye), 0.0, 1.0);
  vec3 light = lit(albedo, n, to_eye, seen_by_key(position, n), calm) * (1.0 + 0.22 * highlight);
  light += highlight * (0.05 + 0.75 * edge * edge * edge);
  light = mix(light, 0.12 * albedo, ink);
  // What is seen through is denser where it is looked at from the side, as glass is.
  float opacity = paint.a < 1.0 ? mix(paint.a, sqrt(paint.a), edge * edge) : 1.0;
  pixel = vec4(to_screen(light), mix(opacity, 0.75, ink));
}
)";

/// The far side of a closed surface is never seen.
void cull_faces_of(const UploadedMesh& mesh) {
  mesh.two_sided() ? glDisable(GL_CULL_FACE) : glEnable(GL_CULL_FACE);
}

bool is_opaque(const DrawnSurface& drawn) { return drawn.colour.w() >= 1.0f; }
bool is_drawn(const DrawnSurface& drawn) {
  return drawn.surface && !drawn.surface->triangles.empty() && drawn.colour.w() > 0.0f &&
         drawn.X_WB.p.allFinite() && drawn.X_WB.q.coeffs().allFinite();
}

void set_surface(const Program& program, const SceneView& scene, const DrawnSurface& drawn,
                 const UploadedMesh& mesh) {
  program.set("model_view", Mat4<double>(scene.view * matrix_of(drawn.X_WB)));
  program.set("colour", drawn.colour);
  program.set("has_colours", mesh.has_colours() && drawn.own_colours ? 1 : 0);
  program.set("highlight", drawn.highlighted ? 1.0 : 0.0);
}

}  // namespace

SurfacePass::SurfacePass()
    : shaded_("surface", k_surface_vertex, shaders::k_version + shaders::k_shadow + k_surface_fragment),
      unshaded_("surface", k_surface_vertex, shaders::k_version + shaders::k_no_shadow + k_surface_fragment) {
}

std::vector<PlacedMesh> SurfacePass::casters(const Picture& picture, SurfaceStore& store) {
  std::vector<PlacedMesh> meshes;
  for (const DrawnSurface& drawn : picture.surfaces) {
    if (is_drawn(drawn) && is_opaque(drawn)) meshes.push_back({&store.mesh_of(drawn.surface), drawn.X_WB});
  }
  return meshes;
}

const Program& SurfacePass::begin(const SceneView& scene, const ShadowMap& shadows, double ink) const {
  const Program& program = shadows.use(shaded_, unshaded_, scene);
  program.set("projection", scene.projection);
  scene.set_light(program);
  program.set("ink", ink);
  program.set("calm", 0.0);
  return program;
}

void SurfacePass::draw_depths(const SceneView& scene, const Picture& picture, SurfaceStore& store) const {
  unshaded_.use();
  unshaded_.set("projection", scene.projection);
  glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
  for (const DrawnSurface& drawn : picture.surfaces) {
    if (!is_drawn(drawn)) continue;
    const UploadedMesh& mesh = store.mesh_of(drawn.surface);
    set_surface(unshaded_, scene, drawn, mesh);
    store.draw(mesh);
  }
  glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
}

void SurfacePass::draw_painted(const SceneView& scene, const std::vector<DrawnSurface>& painted,
                               SurfaceStore& store) const {
  unshaded_.use();
  unshaded_.set("projection", scene.projection);
  scene.set_light(unshaded_);
  unshaded_.set("ink", 0.0);
  unshaded_.set("calm", 1.0);
  for (const DrawnSurface& drawn : painted) {
    if (!is_drawn(drawn)) continue;
    const UploadedMesh& mesh = store.mesh_of(drawn.surface);
    set_surface(unshaded_, scene, drawn, mesh);
    cull_faces_of(mesh);
    store.draw(mesh);
  }
  glDisable(GL_CULL_FACE);
}

void SurfacePass::draw_opaque(const SceneView& scene, const Picture& picture, SurfaceStore& store,
                              const ShadowMap& shadows) const {
  const Program& program = begin(scene, shadows, 0.0);
  glCullFace(GL_BACK);
  for (const DrawnSurface& drawn : picture.surfaces) {
    if (!is_drawn(drawn) || !is_opaque(drawn)) continue;
    const UploadedMesh& mesh = store.mesh_of(drawn.surface);
    set_surface(program, scene, drawn, mesh);
    cull_faces_of(mesh);
    store.draw(mesh);
  }
  glDisable(GL_CULL_FACE);
}

void SurfacePass::draw_wireframes(const SceneView& scene, const Picture& picture, SurfaceStore& store,
                                  const ShadowMap& shadows) const {
  const Program& program = begin(scene, shadows, 1.0);
  glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
  glEnable(GL_POLYGON_OFFSET_LINE);
  glPolygonOffset(-1.0f, -2.0f);  // before the triangles they are edges of
  glCullFace(GL_BACK);
  glDepthMask(GL_FALSE);
  for (const DrawnSurface& drawn : picture.surfaces) {
    if (!is_drawn(drawn) || !drawn.wireframe) continue;
    const UploadedMesh& mesh = store.mesh_of(drawn.surface);
    set_surface(program, scene, drawn, mesh);
    cull_faces_of(mesh);
    store.draw(mesh);
  }
  glDepthMask(GL_TRUE);
  glDisable(GL_CULL_FACE);
  glDisable(GL_POLYGON_OFFSET_LINE);
  glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
}

void SurfacePass::draw_translucent(const SceneView& scene, const Picture& picture, SurfaceStore& store,
                                   const ShadowMap& shadows) const {
  struct Layer {
    double z;  // in front of the camera, hence the least is the farthest [m]
    const DrawnSurface* drawn;
    const UploadedMesh* mesh;
  };
  std::vector<Layer> layers;
  for (const DrawnSurface& drawn : picture.surfaces) {
    if (!is_drawn(drawn) || is_opaque(drawn)) continue;
    const UploadedMesh& mesh = store.mesh_of(drawn.surface);
    const Vec3<double> centre_W = drawn.X_WB * mesh.centre();
    layers.push_back({scene.view.row(2).head<3>().dot(centre_W), &drawn, &mesh});
  }
  std::stable_sort(layers.begin(), layers.end(), [](const Layer& a, const Layer& b) { return a.z < b.z; });
  const Program& program = begin(scene, shadows, 0.0);
  glEnable(GL_CULL_FACE);
  glDepthMask(GL_FALSE);
  for (const Layer& layer : layers) {
    set_surface(program, scene, *layer.drawn, *layer.mesh);
    for (const GLenum hidden : {GL_FRONT, GL_BACK}) {
      glCullFace(hidden);
      store.draw(*layer.mesh);
    }
  }
  glDepthMask(GL_TRUE);
  glDisable(GL_CULL_FACE);
}

}  // namespace abut
