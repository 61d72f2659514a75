/// Gradients of rollouts that are too long to be kept: as much of one as fits into memory is, the rest is
/// simulated again.
///
/// A checkpoint is a state: every step from it comes out as it did, to the last bit. Where to set them
/// follows the binomial schedule.
/// @see  Griewank and Walther (2000), "Algorithm 799: revolve", ACM Trans. Math. Softw. 26(1).
#pragma once

#include <cstddef>

#include "dynamics/rollout/adjoint.h"

namespace abut {

/// Numbers (doubles) that a step of a rollout keeps for the adjoint: with `contacts` features and `bodies`
/// bodies of which `moving` move, about
///     13 bodies + 6 moving + 3 contacts.
[[nodiscard]] std::size_t kept_numbers(const StepRecord& record, const State& state);

/// Numbers of a checkpoint: 13 bodies.
[[nodiscard]] std::size_t checkpoint_numbers(const State& state);

struct CheckpointedGradient {
  State final_state;
  Gradient gradient;
  std::size_t peak_numbers = 0;  ///< kept at a time
  std::int64_t steps_taken = 0;  ///< forward, repetitions included
};

/// As rollout() and adjoint(), with at most `limit_numbers` doubles kept at a time, or one step and one
/// checkpoint where that is more. Throws std::logic_error if a step fails.
[[nodiscard]] CheckpointedGradient checkpointed_gradient(const Stepper& stepper, const State& initial,
                                                         int steps, const Controls& controls,
                                                         const LossGradient& loss, std::size_t limit_numbers,
                                                         const AdjointOptions& options = {});

}  // namespace abut
