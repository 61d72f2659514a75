/// Poses, twists and Jacobians of kinematic trees, and the derivatives of poses and joint axes.
///
/// With J_O (6, nv) the Jacobian of a link about O, whose columns are the axes of the joints on its path from
/// the root, a twist about O is V = J_O u, and generalized forces are tau = sum J_O' F. Functions on a scalar S
/// run on forward-mode numbers too: that is how JVPs are computed (tree_direction.h).
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "dynamics/trees/joint_coordinates.h"
#include "dynamics/trees/rotations.h"
#include "dynamics/trees/spatial.h"
#include "dynamics/trees/tree.h"
#include "dynamics/trees/tree_parameters.h"
#include "engine/pose.h"
#include "engine/scalar.h"
#include "engine/types.h"

namespace abut {

/// Poses of all links at coordinates q.
template <typename S>
struct TreeKinematics {
  /// p_WO per tree: where its root was, so that numbers stay small far from the origin of the world. No result
  /// depends on it, and derivatives hold it constant.
  std::vector<Vec3<double>> origin;
  double time = 0.0;                         ///< since the start of the step, of bases that move [s]
  std::vector<Pose<S>> X_WB;                 ///< per link
  std::vector<Vec3<S>> p_OB;                 ///< per link: p_WB - p_WO
  Eigen::Matrix<S, 6, Eigen::Dynamic> axes;  ///< (6, nv): twist about O for each rate of the joint

  void resize(const KinematicTrees& trees) {
    origin.resize(trees.trees.size());
    X_WB.resize(trees.links.size());
    p_OB.resize(trees.links.size());
    if (axes.cols() != trees.nv) axes.resize(6, trees.nv);
  }

  /// Takes over what belongs to one tree.
  void copy_tree(const Tree& part, int tree, const TreeKinematics& other) {
    origin[at(tree)] = other.origin[at(tree)];
    std::copy_n(other.X_WB.begin() + part.first_link, part.end_link - part.first_link,
                X_WB.begin() + part.first_link);
    std::copy_n(other.p_OB.begin() + part.first_link, part.end_link - part.first_link,
                p_OB.begin() + part.first_link);
    axes.middleCols(part.u, part.nv) = other.axes.middleCols(part.u, part.nv);
  }
};

/// Sets the origins of the trees in a range of links at their roots' frames.
template <typename S>
void set_origins(const KinematicTrees& trees, const Tree& part, const TreeParameters<S>& parameters,
                 const VecX<S>& q, TreeKinematics<S>& kinematics) {
  for (int i = part.first_link; i < part.end_link; ++i) {
    const Link& link = trees.links[at(i)];
    if (link.parent >= 0) continue;
    for (int k = 0; k < 3; ++k) {
      kinematics.origin[at(link.tree)][k] =
          value_of(link.kind == LinkKind::free ? q[link.q + 4 + k] : parameters.links[at(i)].X_PJ.p[k]);
    }
  }
}

/// The joint frame of a root on its base, `time` seconds after the start of a step.
template <typename S>
[[nodiscard]] Pose<S> root_frame(const TreeParameters<S>& parameters, int link, int tree, double time) {
  const Pose<S>& X_WJ = parameters.links[at(link)].X_PJ;
  if (parameters.bases.empty()) return X_WJ;
  const BaseMotion<S>& base = parameters.bases[at(tree)];
  const Vec6<S> way = S(time) * base.V_WB;
  const Vec3<S> turn = way.template head<3>(), r = X_WJ.p - base.p_WB;
  const Quat<S> q = exp_quaternion(turn);
  return {q * X_WJ.q, base.p_WB + way.template tail<3>() + q * r};
}

/// Poses and axes of the links in a range, about the origins that are set. Overwrites them.
template <typename S>
void update_kinematics(const KinematicTrees& trees, const Tree& part, const TreeParameters<S>& parameters,
                       const VecX<S>& q, TreeKinematics<S>& kinematics) {
  using std::cos, std::sin;
  const Vec3<S> zero(S(0), S(0), S(0));
  for (int i = part.first_link; i < part.end_link; ++i) {
    const Link& link = trees.links[at(i)];
    const LinkParameters<S>& numbers = parameters.links[at(i)];
    const Vec3<S> p_WO = kinematics.origin[at(link.tree)].template cast<S>();
    Pose<S>& X_WB = kinematics.X_WB[at(i)];
    if (link.kind == LinkKind::free) {
      X_WB = {quaternion_at(q, link.q), q.template segment<3>(link.q + 4)};
      const Vec3<S> p = X_WB.p - p_WO;
      auto axes = kinematics.axes.template middleCols<6>(link.u);
      axes.setZero();
      axes.diagonal().setConstant(S(1));
      axes.template bottomLeftCorner<3, 3>() = skew(p);  // v_O = v + p x w
      kinematics.p_OB[at(i)] = p;
      continue;
    }
    Pose<S> X_WJ;
    if (link.parent < 0) {
      X_WJ = root_frame(parameters, i, link.tree, kinematics.time);
    } else {
      const Pose<S>& X_WP = kinematics.X_WB[at(link.parent)];
      X_WJ.q = composed(X_WP.q, numbers.X_PJ.q);
      X_WJ.p = displaced(X_WP.p, S(1), X_WP.q, numbers.X_PJ.p);
    }
    const Vec3<S> p_OJ = X_WJ.p - p_WO;
    const S sign = link.reversed ? S(-1) : S(1);
    switch (link.kind) {
      case LinkKind::hinge: {
        const Vec3<S> axis = z_axis(X_WJ.q, sign);
        auto twist = kinematics.axes.col(link.u);
        twist[0] = axis.x(), twist[1] = axis.y(), twist[2] = axis.z();
        twist[3] = p_OJ.y() * axis.z() - p_OJ.z() * axis.y();
        twist[4] = p_OJ.z() * axis.x() - p_OJ.x() * axis.z();
        twist[5] = p_OJ.x() * axis.y() - p_OJ.y() * axis.x();
        const S half = S(0.5) * sign * q[link.q], s = sin(half), c = cos(half);
        const Quat<S>& a = X_WJ.q;
        X_WJ.q = Quat<S>(a.w() * c - a.z() * s, a.x() * c + a.y() * s, a.y() * c - a.x() * s,
                         a.z() * c + a.w() * s);  // a (c, 0, 0, s)
        break;
      }
      case LinkKind::slider: {
        const Vec3<S> axis = z_axis(X_WJ.q, sign);
        kinematics.axes.col(link.u) = stack<S>(zero, axis);
        X_WJ.p += q[link.q] * axis;
        break;
      }
      case LinkKind::ball: {
        const Quat<S> turn = quaternion_at(q, link.q);
        const Quat<S> q_WJA = link.reversed ? Quat<S>(X_WJ.q * turn.conjugate()) : X_WJ.q;
        const Mat3<S> R_WJA = sign * q_WJA.toRotationMatrix();
        kinematics.axes.template block<3, 3>(0, link.u) = R_WJA;
        kinematics.axes.template block<3, 3>(3, link.u) = skew(p_OJ) * R_WJA;
        X_WJ.q = link.reversed ? q_WJA : Quat<S>(X_WJ.q * turn);
        break;
      }
      default:
        break;
    }
    X_WB.q = relative(X_WJ.q, numbers.X_CJ.q);
    X_WB.p = displaced(X_WJ.p, S(-1), X_WB.q, numbers.X_CJ.p);
    kinematics.p_OB[at(i)] = X_WB.p - p_WO;
  }
}

/// All trees at q, origins at their roots.
template <typename S>
void tree_kinematics(const KinematicTrees& trees, const TreeParameters<S>& parameters, const VecX<S>& q,
                     TreeKinematics<S>& kinematics) {
  kinematics.resize(trees);
  set_origins(trees, trees.all(), parameters, q, kinematics);
  update_kinematics(trees, trees.all(), parameters, q, kinematics);
}

/// J u: twists about O of the links in a range, V = V_parent + axes u. Overwrites them.
template <typename S>
void tree_twists(const KinematicTrees& trees, const Tree& part, const TreeKinematics<S>& kinematics,
                 const VecX<S>& u, std::vector<Vec6<S>>& V) {
  for (int i = part.first_link; i < part.end_link; ++i) {
    const Link& link = trees.links[at(i)];
    Vec6<S> twist = link.parent < 0 ? Vec6<S>(Vec6<S>::Constant(S(0))) : V[at(link.parent)];
    for (int k = link.u; k < link.u + link.nv; ++k) twist += kinematics.axes.col(k) * u[k];
    V[at(i)] = twist;
  }
}

/// Twist of a tree's base about O at the start of a step.
template <typename S>
[[nodiscard]] Vec6<S> base_twist(const TreeParameters<S>& parameters, int tree, const Vec3<double>& p_WO) {
  if (parameters.bases.empty()) return Vec6<S>::Constant(S(0));
  const BaseMotion<S>& base = parameters.bases[at(tree)];
  return twist_at<S>(p_WO.cast<S>() - base.p_WB, base.V_WB);
}

/// The cotangents of base_twist(), from that of the twist.
void base_twist_vjp(const TreeParameters<double>& parameters, int tree, const Vec3<double>& p_WO,
                    const Vec6<double>& V_bar, TreeParametersTangent& parameters_bar);

/// Twists about O of all links at rates u, those of moving bases counted. Overwrites them.
template <typename S>
void moving_twists(const KinematicTrees& trees, const TreeParameters<S>& parameters,
                   const TreeKinematics<S>& kinematics, const VecX<S>& u, std::vector<Vec6<S>>& V) {
  V.resize(trees.links.size());
  for (std::size_t i = 0; i < V.size(); ++i) {
    const Link& link = trees.links[i];
    Vec6<S> twist = link.parent < 0 ? base_twist(parameters, link.tree, kinematics.origin[at(link.tree)])
                                    : V[at(link.parent)];
    for (int k = link.u; k < link.u + link.nv; ++k) twist += kinematics.axes.col(k) * u[k];
    V[i] = twist;
  }
}

/// J' F: generalized forces (nv) of wrenches about O on the links in a range.
///
/// @param F    per link; replaced by the sum over its subtree
/// @param tau  (nv), those of the range are overwritten
template <typename S>
void tree_forces(const KinematicTrees& trees, const Tree& part, const TreeKinematics<S>& kinematics,
                 std::vector<Vec6<S>>& F, VecX<S>& tau) {
  for (int i = part.end_link - 1; i >= part.first_link; --i) {
    const Link& link = trees.links[at(i)];
    // By halves, as wrenches are made: read in other pieces, the last ones written are waited for.
    const Vec3<S> torque = F[at(i)].template head<3>(), force = F[at(i)].template tail<3>();
    for (int k = link.u; k < link.u + link.nv; ++k) {
      const auto axis = kinematics.axes.col(k);
      tau[k] = axis.template head<3>().dot(torque) + axis.template tail<3>().dot(force);
    }
    if (link.parent < 0) continue;
    F[at(link.parent)].template head<3>() += torque;
    F[at(link.parent)].template tail<3>() += force;
  }
}

/// Twists V_WB [w; v] in W of the links' centres of mass at rates u, by link.
template <typename S>
void link_twists(const KinematicTrees& trees, const TreeKinematics<S>& kinematics, const VecX<S>& u,
                 std::vector<Vec6<S>>& V_WB) {
  V_WB.resize(trees.links.size());
  tree_twists(trees, trees.all(), kinematics, u, V_WB);
  for (std::size_t i = 0; i < V_WB.size(); ++i) V_WB[i] = twist_at(kinematics.p_OB[i], V_WB[i]);
}

/// Generalized forces (nv) of wrenches F_B_W [torque; force] in W about the links' centres of mass, by link: the
/// transpose of link_twists().
template <typename S>
[[nodiscard]] VecX<S> generalized_forces(const KinematicTrees& trees, const TreeKinematics<S>& kinematics,
                                         std::span<const Vec6<S>> wrenches) {
  std::vector<Vec6<S>> F(wrenches.begin(), wrenches.end());
  for (std::size_t i = 0; i < F.size(); ++i) F[i] = wrench_about_origin(kinematics.p_OB[i], F[i]);
  VecX<S> tau(trees.nv);
  tree_forces(trees, trees.all(), kinematics, F, tau);
  return tau;
}

/// Jacobian (6, nv) of a frame on a link:  its twist [w; v] in W about the frame's origin is J u.
///
/// @param p_BF  origin of the frame in the link's body B [m]
template <typename S>
[[nodiscard]] Eigen::Matrix<S, 6, Eigen::Dynamic> frame_jacobian(const KinematicTrees& trees,
                                                                 const TreeKinematics<S>& kinematics,
                                                                 int link, const Vec3<S>& p_BF) {
  Eigen::Matrix<S, 6, Eigen::Dynamic> J(6, trees.nv);
  J.setConstant(S(0));
  const Vec3<S> p_OF = kinematics.p_OB[at(link)] + kinematics.X_WB[at(link)].q * p_BF;
  for (int i = link; i >= 0; i = trees.links[at(i)].parent) {
    const Link& above = trees.links[at(i)];
    for (int k = above.u; k < above.u + above.nv; ++k) J.col(k) = twist_at<S>(p_OF, kinematics.axes.col(k));
  }
  return J;
}

// Reverse pass ----------------------------------------------------------------------------------------------

/// dL/d of poses and axes: per link that of a left perturbation of its pose, as a wrench about O; (6, nv).
struct TreeKinematicsBar {
  std::vector<Vec6<double>> link;
  Eigen::Matrix<double, 6, Eigen::Dynamic> axes;

  void set_zero(const KinematicTrees& trees) {
    link.assign(trees.links.size(), Vec6<double>::Zero());
    axes.setZero(6, trees.nv);
  }
};

/// The cotangents of update_kinematics() for the links in a range: adds those of q (nv) and of joint frames.
///
/// @param bar  consumed: left with the sums over subtrees
void update_kinematics_vjp(const KinematicTrees& trees, const Tree& part,
                           const TreeParameters<double>& parameters, const TreeKinematics<double>& kinematics,
                           TreeKinematicsBar& bar, VecX<double>& q_bar,
                           TreeParametersTangent& parameters_bar);

/// The cotangents of link_twists(): adds to those of poses, axes and u.
void link_twists_vjp(const KinematicTrees& trees, const TreeKinematics<double>& kinematics,
                     const VecX<double>& u, std::span<const Vec6<double>> V_WB_bar, TreeKinematicsBar& bar,
                     VecX<double>& u_bar);

/// The cotangents of generalized_forces(): adds to those of poses, axes and wrenches.
void generalized_forces_vjp(const KinematicTrees& trees, const TreeKinematics<double>& kinematics,
                            std::span<const Vec6<double>> wrenches, const VecX<double>& tau_bar,
                            TreeKinematicsBar& bar, std::span<Vec6<double>> wrenches_bar);

/// The cotangents of frame_jacobian(): adds to those of poses and axes, and to that of p_BF.
void frame_jacobian_vjp(const KinematicTrees& trees, const TreeKinematics<double>& kinematics, int link,
                        const Vec3<double>& p_BF, const Eigen::Matrix<double, 6, Eigen::Dynamic>& J_bar,
                        TreeKinematicsBar& bar, Vec3<double>& p_BF_bar);

}  // namespace abut
