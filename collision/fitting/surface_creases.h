/// Sharp creases and corners of a surface, found in a fine mesh of it and put into that mesh.
#pragma once

#include <optional>
#include <span>

#include "collision/fitting/editable_mesh.h"
#include "collision/fitting/surface_mesh.h"
#include "engine/mesh.h"
#include "engine/types.h"

namespace abut {

/// The point near x where pieces of the surface meet that are smooth by themselves: two at a crease, three at a
/// corner. None if the surface bends between them without a jump of its normal of 0.2 rad or more.
///
/// The tangent planes of the surface at the distance s from x, towards each of the sides, are intersected (nearest to
/// x, of two planes), and again from there with s/4, and so on. At a sharp crease the angle between the normals stays,
/// where the surface is smooth it goes down with s.
///
/// @param sides     one point on each of the pieces, or above it: 2 or 3
/// @param reach     first s [m]
/// @param rounding  s up to which the angle must have stayed [m]
[[nodiscard]] std::optional<Vec3<double>> crease_point(const SurfaceField& field, const Vec3<double>& x,
                                                       std::span<const Vec3<double>> sides, double reach,
                                                       double rounding, double tolerance);

/// The closed surface `fine`, all of whose vertices are on the surface, with a vertex more wherever one of its edges
/// crosses a crease, and where three creases meet; edges between these are marked.
///
/// Marching cubes cut off edges and fill inner corners, by up to a cube. Each edge whose ends have normals of different
/// pieces is split at the crease, so that the edges between the new vertices of a triangle run along it (as in extended
/// marching cubes: Kobbelt et al. 2001, "Feature sensitive surface extraction from volume data"). A surface without
/// creases gives `fine` itself.
[[nodiscard]] CreasedMesh with_creases(const SurfaceField& field, const TriangleMesh& fine, double tolerance);

/// Flips and collapses edges around triangles that face into the solid, where fewer do so then: points of creases need not
/// come in the order of the edges that cross them, and triangles may fold over each other.
void untangle(const SurfaceField& field, EditableMesh& mesh);

}  // namespace abut
