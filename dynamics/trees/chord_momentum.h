/// Momentum of a body that moves from one pose to another in h seconds, along a chord.
///
///   phi = Log(R+ R'),   L = Exp(phi/2) I(R) phi/h = I(R_mid) phi/h,   l = m (p+ - p)/h
///
/// with R_mid half way: the derivative of the action of a variational integrator by its end is L, l to second
/// order in h, and a body that is free of forces keeps both exactly. About the centre of mass, in W.
#pragma once

#include "dynamics/trees/rotations.h"
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

  /// The rotation between two orientations. It takes long but not much: of all links first, it goes on for several
  /// at a time.
  void set_rotation(const Quat<S>& start, const Quat<S>& end) {
    const Quat<S> turn = relative(end, start);
    const S sign = select(turn.w() < S(0), S(-1), S(1));
    phi = log_quaternion(turn);
    sine = Vec3<S>(sign * turn.x(), sign * turn.y(), sign * turn.z());
    cosine = sign * turn.w();
  }
  /// The rest, between two positions.
  ///
  /// @param I_W  inertia in W at the start
  void set_momentum(const Vec3<S>& start, const Vec3<S>& end, const S& mass, const Mat3<S>& I_W, double h) {
    const S rate = S(1.0 / h);
    velocity = rate * (end - start);
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

/// h dL/d(rotation of the end) (3, 3), (Exp(phi/2) I - h/2 [L]x J_l(phi/2)) J_l(phi)^-1. In closed form, with s the
/// sine and c the cosine:
///   J_l(phi)^-1 = g - [phi]x/2 + (1 - g)/|phi|^2 phi phi',  g = |phi|/2 cot(|phi|/2)
///   J_l(phi/2) J_l(phi)^-1 = 1 - [t]x,  t = s/(1 + c) = tan(|phi|/4) phi/|phi|
[[nodiscard]] inline Mat3<double> chord_inertia(const ChordMomentum<double>& chord, const Mat3<double>& I_W,
                                                double h) {
  const Vec3<double>& phi = chord.phi;
  const double square = phi.squaredNorm();
  double g = 1.0 - square / 12.0, k = 1.0 / 12.0;
  if (square > 1e-8) {  // below, the next terms are less than rounding
    g = 0.5 * chord.cosine * square / phi.dot(chord.sine);
    k = (1.0 - g) / square;
  }
  const Vec3<double> half = 0.5 * phi, I_phi = k * (I_W * phi);
  const Vec3<double> half_L = 0.5 * h * chord.momentum.head<3>(), t = chord.sine / (1.0 + chord.cosine);
  const double along = half_L.dot(t);
  const auto column = [&](int j, const Vec3<double>& I_across) -> Vec3<double> {  // I_across of I [phi/2]x
    const Vec3<double> start = g * I_W.col(j) - I_across + phi[j] * I_phi;
    return chord.turned_half(start) + half_L[j] * t;
  };
  Mat3<double> K;
  K.col(0) = column(0, half.z() * I_W.col(1) - half.y() * I_W.col(2));
  K.col(1) = column(1, half.x() * I_W.col(2) - half.z() * I_W.col(0));
  K.col(2) = column(2, half.y() * I_W.col(0) - half.x() * I_W.col(1));
  K(0, 0) -= along, K(1, 1) -= along, K(2, 2) -= along;
  K(2, 1) -= half_L.x(), K(1, 2) += half_L.x();
  K(0, 2) -= half_L.y(), K(2, 0) += half_L.y();
  K(1, 0) -= half_L.z(), K(0, 1) += half_L.z();
  return K;
}

/// Momentum about O per twist about O of the end pose, h dP/d(end) (6, 6), with the centre of mass at p before and
/// at p_end after. It is not symmetric; that of a body at rest is the spatial inertia.
inline void chord_block(const ChordMomentum<double>& chord, double mass, const Mat3<double>& I_W, double h,
                        const Vec3<double>& p, const Vec3<double>& p_end, Mat6<double>& M) {
  const Vec3<double> a = mass * p, b = mass * p_end;
  const Mat3<double> K = chord_inertia(chord, I_W, h);
  const double trace = a.dot(p_end);  // K - m [p]x [p_end]x
  // clang-format off
  M.col(0) << K(0, 0) + trace - p_end.x() * a.x(), K(1, 0) - p_end.y() * a.x(), K(2, 0) - p_end.z() * a.x(),
              0.0, -b.z(), b.y();
  M.col(1) << K(0, 1) - p_end.x() * a.y(), K(1, 1) + trace - p_end.y() * a.y(), K(2, 1) - p_end.z() * a.y(),
              b.z(), 0.0, -b.x();
  M.col(2) << K(0, 2) - p_end.x() * a.z(), K(1, 2) - p_end.y() * a.z(), K(2, 2) + trace - p_end.z() * a.z(),
              -b.y(), b.x(), 0.0;
  M.col(3) << 0.0, a.z(), -a.y(), mass, 0.0, 0.0;
  M.col(4) << -a.z(), 0.0, a.x(), 0.0, mass, 0.0;
  M.col(5) << a.y(), -a.x(), 0.0, 0.0, 0.0, mass;
  // clang-format on
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
  // dphi = J^-1 dtheta+ - J'^-1 dtheta = J^-1 (dtheta+ - Exp(phi) dtheta)
  const Vec3<double> turn_bar = chord_inertia(chord, I_W, h).transpose() * L_bar / h;
  const Vec3<double> L_bar_start = chord.turned_half_back(L_bar);
  const Mat3<double> A = L_bar_start * chord.phi.transpose() / h;
  const Mat3<double> inertia_bar = R.transpose() * A * R;
  link_bar.inertia += 0.5 * (inertia_bar + inertia_bar.transpose());
  link_bar.mass += l_bar.dot(chord.velocity);
  const Vec3<double> turn_bar_start = chord.turned_half_back(chord.turned_half_back(turn_bar));
  return {stack<double>(rotated_inertia_vjp(I_W, A) - turn_bar_start, -mass / h * l_bar),
          stack<double>(turn_bar, mass / h * l_bar)};
}

}  // namespace abut
