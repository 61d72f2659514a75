#include "dynamics/rollout/loss.h"

namespace abut {

double value_of(const RolloutLoss& loss, const Trajectory& trajectory) {
  if (!trajectory.ok()) return std::numeric_limits<double>::quiet_NaN();
  double value = 0.0;
  for (std::size_t k = 0; k < trajectory.states.size(); ++k)
    value += loss.value(static_cast<int>(k), trajectory.states[k]);
  return value;
}

LossAndGradient value_and_gradient(const Stepper& stepper, const State& initial, int steps, Controls controls,
                                   const RolloutLoss& loss, const AdjointOptions& options,
                                   std::size_t tape_bytes) {
  LossAndGradient result;
  result.trajectory = rollout(stepper, initial, steps, std::move(controls), {}, tape_bytes);
  result.value = value_of(loss, result.trajectory);
  if (result.ok()) result.gradient = adjoint(stepper, result.trajectory, loss.gradient, options);
  result.trajectory.drop_tapes();
  return result;
}

}  // namespace abut
