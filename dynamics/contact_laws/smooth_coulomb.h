/// The normal impulse of the smooth Coulomb law: compliant, unilateral, C-infinity in velocity. (Friction:
/// friction.h.)
///
/// Signs: u is the velocity of B's contact point relative to A's, n points from A to B, so u_n = n.u > 0
/// separates; the impulse acts on B, its opposite on A.
#pragma once

#include <cmath>

#include "engine/smooth.h"

namespace abut::smooth_coulomb {

/// Settings of a step that every contact shares.
struct Settings {
  double h = 0;                   ///< time step [s]
  double near_rigid = 0;          ///< beta^2/(4 pi^2) [-]
  double velocity_smoothing = 0;  ///< tau_v [m/s]
  double stiction_speed = 0;      ///< v_s [m/s]
  double push_out_speed = 0;      ///< cap of the normal target [m/s]
};

/// What the law needs to know of one contact.
struct Parameters {
  double distance = 0;          ///< d [m]
  double weight = 0;            ///< Gamma in [0, 1]: this contact's share of its pair's stiffness [-]
  double inverse_mass = 0;      ///< W = 1/m_A + 1/m_B [1/kg]
  double compliance = 0;        ///< 1/k of the pair [m/N]
  double dissipation_time = 0;  ///< tau_d [s]
};

/// Normal target velocity v_hat(d) and its derivatives: -d/h before touching, -d/(h + tau_d) in overlap,
/// joined by a softplus of width tau_v h and capped at the push-out speed.
template <typename S>
struct NormalTarget {
  S value, d_distance, d_dissipation_time;
};

template <typename S>
NormalTarget<S> normal_target(const S& distance, double dissipation_time, const Settings& s) {
  const double length = s.velocity_smoothing * s.h;
  const double relaxed = 1.0 / (s.h + dissipation_time);
  const double difference = 1.0 / s.h - relaxed;
  const S depth = softplus<S>(-distance, length), slope = softplus_dx<S>(-distance, length);
  const S uncapped = -distance / S(s.h) - S(difference) * depth;

  const double width = 0.05 * s.push_out_speed;
  const S over = uncapped - S(s.push_out_speed);
  const S d_uncapped = S(1) - softplus_dx<S>(over, width);
  return {uncapped - softplus<S>(over, width), d_uncapped * (S(difference) * slope - S(1.0 / s.h)),
          -d_uncapped * S(relaxed * relaxed) * depth};
}

/// Normal impulse  gamma_n = Gamma tau_v log(1 + exp((v_hat - u_n)/tau_v)) / R,
///   R = 1/(h k (h + tau_d)) + beta^2/(4 pi^2) W,
/// with its derivatives. It is the negative derivative of a convex potential of u_n.
struct NormalImpulse {
  double value = 0;       ///< [N s], >= 0
  double d_velocity = 0;  ///< d/du_n [kg], <= 0
  double d_distance = 0, d_weight = 0, d_inverse_mass = 0, d_compliance = 0, d_dissipation_time = 0;
};

/// R [1/kg].
template <typename S>
S normal_resistance(const S& inverse_mass, double compliance, double dissipation_time, const Settings& s) {
  return S(compliance / (s.h * (s.h + dissipation_time))) + S(s.near_rigid) * inverse_mass;
}
inline double normal_resistance(const Parameters& c, const Settings& s) {
  return normal_resistance(c.inverse_mass, c.compliance, c.dissipation_time, s);
}

/// What the solver evaluates many times.
template <typename S>
struct NormalResponse {
  S value, d_velocity;  ///< of NormalImpulse
};

/// gamma_n and its slope at a given target and scale = Gamma/R [kg]: softplus and its derivative, sharing
/// their exponential e and the quotient 1/(1 + e), with which log(1 + e) is the logarithm of the rounded sum
/// plus what rounding lost.
template <typename S>
NormalResponse<S> normal_impulse(const S& u_n, const S& target, const S& scale, double velocity_smoothing) {
  using std::abs, std::exp;
  const S x = (target - u_n) * S(1.0 / velocity_smoothing), e = exp(-abs(x));
  const S sum = S(1) + e, inverse = S(1) / sum;
  const S log1p_e = log_normal(sum) + (e - (sum - S(1))) * inverse;
  const auto is_positive = x > S(0);
  return {scale * S(velocity_smoothing) * (select(is_positive, x, S(0)) + log1p_e),
          -scale * select(is_positive, S(1), e) * inverse};
}

inline NormalImpulse normal_impulse_derivatives(double u_n, const Parameters& c, const Settings& s) {
  const NormalTarget<double> target = normal_target(c.distance, c.dissipation_time, s);
  const double R = normal_resistance(c, s);
  NormalImpulse gamma;
  const NormalResponse<double> response =
      normal_impulse(u_n, target.value, c.weight / R, s.velocity_smoothing);
  gamma.value = response.value;
  gamma.d_velocity = response.d_velocity;
  const double d_target = -gamma.d_velocity, d_resistance = -gamma.value / R;
  const double stretch = s.h * (s.h + c.dissipation_time);
  gamma.d_distance = d_target * target.d_distance;
  gamma.d_weight = softplus(target.value - u_n, s.velocity_smoothing) / R;
  gamma.d_inverse_mass = d_resistance * s.near_rigid;
  gamma.d_compliance = d_resistance / stretch;
  gamma.d_dissipation_time =
      d_target * target.d_dissipation_time - d_resistance * c.compliance * s.h / (stretch * stretch);
  return gamma;
}

}  // namespace abut::smooth_coulomb
