#include "dynamics/rollout/closed_loop.h"

#include "engine/check.h"
#include "engine/control.h"

namespace abut {

StateDual detail::along(const ControlOut<StateDual>& u, const Control& bar) {
  StateDual sum(0.0);
  for (std::size_t b = 0; b < bar.wrenches.size(); ++b) {
    for (int i = 0; i < 6; ++i) {
      if (bar.wrenches[b][i] != 0.0) sum += bar.wrenches[b][i] * u.wrench(static_cast<int>(b))[i];
    }
  }
  for (std::size_t m = 0; m < bar.commands.size(); ++m) {
    if (bar.commands[m] != 0.0) sum += bar.commands[m] * u.command(static_cast<int>(m));
  }
  return sum;
}

Trajectory closed_loop_rollout(const Stepper& stepper, const State& initial, int steps, const Policy& policy,
                               std::span<const double> parameters, const StepObserver& observer,
                               std::size_t tape_bytes) {
  require(policy.control != nullptr, "a policy without a function for its controls");
  const Control zero = zero_control(stepper.model());
  return feedback_rollout(
      stepper, initial, steps,
      [&](int k, const State& state, Control& control) {
        control = zero;
        policy.control(k, state, parameters, control);
      },
      observer, tape_bytes);
}

PolicyGradient closed_loop_adjoint(const Stepper& stepper, const Trajectory& trajectory, const Policy& policy,
                                   std::span<const double> parameters, const LossGradient& loss,
                                   const AdjointOptions& options) {
  require(policy.vjp != nullptr, "a policy without a VJP has no gradient");
  PolicyGradient result;
  result.parameters.assign(parameters.size(), 0.0);
  const ControlVjp through_policy = [&](int k, const State& state, const Control& control_bar,
                                        StateTangent& state_bar) {
    policy.vjp(k, state, parameters, control_bar, state_bar, result.parameters);
  };
  result.gradient = adjoint(stepper, trajectory, loss, options, through_policy);
  return result;
}

LossAndPolicyGradient closed_loop_value_and_gradient(const Stepper& stepper, const State& initial, int steps,
                                                     const Policy& policy, std::span<const double> parameters,
                                                     const RolloutLoss& loss, const AdjointOptions& options,
                                                     std::size_t tape_bytes) {
  LossAndPolicyGradient result;
  result.trajectory = closed_loop_rollout(stepper, initial, steps, policy, parameters, {}, tape_bytes);
  result.value = value_of(loss, result.trajectory);
  if (result.ok())
    result.gradient =
        closed_loop_adjoint(stepper, result.trajectory, policy, parameters, loss.gradient, options);
  result.trajectory.drop_tapes();
  return result;
}

}  // namespace abut
