/// The explicit penalty law: a one-sided spring and damper with regularised friction, evaluated at the start
/// of a step.
///
///     y = softplus_w(-d) - tau_d u_n sigma(-d/w),   f_n = Gamma f_1,   f_1 = k y S(y/w),
///     f_t = -mu f_n P u_t/sqrt(|u_t|^2 + v^2)
///
/// so that f_n = k Gamma (depth - tau_d u_n) once deeper than a few w, never pulls, and is C^2. Signs as in
/// smooth_coulomb.h.
///
/// An explicit spring that is stiffer than its step can follow adds energy in each, and one damped harder
/// turns its body round. The law therefore has the spring of the material up to a stiffness and a dissipation
/// time that the step h allows,
///     k <- g(k, 0.2/(h^2 W_c)),   tau_d <- g(tau_d, 0.14/(h k W_c)),   g(x, m) = x/(1 + (x/m)^4)^(1/4).
/// A spring well below, h < 0.2/sqrt(k W_c), is changed by less than a thousandth. W_c is an inverse mass,
///     W_c = (W^8 + (w_c/6)^8 + (S_c w_c/8)^8)^(1/8),   W = 1/m_A + 1/m_B,
///     w_c = W + |L_A| + |L_B|,   L = [r] I^-1 [r]^T,   |L| = (tr L^8)^(1/8),
///     S_c = (S_A^8 + S_B^8)^(1/8),   S_b = the sum of Gamma over all contacts of the moving body b.
/// L is what the lever arm r of the contact contributes to the inverse mass of its point, and |L| a bound of
/// that in any direction, at most 9 % above the largest: an impulse lambda along any unit vector changes the
/// velocity of the point along it by at most w_c lambda. |L| depends on where the point is on its body, not on
/// how that is turned, as a spring that stiffens while it is compressed gains energy. For the corners of a
/// cube w_c = 5.9 W, for balls 3.7 W: it is contacts on slender parts and of several pairs that W_c changes.
///
/// A step is stable where h^2 k_c Gamma_c and 2 h k_c Gamma_c tau_c, applied at all contacts at once, do not
/// exceed 4 in the metric of the masses. A contact of A and B adds at most w_c times its number to a body's,
/// so that it suffices that for each body
///     sum over its contacts of Gamma_c k_c w_c (h^2 + 2 h tau_c) < 4,
/// and the left side is at most (0.2 + 2*0.14)*8 = 3.84.
///
/// Springs that share a pair's stiffness by their areas have no potential: while a body turns, Gamma moves
/// from one contact to another that is deeper, which takes no work. Undamped, they gain energy however short
/// the step is. Contacts of all but balls and planes are therefore damped by a quarter of the critical
/// damping at least, before the limit of the step,
///     tau_d <- (tau_d^8 + t^8)^(1/8),   t = 2 zeta/sqrt(k W_c),   zeta = 0.25.
///
/// Explicit friction that stops a point in less than a step turns it round. Its speed v is therefore
///     v = (v_s^8 + (h mu f_1 W_c/0.2)^8)^(1/8).
/// The friction of a contact resists its point with no more than h mu Gamma f_1/v, which is stable where
/// h mu Gamma_c f_1 w_c/v, summed over the contacts of each body, is below 2: it is at most 0.2*8. As friction
/// and spring act along different directions, w_c bounds them together. v_s, the stiction speed of the
/// settings, is for contacts that bear little more than the weight of their body.
#pragma once

#include <algorithm>
#include <cmath>

#include "engine/lie.h"
#include "engine/smooth.h"
#include "engine/types.h"

namespace abut::penalty {

struct Force {
  double value = 0;  ///< f_1 [N], >= 0
  double d_velocity = 0, d_distance = 0, d_stiffness = 0, d_dissipation_time = 0;
};

/// @param width  w, the length over which the force sets in [m], > 0.
inline Force normal_force(double u_n, double distance, double stiffness, double dissipation_time,
                          double width) {
  const double depth = softplus(-distance, width);
  const double gate = sigmoid(-distance / width);
  const double gate_slope = gate * (1.0 - gate) / width;
  const double y = depth - dissipation_time * u_n * gate;
  const double step = smoothstep5(y / width), step_slope = smoothstep5_dx(y / width) / width;
  const double positive = y * step, d_positive = step + y * step_slope;
  Force f;
  f.value = stiffness * positive;
  f.d_velocity = -stiffness * d_positive * dissipation_time * gate;
  f.d_distance = stiffness * d_positive * (-gate + dissipation_time * u_n * gate_slope);
  f.d_stiffness = positive;
  f.d_dissipation_time = -stiffness * d_positive * u_n * gate;
  return f;
}

/// The spring that a step can follow.
struct Spring {
  double stiffness = 0;         ///< k [N/m]
  double dissipation_time = 0;  ///< tau_d [s]
  double stiffness_by_stiffness = 0, stiffness_by_inverse_mass = 0;
  double time_by_time = 0, time_by_stiffness = 0, time_by_inverse_mass = 0;
  double stiffness_by_compliance = 0, time_by_compliance = 0;
};

namespace detail {
/// g(x, m) and its derivatives, x >= 0: also by 1/x, which are finite however large x is.
struct SoftMinimum {
  double value, d_x, d_limit, d_inverse;
  SoftMinimum(double x, double limit) {
    constexpr double k_far = 1e10;
    const double r = x / limit;
    if (r > k_far) {  // r^4 may overflow: with s = 1/r, g = limit/(1 + s^4)^(1/4)
      const double s = limit / x;
      value = limit;
      d_x = s * s * s * s * s;
      d_limit = 1.0;
      d_inverse = -limit * limit * s * s * s;
      return;
    }
    const double q = r * r * r * r, root = std::sqrt(std::sqrt(1.0 + q));
    value = x / root;
    d_x = 1.0 / (root * (1.0 + q));
    d_limit = r * q * d_x;
    d_inverse = -x * x * d_x;
  }
};

/// (x^8 + y^8)^(1/8) and its derivatives, x, y >= 0.
struct SoftMaximum {
  double value = 0.0, d_x = 1.0, d_y = 0.0;
  SoftMaximum(double x, double y) {
    const auto seventh = [](double a) { return a * a * a * a * a * a * a; };
    const double scale = std::max(x, y);
    if (scale == 0.0) return;
    const double a = x / scale, b = y / scale;
    const double root = std::sqrt(std::sqrt(std::sqrt(seventh(a) * a + seventh(b) * b)));
    value = scale * root;
    d_x = seventh(a / root);
    d_y = seventh(b / root);
  }
};
}  // namespace detail

namespace detail {
/// L = [r] I^-1 [r]^T [1/kg] and |L|, from the invariants of L/tr L: as L r = 0, two of its eigenvalues, a and
/// b, are not zero, a + b = 1, and a^2n + b^2n = (a^n + b^n)^2 - 2 (a b)^n.
struct LeverMatrix {
  Mat3<double> unit = Mat3<double>::Zero();  ///< L/tr L
  double trace = 0.0;                        ///< [1/kg]
  double value = 0.0;                        ///< |L| [1/kg]

  LeverMatrix(const Vec3<double>& r, const Mat3<double>& inverse_inertia) {
    const Mat3<double> arm = skew<double>(r);
    unit = arm * inverse_inertia * arm.transpose();
    trace = unit.trace();
    if (!(trace > 0.0)) return;
    unit /= trace;
    const double sum_2 = unit.squaredNorm(), product = 0.5 * (1.0 - sum_2), product_2 = product * product,
                 sum_4 = sum_2 * sum_2 - 2.0 * product_2, sum_8 = sum_4 * sum_4 - 2.0 * product_2 * product_2;
    value = trace * std::sqrt(std::sqrt(std::sqrt(sum_8)));
  }
};
}  // namespace detail

/// A bound of the inverse mass that the lever arm of a contact adds to that of its body, in any direction:
/// |L| = (tr L^8)^(1/8) >= max over unit vectors d of (r x d)^T I^-1 (r x d) [1/kg].
///
/// @param r                lever arm: the contact relative to the centre of mass [m]
/// @param inverse_inertia  I^-1 about it [1/(kg m^2)], symmetric
inline double lever_inverse_mass(const Vec3<double>& r, const Mat3<double>& inverse_inertia) {
  return detail::LeverMatrix(r, inverse_inertia).value;
}

/// d lever_inverse_mass by r and by I: that along (dr, dI), dI symmetric, is r . dr + sum_ij inertia_ij dI_ij.
struct LeverGradient {
  Vec3<double> r = Vec3<double>::Zero();
  Mat3<double> inertia = Mat3<double>::Zero();
};
inline LeverGradient lever_inverse_mass_gradient(const Vec3<double>& r, const Mat3<double>& inverse_inertia) {
  const detail::LeverMatrix lever(r, inverse_inertia);
  if (!(lever.value > 0.0)) return {};
  // d|L| = tr(G dL), G = (L/|L|)^7
  const double s = lever.trace / lever.value, s_2 = s * s;
  const Mat3<double>&unit = lever.unit, unit_2 = unit * unit;
  const Mat3<double> G = (s_2 * s_2 * s_2 * s) * (unit_2 * unit_2 * unit_2 * unit);
  const Mat3<double> arm = skew<double>(r), G_arm = G * arm, M = inverse_inertia * G_arm.transpose();
  LeverGradient gradient;
  gradient.r = 2.0 * Vec3<double>(M(1, 2) - M(2, 1), M(2, 0) - M(0, 2), M(0, 1) - M(1, 0));
  gradient.inertia = -(M * arm * inverse_inertia);
  return gradient;
}

/// The inverse mass W_c by which the step limits a contact [1/kg], and its derivatives.
struct LimitingInverseMass {
  double value = 0;
  double d_inverse_mass = 0, d_levers = 0, d_load = 0;
};

/// @param inverse_mass  W [1/kg], > 0
/// @param levers        |L_A| + |L_B| [1/kg], >= 0
/// @param load          S_c [-], >= 0
inline LimitingInverseMass limiting_inverse_mass(double inverse_mass, double levers, double load) {
  constexpr double k_levers = 6.0, k_levers_and_loads = 8.0;
  const double w = inverse_mass + levers;
  const detail::SoftMaximum single(inverse_mass, w / k_levers);
  const detail::SoftMaximum all(single.value, load * w / k_levers_and_loads);
  LimitingInverseMass limiting;
  limiting.value = all.value;
  limiting.d_levers = all.d_x * single.d_y / k_levers + all.d_y * load / k_levers_and_loads;
  limiting.d_inverse_mass = all.d_x * single.d_x + limiting.d_levers;
  limiting.d_load = all.d_y * w / k_levers_and_loads;
  return limiting;
}

/// @param shares        whether the pair's stiffness can be shared by several contacts
/// @param inverse_mass  W_c [1/kg]
/// @param h             time step [s]
inline Spring stable_spring(double stiffness, double dissipation_time, bool shares, double inverse_mass,
                            double h) {
  constexpr double k_stiffness_limit = 0.2, k_damping_limit = 0.14, k_least_damping_ratio = 0.25;
  const double stiffest = k_stiffness_limit / (h * h * inverse_mass);
  const detail::SoftMinimum k(stiffness, stiffest);
  const double shortest = shares ? 2.0 * k_least_damping_ratio / std::sqrt(k.value * inverse_mass) : 0.0;
  const detail::SoftMaximum damped(dissipation_time, shortest);
  const double longest = k_damping_limit / (h * k.value * inverse_mass);
  const detail::SoftMinimum tau(damped.value, longest);
  Spring spring;
  spring.stiffness = k.value;
  spring.stiffness_by_stiffness = k.d_x;
  spring.stiffness_by_compliance = k.d_inverse;
  spring.stiffness_by_inverse_mass = -k.d_limit * stiffest / inverse_mass;
  spring.dissipation_time = tau.value;
  spring.time_by_time = tau.d_x * damped.d_x;
  const double by_log = tau.d_limit * longest + 0.5 * tau.d_x * damped.d_y * shortest;
  const double by_k = -by_log / k.value;
  spring.time_by_stiffness = by_k * spring.stiffness_by_stiffness;
  spring.time_by_compliance = by_k * spring.stiffness_by_compliance;
  spring.time_by_inverse_mass = by_k * spring.stiffness_by_inverse_mass - by_log / inverse_mass;
  return spring;
}

/// The speed below which friction of a step does not reach its bound.
struct StictionSpeed {
  double value = 0;    ///< v [m/s]
  double d_force = 0;  ///< by h mu f_1 W_c [m/s]
};

/// @param least    v_s [m/s], > 0
/// @param reached  h mu f_1 W_c [m/s], >= 0
inline StictionSpeed stable_stiction_speed(double least, double reached) {
  constexpr double k_friction_limit = 0.2;
  const detail::SoftMaximum v(least, reached / k_friction_limit);
  return {v.value, v.d_y / k_friction_limit};
}

}  // namespace abut::penalty
