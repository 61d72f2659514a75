/// Padded convex outlines in the plane of the road: the shapes of cars and obstacles.
///
/// An outline is a convex core, of which the corners are given, and a padding: all points within the padding
/// of the core. One corner is a disc, two are a capsule, three or more a padded polygon. Corners of polygons
/// are in order round it, anticlockwise.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/types.h"

namespace abut {

struct PaddedOutline {
  static constexpr std::size_t k_most_corners = 8;

  std::vector<Vec2<double>> corners;  ///< of the core [m]
  double padding = 0;                 ///< [m], >= 0
};

/// Which corners a padded polygon may have, for messages.
[[nodiscard]] std::string allowed_polygon_text();

/// What keeps corners [m] from being those of a convex polygon, in order round it in either direction, or "".
/// Corners on an edge are allowed, a polygon narrower than 8e-6 of its length is not.
[[nodiscard]] std::string polygon_fault(std::span<const Vec2<double>> corners);

/// The outline of a polygon, its corners put in order and those on an edge left out.
/// Throws std::invalid_argument if polygon_fault() finds one.
[[nodiscard]] PaddedOutline polygon_outline(std::span<const Vec2<double>> corners, double padding);

/// In another frame, at `position` [m] and turned by `heading` [rad] in it.
[[nodiscard]] PaddedOutline moved(const PaddedOutline& outline, const Vec2<double>& position, double heading);

/// By how far two cores are apart, or have to move to part: the largest gap along the normals of their edges.
struct CoreSeparation {
  double gap = 0;       ///< [m]; < 0 where the cores overlap, minus the least translation that parts them
  Vec2<double> normal;  ///< from A to B, of unit length, of an edge of A or of B
  Vec2<double> point;   ///< the corner of the other core on that side: gap is a function of its place [m]
};

/// Exact where the cores overlap, else a lower bound of their distance. Discs have no edges: of two of them
/// the gap is along the line of their centres, or along the x axis where these coincide.
[[nodiscard]] CoreSeparation core_separation(const PaddedOutline& A, const PaddedOutline& B);

}  // namespace abut
