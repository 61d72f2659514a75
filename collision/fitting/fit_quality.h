/// How well a body fits the mesh that it was fitted to.
#pragma once

#include <cstddef>

#include "collision/fitting/distance_grid.h"
#include "collision/fitting/make_body.h"
#include "collision/fitting/mesh_repair.h"
#include "engine/mass_properties.h"
#include "engine/types.h"

namespace abut {

/// Of a distance, over samples of a surface [m].
struct DistanceStatistics {
  double mean = 0.0, percentile_95 = 0.0, max = 0.0;
};

/// What of a mesh a body lacks: parts of it, or gaps between them that the body fills.
///
/// A point of the mesh is lost if it is further from the zero set than 2 % of the size, and further than the
/// mesh is thick there (of a part, along the inward normal) or than the gap is wide (along the outward one).
struct LostSurface {
  double share = 0.0;     ///< of the area of the mesh [-]
  double distance = 0.0;  ///< largest, from the zero set [m]
  double width = 0.0;     ///< median thickness of the parts, or width of the gaps [m]
  Vec3<double> farthest =
      Vec3<double>::Zero();  ///< the point with that distance, in the frame of the mesh [m]
};

/// Mass properties of what is inside a mesh, and how far the volume may be off.
struct InsideProperties {
  MassProperties properties;      ///< for density 1 kg/m^3
  double volume_deviation = 0.0;  ///< standard error, relative to the volume [-]; 0: exact
};

struct FitQuality {
  double iou = 0.0;  ///< points inside both by points inside either, of the mesh and the smooth union
  double occupancy_iou = 0.0;  ///< the same to less than a spacing: what to judge by (shape_on_grid.h)
  DistanceStatistics mesh_to_zero_set;
  DistanceStatistics collision_mesh_to_mesh;
  double mean_normal_angle = 0.0;      ///< between the mesh and the zero set where that is nearest [rad]
  double mesh_volume = 0.0;            ///< of the repaired input [m^3]
  double mesh_volume_deviation = 0.0;  ///< standard error of that, relative to it [-]; 0: exact
  double volume_error = 0.0;           ///< of the body, relative to that, with its sign [-]
  double center_error = 0.0;           ///< distance of the centres of mass [m]
  double inertia_error =
      0.0;  ///< |I - I_mesh|/|I_mesh| (Frobenius), both of density 1 about their centres [-]
  LostSurface lost_parts, filled_gaps;
  double query_time = 0.0;  ///< of one distance with its normal, near the surface [s]; measured, not computed
};

/// Mass properties of what is inside a repaired mesh, where its winding number exceeds 1/2.
///
/// They are the exact integrals over its triangles where it is closed, without intersections and without
/// walls within the solid. Else sums over the segments inside the mesh of parallel lines in four directions
/// askew to its axes, so that an overlap counts once and walls may be as thin as they like; the lines are
/// doubled until the four volumes agree to 0.2 %, or there are 16384 in each direction. The deviation is the
/// standard error of the mean of the four.
///
/// @param threads  0: as many as the machine has; changes no result
[[nodiscard]] InsideProperties mass_properties_of_inside(const RepairedMesh& mesh, int threads = 0);

/// Compares a body with the mesh that it was fitted to.
///
/// @param grid     distances of the mesh
/// @param threads  0: as many as the machine has; changes no result
[[nodiscard]] FitQuality fit_quality(const MeshedBody& made, const RepairedMesh& mesh,
                                     const DistanceGrid& grid, int threads = 0,
                                     const MeshingProgress& progress = {});

}  // namespace abut
