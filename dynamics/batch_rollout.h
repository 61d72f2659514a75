/// Many rollouts at once, on several threads.
///
/// Every rollout is computed by one thread, from its own inputs alone: results are the same to the last bit
/// for any number of threads and in whatever order rollouts end. One that fails does not disturb the others.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dynamics/simulator.h"
#include "dynamics/step/solution_counts.h"

namespace abut {

/// One rollout. Rollouts that differ in state and controls alone can share a simulator.
struct BatchTask {
  std::shared_ptr<const Simulator> simulator;
  State initial;
  int steps = 0;  ///< >= 1
  Controls controls{};
};

/// Makes the task of a number. Called once for each, by several threads at the same time. What it throws is
/// that rollout's failure.
using BatchSource = std::function<BatchTask(int index)>;

/// What became of one rollout.
struct BatchResult {
  int steps = 0;      ///< that ended well
  StepReport report;  ///< of the last step
  std::string error;  ///< why there was nothing to run (from the source), empty if there was
  State final_state;  ///< after the last step that ended well
  double energy_initial = 0.0, energy_final = 0.0;  ///< [J]
  double max_penetration = 0.0;  ///< of contacts in all steps, of surfaces at both ends [m]
  Overlap initial_overlap;       ///< the deepest that find_overlaps() has at the start, depth 0: none
  StepWarnings warnings{};       ///< the worst of each kind, of all steps
  SolutionCounts solutions;      ///< of `steps`
  int contacts_peak = 0;
  std::vector<State> states;  ///< of BatchConfig::keep_states: the initial one and one for each of `steps`

  [[nodiscard]] bool ok() const { return error.empty() && report.status == StepStatus::ok; }
};

struct BatchConfig {
  int threads = 0;           ///< >= 1, or 0: as many as the machine runs at a time
  bool keep_states = false;  ///< of every step, not of the last one alone
};

/// How a caller takes part. All are called by the thread that called run_batch, one at a time; each may be
/// empty. What they throw stops the batch and reaches the caller.
struct BatchObserver {
  /// A rollout ended, well or not. Rollouts end in any order.
  std::function<void(int index, BatchResult&& result)> finished;
  /// Called ten times a second and after every `finished`, with the steps done by now, those of rollouts
  /// still under way included. Returns whether to go on; false stops every rollout at its next step, and
  /// those do not finish.
  std::function<bool(std::int64_t steps)> progress;
};

/// Runs the rollouts of the given numbers, each once. Returns whether all finished. Throws
/// std::invalid_argument for a negative number of threads.
bool run_batch(const std::vector<int>& indices, const BatchSource& source, const BatchConfig& config,
               const BatchObserver& observer);

/// How many threads `threads` of BatchConfig stands for.
[[nodiscard]] int batch_threads(int threads);

}  // namespace abut
