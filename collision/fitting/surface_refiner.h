/// The second half of make_surface_mesh: a coarse mesh brought closer to its surface, with the same number of
/// vertices.
#pragma once

#include "collision/fitting/editable_mesh.h"
#include "collision/fitting/surface_mesh.h"

namespace abut {

/// Brings down the energy that make_surface_mesh speaks of.
///
/// @param samples    points of the surface (3, n), n > 0 [m]
/// @param mesh       its vertices lie on the surface already, and stay there
/// @param tolerance  of the distance of vertices from the surface [m]
void refine_surface(const SurfaceField& field, const Points& samples, const SurfaceMeshOptions& options,
                    double tolerance, EditableMesh& mesh);

}  // namespace abut
