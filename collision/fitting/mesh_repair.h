/// Repair of triangle meshes for signed distances: any triangles in, a mesh with an inside out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collision/fitting/triangle_bvh.h"
#include "engine/mesh.h"
#include "engine/types.h"

namespace abut {

struct RepairOptions {
  double weld_tolerance = 1e-6;    ///< vertices nearer than this become one [-], by the size, in [0, 0.01]
  bool find_intersections = true;  ///< whether to count triangles that intersect
  int threads = 0;                 ///< 0: as many as the machine has; changes no result
};

/// What a mesh was like, and what has been done to it.
struct RepairReport {
  int input_vertices = 0, input_triangles = 0;
  int vertices = 0, triangles = 0;  ///< of the repaired mesh

  int welded_vertices = 0;       ///< that became one with an earlier vertex
  int unused_vertices = 0;       ///< dropped: without a triangle
  int degenerate_triangles = 0;  ///< dropped: without area
  int duplicate_triangles = 0;   ///< dropped: on the corners of another one
  int cancelled_triangles = 0;   ///< dropped: pairs that face each other, as between two blocks side by side
  int turned_triangles = 0;      ///< whose orientation was changed

  int shells = 0;                  ///< pieces connected by edges of two triangles
  int open_shells = 0;             ///< those that are not closed
  int cavities = 0;                ///< those that face inwards, being hollows of others
  int boundary_edges = 0;          ///< with one triangle
  int holes = 0;                   ///< connected sets of boundary edges
  int non_manifold_edges = 0;      ///< with more than two triangles
  int twisted_edges = 0;           ///< where a shell disagrees with itself: it has one side only
  int intersecting_triangles = 0;  ///< that pass through another one; -1: not counted
  int inner_sheets = 0;            ///< dropped: open shells within the solid
  int inner_triangles = 0;         ///< of those, and others that lie within the solid in whole or in part
  bool closed = false;             ///< every edge is passed as often either way: winding numbers are whole

  double size = 0.0;        ///< largest extent [m]
  double area = 0.0;        ///< [m^2]
  double inner_area = 0.0;  ///< of that, within the solid where pieces overlap or touch [m^2]
  double volume = 0.0;      ///< sum over the shells; a hole is closed by a cone over its rim [m^3]
  double enclosure = 0.0;   ///< mean winding number just inside the surface, in [0, 1]: 1 if it is closed

  std::vector<std::string> notes;  ///< what was found and what was done about it, a sentence each
};

/// A mesh that signed distances can be asked of.
struct RepairedMesh {
  struct Surface {
    TriangleMesh mesh;
    TriangleBvh bvh;  ///< of `mesh`
  };

  TriangleMesh mesh;
  TriangleBvh bvh;  ///< of `mesh`: winding numbers
  RepairReport report;
  std::optional<Surface> trimmed;  ///< what is left of the mesh without walls within the solid, if it has any

  /// What separates inside from outside, and distances are measured from.
  [[nodiscard]] const TriangleMesh& surface() const { return trimmed ? trimmed->mesh : mesh; }
  [[nodiscard]] const TriangleBvh& surface_bvh() const { return trimmed ? trimmed->bvh : bvh; }
};

/// Makes of any triangles a mesh whose winding number tells inside from outside.
///
///   - Vertices within weld_tolerance become one; triangles without area, and copies of triangles, go
///     (mesh_cleaning.h).
///   - The triangles of a shell are turned to agree (mesh_shells.h); then the shell as a whole is turned
///     outwards. A closed shell is turned by the sign of its volume. An open one by what its two sides see:
///     rays from the outside leave, or pass through an even number of triangles; where that is undecided, by
///     the volume that it encloses together with cones over its rim.
///   - A closed shell inside another one is a cavity, and faces inwards, if in the input it faced the other
///     way than the one around it and there is something solid to be hollow. (The shell around it is looked
///     for among the 256 of largest volume.)
///   - Open shells that are sheets within the solid go (inner_sheets).
///   - Holes are not filled, nor are intersections resolved: the winding number needs neither. What lies
///     within the solid where shells overlap or touch, or one passes through itself, stays in `mesh`, but
///     distances are measured from the surface without it (solid_boundary).
///
/// Depends on the mesh and the options alone. Takes O(n log n), and up to 100 bytes a triangle beside the
/// result, which has about 170.
///
/// @param mesh  triangles of any kind. Throws std::invalid_argument, with the reason and what to do, for a
///              mesh that is hopeless: without triangles, with an index out of range or a coordinate that is
///              not finite, without extent, further than 1e9 of its size from the origin, without volume (a
///              flat or open sheet).
[[nodiscard]] RepairedMesh repair_mesh(const TriangleMesh& mesh, const RepairOptions& options = {});

/// How many triangles of a mesh pass through another one by more than `tolerance` [m]. Triangles with a
/// common edge are not compared, and of those with a common vertex the sides opposite to it. `bvh` is that of
/// the mesh. Coplanar triangles that overlap are not counted.
[[nodiscard]] int count_intersecting_triangles(const TriangleMesh& mesh, const TriangleBvh& bvh,
                                               double tolerance, int threads = 0);

}  // namespace abut
