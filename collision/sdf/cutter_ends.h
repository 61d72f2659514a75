/// Subtracted primitives, taken to go on where their ends are in the air.
///
/// Beyond the end of a cutter the distance of a difference is that of the solid without the cutter: a ball
/// whose centre is above that end would lie on the mouth of the hole. Where a longer cutter stays clear of what
/// is added, it cuts the same surface, and distances are those of the walls.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include <Eigen/Geometry>

#include "engine/model.h"
#include "engine/types.h"

namespace abut {

/// The index of the parameter that is half the length along an axis of P. Boxes and superquadrics have one for
/// each axis; capsules, without their round ends, and cones for z only.
[[nodiscard]] std::optional<std::size_t> half_length_parameter(PrimitiveKind kind, int axis);

/// By how much both ends of each axis are farther out, [axis][lower, upper] [m].
using EndExtensions = std::array<std::array<double, 2>, 3>;

/// Ends farther out by that. A cone goes on as it is, up to its apex.
/// @pre  half_length_parameter() of the axes that are longer
[[nodiscard]] Primitive lengthened(const Primitive& primitive, const EndExtensions& by);

/// From dL/d(parameters of the longer primitive) to those of the primitive; poses have the same dL/d(pose).
[[nodiscard]] std::array<double, 5> lengthened_vjp(const Primitive& primitive, const EndExtensions& by,
                                                   const std::array<double, 5>& bar);

/// An added primitive, to those that ask where it is not.
struct Obstacle {
  Eigen::AlignedBox3d box;  ///< in B
  double ratio = 1.0;       ///< D <= ratio d + rounding for its distance d and the distance D from the box
  std::function<double(const Vec3<double>&)> distance;  ///< d(x_B) [m], of a slope of 2 at most
};

/// The largest extension of each end, of `reach` [m], a half, a quarter or an eighth of it, for which the added
/// volume is farther than `margin` [m] from all obstacles; 0 if there is none. Only boxes, capsules and cones
/// are extended: a longer superquadric differs along its whole length.
[[nodiscard]] EndExtensions open_ends(const Primitive& cutter, std::span<const Obstacle> obstacles,
                                      double reach, double margin);

}  // namespace abut
