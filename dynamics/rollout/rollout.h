/// N steps, recorded for the adjoint (adjoint.h) that walks them backwards.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dynamics/step/stepper.h"

namespace abut {

/// The control of each step; empty: no controls.
using Controls = std::vector<Control>;

struct Trajectory {
  std::vector<State> states;        ///< steps + 1, the initial one first (fewer after a failure)
  std::vector<StepRecord> records;  ///< one per step
  Controls controls;                ///< as given
  int failed_step = -1;             ///< the first step that did not end well, -1 if all did
  StepReport failure;               ///< of that step

  [[nodiscard]] int step_count() const { return static_cast<int>(records.size()); }
  [[nodiscard]] bool ok() const { return failed_step < 0; }
  /// Makes full records lean: what derivatives compute once more then need not be kept.
  void drop_tapes();
};

/// Called after every step with its number (from 0), its end state and its report; return false to stop.
using StepObserver = std::function<bool(int step, const State& state, const StepReport& report)>;

/// Throws std::invalid_argument unless there is a step at least, a control per step or none, as many poses, twists and
/// wrenches as bodies, and as many commands as motors.
void require_rollout(const Stepper& stepper, const State& initial, int steps, const Controls& controls);

/// Steps from `initial`, recorded for the adjoint. Stops at the first step that fails. `controls` has one
/// entry per step or none at all (std::invalid_argument otherwise).
///
/// @param tape_bytes  memory for full records (Tape), about 400 bytes a contact; steps beyond it, but for
///                    one, are lean. Gradients differ by rounding alone
[[nodiscard]] Trajectory rollout(const Stepper& stepper, const State& initial, int steps,
                                 Controls controls = {}, const StepObserver& observer = {},
                                 std::size_t tape_bytes = 0);

/// Sets the control of step k from the state at its start.
using Feedback = std::function<void(int k, const State& state, Control& control)>;

/// The same with controls that depend on the state. The trajectory's controls are those that were set.
[[nodiscard]] Trajectory feedback_rollout(const Stepper& stepper, const State& initial, int steps,
                                          const Feedback& feedback, const StepObserver& observer = {},
                                          std::size_t tape_bytes = 0);

/// The same without a record: only the state after the last step that ended well, also where one failed. The
/// observer sees the failed step, too, and how far it got.
StepReport simulate(const Stepper& stepper, const State& initial, int steps, const Controls& controls,
                    State& final_state, const StepObserver& observer = {});

/// The same in a scratch used before: equal to the last bit.
StepReport simulate(const Stepper& stepper, const State& initial, int steps, const Controls& controls,
                    State& final_state, StepScratch& scratch, const StepObserver& observer = {});

/// 64-bit hash of every bit of a state (FNV-1a over poses, twists and hinge angles): equal for equal states on every run.
[[nodiscard]] std::uint64_t state_hash(const State& state);

}  // namespace abut
