#include "dynamics/rollout/rollout.h"

#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dynamics/rollout/tape_budget.h"
#include "engine/check.h"
#include "engine/control.h"
#include "engine/hash.h"

namespace abut {
namespace {

const Control k_no_control;

const Control& control_of(const Controls& controls, int step) {
  return controls.empty() ? k_no_control : controls[static_cast<std::size_t>(step)];
}

/// Records `steps` steps, or those up to a failure. control_of(k, state): what acts in a step.
template <typename ControlOf>
void record_steps(const Stepper& stepper, const State& initial, int steps, const ControlOf& control_at,
                  const StepObserver& observer, std::size_t tape_bytes, Trajectory& trajectory) {
  trajectory.states.reserve(static_cast<std::size_t>(steps) + 1);
  trajectory.records.reserve(static_cast<std::size_t>(steps));
  trajectory.states.push_back(initial);
  StepScratch scratch;
  TapeBudget budget(tape_bytes);
  for (int k = 0; k < steps; ++k) {
    State next;
    StepRecord record;
    const State& state = trajectory.states.back();
    StepReport report = stepper.step(state, control_at(k, state), next, scratch, &record, budget.next());
    budget.add(record);
    report.step = k;
    if (report.status != StepStatus::ok) {
      trajectory.failed_step = k;
      trajectory.failure = report;
      break;
    }
    trajectory.states.push_back(std::move(next));
    trajectory.records.push_back(std::move(record));
    if (observer && !observer(k, trajectory.states.back(), report)) break;
  }
}

}  // namespace

void Trajectory::drop_tapes() {
  for (StepRecord& record : records) {
    for (SubstepRecord& substep : record.substeps) substep.tape = nullptr;
  }
}

void require_rollout(const Stepper& stepper, const State& initial, int steps, const Controls& controls) {
  require(steps >= 1, fmt::format("a rollout needs at least 1 step, not {}", steps));
  require(controls.empty() || static_cast<int>(controls.size()) == steps,
          fmt::format("{} controls for {} steps: give one per step or none", controls.size(), steps));
  const auto bodies = static_cast<std::size_t>(stepper.model().body_count());
  for (std::size_t k = 0; k < controls.size(); ++k) require_control(stepper.model(), controls[k], "step", k);
  require(initial.X_WB.size() == bodies && initial.V_WB.size() == bodies,
          fmt::format("state of {} poses and {} twists for {} bodies", initial.X_WB.size(),
                      initial.V_WB.size(), bodies));
}

Trajectory rollout(const Stepper& stepper, const State& initial, int steps, Controls controls,
                   const StepObserver& observer, std::size_t tape_bytes) {
  require_rollout(stepper, initial, steps, controls);
  Trajectory trajectory;
  trajectory.controls = std::move(controls);
  record_steps(
      stepper, initial, steps,
      [&](int k, const State&) -> const Control& { return control_of(trajectory.controls, k); }, observer,
      tape_bytes, trajectory);
  return trajectory;
}

Trajectory feedback_rollout(const Stepper& stepper, const State& initial, int steps, const Feedback& feedback,
                            const StepObserver& observer, std::size_t tape_bytes) {
  require_rollout(stepper, initial, steps, {});
  Trajectory trajectory;
  trajectory.controls.reserve(static_cast<std::size_t>(steps));
  record_steps(
      stepper, initial, steps,
      [&](int k, const State& state) -> const Control& {
        feedback(k, state, trajectory.controls.emplace_back());
        return trajectory.controls.back();
      },
      observer, tape_bytes, trajectory);
  return trajectory;
}

StepReport simulate(const Stepper& stepper, const State& initial, int steps, const Controls& controls,
                    State& final_state, const StepObserver& observer) {
  StepScratch scratch;
  return simulate(stepper, initial, steps, controls, final_state, scratch, observer);
}

StepReport simulate(const Stepper& stepper, const State& initial, int steps, const Controls& controls,
                    State& final_state, StepScratch& scratch, const StepObserver& observer) {
  require_rollout(stepper, initial, steps, controls);
  StepReport report;
  State next;
  final_state = initial;
  for (int k = 0; k < steps; ++k) {
    report = stepper.step(final_state, control_of(controls, k), next, scratch);
    report.step = k;
    const bool go_on = !observer || observer(k, next, report);
    if (report.status != StepStatus::ok) break;
    std::swap(final_state, next);
    if (!go_on) break;
  }
  return report;
}

std::uint64_t state_hash(const State& state) {
  std::uint64_t hash = k_hash_of_nothing;
  const auto add = [&](double x) { hash = hash_of(x, hash); };
  for (std::size_t b = 0; b < state.X_WB.size(); ++b) {
    for (const double x :
         {state.X_WB[b].q.w(), state.X_WB[b].q.x(), state.X_WB[b].q.y(), state.X_WB[b].q.z()})
      add(x);
    for (int i = 0; i < 3; ++i) add(state.X_WB[b].p[i]);
    for (int i = 0; i < 6; ++i) add(state.V_WB[b][i]);
  }
  for (const double angle : state.hinge_angles) add(angle);
  return hash;
}

}  // namespace abut
