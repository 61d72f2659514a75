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
///     k <- g(k, 0.2/(h^2 W)),   tau_d <- g(tau_d, 0.14/(h k W)),   g(x, m) = x/(1 + (x/m)^4)^(1/4),
/// W = 1/m_A + 1/m_B: a step is stable where h^2 k l + 2 h k tau_d l < 4, l being what contacts and levers
/// make of W, 4 W for one corner of a cube. A spring well below, h < 0.2/sqrt(k W), is changed by less than
/// a thousandth.
///
/// Springs that share a pair's stiffness by their areas have no potential: while a body turns, Gamma moves
/// from one contact to another that is deeper, which takes no work. Undamped, they gain energy however short
/// the step is. Contacts of all but balls and planes are therefore damped by a quarter of the critical
/// damping at least, before the limit of the step,
///     tau_d <- (tau_d^8 + t^8)^(1/8),   t = 2 zeta/sqrt(k W),   zeta = 0.25.
///
/// Explicit friction that stops a point in less than a step turns it round. Its speed v is therefore
///     v = (v_s^8 + (h mu f_1 W/0.2)^8)^(1/8),
/// as a step is stable where h W l mu f_1/v < 2: v_s, the stiction speed of the settings, is for contacts
/// that bear little more than the weight of their body.
#pragma once

#include <algorithm>
#include <cmath>

#include "engine/smooth.h"

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
  double stiffness_by_stiffness = 0, stiffness_by_inverse_mass = 0, stiffness_by_h = 0;
  double time_by_time = 0, time_by_stiffness = 0, time_by_inverse_mass = 0, time_by_h = 0;
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

/// @param shares        whether the pair's stiffness can be shared by several contacts
/// @param inverse_mass  W [1/kg]
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
  spring.stiffness_by_h = -2.0 * k.d_limit * stiffest / h;
  spring.dissipation_time = tau.value;
  spring.time_by_time = tau.d_x * damped.d_x;
  const double by_log = tau.d_limit * longest + 0.5 * tau.d_x * damped.d_y * shortest;
  const double by_k = -by_log / k.value;
  spring.time_by_stiffness = by_k * spring.stiffness_by_stiffness;
  spring.time_by_compliance = by_k * spring.stiffness_by_compliance;
  spring.time_by_inverse_mass = by_k * spring.stiffness_by_inverse_mass - by_log / inverse_mass;
  spring.time_by_h = by_k * spring.stiffness_by_h - tau.d_limit * longest / h;
  return spring;
}

/// The speed below which friction of a step does not reach its bound.
struct StictionSpeed {
  double value = 0;    ///< v [m/s]
  double d_force = 0;  ///< by h mu f_1 W [m/s]
};

/// @param least    v_s [m/s], > 0
/// @param reached  h mu f_1 W [m/s], >= 0
inline StictionSpeed stable_stiction_speed(double least, double reached) {
  constexpr double k_friction_limit = 0.2;
  const detail::SoftMaximum v(least, reached / k_friction_limit);
  return {v.value, v.d_y / k_friction_limit};
}

}  // namespace abut::penalty
