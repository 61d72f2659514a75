/// Depths as the key light sees them.
#pragma once

#include <span>

#include "apps/render/scene_view.h"
#include "apps/render/uploaded_mesh.h"

namespace abut {

/// A mesh where it stands in the world.
struct PlacedMesh {
  const UploadedMesh* mesh;
  Pose<double> X_WB;
};

class ShadowMap {
 public:
  ShadowMap();

  /// Draws what casts shadows, as far as it is near what the camera looks at. Leaves the map's framebuffer
  /// and viewport bound.
  void draw(const SceneView& scene, std::span<const PlacedMesh> meshes, SurfaceStore& store);
  /// From now on nothing casts shadows.
  void clear() { is_empty_ = true; }

  /// Uses the one of two programs that is right: with shaders::k_shadow, which it sets, or with k_no_shadow.
  const Program& use(const Program& with_shadows, const Program& without, const SceneView& scene) const;

 private:
  void set(const Program& program, const SceneView& scene) const;

  Program program_;
  TextureBuffer depths_{TextureBuffer::Content::depth};
  Sampler compared_, plain_;
  bool is_empty_ = true;
  Mat4<double> clip_from_world_ = Mat4<double>::Identity();
  double width_ = 1.0, depth_ = 1.0;  // of what it holds [m]
};

}  // namespace abut
