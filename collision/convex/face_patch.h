/// Patches of flush faces: several contact points where one pair of witness points is not enough.
///
/// The faces of both cores that the normal n points out of are projected along n and clipped against each
/// other. The points are the corners of what both have in common, and its centroid. With the triangles t_j
/// between the centroid and the sides of that polygon of area a,
///   weight of a corner (t_{j-1} + t_j)/(3 a), of the centroid 1/3,
/// which integrates linear functions over the polygon exactly: a pressure that is linear in place has the
/// right force and torque, whatever the number of corners, and both change smoothly where corners come and
/// go. Of faces in one line (capsules, sides of cylinders) the common part is a segment: 1/6, 1/6 and 2/3 in
/// its middle.
///
/// The patch counts with
///   psi = S(2 - Q),   Q = sum of sin^2(angle of a face to n)/u^2,   S = smoothstep5,   u = 0.1 rad,
/// and the pair of witness points with 1 - psi, so that a body that tilts changes smoothly to one contact.
/// Where a face has a neighbour within u of its plane, which of them is taken may jump.
///
/// Distances are those of the planes along n. Unlike the witness points, the patch of a body that slides over
/// the edge of another gets smaller, down to nothing: then psi is 0, too (S of the area by 1e-4 of the
/// smaller face).
#pragma once

#include <vector>

#include "collision/convex/convex_distance.h"
#include "collision/convex/convex_part.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

/// Unevenness of a face: u [rad].
inline constexpr double k_flush_angle = 0.1;
/// Corners of the polygon that stands for the end of a cone.
inline constexpr int k_disc_corners = 24;

struct PatchPoint {
  Vec3<double> point_W;   ///< midway between the surfaces [m]
  double distance = 0.0;  ///< [m], > 0 when apart
  double weight = 0.0;    ///< all add up to 1
};

struct FacePatch {
  Vec3<double> normal_AB_W = Vec3<double>::UnitZ();  ///< of all points
  std::vector<PatchPoint> points;                    ///< first the witness points' own, then the patch's
  double flushness = 0.0;                            ///< psi
  double area = 0.0;                                 ///< of the polygon [m^2]; 0 of a segment
};

/// Memory that is kept from one use to the next.
struct FacePatchScratch {
  std::vector<Vec3<double>> corners_A, corners_B;
  std::vector<Vec2<double>> polygon, region, clipped;
};

/// @param found  of the same parts and poses; its status is not `beyond` or `unbounded`
/// Overwrites `patch`.
void find_face_patch(const ConvexPart<double>& A, const Pose<double>& X_WA, const ConvexPart<double>& B,
                     const Pose<double>& X_WB, const ConvexDistance<double>& found, FacePatchScratch& scratch,
                     FacePatch& patch);

}  // namespace abut
