/// Joint rates of twists of links: of each joint the rate of its coordinates in the twist of a link relative to its
/// parent's. Where joints hold they are the u of V = J u; elsewhere what joints do not allow is left out.
#pragma once

#include <span>
#include <vector>

#include "dynamics/trees/tree.h"
#include "dynamics/trees/tree_kinematics.h"
#include "engine/types.h"

namespace abut {

/// @param V_WB  per link [w; v] in W about the centre of mass; that of bases is 0
/// @param u     (nv), overwritten
template <typename S>
void joint_rates(const KinematicTrees& trees, const TreeKinematics<S>& kinematics,
                 std::span<const Vec6<S>> V_WB, VecX<S>& u) {
  if (u.size() != trees.nv) u.resize(trees.nv);
  for (std::size_t i = 0; i < trees.links.size(); ++i) {
    const Link& link = trees.links[i];
    if (link.kind == LinkKind::free) {
      u.template segment<6>(link.u) = V_WB[i];
      continue;
    }
    if (link.kind == LinkKind::slider) {
      Vec3<S> v = V_WB[i].template tail<3>();
      if (link.parent >= 0) {
        const Vec3<S> r = kinematics.p_OB[i] - kinematics.p_OB[at(link.parent)];
        v -= point_velocity(V_WB[at(link.parent)], r);
      }
      u[link.u] = kinematics.axes.col(link.u).template tail<3>().dot(v);
    } else {
      Vec3<S> w = V_WB[i].template head<3>();
      if (link.parent >= 0) w -= V_WB[at(link.parent)].template head<3>();
      for (int k = link.u; k < link.u + link.nv; ++k) u[k] = kinematics.axes.col(k).template head<3>().dot(w);
    }
  }
}

/// Takes the motion of bases from twists of links, as joint_rates() expects them.
template <typename S>
void subtract_base_twists(const KinematicTrees& trees, const TreeParameters<S>& parameters,
                          const TreeKinematics<S>& kinematics, std::vector<Vec6<S>>& V_WB) {
  for (std::size_t i = 0; i < trees.links.size(); ++i) {
    const int tree = trees.links[i].tree;
    V_WB[i] -= twist_at<S>(kinematics.p_OB[i], base_twist(parameters, tree, kinematics.origin[at(tree)]));
  }
}

/// The cotangents of subtract_base_twists(), but for those of the twists, which stay: adds to those of poses and of
/// bases.
void subtract_base_twists_vjp(const KinematicTrees& trees, const TreeParameters<double>& parameters,
                              const TreeKinematics<double>& kinematics,
                              std::span<const Vec6<double>> V_WB_bar, TreeKinematicsBar& bar,
                              TreeParametersTangent& parameters_bar);

/// The cotangents of joint_rates(): adds to those of twists, poses and axes.
void joint_rates_vjp(const KinematicTrees& trees, const TreeKinematics<double>& kinematics,
                     std::span<const Vec6<double>> V_WB, const VecX<double>& u_bar,
                     std::span<Vec6<double>> V_WB_bar, TreeKinematicsBar& bar);

}  // namespace abut
