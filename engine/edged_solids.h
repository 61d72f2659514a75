/// Solids with sharp edges: meshes with vertices on all corners, edges, rims and tips, and the mass of cones.
///
/// Meshes have the symmetries of their solid, and cover its faces evenly.
#pragma once

#include <optional>
#include <span>

#include "engine/mass_properties.h"
#include "engine/mesh.h"
#include "engine/types.h"

namespace abut {

/// The polyhedron of all x with normals.col(i).x <= offsets[i]. Its edges are cut into equal pieces, one or
/// an even number; parallelograms are covered by grids, other faces by scaled copies of their outline about
/// their centroid.
///
/// @param vertices  how many to aim at: no more, but corners and the middles of faces are always there
/// @return          none where corners are too near to each other to be told apart
/// Throws std::invalid_argument for what is not a bounded solid around the origin (polyhedron_vertices()).
[[nodiscard]] std::optional<TriangleMesh> polyhedron_mesh(const Points& normals,
                                                          std::span<const double> offsets, int vertices);

/// A truncated cone about the z axis, from z = -half_length to z = half_length: 36 straight lines along its
/// side, rings on its ends. A radius of 0 makes a tip. Rims are sharp where side and end meet at less than a
/// right angle; others have a bevel of 0.75 % of 3 volume/area, which lets a peg into its hole.
///
/// @param base_radius  at z = -half_length [m], >= 0
/// @param top_radius   at z = half_length [m], >= 0; not both are 0
/// @param vertices     how many to aim at: no more, but the rims and the middles of the ends are always there
[[nodiscard]] TriangleMesh cone_mesh(double base_radius, double top_radius, double half_length, int vertices);

/// Closed form for the solid of cone_mesh(): with the radius m + d t at z = half_length t,
///   int 1 dV = 2 pi h (m^2 + d^2/3),   int z = 4/3 pi h^2 m d,   int z^2 = 2 pi h^3 (m^2/3 + d^2/5),
///   int x^2 = pi h/2 (m^4 + 2 m^2 d^2 + d^4/5).
///
/// @param density  [kg/m^3], > 0
[[nodiscard]] MassProperties cone_mass_properties(double base_radius, double top_radius, double half_length,
                                                  double density);

}  // namespace abut
