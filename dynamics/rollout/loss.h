/// Losses of a rollout with value and gradient, written once: see state_view.h for what they are written on.
///
///     const auto near_goal = [goal](const auto& x) { return (x.position(1) - goal).squaredNorm(); };
///     const RolloutLoss loss = final_loss(steps, near_goal);
///     const LossAndGradient result = value_and_gradient(stepper, initial, steps, controls, loss);
///
/// A loss as a function template works as well:  [](const auto& x) { return my_loss(x); }  of
/// `template <typename S> S my_loss(const StateView<S>&)`.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <utility>

#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "engine/state_view.h"

namespace abut {

/// A loss that is a sum over the states 0 ... steps, with its gradient.
struct RolloutLoss {
  std::function<double(int k, const State& state)> value;
  LossGradient gradient;
};

/// Adds the gradient of f(StateView<S>) -> S at a state.
template <typename F>
void add_gradient_of(const F& f, const State& state, StateTangent& bar) {
  BodiesRead read(state.X_WB.size());
  (void)f(StateView<double>(state, -1, &read));
  for (int b = 0; b < static_cast<int>(read.size()); ++b) {
    if (!read[at(b)]) continue;
    const StateDual value = f(StateView<StateDual>(state, b));
    add_derivatives(value, 1.0, b, bar);
  }
}

/// L = f(x) of the state x after the last of `steps` steps.
template <typename F>
[[nodiscard]] RolloutLoss final_loss(int steps, F f) {
  return {[f, steps](int k, const State& state) -> double {
            return k == steps ? f(StateView<double>(state)) : 0.0;
          },
          [f, steps](int k, const State& state, StateTangent& bar) {
            if (k == steps) add_gradient_of(f, state, bar);
          }};
}

/// L = sum of f(k, x_k) over the states k = 0 ... steps.
template <typename F>
[[nodiscard]] RolloutLoss running_loss(F f) {
  return {[f](int k, const State& state) -> double { return f(k, StateView<double>(state)); },
          [f](int k, const State& state, StateTangent& bar) {
            add_gradient_of([&](const auto& x) { return f(k, x); }, state, bar);
          }};
}

/// The value over the states of a trajectory. NaN if it failed.
[[nodiscard]] double value_of(const RolloutLoss& loss, const Trajectory& trajectory);

/// What value_and_gradient() returns.
struct LossAndGradient {
  double value = std::numeric_limits<double>::quiet_NaN();  ///< NaN if the rollout failed
  Gradient gradient;                                        ///< empty if the rollout failed
  Trajectory trajectory;                                    ///< with the failure, if there was one

  [[nodiscard]] bool ok() const { return trajectory.ok(); }
};

/// Memory for full records of value_and_gradient(), which does not keep them [bytes].
inline constexpr std::size_t k_gradient_tape_bytes = std::size_t{64} << 20;

/// A rollout, its loss and the gradient of it by everything. A rollout that fails is no exception here: a
/// search that tries steps takes the NaN for what it is.
[[nodiscard]] LossAndGradient value_and_gradient(const Stepper& stepper, const State& initial, int steps,
                                                 Controls controls, const RolloutLoss& loss,
                                                 const AdjointOptions& options = {},
                                                 std::size_t tape_bytes = k_gradient_tape_bytes);

}  // namespace abut
