/// How deep a pair of bodies overlaps, P of closest_features.h, and its derivatives.
///
/// The kernel has the same in kernel/pair_vertices.h.
#pragma once

#include <vector>

#include "collision/manifold/closest_features.h"
#include "collision/manifold/vertex_sdf.h"

namespace abut {

/// A pair of bodies at given poses: the contact points of each at the other's solid.
struct PatchQuery {
  struct Side {
    VertexSdfQuery vertices;
    BoundedSolid solid;
    bool carries_contacts = false;  ///< otherwise the rest is not used
  };
  Side sides[2];
  double inverse_area = 0;  ///< 1/the smallest area of a contact point of both [1/m^2]
};

/// P of a pair. Keeps its memory from one use to the next.
struct PairPatch {
  /// A contact point that overlaps.
  struct Seed {
    int point = -1;
    double area = 0;                  ///< b but for what flush faces leave of it and for C(w_p)
    double flush = 1;                 ///< what they leave of it
    double depth = 0;                 ///< t
    double phi = 0;                   ///< [m]
    Vec3<double> x_S, arm_O, normal;  ///< in S; from the origin of O, in W; n in W
    NormalCone<double> wide;          ///< C(w_p), by n in W
  };
  PatchShare<double> share{PatchSums<double>()};
  std::vector<Seed> seeds[2];  ///< of A, of B
  // Memory.
  ContactColumns columns;
  SolidVjpMemory solid;

  /// P is constant.
  void clear() { share = PatchShare<double>(PatchSums<double>()); }
};

/// Overwrites `patch`.
///
/// @param flush  of A, of B
void find_patch(const PatchQuery& query, const FlushFaces* const (&flush)[2], NearPoints& near,
                PairPatch& patch);

/// Change of P along left perturbations of the poses of A and B and of what flush faces leave of points.
[[nodiscard]] double patch_jvp(const PatchQuery& query, PairPatch& patch, const Vec6<double>& pose_A,
                               const Vec6<double>& pose_B, const FlushFacesDot (&flush_dot)[2]);

/// Adds what P contributes to dL/d(poses), dL/d(what flush faces leave of points) and, unless null,
/// dL/d(geometry), given dL/dP.
void patch_vjp(const PatchQuery& query, PairPatch& patch, double share_bar, FlushFaces* const (&flush)[2],
               Vec6<double>* const (&poses_bar)[2], GeometryGradient* const (&geometry)[2]);

}  // namespace abut
