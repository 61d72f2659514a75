#include "dynamics/batch_rollout.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"

namespace abut {
namespace {

/// What the threads of a batch share.
struct Shared {
  std::atomic<std::size_t> next{0};    ///< place in the list of rollouts that none has taken yet
  std::atomic<std::int64_t> steps{0};  ///< done by all
  std::atomic<bool> stopping{false};
  std::mutex mutex;  ///< of what follows
  std::condition_variable changed, taken;
  std::vector<std::pair<int, BatchResult>> finished;  ///< and not taken yet: at most one for each thread
  std::size_t working = 0;                            ///< threads that have not ended
  std::size_t threads = 0;
};

/// False if the batch stopped before the rollout's end.
bool run_one(const BatchTask& task, bool keep_states, Shared& shared, StepScratch& scratch,
             BatchResult& result) {
  require(task.simulator != nullptr, "a rollout without a simulator");
  const Model& model = task.simulator->model();
  const auto is_shallower = [](const Overlap& a, const Overlap& b) { return a.depth < b.depth; };
  const std::vector<Overlap> overlaps = task.simulator->overlaps(task.initial);
  if (!overlaps.empty()) {
    result.initial_overlap = *std::max_element(overlaps.begin(), overlaps.end(), is_shallower);
    result.max_penetration = result.initial_overlap.depth;
  }
  if (keep_states) result.states.push_back(task.initial);
  bool stopped = false;
  result.report =
      simulate(task.simulator->stepper(), task.initial, task.steps, task.controls, result.final_state,
               scratch, [&](int step, const State& state, const StepReport& report) {
                 shared.steps.fetch_add(1, std::memory_order_relaxed);
                 result.contacts_peak = std::max(result.contacts_peak, report.contacts);
                 result.max_penetration = std::max(result.max_penetration, report.max_penetration);
                 keep_worse(report.warnings, result.warnings);
                 if (report.status == StepStatus::ok) {
                   result.steps = step + 1;
                   result.solutions.add(report);
                   if (keep_states) result.states.push_back(state);
                 }
                 stopped = step + 1 < task.steps && report.status == StepStatus::ok &&
                           shared.stopping.load(std::memory_order_relaxed);
                 return !stopped;
               });
  // Contacts alone do not see bodies that lie deep in each other.
  result.max_penetration = deepest_overlap(task.simulator->stepper().detector(), result.final_state.X_WB,
                                           result.max_penetration);
  result.energy_initial = mechanical_energy(model, task.initial);
  result.energy_final = mechanical_energy(model, result.final_state);
  return !stopped;
}

void work(const std::vector<int>& indices, const BatchSource& source, bool keep_states, Shared& shared) {
  StepScratch scratch;
  while (!shared.stopping) {
    const std::size_t place = shared.next.fetch_add(1);
    if (place >= indices.size()) break;
    BatchResult result;
    bool ended = true;
    try {
      ended = run_one(source(indices[place]), keep_states, shared, scratch, result);
    } catch (const std::exception& error) {
      result = BatchResult();
      result.error = *error.what() != '\0' ? error.what() : "unknown error";
      scratch = StepScratch();
    }
    if (!ended) break;
    std::unique_lock lock(shared.mutex);
    // What has finished is safe only once the observer has it: no thread runs far ahead of that.
    shared.taken.wait(lock, [&] { return shared.finished.size() < shared.threads || shared.stopping; });
    shared.finished.emplace_back(indices[place], std::move(result));
    shared.changed.notify_one();
  }
  const std::lock_guard lock(shared.mutex);
  --shared.working;
  shared.changed.notify_one();
}

/// Ends the threads whatever happens.
struct Pool {
  Shared& shared;
  std::vector<std::thread> threads{};

  ~Pool() {
    {
      const std::lock_guard lock(shared.mutex);
      shared.stopping = true;
    }
    shared.taken.notify_all();
    for (std::thread& thread : threads) thread.join();
  }
};

}  // namespace

int batch_threads(int threads) {
  require(threads >= 0, fmt::format("{} threads, allowed: >= 0", threads));
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

bool run_batch(const std::vector<int>& indices, const BatchSource& source, const BatchConfig& config,
               const BatchObserver& observer) {
  constexpr auto k_interval = std::chrono::milliseconds(100);
  const std::size_t count = std::min(static_cast<std::size_t>(batch_threads(config.threads)), indices.size());
  Shared shared;
  shared.threads = count;
  Pool pool{shared};
  for (std::size_t i = 0; i < count; ++i) {
    {
      const std::lock_guard lock(shared.mutex);
      ++shared.working;
    }
    pool.threads.emplace_back([&] { work(indices, source, config.keep_states, shared); });
  }
  std::size_t finished = 0;
  bool working = count > 0;
  while (working) {
    std::vector<std::pair<int, BatchResult>> news;
    {
      std::unique_lock lock(shared.mutex);
      shared.changed.wait_for(lock, k_interval,
                              [&] { return !shared.finished.empty() || shared.working == 0; });
      news.swap(shared.finished);
      working = shared.working > 0;
    }
    shared.taken.notify_all();
    for (auto& [index, result] : news) {
      ++finished;
      if (observer.finished) observer.finished(index, std::move(result));
    }
    if (observer.progress && !observer.progress(shared.steps)) shared.stopping = true;
  }
  return finished == indices.size();
}

}  // namespace abut
