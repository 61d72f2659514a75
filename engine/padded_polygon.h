/// Convex polygons in the plane z = 0 with a ball swept over them: their corners, and volume, centre of mass
/// and inertia in closed form.
#pragma once

#include <span>
#include <vector>

#include "engine/mass_properties.h"
#include "engine/model.h"
#include "engine/types.h"

namespace abut {

/// The corners of a primitive of kind padded_polygon, in the plane z = 0 of P [m]: its values, by twos.
[[nodiscard]] std::vector<Vec2<double>> polygon_corners(const Primitive& primitive);

/// Throws std::invalid_argument unless corners are three or more, finite, and turn to the left at each of
/// them, once round.
void require_convex_polygon(std::span<const Vec2<double>> corners);

/// Throws std::invalid_argument unless the polygon is also at least 1e-5 as wide as long.
void require_wide_polygon(std::span<const Vec2<double>> corners);

/// Volume, centre of mass and inertia, in P. The solid is a plate of thickness 2 r, half a cylinder along
/// each edge, and at each corner the sector of a ball over its outer angle alpha: with area A and
/// perimeter L,
///   V = 2 r A + pi r^2 L/2 + 4 pi r^3/3,
/// as the angles add up to 2 pi (Steiner's formula). Moments of the parts, b being the bisector of the angle,
/// e the outward normal of an edge and l its length:
///   half a cylinder, from the middle of its edge
///                               int e dV = 2 r^3 l/3,   int e^2 dV = int z^2 dV = pi r^4 l/8,
///                               int u^2 dV = pi r^2 l^3/24
///   a sector, from its corner   V = 2 alpha r^3/3,   int b dV = pi r^4 sin(alpha/2)/4,
///                               int b^2 dV, int (z x b)^2 dV = 2 r^5 (alpha +- sin(alpha))/15,
///                               int z^2 dV = 2 alpha r^5/15
///
/// @param corners  in the plane z = 0, anticlockwise [m]
/// @param radius   r [m], > 0
/// @param density  [kg/m^3], > 0
/// Throws std::invalid_argument for what is no convex polygon, or if the radius is not > 0, or if the density
/// is not > 0.
[[nodiscard]] MassProperties padded_polygon_mass_properties(std::span<const Vec2<double>> corners,
                                                            double radius, double density);

}  // namespace abut
