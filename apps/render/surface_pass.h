/// Surfaces of a picture.
#pragma once

#include <vector>

#include "apps/picture/picture.h"
#include "apps/render/shadow_map.h"

namespace abut {

class SurfacePass {
 public:
  SurfacePass();
  /// What casts shadows of a picture: all that is opaque.
  [[nodiscard]] static std::vector<PlacedMesh> casters(const Picture& picture, SurfaceStore& store);
  void draw_opaque(const SceneView& scene, const Picture& picture, SurfaceStore& store,
                   const ShadowMap& shadows) const;
  /// The farthest first; of each the sides that look away first.
  void draw_translucent(const SceneView& scene, const Picture& picture, SurfaceStore& store,
                        const ShadowMap& shadows) const;
  void draw_wireframes(const SceneView& scene, const Picture& picture, SurfaceStore& store,
                       const ShadowMap& shadows) const;
  /// The depths of all of them, seen through or not, and nothing else.
  void draw_depths(const SceneView& scene, const Picture& picture, SurfaceStore& store) const;
  /// As they are painted, without shadows, in their order.
  void draw_painted(const SceneView& scene, const std::vector<DrawnSurface>& painted,
                    SurfaceStore& store) const;

 private:
  [[nodiscard]] const Program& begin(const SceneView& scene, const ShadowMap& shadows, double ink) const;

  Program shaded_, unshaded_, vertex_lit_;
};

}  // namespace abut
