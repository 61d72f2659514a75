/// The explicit penalty law: a one-sided spring and damper with regularised friction, evaluated at the start
/// of a step.
///
///     y = softplus_w(-d) - tau_d u_n sigma(-d/w),   f_n = k Gamma y S(y/w),   f_t = -mu f_n P
///     u_t/sqrt(|u_t|^2 + v_s^2)
///
/// so that f_n = k Gamma (depth - tau_d u_n) once deeper than a few w, never pulls, and is C^2. Signs as in
/// smooth_coulomb.h. Stable for h below about 0.2 sqrt(m/k).
#pragma once

#include "engine/smooth.h"

namespace abut::penalty {

struct Force {
  double value = 0;  ///< f_n [N], >= 0
  double d_velocity = 0, d_distance = 0, d_weight = 0, d_stiffness = 0, d_dissipation_time = 0;
};

/// @param width  w, the length over which the force sets in [m], > 0.
inline Force normal_force(double u_n, double distance, double weight, double stiffness,
                          double dissipation_time, double width) {
  const double depth = softplus(-distance, width);
  const double gate = sigmoid(-distance / width);
  const double gate_slope = gate * (1.0 - gate) / width;
  const double y = depth - dissipation_time * u_n * gate;
  const double step = smoothstep5(y / width), step_slope = smoothstep5_dx(y / width) / width;
  const double positive = y * step, d_positive = step + y * step_slope;
  const double scale = stiffness * weight;
  Force f;
  f.value = scale * positive;
  f.d_velocity = -scale * d_positive * dissipation_time * gate;
  f.d_distance = scale * d_positive * (-gate + dissipation_time * u_n * gate_slope);
  f.d_weight = stiffness * positive;
  f.d_stiffness = weight * positive;
  f.d_dissipation_time = -scale * d_positive * u_n * gate;
  return f;
}

}  // namespace abut::penalty
