/// Depths as the key light sees them.
#pragma once

#include <optional>
#include <span>

#include "apps/render/scene_view.h"
#include "apps/render/uploaded_mesh.h"

namespace abut {

/// A mesh where it stands in the world.
struct PlacedMesh {
  const UploadedMesh* mesh;
  Pose<double> X_WB;
};

/// A ball around what casts shadows, in W.
struct ShadowCaster {
  Vec3<double> centre_W;
  double radius = 0.0;  ///< [m]
};

/// What a map of depths along the light's rays holds.
struct ShadowExtent {
  Mat4<double> clip_from_world;     ///< to [-1, 1] in each direction
  double width = 1.0, depth = 1.0;  ///< [m], > 0
};
/// All casters near what the camera looks at, and the floors below; none without any.
[[nodiscard]] std::optional<ShadowExtent> shadow_extent(const OrbitCamera& camera,
                                                        std::span<const ShadowCaster> casters);

class ShadowMap {
 public:
  ShadowMap();

  /// Draws what casts shadows, as far as it is near what the camera looks at. Leaves the map's framebuffer
  /// and viewport bound.
  void draw(const SceneView& scene, std::span<const PlacedMesh> meshes, SurfaceStore& store);
  /// From now on nothing casts shadows.
  void clear() { extent_.reset(); }

  /// Uses the one of two programs that is right: with shaders::k_shadow, which it sets, or with k_no_shadow.
  const Program& use(const Program& with_shadows, const Program& without, const SceneView& scene) const;

 private:
  void set(const Program& program, const SceneView& scene) const;

  Program program_;
  TextureBuffer depths_{TextureBuffer::Content::depth};
  Sampler compared_, plain_;
  std::optional<ShadowExtent> extent_;  // none: nothing casts shadows
};

}  // namespace abut
