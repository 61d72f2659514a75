/// Surfaces of a picture.
#pragma once

#include "apps/picture/picture.h"
#include "apps/render/scene_view.h"
#include "apps/render/uploaded_mesh.h"

namespace abut {

class SurfacePass {
 public:
  SurfacePass();
  void draw_opaque(const SceneView& scene, const Picture& picture, SurfaceStore& store) const;
  /// The farthest first; of each the sides that look away first.
  void draw_translucent(const SceneView& scene, const Picture& picture, SurfaceStore& store) const;
  void draw_wireframes(const SceneView& scene, const Picture& picture, SurfaceStore& store) const;

 private:
  void begin(const SceneView& scene, double ink) const;
  void set(const SceneView& scene, const DrawnSurface& drawn, const UploadedMesh& mesh) const;

  Program program_;
};

}  // namespace abut
