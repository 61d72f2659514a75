#include "dynamics/rollout/rollout_jvp.h"

#include <stdexcept>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/config.h"
#include "engine/control.h"

namespace abut {
namespace {

void require_direction(const Stepper& stepper, const Trajectory& trajectory,
                       const RolloutDirection& direction) {
  const auto bodies = static_cast<std::size_t>(stepper.model().body_count());
  const auto steps = static_cast<std::size_t>(trajectory.step_count());
  require(direction.initial.pose.size() == bodies && direction.initial.twist.size() == bodies,
          fmt::format("direction of {} poses and {} twists for {} bodies", direction.initial.pose.size(),
                      direction.initial.twist.size(), bodies));
  require(direction.bodies.empty() || direction.bodies.size() == bodies,
          fmt::format("directions of {} bodies' parameters for {} bodies", direction.bodies.size(), bodies));
  require(direction.controls.empty() || direction.controls.size() == steps,
          fmt::format("directions of {} controls for {} steps", direction.controls.size(), steps));
  for (std::size_t k = 0; k < direction.controls.size(); ++k) {
    require_control(stepper.model(), direction.controls[k], "the direction, step", k);
  }
}

}  // namespace

StateTangents rollout_jvp(const Stepper& stepper, const Trajectory& trajectory,
                          const RolloutDirection& direction) {
  if (!trajectory.ok()) {
    throw std::logic_error(fmt::format("step {} of the rollout ended '{}': it has no derivative",
                                       trajectory.failed_step, to_string(trajectory.failure.status)));
  }
  require_direction(stepper, trajectory, direction);
  static const Control no_control;
  const auto bodies = static_cast<std::size_t>(stepper.model().body_count());
  const std::vector<BodyDirection> none(direction.bodies.empty() ? bodies : 0);
  const std::vector<BodyDirection>& parameters = direction.bodies.empty() ? none : direction.bodies;
  StateTangents tangents(static_cast<std::size_t>(trajectory.step_count()) + 1);
  tangents[0] = direction.initial;
  std::vector<Vec6<double>> wrench_dot(bodies);
  StepScratch scratch;
  for (std::size_t k = 0; k + 1 < tangents.size(); ++k) {
    const Control& control_dot = direction.controls.empty() ? no_control : direction.controls[k];
    for (std::size_t b = 0; b < bodies; ++b) {
      wrench_dot[b] = parameters[b].external_wrench;
      if (!control_dot.wrenches.empty()) wrench_dot[b] += control_dot.wrenches[b];
    }
    const StepDirection step{&tangents[k], wrench_dot,       direction.gravity,
                             parameters,   &tangents[k + 1], control_dot.commands};
    stepper.step_jvp(trajectory.states[k], trajectory.controls.empty() ? no_control : trajectory.controls[k],
                     trajectory.states[k + 1], trajectory.records[k], {&step, 1}, scratch);
  }
  return tangents;
}

Gradient gauss_newton_product(const Stepper& stepper, const Trajectory& trajectory, const StateWeight& weight,
                              const RolloutDirection& direction) {
  const StateTangents tangents = rollout_jvp(stepper, trajectory, direction);
  return adjoint(stepper, trajectory, [&](int k, const State& state, StateTangent& bar) {
    weight(k, state, tangents[static_cast<std::size_t>(k)], bar);
  });
}

}  // namespace abut
