/// The normal impulse of the smooth Coulomb law: compliant, unilateral, C-infinity in velocity. (Friction:
/// friction.h.)
///
/// Signs: u is the velocity of B's contact point relative to A's, n points from A to B, so u_n = n.u > 0
/// separates; the impulse acts on B, its opposite on A.
#pragma once

#include <algorithm>
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
struct NormalTarget {
  double value = 0, d_distance = 0, d_dissipation_time = 0;
};

inline NormalTarget normal_target(double distance, double dissipation_time, const Settings& s) {
  const double length = s.velocity_smoothing * s.h;
  const double relaxed = 1.0 / (s.h + dissipation_time);
  const double difference = 1.0 / s.h - relaxed;
  const double depth = softplus(-distance, length), slope = softplus_dx(-distance, length);
  const double uncapped = -distance / s.h - difference * depth;

  const double width = 0.05 * s.push_out_speed;
  const double over = uncapped - s.push_out_speed;
  const double d_uncapped = 1.0 - softplus_dx(over, width);
  return {uncapped - softplus(over, width), d_uncapped * (-1.0 / s.h + difference * slope),
          -d_uncapped * relaxed * relaxed * depth};
}

/// Normal impulse  gamma_n = Gamma tau_v log(1 + exp((v_hat - u_n)/tau_v)) / R,
///   R = 1/(h k (h + tau_d)) + beta^2/(4 pi^2) W,
/// with its derivatives. It is the negative derivative of a convex potential of u_n.
struct NormalImpulse {
  double value = 0;       ///< [N s], >= 0
  double d_velocity = 0;  ///< d/du_n [kg], <= 0
  double d_distance = 0, d_weight = 0, d_inverse_mass = 0, d_compliance = 0, d_dissipation_time = 0;
};

inline double normal_resistance(const Parameters& c, const Settings& s) {
  return c.compliance / (s.h * (s.h + c.dissipation_time)) + s.near_rigid * c.inverse_mass;
}

/// Value and slope only, for a precomputed target and R: what the solver evaluates many times. (softplus and
/// its derivative, sharing their exponential.)
inline void normal_impulse(double u_n, double target, double resistance, double weight,
                           double velocity_smoothing, double& value, double& d_velocity) {
  const double scale = weight / resistance, x = (target - u_n) / velocity_smoothing;
  const double e = std::exp(-std::abs(x));
  value = scale * velocity_smoothing * (std::max(x, 0.0) + std::log1p(e));
  d_velocity = -scale * (x > 0.0 ? 1.0 : e) / (1.0 + e);
}

inline NormalImpulse normal_impulse_derivatives(double u_n, const Parameters& c, const Settings& s) {
  const NormalTarget target = normal_target(c.distance, c.dissipation_time, s);
  const double R = normal_resistance(c, s);
  NormalImpulse gamma;
  normal_impulse(u_n, target.value, R, c.weight, s.velocity_smoothing, gamma.value, gamma.d_velocity);
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
