/// Rollouts under a feedback policy, and their gradients through it.
///
/// The policy gives the control of step k from the state at its start and parameters:  u_k = pi(k, x_k, p),
/// x_{k+1} = f(x_k, u_k). The adjoint of the closed loop is that of the steps with, after each of them,
///     x_bar_k += (d pi/d x)^T u_bar_k,     p_bar += (d pi/d p)^T u_bar_k,
/// exact as that of an open loop is: dL/d(initial state, policy parameters, everything of the model).
///
/// A policy is written once, on any scalar, and is differentiated by make_policy():
///
///     const Policy push = make_policy([](int, const auto& x, const auto& p, auto& u) {
///       u.force(1).x() = p[0] * (0.5 - x.position(1).x()) - p[1] * x.velocity(1).x();
///     });
///     const std::vector<double> gains{20.0, 4.0};
///     const Trajectory trajectory = closed_loop_rollout(stepper, initial, steps, push, gains);
///     const PolicyGradient gradient = closed_loop_adjoint(stepper, trajectory, push, gains, loss.gradient);
///     gradient.parameters[0];   // dL/d(first gain)
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/loss.h"
#include "dynamics/rollout/rollout.h"
#include "engine/state_view.h"

namespace abut {

/// A feedback policy with its VJP. Both are functions of their arguments alone: rollouts are repeated, and
/// may be on several threads.
struct Policy {
  /// Sets the control of step k, which is all zero before.
  std::function<void(int k, const State& state, std::span<const double> parameters, Control& control)>
      control;
  /// From dL/d(control of step k) to dL/d(state) and dL/d(parameters), added.
  std::function<void(int k, const State& state, std::span<const double> parameters,
                     const Control& control_bar, StateTangent& state_bar, std::span<double> parameter_bar)>
      vjp;
};

/// Where a policy puts its wrenches [N m; N], in W, about the centres of mass, and its commands (Control).
template <typename S>
class ControlOut {
 public:
  /// As many of both as `like` has, all 0.
  explicit ControlOut(const Control& like)
      : wrenches_(like.wrenches.size(), Vec6<S>::Constant(S(0))), commands_(like.commands.size(), S(0)) {}

  [[nodiscard]] Vec6<S>& wrench(int body) { return wrenches_[at(body)]; }
  [[nodiscard]] const Vec6<S>& wrench(int body) const { return wrenches_[at(body)]; }
  [[nodiscard]] auto torque(int body) { return wrench(body).template head<3>(); }
  [[nodiscard]] auto force(int body) { return wrench(body).template tail<3>(); }
  /// The command of a motor; motors are in the order of motors_of().
  [[nodiscard]] S& command(int motor) { return commands_[at(motor)]; }
  [[nodiscard]] const S& command(int motor) const { return commands_[at(motor)]; }

 private:
  std::vector<Vec6<S>> wrenches_;
  std::vector<S> commands_;
};

namespace detail {

/// sum of bar . d(control), with all derivatives.
[[nodiscard]] StateDual along(const ControlOut<StateDual>& u, const Control& bar);

}  // namespace detail

/// A policy  f(int k, StateView<S> x, std::span<const S> parameters, ControlOut<S>& u)  of any scalar, which
/// is differentiated by forward mode: about 13 evaluations for each body it reads and for every 12
/// parameters. One with thousands of parameters is better off with a VJP of its own.
template <typename F>
[[nodiscard]] Policy make_policy(F f) {
  Policy policy;
  policy.control = [f](int k, const State& state, std::span<const double> parameters, Control& control) {
    ControlOut<double> u(control);
    f(k, StateView<double>(state), parameters, u);
    for (std::size_t b = 0; b < control.wrenches.size(); ++b)
      control.wrenches[b] = u.wrench(static_cast<int>(b));
    for (std::size_t m = 0; m < control.commands.size(); ++m)
      control.commands[m] = u.command(static_cast<int>(m));
  };
  policy.vjp = [f](int k, const State& state, std::span<const double> parameters, const Control& control_bar,
                   StateTangent& state_bar, std::span<double> parameter_bar) {
    const int bodies = static_cast<int>(state.X_WB.size());
    BodiesRead read(state.X_WB.size());
    {
      ControlOut<double> u(control_bar);
      f(k, StateView<double>(state, -1, &read), parameters, u);
    }
    std::vector<StateDual> p(parameters.begin(), parameters.end());
    const auto evaluate = [&](int seed) {
      ControlOut<StateDual> u(control_bar);
      f(k, StateView<StateDual>(state, seed), std::span<const StateDual>(p), u);
      return detail::along(u, control_bar);
    };
    for (int b = 0; b < bodies; ++b) {
      if (read[at(b)]) add_derivatives(evaluate(b), 1.0, b, state_bar);
    }
    constexpr std::size_t k_at_a_time = StateDual::k_derivatives;
    for (std::size_t first = 0; first < p.size(); first += k_at_a_time) {
      const std::size_t count = std::min(k_at_a_time, p.size() - first);
      for (std::size_t i = 0; i < count; ++i) p[first + i].d[i] = 1.0;
      const StateDual by = evaluate(-1);
      for (std::size_t i = 0; i < count; ++i) {
        parameter_bar[first + i] += by.d[i];
        p[first + i].d[i] = 0.0;
      }
    }
  };
  return policy;
}

/// As rollout(). The trajectory's controls are those that the policy gave.
[[nodiscard]] Trajectory closed_loop_rollout(const Stepper& stepper, const State& initial, int steps,
                                             const Policy& policy, std::span<const double> parameters,
                                             const StepObserver& observer = {}, std::size_t tape_bytes = 0);

struct PolicyGradient {
  /// By initial state and model through the closed loop; `controls` are dL/d(what is added to the control of the
  /// policy in step k).
  Gradient gradient;
  std::vector<double> parameters;  ///< dL/d(policy parameters)
};

/// As adjoint(), through the policy: of a trajectory by closed_loop_rollout() with the same policy and
/// parameters. Throws std::logic_error if it failed.
[[nodiscard]] PolicyGradient closed_loop_adjoint(const Stepper& stepper, const Trajectory& trajectory,
                                                 const Policy& policy, std::span<const double> parameters,
                                                 const LossGradient& loss,
                                                 const AdjointOptions& options = {});

/// What closed_loop_value_and_gradient() returns.
struct LossAndPolicyGradient {
  double value = std::numeric_limits<double>::quiet_NaN();  ///< NaN if the rollout failed
  PolicyGradient gradient;                                  ///< empty if the rollout failed
  Trajectory trajectory;                                    ///< with the failure, if there was one

  [[nodiscard]] bool ok() const { return trajectory.ok(); }
};

/// As value_and_gradient(), under a policy.
[[nodiscard]] LossAndPolicyGradient closed_loop_value_and_gradient(
    const Stepper& stepper, const State& initial, int steps, const Policy& policy,
    std::span<const double> parameters, const RolloutLoss& loss, const AdjointOptions& options = {},
    std::size_t tape_bytes = k_gradient_tape_bytes);

}  // namespace abut
