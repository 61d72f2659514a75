/// Joint coordinates from poses of bodies.
#pragma once

#include <vector>

#include "dynamics/trees/tree.h"
#include "engine/model.h"
#include "engine/model_tangent.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

/// By how far two bodies are from what their joint allows.
struct JointGap {
  double position = 0.0;  ///< [m]
  double rotation = 0.0;  ///< 2 sin(t/2) of the angle t that the joint does not allow [-]
};

/// The coordinates of given poses of bodies, each joint's from the relative pose of its two bodies: angles of
/// hinges in [-pi, pi]. Exact where no joint has a gap.
///
/// @param X_WB  by body
/// @param q     (nq), overwritten
void coordinates_of_poses(const Model& model, const KinematicTrees& trees,
                          const std::vector<Pose<double>>& X_WB, VecX<double>& q);

/// The gaps of joints at given poses of bodies, per link; zero for free roots.
[[nodiscard]] std::vector<JointGap> joint_gaps(const Model& model, const KinematicTrees& trees,
                                               const std::vector<Pose<double>>& X_WB);

/// Tangent (nv) of coordinates_of_poses() from those of poses, by body.
void coordinates_of_poses_jvp(const Model& model, const KinematicTrees& trees,
                              const std::vector<Pose<double>>& X_WB,
                              const std::vector<Vec6<double>>& pose_dot, VecX<double>& q_dot);

/// Cotangents of coordinates_of_poses(), from q_bar (nv): adds to those of poses, by body, and of joint frames.
void coordinates_of_poses_vjp(const Model& model, const KinematicTrees& trees,
                              const std::vector<Pose<double>>& X_WB, const VecX<double>& q_bar,
                              std::vector<Vec6<double>>& pose_bar, std::vector<JointTangent>& joint_bar);

}  // namespace abut
