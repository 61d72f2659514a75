/// Third part of mesh repair: removal of walls within the solid.
#pragma once

#include <cstdint>
#include <vector>

#include "collision/fitting/mesh_shells.h"
#include "collision/fitting/triangle_bvh.h"
#include "engine/mesh.h"

namespace abut {

/// Which shells are sheets within the solid: 1 for each, 0 for the others.
///
/// A shell is one if it is open; is an open sheet by itself, that is, of a mean winding number below
/// `least_enclosure` at the inner side; is seen from outside on neither side; and lies where the winding
/// number of all shells but such ones is above 3/4 on the mean, halfway between a surface and the middle of a
/// solid. Winding numbers mean more without them: a sheet shifts them by up to 1/2 on either side.
[[nodiscard]] std::vector<std::uint8_t> inner_sheets(const TriangleMesh& mesh, const MeshShells& shells,
                                                     double least_enclosure);

/// What separates the inside of a mesh from the outside.
struct SolidBoundary {
  TriangleMesh mesh;  ///< empty if all of the surface does
  int whole = 0;      ///< triangles left out
  int in_part = 0;    ///< triangles of which only pieces are left
  double area = 0.0;  ///< that is left out [m^2]
};

/// The surface of a mesh without what has the inside on both sides, as where solids overlap or touch.
///
/// A point of it is taken to lie within the solid if the winding number is above 1/2 at 1e-4 of the size on
/// either side. A triangle that no other one comes near, but those at its corners, is judged by its centroid.
/// The others are cut to pieces of 1/128 of the size, which are halved further, down to 1/512, where four
/// points of one disagree: so near is the end of the boundary to where surfaces cross. Depends on the mesh
/// alone.
///
/// @param bvh   of the mesh
/// @param size  its largest extent [m]
[[nodiscard]] SolidBoundary solid_boundary(const TriangleMesh& mesh, const TriangleBvh& bvh, double size,
                                           int threads = 0);

}  // namespace abut
