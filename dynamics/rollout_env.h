/// Many worlds of one model that are stepped together and reset one by one, as reinforcement learning and
/// sampling planners do.
///
///     RolloutEnv env(simulator, scene.initial, 4096);
///     for (...) {
///       env.step(controls);                       // a Control per world, or none
///       reward(env.states(), env.reports());
///       env.reset(done);                          // indices of worlds
///     }
///
/// Each world is stepped from its own state and wrenches alone: results are the same to the last bit for any
/// number of threads. A world whose step fails stays at the state before it, with its report, and takes no
/// more steps until it is reset; the others go on. A step allocates nothing once every world has been through
/// the like, unless a window is recorded. After a fork between two steps, parent and child go on
/// independently.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "dynamics/rollout/tape_budget.h"
#include "dynamics/simulator.h"

namespace abut {

class RolloutEnv {
 public:
  /// @param simulator  must outlive it
  /// @param initial    of every world, and what reset() goes back to
  /// @param worlds     >= 1
  /// @param threads    >= 1, or 0: as many as the machine runs at a time; those besides the caller's wait
  ///                   between steps. std::invalid_argument otherwise
  RolloutEnv(const Simulator& simulator, State initial, int worlds, int threads = 0);
  ~RolloutEnv();
  RolloutEnv(const RolloutEnv&) = delete;
  RolloutEnv& operator=(const RolloutEnv&) = delete;

  [[nodiscard]] int world_count() const { return static_cast<int>(states_.size()); }

  /// Back to the initial state: all worlds, or some.
  void reset();
  void reset(std::span<const int> worlds);
  /// To a state of the caller's.
  void reset(int world, const State& state);

  /// One step of every world that has not failed. `controls` has one entry per world or none at all
  /// (std::invalid_argument otherwise); those of failed worlds play no part.
  void step(std::span<const Control> controls = {});

  /// Calls observer(world, state) with every world's state now, and from here on with each new one: after a
  /// step that ended well, on the thread that computed it, and after a reset. It may not throw.
  void observe(std::function<void(int world, const State& state)> observer);

  [[nodiscard]] const std::vector<State>& states() const { return states_; }
  /// Of each world's last step; `step` counts from its reset. As of a step that ended well after a reset.
  [[nodiscard]] const std::vector<StepReport>& reports() const { return reports_; }
  [[nodiscard]] const std::vector<int>& steps() const {
    return steps_;
  }  ///< since the reset, that ended well
  [[nodiscard]] bool failed(int world) const { return reports_[at(world)].status != StepStatus::ok; }

  /// Records steps from here on, for gradients: each world has a window of its own, which a reset of the
  /// world begins anew. Recording again begins all windows anew.
  ///
  /// @param tape_bytes  memory of each window for full records, as that of rollout()
  void start_recording(std::size_t tape_bytes = 0);
  void stop_recording() { recording_ = false; }
  /// What was recorded of a world, for Simulator::gradient().
  [[nodiscard]] const Trajectory& window(int world) const { return windows_[at(world)]; }

 private:
  struct Pool;
  struct Worker {
    StepScratch scratch;
    State next;
  };
  void start_threads();
  /// After a fork, in the child: gives up the pool, whose threads are the parent's. Returns whether it was
  /// one.
  bool forget_threads_of_parent();
  void require_state(const State& state) const;
  void step_worlds(std::size_t worker);
  void step_world(std::size_t world, Worker& worker);
  void begin_window(std::size_t world);

  const Simulator* simulator_;
  State initial_;
  std::vector<State> states_;
  std::vector<StepReport> reports_;
  std::vector<int> steps_;
  std::vector<Trajectory> windows_;  // as many as worlds, once there was a recording
  std::vector<TapeBudget> budgets_;  // of the windows
  std::size_t tape_bytes_ = 0;
  bool recording_ = false;
  std::function<void(int, const State&)> observer_;
  std::span<const Control> controls_;  // of the step under way
  std::vector<Worker> workers_;        // one a thread, each with worlds of its own; the caller's is the first
  std::unique_ptr<Pool> pool_;         // of the others
};

}  // namespace abut
