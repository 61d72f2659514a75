#include "apps/render/shadow_map.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "apps/render/shaders.h"

namespace abut {
namespace {

constexpr int k_cells = 2048;    // along each side
constexpr double k_reach = 3.0;  // around the camera's target, in distances of the camera
constexpr GLuint k_compared_unit = 1, k_plain_unit = 2;

const std::string k_shadow_vertex = shaders::k_version + R"(
uniform mat4 clip_from_body;
layout(location = 0) in vec3 vertex_position;
void main() { gl_Position = clip_from_body * vec4(vertex_position, 1.0); }
)";

const std::string k_shadow_fragment = shaders::k_version + "void main() {}\n";

/// Axes of the map: to the right, upwards, towards the light.
Mat3<double> light_axes() {
  Mat3<double> R_LW;
  const Vec3<double> right = Vec3<double>::UnitZ().cross(k_to_key_W).normalized();
  R_LW << right.transpose(), k_to_key_W.cross(right).transpose(), k_to_key_W.transpose();
  return R_LW;
}

void set_filter(const Sampler& sampler, GLint filter) {
  glSamplerParameteri(sampler.name(), GL_TEXTURE_MIN_FILTER, filter);
  glSamplerParameteri(sampler.name(), GL_TEXTURE_MAG_FILTER, filter);
  glSamplerParameteri(sampler.name(), GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glSamplerParameteri(sampler.name(), GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
}

}  // namespace

std::optional<ShadowExtent> shadow_extent(const OrbitCamera& camera, std::span<const ShadowCaster> casters) {
  const Mat3<double> R_LW = light_axes();
  const Vec3<double> middle_L = R_LW * camera.target;
  const double reach = k_reach * camera.distance;
  Eigen::AlignedBox3d box_L;
  for (const ShadowCaster& caster : casters) {
    const Vec3<double> centre_L = R_LW * caster.centre_W, radius = Vec3<double>::Constant(caster.radius);
    const bool is_near = (centre_L - middle_L).head<2>().norm() <= reach + caster.radius;
    if (!is_near || !centre_L.allFinite()) continue;
    box_L.extend(Vec3<double>(centre_L - radius)).extend(Vec3<double>(centre_L + radius));
  }
  if (box_L.isEmpty()) return std::nullopt;
  const auto clip = [&](int axis) {
    box_L.min()[axis] = std::max(box_L.min()[axis], middle_L[axis] - reach);
    box_L.max()[axis] = std::min(box_L.max()[axis], middle_L[axis] + reach);
  };
  clip(0);
  clip(1);

  // In steps, and by whole cells, so that shadows do not flicker while bodies move.
  constexpr double k_steps = 4.0;         // to twice the width
  constexpr double k_least_width = 1e-4;  // of the reach: casters may have no size
  const double needed = std::max(1.1 * box_L.sizes().head<2>().maxCoeff(), k_least_width * reach);
  ShadowExtent extent;
  extent.width = std::exp2(std::ceil(k_steps * std::log2(needed)) / k_steps);
  const double cell = extent.width / k_cells;
  const Vec3<double> centre_L = box_L.center();
  const double x = std::round(centre_L.x() / cell) * cell, y = std::round(centre_L.y() / cell) * cell;
  // Floors below are shaded, too: from the height of what casts shadows as far as the reach.
  const double near = box_L.max().z(), far = std::min(box_L.min().z(), middle_L.z()) - reach;
  extent.depth = near - far;
  extent.clip_from_world.setIdentity();
  extent.clip_from_world.topLeftCorner<3, 3>() =
      Vec3<double>(2.0 / extent.width, 2.0 / extent.width, -2.0 / extent.depth).asDiagonal() * R_LW;
  extent.clip_from_world.topRightCorner<3, 1>() =
      Vec3<double>(-2.0 * x / extent.width, -2.0 * y / extent.width, (near + far) / extent.depth);
  return extent;
}

ShadowMap::ShadowMap() : program_("shadow", k_shadow_vertex, k_shadow_fragment) {
  set_filter(compared_, GL_LINEAR);
  set_filter(plain_, GL_NEAREST);
  glSamplerParameteri(compared_.name(), GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
  glSamplerParameteri(compared_.name(), GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
}

void ShadowMap::draw(const SceneView& scene, std::span<const PlacedMesh> meshes, SurfaceStore& store) {
  std::vector<ShadowCaster> casters;
  for (const PlacedMesh& placed : meshes)
    casters.push_back({placed.X_WB * placed.mesh->centre(), placed.mesh->radius()});
  extent_ = shadow_extent(scene.camera, casters);
  if (!extent_) return;
  depths_.resize(k_cells, k_cells);
  glBindFramebuffer(GL_FRAMEBUFFER, depths_.framebuffer());
  glViewport(0, 0, k_cells, k_cells);
  glClear(GL_DEPTH_BUFFER_BIT);
  glEnable(GL_POLYGON_OFFSET_FILL);
  glPolygonOffset(1.5f, 2.0f);
  program_.use();
  for (const PlacedMesh& placed : meshes) {
    program_.set("clip_from_body", Mat4<double>(extent_->clip_from_world * matrix_of(placed.X_WB)));
    store.draw(*placed.mesh);
  }
  glDisable(GL_POLYGON_OFFSET_FILL);
}

const Program& ShadowMap::use(const Program& with_shadows, const Program& without,
                              const SceneView& scene) const {
  const Program& program = extent_ ? with_shadows : without;
  program.use();
  if (extent_) set(program, scene);
  return program;
}

void ShadowMap::set(const Program& program, const SceneView& scene) const {
  program.set("shadow_map", static_cast<int>(k_compared_unit));
  program.set("shadow_depths", static_cast<int>(k_plain_unit));
  Mat4<double> map_from_clip = Mat4<double>::Identity();
  map_from_clip.diagonal().head<3>().setConstant(0.5);
  map_from_clip.topRightCorner<3, 1>().setConstant(0.5);
  program.set("shadow_from_camera",
              Mat4<double>(map_from_clip * extent_->clip_from_world * scene.view.inverse()));
  program.set("shadow_cell", extent_->width / k_cells);
  program.set("shadow_width", extent_->width);
  program.set("shadow_depth", extent_->depth);
  for (const auto& [unit, sampler] : {std::pair(k_compared_unit, &compared_), {k_plain_unit, &plain_}}) {
    glActiveTexture(GL_TEXTURE0 + unit);
    glBindTexture(GL_TEXTURE_2D, depths_.texture());
    glBindSampler(unit, sampler->name());
  }
  glActiveTexture(GL_TEXTURE0);
}

}  // namespace abut
