#include "dynamics/rollout_env.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include <unistd.h>

#include <spdlog/fmt/fmt.h>

#include "dynamics/batch_rollout.h"
#include "engine/check.h"
#include "engine/control.h"

namespace abut {

/// Threads that wait for a round, work and say when they are done.
struct RolloutEnv::Pool {
  ::pid_t process = ::getpid();  ///< that has the threads; a fork of it has none
  std::mutex mutex;
  std::condition_variable begin, end;
  std::uint64_t round = 0;
  std::size_t working = 0;
  bool stopping = false;
  std::exception_ptr error;  ///< the first of a round
  std::vector<std::thread> threads;

  template <typename Work>
  void add(const Work& work) {
    threads.emplace_back([this, work] {
      for (std::uint64_t done = 0;;) {
        {
          std::unique_lock lock(mutex);
          begin.wait(lock, [&] { return stopping || round > done; });
          if (stopping) return;
          done = round;
        }
        std::exception_ptr thrown;
        try {
          work();
        } catch (...) {
          thrown = std::current_exception();
        }
        const std::lock_guard lock(mutex);
        if (thrown && !error) error = thrown;
        if (--working == 0) end.notify_one();
      }
    });
  }

  void start() {
    {
      const std::lock_guard lock(mutex);
      ++round;
      working = threads.size();
    }
    begin.notify_all();
  }

  void wait() {
    std::unique_lock lock(mutex);
    end.wait(lock, [&] { return working == 0; });
  }

  ~Pool() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    begin.notify_all();
    for (std::thread& thread : threads) thread.join();
  }
};

RolloutEnv::RolloutEnv(const Simulator& simulator, State initial, int worlds, int threads)
    : simulator_(&simulator), initial_(std::move(initial)) {
  require(worlds >= 1, fmt::format("{} worlds, allowed: >= 1", worlds));
  require_state(initial_);
  states_.assign(at(worlds), initial_);
  reports_.resize(at(worlds));
  steps_.assign(at(worlds), 0);
  workers_.resize(at(std::min(batch_threads(threads), worlds)));
  start_threads();
}

RolloutEnv::~RolloutEnv() { forget_threads_of_parent(); }

void RolloutEnv::start_threads() {
  pool_ = std::make_unique<Pool>();
  for (std::size_t worker = 1; worker < workers_.size(); ++worker)
    pool_->add([this, worker] { step_worlds(worker); });
}

bool RolloutEnv::forget_threads_of_parent() {
  if (pool_->process == ::getpid()) return false;
  // There is nothing to join, and the mutex may have been locked by a thread that is not here.
  (void)pool_.release();
  return true;
}

// Messages of the checks below are made where they fail alone: they would be allocations in every step.

void RolloutEnv::require_state(const State& state) const {
  const auto bodies = static_cast<std::size_t>(simulator_->model().body_count());
  if (state.X_WB.size() == bodies && state.V_WB.size() == bodies) return;
  throw std::invalid_argument(fmt::format("state of {} poses and {} twists for {} bodies", state.X_WB.size(),
                                          state.V_WB.size(), bodies));
}

void RolloutEnv::reset() {
  for (int world = 0; world < world_count(); ++world) reset(world, initial_);
}

void RolloutEnv::reset(std::span<const int> worlds) {
  for (const int world : worlds) reset(world, initial_);
}

void RolloutEnv::reset(int world, const State& state) {
  if (world < 0 || world >= world_count())
    throw std::invalid_argument(fmt::format("world {} of {}", world, world_count()));
  require_state(state);
  states_[at(world)] = state;
  reports_[at(world)] = StepReport();
  steps_[at(world)] = 0;
  if (recording_) begin_window(at(world));
  if (observer_) observer_(world, state);
}

void RolloutEnv::observe(std::function<void(int, const State&)> observer) {
  observer_ = std::move(observer);
  for (int world = 0; world < world_count(); ++world) observer_(world, states_[at(world)]);
}

void RolloutEnv::start_recording(std::size_t tape_bytes) {
  recording_ = true;
  tape_bytes_ = tape_bytes;
  windows_.resize(states_.size());
  budgets_.resize(states_.size());
  for (std::size_t world = 0; world < windows_.size(); ++world) begin_window(world);
}

void RolloutEnv::begin_window(std::size_t world) {
  windows_[world] = Trajectory();
  budgets_[world] = TapeBudget(tape_bytes_);
  windows_[world].states.push_back(states_[world]);
}

void RolloutEnv::step(std::span<const Control> controls) {
  if (!controls.empty() && controls.size() != states_.size()) {
    throw std::invalid_argument(fmt::format("{} controls for {} worlds: give one per world or none",
                                            controls.size(), states_.size()));
  }
  for (std::size_t world = 0; world < controls.size(); ++world)
    require_control(simulator_->model(), controls[world], "world", world);
  if (forget_threads_of_parent()) start_threads();
  controls_ = controls;
  std::exception_ptr error;
  pool_->start();
  try {
    step_worlds(0);
  } catch (...) {
    error = std::current_exception();
  }
  pool_->wait();
  controls_ = {};
  const std::exception_ptr others = std::exchange(pool_->error, nullptr);
  if (!error) error = others;
  if (error) std::rethrow_exception(error);
}

void RolloutEnv::step_worlds(std::size_t worker) {
  const std::size_t worlds = states_.size(), workers = workers_.size();
  for (std::size_t w = worker * worlds / workers; w < (worker + 1) * worlds / workers; ++w)
    step_world(w, workers_[worker]);
}

void RolloutEnv::step_world(std::size_t world, Worker& worker) {
  static const Control k_no_control;
  if (reports_[world].status != StepStatus::ok) return;
  const Control& control = controls_.empty() ? k_no_control : controls_[world];
  StepRecord record;
  StepReport report = simulator_->stepper().step(states_[world], control, worker.next, worker.scratch,
                                                 recording_ ? &record : nullptr,
                                                 recording_ ? budgets_[world].next() : Tape::lean);
  report.step = steps_[world];
  reports_[world] = report;
  const bool well = report.status == StepStatus::ok;
  if (well) {
    std::swap(states_[world], worker.next);
    ++steps_[world];
    if (observer_) observer_(static_cast<int>(world), states_[world]);
  }
  if (!recording_) return;
  Trajectory& window = windows_[world];
  if (!well) {
    window.failed_step = window.step_count();
    window.failure = report;
    return;
  }
  budgets_[world].add(record);
  window.states.push_back(states_[world]);
  window.records.push_back(std::move(record));
  window.controls.push_back(control);
}

}  // namespace abut
