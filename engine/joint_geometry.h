/// The relative pose of a joint's two frames: what is held at zero, and the coordinate that is left.
#pragma once

#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <vector>

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

/// Whole turns from an angle to the one nearest to that of State::hinge_angles [rad].
[[nodiscard]] inline double turns_beyond(const State& state, int joint, double angle) {
  if (state.hinge_angles.empty()) return 0.0;
  constexpr double k_turn = 2.0 * std::numbers::pi;
  return k_turn * std::round((state.hinge_angles[static_cast<std::size_t>(joint)] - angle) / k_turn);
}

/// Angle of a hinge in [-pi, pi] [rad].
[[nodiscard]] inline double joint_angle(const Joint& joint, const State& state) {
  const JointFrames frames = joint_frames(joint, state);
  return JointPose<double>(frames.X_WJA, frames.X_WJB).angle();
}

/// Angle of a hinge with all its turns [rad], or travel of a slider [m].
[[nodiscard]] inline double joint_coordinate(const Model& model, int joint, const State& state) {
  const Joint& of = model.joints[static_cast<std::size_t>(joint)];
  if (of.kind == JointKind::slider) {
    const JointFrames frames = joint_frames(of, state);
    return JointPose<double>(frames.X_WJA, frames.X_WJB).d.z();
  }
  const double angle = joint_angle(of, state);
  return angle + turns_beyond(state, joint, angle);
}

/// Rate of the coordinate [rad/s or m/s]: of B relative to A, about or along z of JA.
///
/// @param X_WA  the poses and twists of the joint's bodies; those of the world are the identity and 0
template <typename S>
[[nodiscard]] S joint_rate(const Joint& joint, const Pose<S>& X_WA, const Vec6<S>& V_WA, const Pose<S>& X_WB,
                           const Vec6<S>& V_WB) {
  const Vec3<S> axis = (X_WA.q * joint.X_AJ.q.cast<S>()) * Vec3<S>(S(0), S(0), S(1));
  if (joint.kind == JointKind::hinge)
    return axis.dot(Vec3<S>(V_WB.template head<3>() - V_WA.template head<3>()));
  const Vec3<S> p_WJB = X_WB * Vec3<S>(joint.X_BJ.p.template cast<S>());
  const auto velocity = [&](const Vec6<S>& V, const Vec3<S>& centre) -> Vec3<S> {
    return V.template tail<3>() + V.template head<3>().cross(Vec3<S>(p_WJB - centre));
  };
  return axis.dot(Vec3<S>(velocity(V_WB, X_WB.p) - velocity(V_WA, X_WA.p)));
}

[[nodiscard]] inline double joint_rate(const Joint& joint, const State& state) {
  const JointFrames frames = joint_frames(joint, state);
  const Vec6<double> V_WA = joint.body_A < 0 ? Vec6<double>(Vec6<double>::Zero())
                                             : state.V_WB[static_cast<std::size_t>(joint.body_A)];
  return joint_rate<double>(joint, frames.X_WA, V_WA, frames.X_WB,
                            state.V_WB[static_cast<std::size_t>(joint.body_B)]);
}

/// The joints that have a coordinate, in their order.
[[nodiscard]] inline std::vector<int> joints_with_coordinate(const Model& model) {
  std::vector<int> joints;
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    if (has_coordinate(model.joints[j].kind)) joints.push_back(static_cast<int>(j));
  }
  return joints;
}

[[nodiscard]] std::vector<std::string> names_of(const Model& model, std::span<const int> joints);

/// Whether one side of a joint can move without the other: not in a loop, nor where both sides are held.
[[nodiscard]] bool can_move(const Model& model, int joint);

/// Whether a body is tied to a joint by joints, however far.
[[nodiscard]] bool hangs_together(const Model& model, int joint, int body);

/// Whether what a joint ties together hangs on the world or on a fixed body.
[[nodiscard]] bool is_held(const Model& model, int joint);

/// How a state changes by a joint's coordinate, and by its rate, as set_joint_coordinate() and set_joint_rate() change
/// it. Throw std::invalid_argument unless can_move().
[[nodiscard]] StateTangent joint_coordinate_direction(const Model& model, int joint, const State& state);
[[nodiscard]] StateTangent joint_rate_direction(const Model& model, int joint, const State& state);

/// Moves what is beyond a joint, on the side that can move, to where the joint's coordinate is q, or gives it the
/// velocity that the rate u takes; other joints keep their coordinates and rates. Velocities are carried along. Throws std::invalid_argument where
/// neither side is free to move, and that would change anything.
void set_joint_coordinate(const Model& model, int joint, double q, State& state);
void set_joint_rate(const Model& model, int joint, double u, State& state);

/// The same for joints_with_coordinate(), a number for each: coordinates, then rates. Null: they stay.
void set_joints(const Model& model, const double* coordinates, const double* rates, State& state);

/// Hinges that start beyond their limits by whole turns start within them: State::hinge_angles.
void start_within_limits(const Model& model, State& state);

/// Sets the hinge_angles of a state h seconds after `start`, of the hinges in `joints`, by the way that their rates
/// lead.
void follow_hinges(const Model& model, std::span<const int> joints, const State& start, double h,
                   State& state);

/// By how much a joint is open: of what it is to hold at zero.
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
