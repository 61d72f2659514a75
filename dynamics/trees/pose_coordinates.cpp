#include "dynamics/trees/pose_coordinates.h"

#include "dynamics/trees/joint_coordinates.h"
#include "dynamics/trees/rotations.h"
#include "dynamics/trees/tree_direction.h"
#include "engine/joint_geometry.h"

namespace abut {
namespace {

/// The frames JA and JB of a link's joint.
template <typename S>
struct LinkFrames {
  Pose<S> X_WJA, X_WJB;

  LinkFrames(const Joint& joint, const std::vector<Pose<S>>& X_WB)
      : X_WJA(joint.X_AJ.cast<S>()), X_WJB(X_WB[at(joint.body_B)] * joint.X_BJ.cast<S>()) {
    if (joint.body_A >= 0) X_WJA = X_WB[at(joint.body_A)] * X_WJA;
  }
};

template <typename S>
void set_coordinates(const Model& model, const KinematicTrees& trees, const std::vector<Pose<S>>& X_WB,
                     VecX<S>& q) {
  if (q.size() != trees.nq) q.resize(trees.nq);
  for (const Link& link : trees.links) {
    if (link.kind == LinkKind::fixed) continue;
    if (link.kind == LinkKind::free) {
      const Pose<S> X = X_WB[at(link.body)].normalized();
      set_quaternion(X.q, q, link.q);
      q.template segment<3>(link.q + 4) = X.p;
      continue;
    }
    const Joint& joint = model.joints[at(link.joint)];
    if (link.kind == LinkKind::slider) {
      const LinkFrames<S> frames(joint, X_WB);
      q[link.q] = JointPose<S>(frames.X_WJA, frames.X_WJB).d.z();
      continue;
    }
    const Quat<S> q_AJ = joint.X_AJ.cast<S>().q,
                  q_WJB = composed(X_WB[at(joint.body_B)].q, joint.X_BJ.cast<S>().q),
                  q_WJA = joint.body_A < 0 ? q_AJ : composed(X_WB[at(joint.body_A)].q, q_AJ);
    const Vec3<S> unused(S(0), S(0), S(0));
    const JointPose<S> pose({q_WJA, unused}, {q_WJB, unused});
    if (link.kind == LinkKind::ball) {
      set_quaternion(Pose<S>{pose.q, {}}.normalized().q, q, link.q);
    } else {
      q[link.q] = pose.angle();
    }
  }
}

}  // namespace

void coordinates_of_poses(const Model& model, const KinematicTrees& trees,
                          const std::vector<Pose<double>>& X_WB, VecX<double>& q) {
  set_coordinates(model, trees, X_WB, q);
}

std::vector<JointGap> joint_gaps(const Model& model, const KinematicTrees& trees,
                                 const std::vector<Pose<double>>& X_WB) {
  std::vector<JointGap> gaps;
  State state;
  state.X_WB = X_WB;
  for (const Link& link : trees.links) {
    const JointError error = link.joint < 0 ? JointError{} : joint_error(model.joints[at(link.joint)], state);
    gaps.push_back({error.position, error.rotation});
  }
  return gaps;
}

void coordinates_of_poses_jvp(const Model& model, const KinematicTrees& trees,
                              const std::vector<Pose<double>>& X_WB,
                              const std::vector<Vec6<double>>& pose_dot, VecX<double>& q_dot) {
  std::vector<Pose<Dual1>> moved;
  for (std::size_t b = 0; b < X_WB.size(); ++b)
    moved.push_back(retract(X_WB[b].cast<Dual1>(), along<6>(Vec6<double>::Zero(), pose_dot[b])));
  VecX<Dual1> q;
  set_coordinates(model, trees, moved, q);
  q_dot.resize(trees.nv);
  coordinate_derivative(trees, trees.all(), q, q_dot);
}

void coordinates_of_poses_vjp(const Model& model, const KinematicTrees& trees,
                              const std::vector<Pose<double>>& X_WB, const VecX<double>& q_bar,
                              std::vector<Vec6<double>>& pose_bar, std::vector<JointTangent>& joint_bar) {
  for (const Link& link : trees.links) {
    if (link.kind == LinkKind::fixed) continue;
    if (link.kind == LinkKind::free) {
      pose_bar[at(link.body)] += q_bar.segment<6>(link.u);
      continue;
    }
    const Joint& joint = model.joints[at(link.joint)];
    const LinkFrames<double> frames(joint, X_WB);
    const Mat3<double> R_JA = frames.X_WJA.rotation();
    Vec6<double> JA_bar = Vec6<double>::Zero(), JB_bar = Vec6<double>::Zero();
    if (link.kind == LinkKind::slider) {  // z . (p_JB - p_JA)
      const Vec3<double> z = R_JA.col(2), d = frames.X_WJB.p - frames.X_WJA.p;
      JB_bar.tail<3>() = q_bar[link.u] * z;
      JA_bar = stack<double>(q_bar[link.u] * z.cross(d), -q_bar[link.u] * z);
    } else {
      Vec3<double> by_turn;  // of JB relative to JA, in JA
      if (link.kind == LinkKind::ball) {
        by_turn = q_bar.segment<3>(link.u);
      } else {
        by_turn = q_bar[link.u] * JointPose<double>(frames.X_WJA, frames.X_WJB).angle_gradient();
      }
      JB_bar.head<3>() = R_JA * by_turn;
      JA_bar.head<3>() = -JB_bar.head<3>();
    }
    JointTangent& frames_bar = joint_bar[at(link.joint)];
    const ComposeBar<double> B = compose_vjp(X_WB[at(joint.body_B)], joint.X_BJ, JB_bar);
    pose_bar[at(joint.body_B)] += B.X_WB;
    frames_bar.X_BJ += B.X_BC;
    if (joint.body_A < 0) {
      frames_bar.X_AJ += compose_vjp(Pose<double>(), joint.X_AJ, JA_bar).X_BC;
    } else {
      const ComposeBar<double> A = compose_vjp(X_WB[at(joint.body_A)], joint.X_AJ, JA_bar);
      pose_bar[at(joint.body_A)] += A.X_WB;
      frames_bar.X_AJ += A.X_BC;
    }
  }
}

}  // namespace abut
