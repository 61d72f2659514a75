/// Mass matrix, bias forces, inverse and forward dynamics of kinematic trees, and their reverse passes.
///
///   M(q) a + c(q, u) = tau,   c = J'(velocity-dependent wrenches - m g - external wrenches)
///
/// with M (nv, nv) symmetric, armature on its diagonal, and a the rates of u. All in SI units, layout of q and
/// u as tree.h says: [kg m^2], [N m] for rotations, [kg], [N] for travels.
///
/// @see  Featherstone (2008), "Rigid Body Dynamics Algorithms": ch. 5 (recursive Newton-Euler), 6 (composite
///       bodies), 7 (articulated bodies). Here everything stands in the world's axes about one point (spatial.h).
#pragma once

#include <span>
#include <vector>

#include "dynamics/trees/spatial.h"
#include "dynamics/trees/tree.h"
#include "dynamics/trees/tree_elimination.h"
#include "dynamics/trees/tree_kinematics.h"
#include "dynamics/trees/tree_parameters.h"
#include "engine/types.h"

namespace abut {

/// Inertias of the links about O.
template <typename S>
void spatial_inertias(const TreeParameters<S>& parameters, const TreeKinematics<S>& kinematics,
                      std::vector<SpatialInertia<S>>& inertias) {
  inertias.resize(parameters.links.size());
  for (std::size_t i = 0; i < inertias.size(); ++i) {
    const LinkParameters<S>& link = parameters.links[i];
    const Mat3<S> R = kinematics.X_WB[i].rotation();
    inertias[i] = SpatialInertia<S>(link.mass, R * link.inertia * R.transpose(), kinematics.p_OB[i]);
  }
}

/// M(q) (nv, nv), by composite bodies: with I_i the inertia of the subtree of link i as one body, the block of i
/// and a link j above it is S_j' I_i S_i.
template <typename S>
[[nodiscard]] MatX<S> tree_mass_matrix(const KinematicTrees& trees, const TreeParameters<S>& parameters,
                                       const TreeKinematics<S>& kinematics) {
  std::vector<SpatialInertia<S>> composite;
  spatial_inertias(parameters, kinematics, composite);
  MatX<S> M(trees.nv, trees.nv);
  M.setConstant(S(0));
  M.diagonal() = parameters.armature;
  for (int i = trees.link_count() - 1; i >= 0; --i) {
    const Link& link = trees.links[at(i)];
    if (link.parent >= 0) composite[at(link.parent)] += composite[at(i)];
    for (int k = link.u; k < link.u + link.nv; ++k) {
      const Vec6<S> F = composite[at(i)] * kinematics.axes.col(k);
      for (int j = i; j >= 0; j = trees.links[at(j)].parent) {
        const Link& above = trees.links[at(j)];
        for (int l = above.u; l < above.u + above.nv && l <= k; ++l) {  // M is symmetric to the last bit
          const S entry = kinematics.axes.col(l).dot(F);
          M(l, k) += entry;
          if (l != k) M(k, l) += entry;
        }
      }
    }
  }
  return M;
}

/// Intermediate values of inverse dynamics, per link, about O.
template <typename S>
struct NewtonEulerPass {
  std::vector<SpatialInertia<S>> inertia;
  std::vector<Vec6<S>> twist;         ///< V
  std::vector<Vec6<S>> acceleration;  ///< A, in a frame that falls with gravity: of the roots' parent -g
  std::vector<Vec6<S>> force;         ///< sum over the subtree of the wrenches that joints must transmit
};

/// tau (nv) that gives the trees the accelerations a, by recursive Newton-Euler:
///   V = V_P + S u,   A = A_P + S a + V_P x S u,   F = I A + V x* I V - external,   tau = S' sum F + armature a
///
/// @param wrenches  external, per link: [torque; force] in W about the centre of mass; empty: none
template <typename S>
[[nodiscard]] VecX<S> inverse_dynamics(const KinematicTrees& trees, const TreeParameters<S>& parameters,
                                       const TreeKinematics<S>& kinematics, const VecX<S>& u,
                                       const VecX<S>& a, std::span<const Vec6<S>> wrenches,
                                       NewtonEulerPass<S>& motion) {
  const Vec3<S> zero(S(0), S(0), S(0));
  spatial_inertias(parameters, kinematics, motion.inertia);
  motion.twist.resize(trees.links.size());
  motion.acceleration.resize(trees.links.size());
  motion.force.resize(trees.links.size());
  tree_twists(trees, trees.all(), kinematics, u, motion.twist);
  for (std::size_t i = 0; i < trees.links.size(); ++i) {
    const Link& link = trees.links[i];
    const bool is_root = link.parent < 0;
    Vec6<S> A = is_root ? stack<S>(zero, -parameters.gravity) : motion.acceleration[at(link.parent)];
    for (int k = link.u; k < link.u + link.nv; ++k) A += kinematics.axes.col(k) * a[k];
    const Vec6<S>& V = motion.twist[i];
    if (link.kind == LinkKind::free) {  // v_O = v + p x w
      const Vec3<S> w = u.template segment<3>(link.u), v = u.template segment<3>(link.u + 3);
      A.template tail<3>() += v.cross(w);
    } else if (!is_root) {
      A += motion_cross<S>(motion.twist[at(link.parent)], V - motion.twist[at(link.parent)]);
    }
    motion.acceleration[i] = A;
    const SpatialInertia<S>& I = motion.inertia[i];
    motion.force[i] = I * A + force_cross<S>(V, I * V);
    if (!wrenches.empty()) motion.force[i] -= wrench_about_origin(kinematics.p_OB[i], wrenches[i]);
  }
  VecX<S> tau(trees.nv);
  tree_forces(trees, trees.all(), kinematics, motion.force, tau);
  return tau + parameters.armature.cwiseProduct(a);
}

/// c(q, u) (nv), with gravity and external wrenches: inverse dynamics at a = 0.
template <typename S>
[[nodiscard]] VecX<S> bias_forces(const KinematicTrees& trees, const TreeParameters<S>& parameters,
                                  const TreeKinematics<S>& kinematics, const VecX<S>& u,
                                  std::span<const Vec6<S>> wrenches, NewtonEulerPass<S>& motion) {
  return inverse_dynamics<S>(trees, parameters, kinematics, u, VecX<S>::Constant(trees.nv, S(0)), wrenches,
                             motion);
}

/// Factors M(q) by articulated bodies, in time linear in the links: `elimination` then solves M x = b.
template <typename S>
void factor_mass_matrix(const KinematicTrees& trees, const TreeParameters<S>& parameters,
                        const TreeKinematics<S>& kinematics, TreeElimination<S>& elimination) {
  std::vector<SpatialInertia<S>> inertias;
  spatial_inertias(parameters, kinematics, inertias);
  elimination.resize(trees);
  for (std::size_t i = 0; i < inertias.size(); ++i) elimination.block[i] = inertias[i].matrix();
  elimination.factor(trees, trees.all(), kinematics.axes, kinematics.axes, parameters.armature);
}

/// a = M^-1 (tau - c) (nv), in time linear in the links. Leaves M factored in `elimination`.
template <typename S>
[[nodiscard]] VecX<S> forward_dynamics(const KinematicTrees& trees, const TreeParameters<S>& parameters,
                                       const TreeKinematics<S>& kinematics, const VecX<S>& u,
                                       const VecX<S>& tau, std::span<const Vec6<S>> wrenches,
                                       TreeElimination<S>& elimination) {
  NewtonEulerPass<S> motion;
  VecX<S> a = tau - bias_forces(trees, parameters, kinematics, u, wrenches, motion);
  factor_mass_matrix(trees, parameters, kinematics, elimination);
  elimination.solve(trees, trees.all(), kinematics.axes, kinematics.axes, a);
  return a;
}

// Reverse passes --------------------------------------------------------------------------------------------

/// Cotangents of all that the dynamics depend on; what each function adds to.
struct TreeDynamicsBar {
  VecX<double> q, u;                   ///< (nv), that of q by its tangent
  VecX<double> a, tau;                 ///< (nv), of what is given: inverse or forward dynamics
  std::vector<Vec6<double>> wrenches;  ///< per link
  TreeParametersTangent parameters;

  explicit TreeDynamicsBar(const KinematicTrees& trees);
};

/// The cotangents of tree_mass_matrix(); M_bar (nv, nv) need not be symmetric.
void tree_mass_matrix_vjp(const KinematicTrees& trees, const TreeParameters<double>& parameters,
                          const TreeKinematics<double>& kinematics, const MatX<double>& M_bar,
                          TreeDynamicsBar& bar);

/// The cotangents of inverse_dynamics().
void inverse_dynamics_vjp(const KinematicTrees& trees, const TreeParameters<double>& parameters,
                          const TreeKinematics<double>& kinematics, const VecX<double>& u,
                          const VecX<double>& a, std::span<const Vec6<double>> wrenches,
                          const VecX<double>& tau_bar, TreeDynamicsBar& bar);

/// The cotangents of forward_dynamics(), by implicit differentiation of M a + c = tau: tau_bar = M^-1 a_bar, and
/// inverse dynamics with minus that.
///
/// @param a            its result
/// @param elimination  as it left it
void forward_dynamics_vjp(const KinematicTrees& trees, const TreeParameters<double>& parameters,
                          const TreeKinematics<double>& kinematics, const VecX<double>& u,
                          const VecX<double>& a, std::span<const Vec6<double>> wrenches,
                          TreeElimination<double>& elimination, const VecX<double>& a_bar,
                          TreeDynamicsBar& bar);

}  // namespace abut
