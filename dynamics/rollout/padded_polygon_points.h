/// Contact points on the rounded corners of a padded polygon, as functions of its padding and corners.
///
/// With the outward normals e of the edges at angles theta in the plane, the share s of the outer angle of
/// corner k and the latitude a,
///   p = c_k + r (cos(a) (cos(theta), sin(theta)) + sin(a) z),   theta = (1 - s) theta_{k-1} + s theta_k,
/// whose s and a are constant: the point stays on the surface and at its place between the edges. All
/// vertices of padded_polygon_mesh() are such points.
#pragma once

#include <optional>
#include <vector>

#include "collision/sdf/shape_sdf.h"
#include "engine/model.h"
#include "engine/types.h"

namespace abut {

struct PaddedPolygonPoints {
  struct Place {
    std::size_t corner;
    double share;     ///< s, 0 to 1
    double latitude;  ///< a [rad]
  };
  std::vector<Place> places;  ///< of each contact point

  /// Nothing unless the body is one added padded polygon, all of whose contact points are of that kind.
  [[nodiscard]] static std::optional<PaddedPolygonPoints> of(const Body& body);

  /// The points of a polygon of as many corners, in B (3, n) [m].
  [[nodiscard]] Points points(const Primitive& polygon) const;

  /// Adds to `bar` what dL/d(points), in B (3, n), is by the polygon.
  void vjp(const Primitive& polygon, const Points& points_bar, PrimitiveGradient& bar) const;
};

}  // namespace abut
