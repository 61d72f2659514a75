/// The equation of one step of trees without contact, for rates u (nv) over h seconds:
///
///   r(u) = J(q)' (P(u) - P - h f) + armature (u - u_before) - h tau = 0,   q+ = q (+) h u
///
/// P(u) are the momenta of the links along the chords between their poses at q and at q+ (chord_momentum.h), P
/// those before, f gravity and external wrenches at q, tau generalized forces, which act for h seconds or, where a step is
/// a kick, for longer than it lasts. Joints hold exactly, and where the
/// root is free both total momenta change by h f and nothing else. It is the variational integrator of the links'
/// chords with the joints as its coordinates: its energy error oscillates and does not drift while steps resolve
/// the motion.
///
/// @see  Marsden, West (2001), "Discrete mechanics and variational integrators", Acta Numerica 10, sec. 1.
#pragma once

#include <span>
#include <vector>

#include "dynamics/trees/chord_momentum.h"
#include "dynamics/trees/joint_coordinates.h"
#include "dynamics/trees/spatial.h"
#include "dynamics/trees/tree.h"
#include "dynamics/trees/tree_kinematics.h"
#include "dynamics/trees/tree_parameters.h"
#include "engine/types.h"

namespace abut {

/// The state of trees between steps.
template <typename S>
struct TreeState {
  VecX<S> q;                      ///< (nq)
  VecX<S> u;                      ///< (nv): rates of the last step, where Newton's method starts
  std::vector<Vec6<S>> momentum;  ///< per link: [L; m v] about its centre of mass, in W [N m s; N s]
};

/// Forces that are constant during a step.
template <typename S>
struct TreeLoads {
  std::vector<Vec6<S>>
      wrenches;  ///< per link: [torque; force] in W about its centre of mass, without gravity
  VecX<S> tau;   ///< (nv): generalized forces [N m or N]
};

template <typename S>
struct TreeSubstep {
  TreeKinematics<S> start, end;
  std::vector<Mat3<S>> inertia_W;        ///< per link, at the start
  std::vector<ChordMomentum<S>> chords;  ///< per link
  std::vector<Vec6<S>> before;           ///< per link: P + h f about its centre of mass
  std::vector<Vec6<S>> net;              ///< per link: P(u) - P - h f about O, summed over its subtree
  VecX<S> q_end;                         ///< (nq)
  VecX<S> residual;                      ///< r (nv)

  void resize(const KinematicTrees& trees) {
    start.resize(trees);
    end.resize(trees);
    inertia_W.resize(trees.links.size());
    chords.resize(trees.links.size());
    net.resize(trees.links.size());
    before.resize(trees.links.size());
    if (q_end.size() != trees.nq) q_end.resize(trees.nq);
    if (residual.size() != trees.nv) residual.resize(trees.nv);
  }

  /// Sets all that does not depend on u, for the links in a range.
  ///
  /// @param time    of its start, since that of the step [s]
  /// @param h_load  for how long loads and gravity act, h but for a kick [s]
  /// @param known   poses at that time, of the tree that the range is; null: they are found here
  void prepare(const KinematicTrees& trees, const Tree& part, const TreeParameters<S>& parameters,
               const TreeState<S>& state, const TreeLoads<S>& loads, double time, double h, double h_load,
               const TreeKinematics<S>* known = nullptr) {
    start.time = time;
    end.time = time + h;
    if (known != nullptr) {
      start.copy_tree(part, trees.links[at(part.first_link)].tree, *known);
    } else {
      set_origins(trees, part, parameters, state.q, start);
      update_kinematics(trees, part, parameters, state.q, start);
    }
    end.origin = start.origin;
    for (int i = part.first_link; i < part.end_link; ++i) {
      const LinkParameters<S>& link = parameters.links[at(i)];
      const Mat3<S> R = start.X_WB[at(i)].rotation();
      inertia_W[at(i)] = R * link.inertia * R.transpose();
      before[at(i)] = state.momentum[at(i)] + S(h_load) * loads.wrenches[at(i)];
      before[at(i)].template tail<3>() += (S(h_load) * link.mass) * parameters.gravity;
    }
  }

  /// End of the step and residual at rates u.
  void evaluate(const KinematicTrees& trees, const Tree& part, const TreeParameters<S>& parameters,
                const TreeState<S>& state, const TreeLoads<S>& loads, double h, double h_load,
                const VecX<S>& u) {
    integrate_coordinates(trees, part, state.q, u, h, q_end);
    update_kinematics(trees, part, parameters, q_end, end);
    for (int i = part.first_link; i < part.end_link; ++i)
      chords[at(i)].set_rotation(start.X_WB[at(i)].q, end.X_WB[at(i)].q);
    for (int i = part.first_link; i < part.end_link; ++i) {
      ChordMomentum<S>& chord = chords[at(i)];
      chord.set_momentum(start.X_WB[at(i)].p, end.X_WB[at(i)].p, parameters.links[at(i)].mass,
                         inertia_W[at(i)], h);
      const Vec3<S>& p = start.p_OB[at(i)];
      const Vec3<S> force = chord.momentum.template tail<3>() - before[at(i)].template tail<3>();
      net[at(i)].template head<3>() =
          chord.momentum.template head<3>() - before[at(i)].template head<3>() + p.cross(force);
      net[at(i)].template tail<3>() = force;
    }
    tree_forces(trees, part, start, net, residual);
    for (int k = part.u; k < part.u + part.nv; ++k) {
      residual[k] += parameters.armature[k] * (u[k] - state.u[k]) - h_load * loads.tau[k];
    }
  }
};

}  // namespace abut
