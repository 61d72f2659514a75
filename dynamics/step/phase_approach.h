/// The approach of a row (contact_laws/impact.h), and its derivatives.
#pragma once

#include "dynamics/contact_laws/impact.h"
#include "dynamics/rows/contact_rows.h"

namespace abut {

/// @param v             velocities of the moving bodies in the phase that begins
/// @param acceleration  theirs in free flight
/// @param time          when that is, and the row was evaluated [s]
[[nodiscard]] inline impact::Approach approach_of(const ContactRow& row, const GrowableVector& v,
                                                  const GrowableVector& acceleration, double time) {
  return {row.distance, row.n.dot(relative_velocity(row, v)), row.n.dot(relative_change(row, acceleration)),
          time};
}

/// Adds to the row, the velocities, the accelerations and the time.
inline void approach_vjp(const ContactRow& row, const GrowableVector& v, const GrowableVector& acceleration,
                         const impact::Approach& bar, ContactRowBar& row_bar, GrowableVector& v_bar,
                         GrowableVector& acceleration_bar, double& time_bar) {
  row_bar.distance += bar.distance;
  row_bar.n +=
      bar.velocity * relative_velocity(row, v) + bar.acceleration * relative_change(row, acceleration);
  const Vec3<double> u_bar = bar.velocity * row.n, a_bar = bar.acceleration * row.n;
  add_velocity_bar(row, u_bar, v, row_bar);
  add_arm_bar(row, a_bar, acceleration, row_bar);
  add_impulse(row, u_bar, v_bar);
  add_impulse(row, a_bar, acceleration_bar);
  time_bar += bar.time;
}

[[nodiscard]] inline impact::Approach approach_jvp(const ContactRow& row, const ContactRowBar& row_dot,
                                                   const GrowableVector& v, const GrowableVector& v_dot,
                                                   const GrowableVector& acceleration,
                                                   const GrowableVector& acceleration_dot, double time_dot) {
  ContactRowBar arms_dot = row_dot;
  arms_dot.drift.setZero();
  return {row_dot.distance,
          row_dot.n.dot(relative_velocity(row, v)) + row.n.dot(relative_velocity_jvp(row, row_dot, v, v_dot)),
          row_dot.n.dot(relative_change(row, acceleration)) +
              row.n.dot(relative_velocity_jvp(row, arms_dot, acceleration, acceleration_dot)),
          time_dot};
}

}  // namespace abut
