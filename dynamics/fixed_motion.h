/// Bodies of infinite mass move as their state and their oscillation say, whatever touches them.
#pragma once

#include "engine/model.h"
#include "engine/state.h"

namespace abut {

/// Twist [w; v] of a fixed body during the step of h seconds that starts at `state`, and its twist after it:
/// that of the state and what the oscillation adds from the start to the end of the step. So a constant
/// velocity lives in the state alone, and dV/d(state's V) = 1.
[[nodiscard]] inline Vec6<double> fixed_twist(const Model& model, const State& state, double h, int body) {
  const auto b = static_cast<std::size_t>(body);
  const Oscillation& oscillation = model.bodies[b].oscillation;
  if (oscillation.frequency == 0.0) return state.V_WB[b];
  return state.V_WB[b] + oscillation.twist(state.time + h) - oscillation.twist(state.time);
}

}  // namespace abut
