/// MuJoCo's parameters of a contact as a front end to the cone of convex_cone.h: a contact is a damped spring
/// of a given time constant whatever the mass, obeyed the more the deeper the overlap.
///
///     x = min(-d/width, 1),   y = x^p/mid^(p-1) for x <= mid,  1 - (1-x)^p/(1-mid)^(p-1) above,
///     I = d_0 + y (d_w - d_0)                          the impedance, 0 before touching
///     a_ref = -b u - K I d n,   b = 2/(d_w t_c),   K = 1/(d_w t_c zeta)^2
///     v_hat = u_start + h a_ref,   R_n = (1 - I)/I W/Gamma,   R_t = R_n/impratio
///
/// solref = (t_c, zeta), solimp = (d_0, d_w, width, mid, p). Hence v_hat = carry u_start + target n with
/// carry = 1 - h b and target = -h K I d.
///
/// What is not MuJoCo's: an impedance is 0 at d = 0 where d_0 is, which is our default (MuJoCo: 0.9, and at
/// least 1e-4), as only then do forces set in continuously; each contact has its share Gamma, so that a pair
/// answers like one contact of MuJoCo's; W = 1/m_A + 1/m_B is what MuJoCo finds for bodies that move freely.
/// As there, t_c >= 2 h is enforced, and I <= 0.9999.
///
/// @see  MuJoCo's documentation, "Computation: solver parameters".
#pragma once

#include <algorithm>
#include <cmath>

#include "engine/config.h"
#include "engine/scalar.h"

namespace abut::impedance {

struct Settings {
  double h = 0;               ///< [s]
  double start = 0, end = 0;  ///< d_0, d_w [-]
  double width = 0;           ///< [m]
  double midpoint = 0, power = 0;
  double stiffness = 0;  ///< K [1/s^2]
  double carry = 0;      ///< 1 - h b [-]
  double ratio = 0;      ///< R_t/R_n [-]
};

inline Settings settings_of(const ImpedanceConfig& config, double h) {
  constexpr double k_least = 1e-4, k_most = 0.9999;
  Settings s;
  s.h = h;
  s.start = std::min(config.solimp[0], k_most);
  s.end = std::clamp(config.solimp[1], k_least, k_most);
  s.width = config.solimp[2];
  s.midpoint = config.solimp[3];
  s.power = config.solimp[4];
  const double time_constant = std::max(config.solref[0], 2.0 * h), rate = 1.0 / (s.end * time_constant);
  s.stiffness = rate * rate / (config.solref[1] * config.solref[1]);
  s.carry = 1.0 - 2.0 * h * rate;
  s.ratio = 1.0 / config.impratio;
  return s;
}

template <typename S>
struct Impedance {
  S value, d_distance;  ///< I [-] in [0, 0.9999], dI/dd [1/m]
};

template <typename S>
Impedance<S> impedance(const S& distance, const Settings& s) {
  using std::pow;
  const S zero(0), one(1), depth = -distance / S(s.width);
  const auto is_full = depth >= one, is_apart = depth <= zero;
  const S x = select(is_full, one, select(is_apart, zero, depth));
  const auto is_low = x <= S(s.midpoint);
  const S from_end = select(is_low, x, one - x);
  const S unit = S(1) / select(is_low, S(s.midpoint), S(1.0 - s.midpoint));
  // (x/mid)^(p-1); where from_end is 0, any finite number will do.
  const S power = pow(select(is_full || is_apart, one, from_end * unit), S(s.power - 1.0));
  const S part = from_end * power;
  const S y = select(is_low, part, one - part), y_x = S(s.power) * power;
  const S range(s.end - s.start);
  return {select(is_apart, zero, S(s.start) + range * y),
          select(is_apart || is_full, zero, -range * y_x / S(s.width))};
}

/// What the cone is given: see convex_cone::Parameters.
template <typename S>
struct Response {
  S target, scale;
};

template <typename S>
Response<S> response(const S& distance, const S& weight, const S& inverse_mass, const Settings& s) {
  const S I = impedance(distance, s).value;
  return {S(-s.h * s.stiffness) * (I * distance), weight * I / ((S(1) - I) * inverse_mass)};
}

/// From dL/d(target, scale).
struct ResponseBar {
  double distance = 0, weight = 0, inverse_mass = 0;
};
inline ResponseBar response_vjp(double distance, double weight, double inverse_mass, const Settings& s,
                                double target_bar, double scale_bar) {
  const Impedance<double> I = impedance(distance, s);
  const double left = 1.0 - I.value, by_weight = I.value / (left * inverse_mass);
  const double I_bar =
      scale_bar * weight / (left * left * inverse_mass) - target_bar * s.h * s.stiffness * distance;
  return {I_bar * I.d_distance - target_bar * s.h * s.stiffness * I.value, scale_bar * by_weight,
          -scale_bar * weight * by_weight / inverse_mass};
}

}  // namespace abut::impedance
