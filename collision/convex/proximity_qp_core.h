/// Padded convex sets for proximity problems: segments, polygons and polytopes with a ball swept over them.
///
/// The core is the set of points
///   x(y) = r + Q y,   a_i.y <= 1 for each constraint i,   y [m] in R^dim, dim = 1, 2, 3,
/// with orthonormal columns Q and the centre r strictly inside of the constraints (relative to the line, the
/// plane or the space that the core spans). The padded set is all points within the padding of the core: a
/// capsule, a padded polygon, a rounded polytope. A constraint with a_i = 0 holds always, so that cores of
/// few constraints fit a type with room for more.
///
/// Everything is in one common frame. The derivative by a pose is by a left tangent [rotation; translation],
/// x moves by rotation x (x - origin) + translation.
/// @see  Tracy, Howell, Manchester (2022), "DiffPills: differentiable collision detection for capsules and
///       padded polygons", section IV: (29), there C y <= d.
#pragma once

#include "collision/sdf/sdf_sample.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

template <typename S, int dim, int constraints>
struct PaddedCore {
  static_assert(dim >= 1 && dim <= 3 && constraints >= 1);
  static constexpr int k_dim = dim, k_constraints = constraints;

  Vec3<S> centre;               ///< r [m]
  Vec3<S> axes[dim];            ///< columns of Q
  S normals[constraints][dim];  ///< a_i [1/m], or 0
  S size;                       ///< greatest distance of a point of the core from its centre [m]; a scale
  S padding;                    ///< radius of the ball [m], >= 0

  /// x(y) [m].
  [[nodiscard]] ABUT_KERNEL_PART Vec3<S> point(const S (&y)[dim]) const {
    Vec3<S> x = centre;
    for (int k = 0; k < dim; ++k) {
      for (int i = 0; i < 3; ++i) x[i] = x[i] + y[k] * axes[k][i];
    }
    return x;
  }
};

template <typename S>
using PaddedSegment = PaddedCore<S, 1, 2>;
template <typename S, int edges>
using PaddedPolygon = PaddedCore<S, 2, edges>;
template <typename S, int faces>
using PaddedPolytope = PaddedCore<S, 3, faces>;

/// dL/d of a core, but for its size.
template <typename S, int dim, int constraints>
struct PaddedCoreBar {
  Vec3<S> centre;
  Vec3<S> axes[dim];            ///< as if the columns of Q were free
  S normals[constraints][dim];  ///< [L m]; of constraints with a_i = 0 meaningless
  S padding;
};

/// The core in another frame: X_WB core_B.
///
/// @param R_WB, p_WB  rotation and origin [m] of the core's frame
template <typename S, int dim, int constraints>
[[nodiscard]] ABUT_KERNEL_PART PaddedCore<S, dim, constraints> placed(
    const PaddedCore<S, dim, constraints>& core_B, const Mat3<S>& R_WB, const Vec3<S>& p_WB) {
  PaddedCore<S, dim, constraints> core_W = core_B;
  const Vec3<S> centre = transform<S, S>(R_WB, core_B.centre);
  for (int i = 0; i < 3; ++i) core_W.centre[i] = centre[i] + p_WB[i];
  for (int k = 0; k < dim; ++k) core_W.axes[k] = transform<S, S>(R_WB, core_B.axes[k]);
  return core_W;
}

/// VJP: dL/d(pose), [rotation; translation], of a core that is fixed to a frame, given dL/d(core) in W.
///
/// @param origin_W  p_WB [m]
template <typename S, int dim, int constraints>
[[nodiscard]] ABUT_KERNEL_PART Vec6<S> placed_vjp(const PaddedCore<S, dim, constraints>& core_W,
                                                  const Vec3<S>& origin_W,
                                                  const PaddedCoreBar<S, dim, constraints>& core_bar) {
  const auto add_cross = [](const Vec3<S>& a, const Vec3<S>& b, Vec6<S>& r) {
    r[0] = r[0] + (a[1] * b[2] - a[2] * b[1]);
    r[1] = r[1] + (a[2] * b[0] - a[0] * b[2]);
    r[2] = r[2] + (a[0] * b[1] - a[1] * b[0]);
  };
  Vec6<S> pose_bar;
  for (int i = 0; i < 3; ++i) {
    pose_bar[i] = S(0);
    pose_bar[3 + i] = core_bar.centre[i];
  }
  add_cross(relative<S, S>(core_W.centre, origin_W), core_bar.centre, pose_bar);
  for (int k = 0; k < dim; ++k) add_cross(core_W.axes[k], core_bar.axes[k], pose_bar);
  return pose_bar;
}

}  // namespace abut
