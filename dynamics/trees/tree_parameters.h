/// The numbers of kinematic trees: masses, inertias, joint frames, armature, gravity; and their tangents.
#pragma once

#include <vector>

#include "dynamics/trees/tree.h"
#include "engine/model.h"
#include "engine/model_tangent.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

/// Mass, inertia and joint frames of a link C, which hangs from its parent P.
template <typename S>
struct LinkParameters {
  S mass = S(0);                              ///< [kg], >= 0
  Mat3<S> inertia = Mat3<S>::Constant(S(0));  ///< about the centre of mass, in C [kg m^2]
  Pose<S> X_PJ, X_CJ;                         ///< frame of the joint on P (in W if P is the world) and on C
};

/// How the body of infinite mass that a tree hangs from moves during a step: it turns by Exp(t w) about its origin,
/// which travels by t v.
template <typename S>
struct BaseMotion {
  Vec3<S> p_WB{S(0), S(0), S(0)};          ///< its origin at the start [m]
  Vec6<S> V_WB = Vec6<S>::Constant(S(0));  ///< twist [w; v]
};

template <typename S>
struct TreeParameters {
  std::vector<LinkParameters<S>> links;
  std::vector<BaseMotion<S>> bases;   ///< per tree; empty: all are at rest
  VecX<S> armature;                   ///< (nv): inertia of each rate's drive [kg m^2, or kg], >= 0
  Vec3<S> gravity{S(0), S(0), S(0)};  ///< [m/s^2]

  template <typename U>
  [[nodiscard]] TreeParameters<U> cast() const {
    TreeParameters<U> other;
    for (const LinkParameters<S>& link : links) {
      other.links.push_back({U(link.mass), link.inertia.template cast<U>(), link.X_PJ.template cast<U>(),
                             link.X_CJ.template cast<U>()});
    }
    for (const BaseMotion<S>& base : bases)
      other.bases.push_back({base.p_WB.template cast<U>(), base.V_WB.template cast<U>()});
    other.armature = armature.template cast<U>();
    other.gravity = gravity.template cast<U>();
    return other;
  }
};

/// A direction of a link's numbers, or the gradient of a loss with respect to them.
struct LinkTangent {
  double mass = 0.0;                            ///< inertia held fixed
  Mat3<double> inertia = Mat3<double>::Zero();  ///< symmetric, mass held fixed
  /// By tangents (engine/pose.h) in P and C.
  Vec6<double> X_PJ = Vec6<double>::Zero(), X_CJ = Vec6<double>::Zero();
};

struct TreeParametersTangent {
  std::vector<LinkTangent> links;
  std::vector<BaseMotion<double>> bases;  ///< per tree
  VecX<double> armature;
  Vec3<double> gravity = Vec3<double>::Zero();

  TreeParametersTangent() = default;
  explicit TreeParametersTangent(const KinematicTrees& trees) { set_zero(trees); }
  void set_zero(const KinematicTrees& trees);
  TreeParametersTangent& operator+=(const TreeParametersTangent& other);
};

/// The inner product: how a loss of the gradient `bar` changes along `dot`.
[[nodiscard]] double inner_product(const TreeParametersTangent& bar, const TreeParametersTangent& dot);

/// The infinitely heavy body from which a tree hangs; -1: the world, or none.
[[nodiscard]] int base_body(const Model& model, const KinematicTrees& trees, int tree);

/// The numbers of a model, with bodies of infinite mass at rest at X_WB (by body; of moving ones not read).
///
/// @param armature  (nv), or empty for that of the joints
/// Throws std::invalid_argument if the armature has another length, or a component that is negative or not
/// finite.
[[nodiscard]] TreeParameters<double> tree_parameters(const Model& model, const KinematicTrees& trees,
                                                     const std::vector<Pose<double>>& X_WB,
                                                     const VecX<double>& armature = {});

/// The same with the armature of the joints, in place.
void set_tree_parameters(const Model& model, const KinematicTrees& trees,
                         const std::vector<Pose<double>>& X_WB, TreeParameters<double>& parameters);

/// The cotangents of tree_parameters(): adds those of masses, inertias, joint frames and armature to `body_bar` (by
/// body) and `joint_bar` (by joint), those of poses of bodies of infinite mass to `pose_bar` (by body).
void tree_parameters_vjp(const Model& model, const KinematicTrees& trees,
                         const std::vector<Pose<double>>& X_WB, const TreeParametersTangent& bar,
                         std::vector<BodyTangent>& body_bar, std::vector<JointTangent>& joint_bar,
                         std::vector<Vec6<double>>& pose_bar);

}  // namespace abut
