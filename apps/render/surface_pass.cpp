#include "apps/render/surface_pass.h"

#include <algorithm>
#include <vector>

#include "apps/render/shaders.h"

namespace abut {
namespace {

const std::string k_surface_attributes = R"(
uniform mat4 model_view, projection;
uniform vec4 colour;
uniform int has_colours;  // of its own, at each vertex
layout(location = 0) in vec3 vertex_position;
layout(location = 1) in vec3 vertex_normal;
layout(location = 2) in vec4 vertex_colour;
vec4 linear_paint() {
  bool is_coloured = has_colours != 0 && vertex_colour.a >= 0.0;
  vec4 own = is_coloured ? vec4(vertex_colour.rgb, vertex_colour.a * colour.a) : colour;
  return vec4(to_linear(own.rgb), own.a);
}
)";

const std::string k_surface_vertex = shaders::k_version + shaders::k_colour_space + k_surface_attributes + R"(
out vec3 position, normal;
out vec4 paint;  // in linear light
void main() {
  position = (model_view * vec4(vertex_position, 1.0)).xyz;
  normal = mat3(model_view) * vertex_normal;
  paint = linear_paint();
  gl_Position = projection * vec4(position, 1.0);
}
)";

const std::string k_surface_light = shaders::k_light + R"(
uniform float highlight;  // 1: selected
uniform float calm;       // 1: the colour itself is the message

// `edge` is 1 where the surface is seen from the side.
vec3 surface_light(vec3 albedo, vec3 n, vec3 to_eye, float seen_by_key, float edge) {
  vec3 light = lit(albedo, n, to_eye, seen_by_key, calm) * (1.0 + 0.22 * highlight);
  return light + highlight * (0.05 + 0.75 * edge * edge * edge);
}
)";

/// Light at vertices, for software renderers: they shade the small triangles of smooth surfaces in blocks of
/// pixels that are several times as large.
const std::string k_vertex_lit_vertex = shaders::k_version + k_surface_light + k_surface_attributes + R"(
out vec3 shown;
void main() {
  vec3 position = (model_view * vec4(vertex_position, 1.0)).xyz;
  vec3 n = normalize(mat3(model_view) * vertex_normal), to_eye = normalize(-position);
  float edge = 1.0 - clamp(dot(n, to_eye), 0.0, 1.0);
  shown = to_screen(surface_light(linear_paint().rgb, n, to_eye, 1.0, edge));
  gl_Position = projection * vec4(position, 1.0);
}
)";
const std::string k_vertex_lit_fragment = shaders::k_version + R"(
in vec3 shown;
out vec4 pixel;
void main() { pixel = vec4(shown, 1.0); }
)";

const std::string k_surface_fragment = k_surface_light + R"(
uniform float ink;        // 1: a line, darker than the surface it lies on and without light
in vec3 position, normal;
in vec4 paint;
out vec4 pixel;
void main() {
  vec3 to_eye = normalize(-position);
  vec3 n = normalize(gl_FrontFacing ? normal : -normal);
  vec3 albedo = paint.rgb;
  float edge = 1.0 - clamp(dot(n, to_eye), 0.0, 1.0);
  vec3 light = surface_light(albedo, n, to_eye, seen_by_key(position, n), edge);
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

void set_view(const Program& program, const SceneView& scene) {
  program.set("projection", scene.projection);
  scene.set_light(program);
  program.set("calm", 0.0);
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
      unshaded_("surface", k_surface_vertex, shaders::k_version + shaders::k_no_shadow + k_surface_fragment),
      vertex_lit_("surface lit at vertices", k_vertex_lit_vertex, k_vertex_lit_fragment) {}

std::vector<PlacedMesh> SurfacePass::casters(const Picture& picture, SurfaceStore& store) {
  std::vector<PlacedMesh> meshes;
  for (const DrawnSurface& drawn : picture.surfaces) {
    if (is_drawn(drawn) && is_opaque(drawn)) meshes.push_back({&store.mesh_of(drawn.surface), drawn.X_WB});
  }
  return meshes;
}

const Program& SurfacePass::begin(const SceneView& scene, const ShadowMap& shadows, double ink) const {
  const Program& program = shadows.use(shaded_, unshaded_, scene);
  set_view(program, scene);
  program.set("ink", ink);
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
  glCullFace(GL_BACK);
  // Normals of what is seen from both sides are known where it is.
  const auto draw = [&](const Program& program, bool lit_at_vertices) {
    for (const DrawnSurface& drawn : picture.surfaces) {
      if (!is_drawn(drawn) || !is_opaque(drawn)) continue;
      const UploadedMesh& mesh = store.mesh_of(drawn.surface);
      if (lit_at_vertices != (picture.look.quality == Quality::plain && !mesh.two_sided())) continue;
      set_surface(program, scene, drawn, mesh);
      cull_faces_of(mesh);
      store.draw(mesh);
    }
  };
  draw(begin(scene, shadows, 0.0), false);
  vertex_lit_.use();
  set_view(vertex_lit_, scene);
  draw(vertex_lit_, true);
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
  glEnable(GL_POLYGON_OFFSET_FILL);
  glPolygonOffset(1.0f, 2.0f);  // behind the opaque surface that a ghost coincides with
  for (const Layer& layer : layers) {
    set_surface(program, scene, *layer.drawn, *layer.mesh);
    for (const GLenum hidden : {GL_FRONT, GL_BACK}) {
      glCullFace(hidden);
      store.draw(*layer.mesh);
    }
  }
  glDisable(GL_POLYGON_OFFSET_FILL);
  glDepthMask(GL_TRUE);
  glDisable(GL_CULL_FACE);
}

}  // namespace abut
