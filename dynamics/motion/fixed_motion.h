/// Bodies of infinite mass move as their state and their oscillation say, whatever touches them.
///
/// Twist of the state = a constant part, which lives in the state alone, and that of the oscillation,
/// Theta'(t). A step of h seconds moves the body by what the two add up to,
///     V = V(t) - Theta'(t) + (Theta(t + h) - Theta(t))/h,     V(t + h) = V(t) + Theta'(t + h) - Theta'(t),
/// so that it is where the oscillation says at the end of every step, however long. dV/dV(t) = 1 for both.
#pragma once

#include "engine/model.h"
#include "engine/state.h"

namespace abut {

/// Twist [w; v] of a fixed body during the step of h seconds that starts at `state`.
[[nodiscard]] inline Vec6<double> fixed_twist(const Model& model, const State& state, double h, int body) {
  const auto b = static_cast<std::size_t>(body);
  const Oscillation& oscillation = model.bodies[b].oscillation;
  if (oscillation.frequency == 0.0) return state.V_WB[b];
  return state.V_WB[b] - oscillation.twist(state.time) + oscillation.mean_twist(state.time, h);
}

/// Its twist at the end of that step.
[[nodiscard]] inline Vec6<double> fixed_twist_at_end(const Model& model, const State& state, double h,
                                                     int body) {
  const auto b = static_cast<std::size_t>(body);
  const Oscillation& oscillation = model.bodies[b].oscillation;
  if (oscillation.frequency == 0.0) return state.V_WB[b];
  return state.V_WB[b] + oscillation.twist(state.time + h) - oscillation.twist(state.time);
}

}  // namespace abut
