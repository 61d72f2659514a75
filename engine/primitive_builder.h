/// Primitives with as many parameters as they have planes, points, cuts or corners.
///
/// All throw std::invalid_argument naming the element and the cause.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/mesh.h"
#include "engine/model.h"

namespace abut {

inline constexpr double k_edge_smoothing_per_size = 0.002;  ///< default tau_c / the extent
inline constexpr double k_edge_smoothing_per_limit = 0.25;  ///< default tau_c at most / the largest allowed
inline constexpr double k_most_cone_smoothing =
    0.1;  ///< tau_c / the smaller of half length and larger radius
inline constexpr double k_cloud_width_per_spacing = 1.5;  ///< default h of a point cloud / its mean spacing
inline constexpr double k_default_profile_power = 20.0;   ///< p3 of an extruded superquadric
inline constexpr double k_min_profile_power = 3.0;        ///< below 2 curvatures are unbounded at a cut
inline constexpr double k_max_profile_power = 100.0;

/// The solid of all x with normals.col(i).x <= offsets[i], the origin of its frame inside.
///
/// @param normals    (3, n), outwards; brought to length 1
/// @param offsets    (n) [m], > 0
/// @param smoothing  tau_c [m], > 0; default: 0.002 of the largest extent along the axes, at
///                   most a quarter of what is allowed, min(offsets)/ln(n)
[[nodiscard]] Primitive make_convex_polyhedron(const Points& normals, const std::vector<double>& offsets,
                                               std::optional<double> smoothing = {});

/// The convex hull of points (3, n) [m]; its position is the mean of the hull's corners.
///
/// @param merge_angle  [rad], facets within it of a larger one become one with it (convex_hull.h)
[[nodiscard]] Primitive make_convex_hull_polyhedron(const Points& points,
                                                    std::optional<double> smoothing = {},
                                                    double merge_angle = 1e-4);

/// A surface of points (3, n) [m] with normals (3, n), outwards; brought to length 1.
///
/// @param width  h [m], > 0; default: 1.5 times the mean distance of a point from its nearest neighbour
[[nodiscard]] Primitive make_oriented_point_cloud(const Points& points, const Points& normals,
                                                  std::optional<double> width = {});

/// The vertices of a mesh with the mean normals of the triangles around them, weighted by area.
[[nodiscard]] Primitive make_oriented_point_cloud(const TriangleMesh& mesh, std::optional<double> width = {});

/// A superellipse of semi-axes a, b and exponent eps2, cut by the lines cos(angle) x + sin(angle) y = offset,
/// extruded along z to +-c with exponent eps1.
///
/// @param angles, offsets  one a cut [rad], [m] > 0
[[nodiscard]] Primitive make_extruded_superquadric(const Vec3<double>& semi_axes, double eps1, double eps2,
                                                   const std::vector<double>& angles,
                                                   const std::vector<double>& offsets,
                                                   double profile_power = k_default_profile_power);

/// A ball swept over a polygon in the plane z = 0.
///
/// @param corners  three or more of a convex polygon, anticlockwise [m]
/// @param radius   of the ball [m], > 0
[[nodiscard]] Primitive make_padded_polygon(std::span<const Vec2<double>> corners, double radius);

/// The mean distance [m] of a point (3, n) from its nearest neighbour.
[[nodiscard]] double mean_spacing(const Points& points);

}  // namespace abut
