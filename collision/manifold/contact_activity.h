/// How far a contact counts, by its penetration: 0 from 4 tau_p apart on, 1 from 4 tau_p deep on.
#pragma once

#include "engine/smooth.h"

namespace abut {

/// A penetration [m] that stands for 'nowhere near'.
inline constexpr double k_far_away = 1e30;

/// S(1/2 - p/(8 tau_p)), S = smoothstep5.
[[nodiscard]] inline double activity(double penetration, double tau) {
  return smoothstep5(0.5 - penetration / (8.0 * tau));
}
[[nodiscard]] inline double activity_d_penetration(double penetration, double tau) {
  return -smoothstep5_dx(0.5 - penetration / (8.0 * tau)) / (8.0 * tau);
}

}  // namespace abut
