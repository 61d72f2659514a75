/// Patches of flush faces: several contact points where one pair of witness points is not enough.
///
/// The faces of both cores that the normal n of the witness points points out of are projected along the
/// patch's normal m and clipped against each other. The points are the corners of what both have in common,
/// and its centroid. With the triangles t_j between the centroid and the sides of that polygon of area a,
///   weight of a corner (t_{j-1} + t_j)/(3 a), of the centroid 1/3,
/// which integrates linear functions over the polygon exactly: a pressure that is linear in place has the
/// right force and torque, whatever the number of corners, and both change smoothly where corners come and
/// go. Of faces in one line (capsules, sides of cylinders) the common part is a segment: 1/6, 1/6 and 2/3 in
/// its middle.
///
/// m is the normal of the larger face; of two about as large, whose areas are a_A and a_B, the mean
///   s f_A - (1 - s) f_B, normalised,   s = S(1/2 + (a_A - a_B)/(a_A + a_B)),   S = smoothstep5,
/// because n jumps from one face to the other where equal boxes tilt against each other. A half-space is the
/// largest; against a line it is the face's normal. Between two segments m is perpendicular to both, from one
/// to the other in the middle of what they have in common; between other lines it is n.
///
/// The patch counts with
///   psi = S(2 - Q),   Q = sum of sin^2(angle of a face to n)/u^2,   u = 0.1 rad,
/// and the pair of witness points with 1 - psi, so that a body that tilts changes smoothly to one contact.
/// Where a face has a neighbour within u of its plane, which of them is taken may jump.
///
/// Distances are those of the planes along m. Unlike the witness points, the patch of a body that slides over
/// the edge of another gets smaller, down to nothing: then psi is 0, too (S of the area by 1e-4 of the
/// smaller face).
///
/// Where sides of both faces lie in one plane, aligned as boxes in a stack are, a point has other derivatives
/// when the bodies move one way than when they move the other. The patch is then the mean of those that
/// bodies shifted by 1e-8 of the face's size along m to either side have, so that sums over aligned bodies
/// have their two-sided derivative.
#pragma once

#include <vector>

#include "collision/convex/convex_distance.h"
#include "collision/convex/convex_part.h"
#include "engine/dual.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

/// Unevenness of a face: u [rad].
inline constexpr double k_flush_angle = 0.1;
/// Corners of the polygon that stands for the end of a cone.
inline constexpr int k_disc_corners = 24;

/// The witness points of two parts, and the normal from A to B.
template <typename S>
struct Witness {
  Vec3<S> normal_AB_W;
  Vec3<S> point_A_W, point_B_W;  ///< [m]
  S distance;                    ///< [m]
};

/// Where a part is.
template <typename S>
struct PartPlacement {
  Mat3<S> R_WP;
  Vec3<S> p_WP;  ///< [m]
};
[[nodiscard]] PartPlacement<double> part_placement(const ConvexPart<double>& part, const Pose<double>& X_WB);

template <typename S>
struct PatchPoint {
  Vec3<S> point_W;  ///< midway between the surfaces [m]
  S distance;       ///< [m], > 0 when apart
  Vec3<S> normal_AB_W;
  S weight;  ///< all add up to 1
};

template <typename S>
struct FacePatch {
  std::vector<PatchPoint<S>> points;  ///< first the witness points' own, then the patch's
  double flushness = 0.0;             ///< psi
  double area = 0.0;                  ///< of the polygon [m^2]; 0 of a segment
  bool is_aligned = false;            ///< the mean of both sides
  /// Of aligned ones: whether the centre of the patch has other derivatives on either side.
  bool has_kink = false;
};

/// Memory that is kept from one use to the next.
template <typename S>
struct FacePatchScratch {
  std::vector<Vec3<S>> corners_A, corners_B;
  std::vector<Vec2<S>> polygon, region, clipped;
  std::vector<Vec2<double>> subject, common, values;  ///< of aligned ones
  FacePatch<S> shifted;
};

/// The patch that is the pair of witness points alone.
template <typename S>
void take_witness_only(const Witness<S>& witness, FacePatch<S>& patch) {
  patch.flushness = patch.area = 0.0;
  patch.is_aligned = patch.has_kink = false;
  patch.points.resize(1);
  PatchPoint<S>& point = patch.points[0];
  for (int i = 0; i < 3; ++i) point.point_W[i] = 0.5 * (witness.point_A_W[i] + witness.point_B_W[i]);
  point.distance = witness.distance;
  point.normal_AB_W = witness.normal_AB_W;
  point.weight = S(1.0);
}

/// @tparam S       double, or PatchDual with what moves moving
/// @param witness  of the same parts and placements
/// Overwrites `patch`.
template <typename S>
void find_face_patch(const ConvexPart<double>& A, const PartPlacement<S>& X_A, const ConvexPart<double>& B,
                     const PartPlacement<S>& X_B, const Witness<S>& witness, FacePatchScratch<S>& scratch,
                     FacePatch<S>& patch);

/// With derivatives by a motion.
using PatchDual = Dual<double, 6>;
extern template void find_face_patch(const ConvexPart<double>&, const PartPlacement<double>&,
                                     const ConvexPart<double>&, const PartPlacement<double>&,
                                     const Witness<double>&, FacePatchScratch<double>&, FacePatch<double>&);
extern template void find_face_patch(const ConvexPart<double>&, const PartPlacement<PatchDual>&,
                                     const ConvexPart<double>&, const PartPlacement<PatchDual>&,
                                     const Witness<PatchDual>&, FacePatchScratch<PatchDual>&,
                                     FacePatch<PatchDual>&);

/// Of what convex_distance() found: its status is neither `beyond` nor `unbounded`.
void find_face_patch(const ConvexPart<double>& A, const Pose<double>& X_WA, const ConvexPart<double>& B,
                     const Pose<double>& X_WB, const ConvexDistance<double>& found,
                     FacePatchScratch<double>& scratch, FacePatch<double>& patch);

}  // namespace abut
