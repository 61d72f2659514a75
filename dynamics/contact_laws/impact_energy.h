/// How much energy the impacts of a step add to one body, as it has it at the end of the step.
///
/// With v+ and w+ the velocities that the contact problem ends with, v* and w_m those without contact, a the
/// acceleration without contact, delta the displacement by impacts and H the whole step, of which h may be a
/// part (free_motion.h):
///     L_f = I(Exp(h w_m/2) R) w_m,   L+ = L_f + I(R) (w+ - w_m) + m (v+ - v*) x delta_t
///     Delta E = m/2 (v+ - v*).(v+ + v*) - m a.(tau (v+ - v*) + delta_t)
///               + E(h w+ + delta_r, L+) - E(h w_m, L_f),
///     E(phi, L) = 1/2 L.(Q I(R)^-1 Q^T L),  Q = Exp(phi),   tau = h - H/2.
/// The impacts move the body by h (v+ - v*) + delta_t, which is the work of the force m a; its velocity at
/// the end is v + a H/2. L_f leaves out half of what an applied torque does in the step.
#pragma once

#include "engine/lie.h"

namespace abut::impact {

template <typename T>
struct BodyMotion {
  Vec3<T> w, v;            ///< w+, v+, or their bars
  Vec3<T> turn, way;       ///< delta: rotation and translation
  Vec3<T> w_free, v_free;  ///< w_m, v*
  Vec3<T> acceleration;    ///< a
  Mat3<T> inertia_W;       ///< I(R) [kg m^2]
  T mass, h, tau;
};

namespace detail {

/// Angular velocity of a body with the angular momentum L that has turned by phi from where its inertia is I.
template <typename T>
struct Spin {
  Mat3<T> Q;
  Vec3<T> w;

  Spin(const Vec3<T>& phi, const Vec3<T>& L, const Mat3<T>& I)
      : Q(exp_so3<T>(phi)), w(Q * Vec3<T>(I.inverse() * Vec3<T>(Q.transpose() * L))) {}
};

/// Adds to `bar` the gradient of scale E(phi, L) by I; returns that by phi. That by L is scale w.
inline Vec3<double> spin_energy_vjp(const Spin<double>& spin, const Vec3<double>& phi, const Vec3<double>& L,
                                    double scale, Mat3<double>& inertia_bar) {
  const Vec3<double> w_start = spin.Q.transpose() * spin.w;
  inertia_bar -= 0.5 * scale * w_start * w_start.transpose();
  return scale * (left_jacobian_so3<double>(phi).transpose() * spin.w.cross(L));
}

template <typename T>
Vec3<T> free_momentum(const BodyMotion<T>& x) {
  const Mat3<T> Q = exp_so3<T>(Vec3<T>(T(0.5) * x.h * x.w_free));
  return Q * Vec3<T>(x.inertia_W * Vec3<T>(Q.transpose() * x.w_free));
}

template <typename T>
Vec3<T> momentum_at_end(const BodyMotion<T>& x, const Vec3<T>& L_free) {
  return L_free + x.inertia_W * (x.w - x.w_free) + x.mass * (x.v - x.v_free).cross(x.way);
}

}  // namespace detail

/// Delta E [J]
template <typename T>
[[nodiscard]] T energy_gain(const BodyMotion<T>& x) {
  const Vec3<T> L_free = detail::free_momentum(x), L = detail::momentum_at_end(x, L_free);
  const detail::Spin<T> spin(x.h * x.w + x.turn, L, x.inertia_W), free(x.h * x.w_free, L_free, x.inertia_W);
  const Vec3<T> change = x.v - x.v_free, later = x.tau * change + x.way;
  return x.mass * (T(0.5) * change.dot(x.v + x.v_free) - x.acceleration.dot(later)) +
         T(0.5) * (L.dot(spin.w) - L_free.dot(free.w));
}

/// Its gradient.
[[nodiscard]] inline BodyMotion<double> energy_gain_gradient(const BodyMotion<double>& x) {
  const double h = x.h, m = x.mass;
  const Mat3<double>& I = x.inertia_W;
  const Vec3<double> L_free = detail::free_momentum(x), L = detail::momentum_at_end(x, L_free);
  const Vec3<double> phi = h * x.w + x.turn, phi_free = h * x.w_free, half = 0.5 * phi_free;
  const detail::Spin<double> spin(phi, L, I), free(phi_free, L_free, I);
  const Vec3<double> change = x.v - x.v_free, later = x.tau * change + x.way;
  BodyMotion<double> bar;
  bar.inertia_W.setZero();
  bar.turn = detail::spin_energy_vjp(spin, phi, L, 1.0, bar.inertia_W);
  const Vec3<double> by_free_turn = detail::spin_energy_vjp(free, phi_free, L_free, -1.0, bar.inertia_W);
  bar.inertia_W += spin.w * (x.w - x.w_free).transpose();
  bar.w = h * bar.turn + I * spin.w;
  bar.w_free = h * by_free_turn - I * spin.w;
  bar.h = x.w.dot(bar.turn) + x.w_free.dot(by_free_turn);
  bar.way = m * (spin.w.cross(change) - x.acceleration);
  const Vec3<double> by_change = m * (x.way.cross(spin.w) - x.tau * x.acceleration);
  bar.v = m * x.v + by_change;
  bar.v_free = -m * x.v_free - by_change;
  bar.acceleration = -m * later;
  bar.tau = -m * x.acceleration.dot(change);
  bar.mass = 0.5 * change.dot(x.v + x.v_free) - x.acceleration.dot(later) + spin.w.dot(change.cross(x.way));

  // L_f = Q I Q^T w_m
  const Vec3<double> L_bar = spin.w - free.w;
  const Mat3<double> Q = exp_so3<double>(half);
  const Vec3<double> L_bar_start = Q.transpose() * L_bar, w_start = Q.transpose() * x.w_free,
                     w_bar = Q * Vec3<double>(I * L_bar_start);
  bar.inertia_W += L_bar_start * w_start.transpose();
  const Vec3<double> by_half =
      left_jacobian_so3<double>(half).transpose() * Vec3<double>(L_free.cross(L_bar) - x.w_free.cross(w_bar));
  bar.w_free += w_bar + 0.5 * h * by_half;
  bar.h += 0.5 * x.w_free.dot(by_half);
  return bar;
}

}  // namespace abut::impact
