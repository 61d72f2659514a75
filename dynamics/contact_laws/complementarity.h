/// What the laws with complementarity conditions share: the normal row, the central path, tangents.
///
/// All impulses here are *per unit of weight*: a contact of weight Gamma applies Gamma times as much, so that
/// its compliance R/Gamma and its relaxation Gamma kappa let it fade in and out, and a pair's response does
/// not depend on how many contacts share it. Signs as in smooth_coulomb.h.
///
///     s = u_n - v_hat + R gamma_n >= 0,   gamma_n >= 0,   s gamma_n = kappa,   kappa = c (g h)^2/W,
///
/// v_hat being the velocity that the gap asks for, R that of smooth_coulomb.h, c the factor of the config.
/// kappa = 0 are the conditions themselves. On the central path, kappa > 0, both sides are positive and the
/// impulse is a function of velocity, smooth in everything; this is where the laws stop. The impulse of
/// friction is a function y(x, b) of the tangential velocity x and the bound b = mu gamma_n, both in the
/// plane of two tangents.
///
/// Interior-point steps and derivatives are one formula: the conditions linearised, s dgamma + gamma ds =
/// kappa' - s gamma, and solved for the impulse. On the central path kappa' = kappa makes it the derivative.
#pragma once

#include <algorithm>
#include <cmath>

#include "dynamics/contact_laws/smooth_coulomb.h"
#include "engine/types.h"

namespace abut::complementarity {

/// Settings of a step that every contact shares.
struct Settings {
  smooth_coulomb::Settings normal;
  double relaxation = 0;  ///< W kappa = c (g h)^2 [m^2/s^2]
};

/// R [1/kg] of a contact that takes part by q, and its derivatives; see smooth_coulomb.h.
struct Resistance {
  double value = 0;
  double d_answers = 0, d_inverse_mass = 0, d_compliance = 0, d_dissipation_time = 0;

  Resistance() = default;
  Resistance(const smooth_coulomb::Parameters& c, double answers, const smooth_coulomb::Settings& s) {
    constexpr double k_least = 1e-12;  // no impulse that counts is left
    const double q = std::max(answers, k_least), others = (1.0 - q) / q;
    const auto by = smooth_coulomb::normal_resistance_derivatives(c.compliance, c.dissipation_time, s);
    value = smooth_coulomb::normal_resistance(c, s) + c.inverse_mass * others;
    d_answers = answers > k_least ? -c.inverse_mass / (q * q) : 0.0;
    d_inverse_mass = by.d_inverse_mass + others;
    d_compliance = by.d_compliance;
    d_dissipation_time = by.d_dissipation_time;
  }
};

/// The normal row of a contact: gamma_n [N s], s [m/s].
struct Normal {
  double impulse = 0, slack = 0;

  /// The point of the central path at a = u_n - v_hat.
  void centre(double a, double resistance, double relaxation) {
    const double root = std::sqrt(a * a + 4.0 * resistance * relaxation);
    impulse = a > 0.0 ? 2.0 * relaxation / (a + root) : (root - a) / (2.0 * resistance);
    slack = relaxation / impulse;
  }
};

/// A change of the impulse, dgamma = constant - slope du, a number or a 2-vector of the tangent plane.
struct NormalStep {
  double constant = 0, slope = 0;
};

/// @param target    what the product s gamma_n is to become, less second-order terms
/// @param residual  s - (u_n - v_hat + R gamma_n), which the step takes away
inline NormalStep linearize(const Normal& normal, double resistance, double target, double residual) {
  const double inverse = 1.0 / (normal.slack + resistance * normal.impulse);
  return {(target - normal.slack * normal.impulse + normal.impulse * residual) * inverse,
          normal.impulse * inverse};
}

/// dy = constant - by_velocity dx + by_bound db.
struct FrictionStep {
  Vec2<double> constant, by_bound;
  Mat2<double> by_velocity;
};

/// Two unit vectors across a normal.
struct Tangents {
  Vec3<double> first, second;

  [[nodiscard]] Vec2<double> of(const Vec3<double>& u) const { return {first.dot(u), second.dot(u)}; }
  [[nodiscard]] Vec3<double> operator*(const Vec2<double>& y) const { return y[0] * first + y[1] * second; }
};

/// `tangents` of the unit vector `from`, turned by the least rotation that takes it to the direction of n:
///     t = e - (m.e)/(1 + f.m) (f + m),   m = n/|n|.
/// Smooth in n but at -from, and at 0, which has no direction: they are not turned there, and their derivatives
/// are 0.
inline Tangents turned(const Tangents& tangents, const Vec3<double>& from, const Vec3<double>& n) {
  const Vec3<double> m = n.normalized(), sum = from + m;
  const double inverse = 1.0 / (1.0 + from.dot(m));
  return {tangents.first - (m.dot(tangents.first) * inverse) * sum,
          tangents.second - (m.dot(tangents.second) * inverse) * sum};
}

/// dL/dn from dL/d(tangents).
inline Vec3<double> turned_vjp(const Tangents& tangents, const Vec3<double>& from, const Vec3<double>& n,
                               const Tangents& bar) {
  const double length = n.norm();
  if (length == 0.0) return Vec3<double>::Zero();
  const Vec3<double> m = n / length, sum = from + m;
  const double inverse = 1.0 / (1.0 + from.dot(m));
  Vec3<double> m_bar = Vec3<double>::Zero();
  const auto add = [&](const Vec3<double>& e, const Vec3<double>& t_bar) {
    const double q = m.dot(e) * inverse, along = t_bar.dot(sum);
    m_bar += -(along * inverse) * e + (q * along * inverse) * from - q * t_bar;
  };
  add(tangents.first, bar.first);
  add(tangents.second, bar.second);
  return (m_bar - m.dot(m_bar) * m) / length;
}

/// The JVP of turned() along a change of n.
inline Tangents turned_jvp(const Tangents& tangents, const Vec3<double>& from, const Vec3<double>& n,
                           const Vec3<double>& n_dot) {
  const double length = n.norm();
  if (length == 0.0) return {Vec3<double>::Zero(), Vec3<double>::Zero()};
  const Vec3<double> m = n / length, sum = from + m, m_dot = (n_dot - m.dot(n_dot) * m) / length;
  const double inverse = 1.0 / (1.0 + from.dot(m)), inverse_dot = -inverse * inverse * from.dot(m_dot);
  const auto change = [&](const Vec3<double>& e) -> Vec3<double> {
    return -(m_dot.dot(e) * inverse + m.dot(e) * inverse_dot) * sum - (m.dot(e) * inverse) * m_dot;
  };
  return {change(tangents.first), change(tangents.second)};
}

/// Whether the normal row changes sides where the relative velocity that the contact would have without
/// itself changes by about `change` [m/s]: both the slack and the velocity that the impulse makes up for,
/// W gamma_n, are within it. Where kappa rounds the corner more widely than that, neither is.
inline bool is_near_kink(const Normal& normal, double change, double inverse_mass) {
  return normal.slack <= change && inverse_mass * normal.impulse <= change;
}

}  // namespace abut::complementarity
