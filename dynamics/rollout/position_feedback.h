/// Proportional-derivative feedback on the position of a body.
#pragma once

#include "dynamics/rollout/closed_loop.h"

namespace abut {

/// How many gains position_feedback() has: stiffnesses along x, y, z [N/m], then dampings [N s/m].
inline constexpr int k_position_gains = 6;

/// The policy  f = stiffness (goal - p) - damping v,  component by component: a force on a body at its centre
/// of mass p, of velocity v, all in the world. Its parameters are the gains.
///
/// @param goal  of the centre of mass [m]
[[nodiscard]] inline Policy position_feedback(int body, const Vec3<double>& goal) {
  return make_policy([=](int, const auto& x, const auto& gains, auto& u) {
    const auto p = x.position(body), v = x.velocity(body);
    for (int i = 0; i < 3; ++i) u.force(body)[i] = gains[at(i)] * (goal[i] - p[i]) - gains[at(3 + i)] * v[i];
  });
}

}  // namespace abut
