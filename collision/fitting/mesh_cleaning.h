/// First part of mesh repair: vertices welded, triangles without area and coincident triangles dropped.
#pragma once

#include "engine/mesh.h"

namespace abut {

/// What clean_mesh() has done.
struct CleaningCounts {
  int welded_vertices = 0;       ///< that became one with an earlier vertex
  int unused_vertices = 0;       ///< dropped: without a triangle
  int degenerate_triangles = 0;  ///< dropped: with two corners in one place, or a sliver at a hole
  int duplicate_triangles = 0;   ///< dropped: on the corners of another one
  int cancelled_triangles = 0;   ///< dropped: pairs on the same corners that face each other
};

/// A mesh with the same surface and every vertex used.
///
/// Vertices are welded in their order: each becomes one with the first that is left within `tolerance` [m],
/// so none moves further than that, and no two that are left are nearer. A triangle with two equal corners is
/// dropped, and one that is thinner than the tolerance, unless other triangles hold on to all of its edges
/// (it would leave a slit).
///
/// Of several triangles on the same three corners one is left, facing the way most of them do. If as many
/// face each way they enclose nothing, as between two blocks side by side, and all of them go; unless no
/// triangle of any other kind is connected to them: then the surface is one that was written twice, once for
/// each side, and one of each pair stays.
///
/// Indices must be in range and coordinates finite; tolerance >= 0. Takes O(n) on the average, and 44 bytes a
/// vertex and 40 a triangle beside the result.
[[nodiscard]] TriangleMesh clean_mesh(const TriangleMesh& mesh, double tolerance, CleaningCounts& counts);

}  // namespace abut
