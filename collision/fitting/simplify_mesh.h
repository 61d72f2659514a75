/// Fewer triangles for the same surface, by collapsing edges in the order of their quadric error.
#pragma once

#include "collision/fitting/editable_mesh.h"
#include "engine/mesh.h"

namespace abut {

/// Collapses edges of a closed surface until `vertices` (>= 4) are left.
///
/// A vertex carries the sum of the squared distances to the planes of the triangles it stands for, weighted
/// by area; two of them merge where the sum of both is least (Garland, Heckbert 1997), drawn weakly to the
/// middle of their edge where planes do not say. No collapse changes the topology (link condition), turns a
/// triangle by more than 70 degrees, or makes one of quality < 0.1; if none is left, that bound goes down to
/// 0.02 and then to 0. The result may have more vertices than asked for, where no collapse is possible at
/// all.
///
/// Creases stay creases and corners stay where they are: a vertex on a crease merges with its neighbours along
/// that, and takes in those beside it.
[[nodiscard]] CreasedMesh simplify_mesh(const CreasedMesh& mesh, int vertices);
[[nodiscard]] TriangleMesh simplify_mesh(const TriangleMesh& mesh, int vertices);

}  // namespace abut
