/// Momentum of a body that moves from one pose to another in h seconds, along a chord.
///
///   phi = Log(R+ R'),   L = Exp(phi/2) I(R) phi/h = I(R_mid) phi/h,   l = m (p+ - p)/h
///
/// with R_mid half way: the derivative of the action of a variational integrator by its end is L, l to second
/// order in h, and a body that is free of forces keeps both exactly. About the centre of mass, in W.
#pragma once

#include "dynamics/trees/spatial.h"
#include "dynamics/trees/tree_parameters.h"
#include "engine/lie.h"
#include "engine/pose.h"
#include "engine/types.h"

namespace abut {

template <typename S>
struct ChordMomentum {
  Vec3<S> phi{S(0), S(0), S(0)};               ///< rotation [rad], less than half a turn
  Vec3<S> sine{S(0), S(0), S(0)};              ///< sin(|phi|/2) phi/|phi|
  S cosine = S(1);                             ///< cos(|phi|/2), >= 0
  Vec3<S> velocity{S(0), S(0), S(0)};          ///< (p+ - p)/h [m/s]
  Vec6<S> momentum = Vec6<S>::Constant(S(0));  ///< [L; l] [N m s; N s]

  ChordMomentum() = default;
  /// @param I_W  inertia in W at the start
  ChordMomentum(const Pose<S>& start, const Pose<S>& end, const S& mass, const Mat3<S>& I_W, double h) {
    const S rate = S(1.0 / h);
    const Quat<S> turn = end.q * start.q.conjugate();
    const S sign = select(turn.w() < S(0), S(-1), S(1));
    phi = log_quaternion(turn);
    sine = sign * turn.vec();
    cosine = sign * turn.w();
    velocity = rate * (end.p - start.p);
    momentum.template head<3>() = turned_half(rate * (I_W * phi));
    momentum.template tail<3>() = mass * velocity;
  }

  /// Exp(phi/2) x = x + s x x + s x (s x x)/(1 + c), with s the sine and c the cosine.
  [[nodiscard]] Vec3<S> turned_half(const Vec3<S>& x) const {
    const Vec3<S> first = sine.cross(x);
    return x + first + (S(1) / (S(1) + cosine)) * sine.cross(first);
  }
  /// Exp(-phi/2) x.
  [[nodiscard]] Vec3<S> turned_half_back(const Vec3<S>& x) const {
    const Vec3<S> first = sine.cross(x);
    return x - first + (S(1) / (S(1) + cosine)) * sine.cross(first);
  }
};

/// h dL/dphi (3, 3) of a chord,  Exp(phi/2) I - h/2 [L]x J_l(phi/2).
[[nodiscard]] inline Mat3<double> chord_inertia(const ChordMomentum<double>& chord, const Mat3<double>& I_W,
                                                double h) {
  const Vec3<double> half_L = 0.5 * h * chord.momentum.head<3>();
  const Mat3<double> J = left_jacobian_so3<double>(0.5 * chord.phi);
  Mat3<double> K;
  for (int k = 0; k < 3; ++k) {
    const Vec3<double> J_k = J.col(k);
    K.col(k) = chord.turned_half(I_W.col(k)) - half_L.cross(J_k);
  }
  return K;
}

/// Momentum about O per twist about O of the end pose, h dP/d(end) (6, 6), with the centre of mass at p before and
/// at p_end after. It is not symmetric; that of a body at rest is the spatial inertia.
[[nodiscard]] inline Mat6<double> chord_block(const ChordMomentum<double>& chord, double mass,
                                              const Mat3<double>& I_W, double h, const Vec3<double>& p,
                                              const Vec3<double>& p_end) {
  const Vec3<double> moment = mass * p, moment_end = mass * p_end;
  Mat6<double> M;
  auto rotation = M.topLeftCorner<3, 3>();
  rotation.noalias() = chord_inertia(chord, I_W, h) * left_jacobian_inverse_so3(chord.phi);
  rotation.noalias() -= p_end * moment.transpose();  // -m [p]x [p_end]x
  rotation.diagonal().array() += moment.dot(p_end);
  M.topRightCorner<3, 3>() = skew(moment);
  M.bottomLeftCorner<3, 3>() = -skew(moment_end);
  M.bottomRightCorner<3, 3>().setZero();
  M.bottomRightCorner<3, 3>().diagonal().setConstant(mass);
  return M;
}

/// dL/d(tangents of the two poses), about the centre of mass.
struct ChordPosesBar {
  Vec6<double> start, end;
};

/// The cotangents of ChordMomentum: returns those of the poses, adds those of mass and inertia.
///
/// @param R  of the start
[[nodiscard]] inline ChordPosesBar chord_momentum_vjp(const ChordMomentum<double>& chord, double mass,
                                                      const Mat3<double>& R, const Mat3<double>& I_W,
                                                      double h, const Vec6<double>& momentum_bar,
                                                      LinkTangent& link_bar) {
  const Vec3<double> L_bar = momentum_bar.head<3>(), l_bar = momentum_bar.tail<3>();
  const Vec3<double> phi_bar = chord_inertia(chord, I_W, h).transpose() * L_bar / h;
  const Mat3<double> J_inverse = left_jacobian_inverse_so3(chord.phi);  // dphi = J^-1 dtheta+ - J'^-1 dtheta
  const Vec3<double> L_bar_start = chord.turned_half_back(L_bar);
  const Mat3<double> A = L_bar_start * chord.phi.transpose() / h;
  const Mat3<double> inertia_bar = R.transpose() * A * R;
  link_bar.inertia += 0.5 * (inertia_bar + inertia_bar.transpose());
  link_bar.mass += l_bar.dot(chord.velocity);
  return {stack<double>(rotated_inertia_vjp(I_W, A) - J_inverse * phi_bar, -mass / h * l_bar),
          stack<double>(J_inverse.transpose() * phi_bar, mass / h * l_bar)};
}

}  // namespace abut
