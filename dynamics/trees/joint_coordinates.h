/// Coordinates q and rates u of all trees as vectors (layout: tree.h), and how rates change coordinates.
///
/// q (+) d, with d (nv) laid out as u, adds d to angles, travels and the position of a free root, and turns
/// rotations by it on the left, R <- Exp(d) R. Moving at rates u for h seconds leads from q to q (+) h u.
#pragma once

#include <vector>

#include "dynamics/trees/tree.h"
#include "engine/lie.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

/// The quaternion of a ball or a free root, stored from q[i] on as (w, x, y, z).
template <typename S>
[[nodiscard]] Quat<S> quaternion_at(const VecX<S>& q, int i) {
  return Quat<S>(q[i], q[i + 1], q[i + 2], q[i + 3]);
}
template <typename S>
void set_quaternion(const Quat<S>& value, VecX<S>& q, int i) {
  q[i] = value.w(), q[i + 1] = value.x(), q[i + 2] = value.y(), q[i + 3] = value.z();
}

/// All angles and travels zero, balls and free roots unrotated, free roots at the origin of the world (nq).
[[nodiscard]] VecX<double> neutral_coordinates(const KinematicTrees& trees);

/// q_next = q (+) h u of the trees' links in a range, quaternions normalised.
///
/// @param q       (nq), quaternions of length 1
/// @param u       (nv)
/// @param q_next  (nq), overwritten; resized only if it has another length
template <typename S>
void integrate_coordinates(const KinematicTrees& trees, const Tree& part, const VecX<S>& q, const VecX<S>& u,
                           double h, VecX<S>& q_next) {
  if (q_next.size() != trees.nq) q_next.resize(trees.nq);
  for (int i = part.first_link; i < part.end_link; ++i) {
    const Link& link = trees.links[at(i)];
    switch (link.kind) {
      case LinkKind::fixed:
        break;
      case LinkKind::hinge:
      case LinkKind::slider:
        q_next[link.q] = q[link.q] + h * u[link.u];
        break;
      case LinkKind::ball:
      case LinkKind::free: {
        const Vec3<S> rotation = S(h) * u.template segment<3>(link.u);
        const Pose<S> turned{exp_quaternion(rotation) * quaternion_at(q, link.q), {}};
        set_quaternion(turned.normalized().q, q_next, link.q);
        if (link.kind == LinkKind::ball) break;
        for (int k = 0; k < 3; ++k) q_next[link.q + 4 + k] = q[link.q + 4 + k] + h * u[link.u + 3 + k];
        break;
      }
    }
  }
}

template <typename S>
void integrate_coordinates(const KinematicTrees& trees, const VecX<S>& q, const VecX<S>& u, double h,
                           VecX<S>& q_next) {
  integrate_coordinates(trees, trees.all(), q, u, h, q_next);
}

/// Tangent (nv) of q (+) h u from those of q and u.
void integrate_coordinates_jvp(const KinematicTrees& trees, const VecX<double>& u, double h,
                               const VecX<double>& q_dot, const VecX<double>& u_dot,
                               VecX<double>& q_next_dot);

/// Cotangents (nv) of q (+) h u: adds to those of q and u.
void integrate_coordinates_vjp(const KinematicTrees& trees, const Tree& part, const VecX<double>& u, double h,
                               const VecX<double>& q_next_bar, VecX<double>& q_bar, VecX<double>& u_bar);

/// The d (nv) with q0 (+) d = q1, rotations at most half a turn; overwritten.
void coordinate_difference(const KinematicTrees& trees, const VecX<double>& q1, const VecX<double>& q0,
                           VecX<double>& d);
[[nodiscard]] inline VecX<double> coordinate_difference(const KinematicTrees& trees, const VecX<double>& q1,
                                                        const VecX<double>& q0) {
  VecX<double> d;
  coordinate_difference(trees, q1, q0, d);
  return d;
}

}  // namespace abut
