/// Where a joint is in a state, the directions of its rows there, and the way back.
#pragma once

#include <span>

#include "engine/joint_geometry.h"
#include "engine/lie.h"
#include "engine/model.h"
#include "engine/model_tangent.h"
#include "engine/state.h"
#include "engine/types.h"

namespace abut {

/// A joint at a state: frames in W, and arms from both centres of mass to the origin of JB.
struct JointPlace {
  JointFrames frames;
  JointPose<double> pose;
  Mat3<double> R_JA;      ///< R_WJA
  Vec3<double> d;         ///< p_JB - p_JA [m]
  Vec3<double> r_A, r_B;  ///< [m]
  double turns;           ///< of a hinge, beyond the angle of its pose [rad]

  JointPlace(const Model& model, int j, const State& state)
      : frames(joint_frames(model.joints[at(j)], state)),
        pose(frames.X_WJA, frames.X_WJB),
        R_JA(frames.X_WJA.rotation()),
        d(frames.X_WJB.p - frames.X_WJA.p),
        r_A(frames.X_WJB.p - frames.X_WA.p),
        r_B(frames.X_WJB.p - frames.X_WB.p),
        turns(turns_beyond(state, j, pose.angle())) {}

  [[nodiscard]] Vec3<double> axis(int i) const { return R_JA.col(i); }

  /// d(rotation_error()_i) = a_i . (dtheta_B - dtheta_A),   a_i = R_JA (q_w e_i + q_v x e_i), from
  /// dq = 1/2 (0, R_JA^T (dtheta_B - dtheta_A)) q.
  [[nodiscard]] Vec3<double> turn_direction(int i) const {
    const Vec3<double> e = Vec3<double>::Unit(i), q_v = pose.q.vec();
    return R_JA * (pose.q.w() * e + q_v.cross(e));
  }
};

/// J of a row of a joint, by the twists of its bodies; or dL/d of it.
struct RowDirections {
  Vec6<double> A, B;
};

/// dL/d of a JointPlace: by tangents of the frames in W and by the centres of mass.
struct JointPlaceBar {
  Vec3<double> theta_JA = Vec3<double>::Zero(), p_JA = Vec3<double>::Zero();
  Vec3<double> theta_JB = Vec3<double>::Zero(), p_JB = Vec3<double>::Zero();
  Vec3<double> p_A = Vec3<double>::Zero(), p_B = Vec3<double>::Zero();
};

/// Row of a velocity along t of JB's origin relative to what is fixed in JA.
[[nodiscard]] inline RowDirections point_row(const JointPlace& g, const Vec3<double>& t) {
  return {-stack<double>(g.r_A.cross(t), t), stack<double>(g.r_B.cross(t), t)};
}

/// The way back to the arms; returns dL/dt.
inline Vec3<double> point_row_vjp(const JointPlace& g, const Vec3<double>& t, const RowDirections& bar,
                                  JointPlaceBar& out) {
  const Vec3<double> w_A = bar.A.head<3>(), w_B = bar.B.head<3>();
  const Vec3<double> r_A_bar = -t.cross(w_A), r_B_bar = t.cross(w_B);
  out.p_JB += r_A_bar + r_B_bar;
  out.p_A -= r_A_bar;
  out.p_B -= r_B_bar;
  return bar.B.tail<3>() - bar.A.tail<3>() + w_B.cross(g.r_B) - w_A.cross(g.r_A);
}

/// e = t . d with t = axis i of JA.
inline void axis_row_vjp(const JointPlace& g, int i, const RowDirections& bar, double error_bar,
                         JointPlaceBar& out) {
  const Vec3<double> t = g.axis(i);
  const Vec3<double> t_bar = point_row_vjp(g, t, bar, out) + error_bar * g.d;
  out.theta_JA += t.cross(t_bar);
  out.p_JB += error_bar * t;
  out.p_JA -= error_bar * t;
}

/// e = rho - length with rho = |d| and t = d/rho.
inline void distance_row_vjp(const JointPlace& g, double rho, const RowDirections& bar, double error_bar,
                             JointPlaceBar& out) {
  const Vec3<double> t = g.d / rho, t_bar = point_row_vjp(g, t, bar, out);
  const Vec3<double> d_bar = (t_bar - t * t.dot(t_bar)) / rho + error_bar * t;
  out.p_JB += d_bar;
  out.p_JA -= d_bar;
}

[[nodiscard]] inline RowDirections turn_row(const Vec3<double>& a) {
  const Vec6<double> J_B = stack<double>(a, Vec3<double>::Zero());
  return {-J_B, J_B};
}

/// e = rotation_error()_i.
inline void turn_row_vjp(const JointPlace& g, int i, const RowDirections& bar, double error_bar,
                         JointPlaceBar& out) {
  const Vec3<double> a = g.turn_direction(i);
  const Vec3<double> a_bar = bar.B.head<3>() - bar.A.head<3>();
  // a = R_JA a_J, da_J = dq_w e + dq_v x e, dq = 1/2 (-w.q_v, q_w w + w x q_v), w = R_JA^T (dtheta_B -
  // dtheta_A)
  const Vec3<double> a_J_bar = g.R_JA.transpose() * a_bar, q_v = g.pose.q.vec();
  const Vec3<double> q_v_bar = Vec3<double>::Unit(i).cross(a_J_bar);
  const Vec3<double> w_bar = 0.5 * (g.pose.q.w() * q_v_bar + q_v.cross(q_v_bar) - a_J_bar[i] * q_v);
  const Vec3<double> relative_bar = g.R_JA * w_bar + error_bar * a;
  out.theta_JA += a.cross(a_bar) - relative_bar;
  out.theta_JB += relative_bar;
}

/// e = angle(), J its direction z of JA: that of its rate once the axes agree.
inline void hinge_row_vjp(const JointPlace& g, const RowDirections& bar, double error_bar,
                          JointPlaceBar& out) {
  const Vec3<double> z = g.axis(2), z_bar = bar.B.head<3>() - bar.A.head<3>();
  const Vec3<double> relative_bar = error_bar * (g.R_JA * g.pose.angle_gradient());
  out.theta_JA += z.cross(z_bar) - relative_bar;
  out.theta_JB += relative_bar;
}

/// From dL/d of the place to the joint's frames and the poses of its bodies, all added to.
inline void joint_place_vjp(const JointPlace& g, const Joint& joint, const JointPlaceBar& bar,
                            JointTangent& joint_bar, std::span<Vec6<double>> pose_bar) {
  const auto A = compose_vjp<double>(g.frames.X_WA, joint.X_AJ, stack<double>(bar.theta_JA, bar.p_JA));
  const auto B = compose_vjp<double>(g.frames.X_WB, joint.X_BJ, stack<double>(bar.theta_JB, bar.p_JB));
  joint_bar.X_AJ += A.X_BC;
  joint_bar.X_BJ += B.X_BC;
  if (joint.body_A >= 0) {
    pose_bar[at(joint.body_A)] += A.X_WB;
    pose_bar[at(joint.body_A)].tail<3>() += bar.p_A;
  }
  pose_bar[at(joint.body_B)] += B.X_WB;
  pose_bar[at(joint.body_B)].tail<3>() += bar.p_B;
}

}  // namespace abut
