#include "dynamics/batch_rollout.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <thread>

#include <catch2/catch.hpp>

#include "tests/support/scenes.h"

using namespace abut;
using test::TestScene;

namespace {

constexpr int k_count = 12, k_steps = 40, k_failing = 5, k_failing_step = 17;

std::vector<int> all(int count) {
  std::vector<int> indices(static_cast<std::size_t>(count));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

/// Rollouts of different models, states and controls; one of them fails half-way.
BatchTask task_of(int index) {
  Random random(static_cast<std::uint64_t>(100 + index));
  TestScene scene = test::random_contact_scene(random, {1, 3});
  BatchTask task;
  const std::size_t bodies = scene.model.bodies.size();
  task.controls.assign(k_steps, test::zero_wrenches(bodies));
  for (Control& control : task.controls) control.wrenches[1][3] = 0.1 * index;
  if (index == k_failing) task.controls[k_failing_step].wrenches[1][4] = std::nan("");
  task.simulator = std::make_shared<const Simulator>(scene.model, StepConfig());
  task.initial = scene.state;
  task.steps = k_steps;
  return task;
}

std::vector<BatchResult> run(int count, const BatchSource& source, const BatchConfig& config) {
  std::vector<BatchResult> results(static_cast<std::size_t>(count));
  BatchObserver observer;
  observer.finished = [&](int index, BatchResult&& result) {
    results[static_cast<std::size_t>(index)] = std::move(result);
  };
  CHECK(run_batch(all(count), source, config, observer));
  return results;
}

}  // namespace

TEST_CASE("run_batch: gives the bits of single rollouts on 1, 2 and 5 threads, around one that fails",
          "[dynamics][determinism]") {
  for (const int threads : {1, 2, 5}) {
    const std::vector<BatchResult> results = run(k_count, task_of, {threads, true});
    for (int i = 0; i < k_count; ++i) {
      CAPTURE(threads, i);
      const BatchTask task = task_of(i);
      const BatchResult& result = results[static_cast<std::size_t>(i)];
      const Trajectory expected = task.simulator->rollout(task.initial, k_steps, task.controls);
      CHECK(state_hash(result.final_state) == state_hash(expected.states.back()));
      REQUIRE(result.states.size() == expected.states.size());
      int differing = 0;
      for (std::size_t k = 0; k < expected.states.size(); ++k)
        differing += state_hash(result.states[k]) != state_hash(expected.states[k]);
      CHECK(differing == 0);
      CHECK(result.steps == (i == k_failing ? k_failing_step : k_steps));
      CHECK(result.ok() == (i != k_failing));
      CHECK(result.energy_initial == mechanical_energy(task.simulator->model(), task.initial));
      CHECK(result.energy_final == mechanical_energy(task.simulator->model(), expected.states.back()));
      double deepest = deepest_overlap(task.simulator->stepper().detector(), expected.states.back().X_WB);
      for (const Overlap& overlap : task.simulator->overlaps(task.initial))
        deepest = std::max(deepest, overlap.depth);
      for (const StepRecord& record : expected.records)
        deepest = std::max(deepest, record.report.max_penetration);
      if (i != k_failing) CHECK(result.max_penetration == deepest);
      SolutionCounts solutions;
      for (const StepRecord& record : expected.records) solutions.add(record.report);
      CHECK(result.solutions.steps == solutions.steps);
      CHECK(std::accumulate(solutions.steps.begin(), solutions.steps.end(), std::int64_t{0}) == result.steps);
    }
    const StepReport& failure = results[k_failing].report;
    CHECK(failure.status == StepStatus::non_finite);
    CHECK(failure.step == k_failing_step);
    CHECK(failure.body == 1);
  }
}

TEST_CASE("SolutionCounts: a step counts by its path, and by the sign of its determinant",
          "[dynamics][value]") {
  StepReport report;
  SolutionCounts counts;
  counts.add(report);
  report.path = SolutionPath::other_start;
  report.has_negative_determinant = true;
  counts.add(report);
  SolutionCounts sum = counts;
  sum.add(counts);
  CHECK(sum.of(SolutionPath::newton) == 2);
  CHECK(sum.of(SolutionPath::convex_pass) == 0);
  CHECK(sum.of(SolutionPath::other_start) == 2);
  CHECK(sum.negative_determinants == 2);
}

TEST_CASE("run_batch: rollouts can share a simulator", "[dynamics][determinism]") {
  const TestScene scene = test::stack_scene(2, 0.1, 1.0);
  const auto simulator = std::make_shared<const Simulator>(scene.model, StepConfig());
  const auto source = [&](int index) {
    BatchTask task{simulator, scene.state, k_steps};
    task.initial.V_WB[2][3] = 0.1 * index;
    return task;
  };
  const std::vector<BatchResult> one = run(6, source, {1}), three = run(6, source, {3});
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(state_hash(one[i].final_state) == state_hash(three[i].final_state));
    CHECK(one[i].states.empty());
    if (i > 0) CHECK(state_hash(one[i].final_state) != state_hash(one[0].final_state));
  }
}

TEST_CASE("run_batch: what the source throws is the failure of that rollout alone", "[dynamics][value]") {
  const std::vector<BatchResult> results = run(4,
                                               [](int index) {
                                                 if (index == 1) throw std::invalid_argument("no such stone");
                                                 if (index == 2) return BatchTask();
                                                 return task_of(index);
                                               },
                                               {2});
  CHECK(results[1].error == "no such stone");
  CHECK(results[2].error == "a rollout without a simulator");
  CHECK_FALSE(results[1].ok());
  CHECK(results[0].ok());
  CHECK(results[3].ok());
}

TEST_CASE("run_batch: all observers run in the calling thread, and see every step", "[dynamics][value]") {
  const std::thread::id caller = std::this_thread::get_id();
  int calls = 0, elsewhere = 0;
  std::int64_t steps = 0;
  BatchObserver observer;
  observer.finished = [&](int, BatchResult&&) {
    ++calls;
    elsewhere += std::this_thread::get_id() != caller;
  };
  observer.progress = [&](std::int64_t done) {
    elsewhere += std::this_thread::get_id() != caller || done < steps;
    steps = done;
    return true;
  };
  CHECK(run_batch(all(k_count), task_of, {3}, observer));
  CHECK(calls == k_count);
  CHECK(elsewhere == 0);
  CHECK(steps == k_count * k_steps - (k_steps - k_failing_step - 1));
}

TEST_CASE("run_batch: a request to stop ends it; what has finished is whole", "[dynamics][value]") {
  const int threads = GENERATE(1, 3);
  std::vector<BatchResult> results(1000);
  int finished = 0;
  BatchObserver observer;
  observer.finished = [&](int index, BatchResult&& result) {
    ++finished;
    results[static_cast<std::size_t>(index)] = std::move(result);
  };
  observer.progress = [&](std::int64_t) { return finished < 3; };
  CHECK_FALSE(run_batch(
      all(1000), [](int index) { return task_of(index); }, {threads}, observer));
  CHECK(finished >= 3);
  CHECK(finished < 1000);
  for (int i = 0; i < 1000; ++i) {
    const BatchResult& result = results[static_cast<std::size_t>(i)];
    if (result.steps == 0) continue;
    const BatchTask task = task_of(i);
    State end;
    (void)simulate(task.simulator->stepper(), task.initial, k_steps, task.controls, end);
    CHECK(state_hash(result.final_state) == state_hash(end));
  }
}

TEST_CASE("run_batch: what an observer throws reaches the caller, and the threads end", "[dynamics][value]") {
  BatchObserver observer;
  observer.finished = [](int, BatchResult&&) { throw std::runtime_error("disk full"); };
  CHECK_THROWS_WITH(run_batch(all(50), task_of, {2}, observer), "disk full");
}

TEST_CASE("run_batch: nothing to do is done, and a negative number of threads is refused",
          "[dynamics][value]") {
  CHECK(run_batch({}, task_of, {2}, {}));
  CHECK_THROWS_AS(run_batch(all(2), task_of, {-1}, {}), std::invalid_argument);
  CHECK(batch_threads(0) >= 1);
  CHECK(batch_threads(7) == 7);
}
