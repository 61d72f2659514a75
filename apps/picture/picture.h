/// Everything that is drawn of the world in one picture; the renderer turns it into pixels.
#pragma once

#include <optional>
#include <vector>

#include "apps/picture/camera.h"
#include "apps/picture/glyph_list.h"
#include "apps/picture/slice.h"
#include "apps/picture/surface.h"

namespace abut {

struct DrawnSurface {
  SharedSurface surface;
  Pose<double> X_WB;
  Colour colour = Colour::Ones();  ///< opacity below 1: seen through, drawn after all that is opaque
  bool wireframe = false;          ///< the edges of its triangles on top
  bool highlighted = false;        ///< brighter, as what is selected
  bool own_colours = true;         ///< those of the surface, where it has any, and not `colour`
};

/// The positions of a surface that is drawn (3, n), in W [m].
[[nodiscard]] inline Points positions_of(const DrawnSurface& drawn) {
  const std::vector<Eigen::Vector3f>& positions = drawn.surface->positions;
  Points points_W(3, static_cast<Eigen::Index>(positions.size()));
  for (std::size_t i = 0; i < positions.size(); ++i)
    points_W.col(static_cast<Eigen::Index>(i)) = drawn.X_WB * Vec3<double>(positions[i].cast<double>());
  return points_W;
}

/// A half-space: a floor with a grid around the camera's target. Its solid is z <= 0 of P.
struct DrawnFloor {
  Pose<double> X_WP;
  std::optional<Colour> colour{};  ///< none: grey
};

/// plain  without shadows and ambient occlusion, for machines without a graphics card
enum class Quality { plain, full };

struct PictureLook {
  Quality quality = Quality::full;
  bool outlines = false;  ///< dark lines at silhouettes and sharp edges
};

struct Picture {
  OrbitCamera camera;
  std::vector<DrawnSurface> surfaces;
  std::vector<DrawnFloor> floors;
  GlyphList glyphs;              ///< as solid bodies
  GlyphList glyphs_on_top;       ///< seen through everything, faintly: contacts are inside of bodies
  GlyphList see_through_glyphs;  ///< seen through everything, discs before cones; other glyphs before them
  /// Seen through everything, below those glyphs and without shadows: their own colours are the message.
  std::vector<DrawnSurface> see_through_surfaces;
  std::optional<SlicePicture> slice;
  PictureLook look;
};

}  // namespace abut
