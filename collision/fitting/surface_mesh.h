/// Collision meshes: few vertices, all of them on the zero set of a signed distance function.
#pragma once

#include <functional>
#include <vector>

#include "collision/fitting/editable_mesh.h"
#include "collision/fitting/marching_cubes.h"
#include "collision/sdf/sdf_sample.h"
#include "engine/mesh.h"
#include "engine/types.h"

namespace abut {

/// A signed distance function: distance d [m] and gradient of d are used, the normal is not.
using SurfaceField = std::function<SdfSample<double>(const Vec3<double>&)>;

struct SurfaceMeshOptions {
  int vertices = 300;  ///< how many to aim at, >= 4
  int rounds = 10;     ///< of refinement: move vertices between places, flip edges, slide vertices; >= 0
  double shape_weight = 2.0;  ///< price of a triangle that is not equilateral, against distance [-], >= 0
  double area_weight = 0.5;   ///< price of a large triangle, against distance [-], >= 0
  MeshingProgress progress = {};
};

/// What a collision mesh is like.
struct SurfaceReport {
  int vertices = 0, triangles = 0;
  int euler_characteristic = 0;      ///< V - E + F: 2 for a sphere, 0 for a torus
  bool closed = false;               ///< every directed edge occurs once, and so does its opposite
  double size = 0;                   ///< largest extent [m]
  double max_vertex_distance = 0;    ///< max |d| at vertices [m]
  double max_sag = 0, mean_sag = 0;  ///< |d| at the centroids of triangles and the middles of edges [m]
  double min_angle = 0;              ///< smallest angle of a triangle [rad]
  double max_distance = 0;           ///< of the vertices of a reference mesh from the nearest triangle [m]
  double mean_distance = 0;
};

/// x <- x - d grad d/|grad d|^2 until |d| <= tolerance; a step that does not bring |d| down is halved.
/// Returns whether it got there, in at most 50 steps.
bool project_to_surface(const SurfaceField& field, Vec3<double>& x, double tolerance);

/// The tolerance with which meshes of surfaces of this size are made [m]: that of rounding.
[[nodiscard]] double projection_tolerance(double size);

/// The parts of a mesh that share no vertex, the one with the largest enclosed volume first.
[[nodiscard]] std::vector<TriangleMesh> connected_components(const TriangleMesh& mesh);

/// A mesh with about as many vertices as asked for, of the surface that `fine` follows closely.
///
/// Edges of `fine` are collapsed (simplify_mesh) until twice as many vertices are left, these are projected
/// to the surface, and then the energy
///
///   T mean(d^2/sigma^2 (1 + 0.1 d^2/sigma^2)), d being the distances of points of `fine` from the mesh
///     + sum over the T triangles of  shape_weight (1/quality - 1) + area_weight (area/mean area)^2
///
/// chooses which of them go, sigma^2 being the mean of d^2 then, and what happens to the others: each round
/// takes vertices from where they matter least to where they matter most (a collapse and a split at a time),
/// flips edges, and slides vertices along the surface. So vertices gather where the surface bends and line up
/// along the creases of a smooth union, without slivers. No step may turn a triangle away from grad d.
///
/// Sharp creases and corners of the surface (with_creases()) are creases and corners of the mesh: no edge crosses
/// them, and their vertices lie on them. Corners all stay, and creases whose chords lie in the air by more than 3e-4
/// of the size are split in the end, so that there may be up to half more vertices than asked for, or more with many corners.
/// (Distance is measured from the fine surface, as by Hoppe et al. (1993), "Mesh optimization": d at points
/// of the mesh would not miss a limb that the mesh has lost.)
///
/// The result depends on the arguments alone. Throws std::invalid_argument if `fine` is not a closed surface,
/// or if some vertex cannot be brought to |d| <= 1e-9 of the size.
[[nodiscard]] TriangleMesh make_surface_mesh(const SurfaceField& field, const TriangleMesh& fine,
                                             const SurfaceMeshOptions& options);
/// With creases that were found before.
[[nodiscard]] TriangleMesh make_surface_mesh(const SurfaceField& field, const CreasedMesh& fine,
                                             const SurfaceMeshOptions& options);

/// Measures a mesh against the field, and the distance to it from the vertices of `reference`, if that has
/// any.
[[nodiscard]] SurfaceReport inspect_surface(const SurfaceField& field, const TriangleMesh& mesh,
                                            const TriangleMesh& reference = {},
                                            const MeshingProgress& progress = {});

}  // namespace abut
