/// The relative pose of a joint's two frames: what is held at zero, and the coordinate that is left.
#pragma once

#include <cmath>
#include <numbers>

#include "engine/model.h"
#include "engine/scalar.h"
#include "engine/state.h"

namespace abut {

/// X_JA_JB of the frames JA on body A and JB on body B.
template <typename S>
struct JointPose {
  Vec3<S> d;  ///< of JB's origin, in JA [m]
  Quat<S> q;  ///< q_w >= 0

  JointPose(const Pose<S>& X_WJA, const Pose<S>& X_WJB)
      : d(inverse_point(X_WJA, X_WJB.p)), q(X_WJA.q.conjugate() * X_WJB.q) {
    const S sign = select(q.w() < S(0), S(-1), S(1));
    q = Quat<S>(sign * q.w(), sign * q.x(), sign * q.y(), sign * q.z());
  }

  /// 2 Im q = 2 sin(t/2) n of the rotation by t about n: smooth up to half a turn, where it is longest. Its x
  /// and y are zero exactly where the two z axes agree, however far JB is turned about them.
  [[nodiscard]] Vec3<S> rotation_error() const { return S(2) * Vec3<S>(q.x(), q.y(), q.z()); }

  /// About z, in [-pi, pi] [rad].
  [[nodiscard]] S angle() const {
    using std::atan2;
    return S(2) * atan2(q.z(), q.w());
  }

  /// d(angle)/d(turn of JB relative to JA), in JA: 2 (q_w dq_z - q_z dq_w)/(q_w^2 + q_z^2) with
  /// dq = 1/2 (-w.q_v, q_w w + w x q_v) of a turn w.
  [[nodiscard]] Vec3<S> angle_gradient() const {
    const Vec3<S> across(q.y(), -q.x(), q.w()), q_v(q.x(), q.y(), q.z());
    return (q.w() * across + q.z() * q_v) / (q.w() * q.w() + q.z() * q.z());
  }

  /// |d| [m], rounded off below a millionth of `length`, where it has no direction.
  [[nodiscard]] S distance(const S& length) const {
    using std::sqrt;
    const S rounding = S(1e-6) * length;
    return sqrt(d.dot(d) + rounding * rounding);
  }
};

/// X_WJA and X_WJB at a state.
struct JointFrames {
  Pose<double> X_WA, X_WB;    ///< of the bodies; that of the world is the identity
  Pose<double> X_WJA, X_WJB;  ///< of the joint on them
};

[[nodiscard]] inline JointFrames joint_frames(const Joint& joint, const State& state) {
  JointFrames frames;
  if (joint.body_A >= 0) frames.X_WA = state.X_WB[static_cast<std::size_t>(joint.body_A)];
  frames.X_WB = state.X_WB[static_cast<std::size_t>(joint.body_B)];
  frames.X_WJA = frames.X_WA * joint.X_AJ;
  frames.X_WJB = frames.X_WB * joint.X_BJ;
  return frames;
}

/// Angle of a hinge [rad] or travel of a slider [m].
[[nodiscard]] inline double joint_coordinate(const Joint& joint, const State& state) {
  const JointFrames frames = joint_frames(joint, state);
  const JointPose<double> pose(frames.X_WJA, frames.X_WJB);
  return joint.kind == JointKind::slider ? pose.d.z() : pose.angle();
}

/// coordinate - target; for a hinge wrapped to half a turn either way.
[[nodiscard]] inline double coordinate_error(const Joint& joint, double coordinate, double target) {
  const double error = coordinate - target;
  return joint.kind == JointKind::hinge ? std::remainder(error, 2.0 * std::numbers::pi) : error;
}

/// Rate of a hinge's angle [rad/s] or a slider's travel [m/s]: of B relative to A, about or along z of JA.
[[nodiscard]] inline double joint_rate(const Joint& joint, const State& state) {
  const JointFrames frames = joint_frames(joint, state);
  const auto velocity = [&](int body, const Vec3<double>& centre_W) -> Vec3<double> {
    if (body < 0) return Vec3<double>::Zero();
    const Vec6<double>& V = state.V_WB[static_cast<std::size_t>(body)];
    if (joint.kind == JointKind::hinge) return V.head<3>();
    return V.tail<3>() + V.head<3>().cross(frames.X_WJB.p - centre_W);
  };
  return (frames.X_WJA.q * Vec3<double>::UnitZ())
      .dot(velocity(joint.body_B, frames.X_WB.p) - velocity(joint.body_A, frames.X_WA.p));
}

/// How far apart what a joint holds together has drifted.
struct JointError {
  double position = 0, rotation = 0;  ///< [m], [rad]
};

[[nodiscard]] inline JointError joint_error(const Joint& joint, const State& state) {
  const JointFrames frames = joint_frames(joint, state);
  const JointPose<double> pose(frames.X_WJA, frames.X_WJB);
  const Vec3<double> turn = pose.rotation_error();
  switch (joint.kind) {
    case JointKind::fixed:
      return {pose.d.norm(), turn.norm()};
    case JointKind::ball:
      return {pose.d.norm(), 0.0};
    case JointKind::hinge:
      return {pose.d.norm(), turn.head<2>().norm()};
    case JointKind::slider:
      return {pose.d.head<2>().norm(), turn.norm()};
    case JointKind::distance:
      return {std::abs(pose.distance(joint.length) - joint.length), 0.0};
  }
  return {};
}

}  // namespace abut
