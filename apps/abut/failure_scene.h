/// A run that failed as a scene that fails in the same way, soon.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "dynamics/rollout/rollout.h"

namespace abut {

/// The states a rollout started from and has lately been in.
class RecentStates {
 public:
  explicit RecentStates(State initial) : initial_(std::move(initial)) {}

  /// The state after a step that ended well.
  void add(const State& state);

  /// States from which `step` (from 0), the next after the last one added, is reached: the one right before
  /// it first, then earlier ones, at last the initial one. visit(state, number of steps from it) returns
  /// whether to go on.
  template <typename Visit>
  void each(int step, const Visit& visit) const {
    for (std::size_t back = 0; back < recent_.size(); ++back) {
      const State& state = recent_[(newest_ + recent_.size() - back) % recent_.size()];
      if (!visit(state, static_cast<int>(back) + 1)) return;
    }
    if (static_cast<int>(recent_.size()) <= step) visit(initial_, step + 1);
  }

 private:
  State initial_;
  std::vector<State> recent_;  // a ring
  std::size_t newest_ = 0;
};

/// <name of the scene file>_failure.toml, beside the file `out` or, if that is empty, in the current folder.
[[nodiscard]] std::filesystem::path default_failure_scene(const std::filesystem::path& scene,
                                                          const std::filesystem::path& out);

/// Writes `scene` at the state before the step that failed, with one step to do. A solver that starts without
/// what it knew from the step before may get over that step: then the scene starts as many steps earlier as
/// the failure needs. Returns the number of its steps. Throws InputError.
///
/// @param controls  of the run that failed
int write_failure_scene(const Stepper& stepper, const std::filesystem::path& scene,
                        const RecentStates& states, const Controls& controls, const StepReport& failure,
                        const std::string& what, const std::filesystem::path& to);

}  // namespace abut
