/// Steps of bodies that have come to rest in contact, where most of the time of a long simulation goes, and
/// what of a step is finding contacts and making rows of them.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "collision/manifold/contact_detector.h"
#include "dynamics/simulator.h"
#include "dynamics/step/step_memory.h"
#include "scenes.h"
#include "timer.h"

namespace abut::benchmarks {
namespace {

constexpr int k_steps = 50;  // that follow on each other

struct SettledScene {
  Scene scene;
  State state;  ///< after the settling
};

/// Settles once a program.
const SettledScene& settled(const char* name, int settling) {
  static std::map<std::string, SettledScene> all;
  const auto [place, is_new] = all.try_emplace(name);
  SettledScene& found = place->second;
  if (!is_new) return found;
  found.scene = read_benchmark_scene(name);
  const Simulator simulator(found.scene.model, found.scene.config.step);
  (void)simulate(simulator.stepper(), found.scene.initial, settling, {}, found.state);
  return found;
}

/// The same 50 steps again and again. `detection_us` and `rows_us` are the times of two parts of a step at
/// the same states, one after the other as in the step.
void step_settled(benchmark::State& state, const char* name, int settling) {
  const SettledScene& start = settled(name, settling);
  const Simulator simulator(start.scene.model, start.scene.config.step);
  const Stepper& stepper = simulator.stepper();
  std::vector<State> states(k_steps + 1);
  states.front() = start.state;
  StepScratch scratch;
  StepMemory& memory = scratch.memory();
  double contacts = 0.0, candidates = 0.0, newton_iterations = 0.0;
  while (state.KeepRunningBatch(k_steps)) {
    for (std::size_t k = 0; k < k_steps; ++k) {
      const StepReport report = stepper.step(states[k], {}, states[k + 1], scratch);
      contacts += report.contacts;
      candidates += static_cast<double>(memory.manifold.contacts.size());
      newton_iterations += report.iterations;
      if (report.status != StepStatus::ok) {
        state.SkipWithError(fmt::format("step {} ended '{}'", k, to_string(report.status)).c_str());
        return;
      }
    }
  }
  std::vector<std::vector<double>> margins;
  for (std::size_t k = 0; k < k_steps; ++k) {
    (void)stepper.step(states[k], {}, states[k + 1], scratch);
    margins.push_back(memory.margins);
  }
  double detection_seconds = 0.0, rows_seconds = 0.0;
  for (std::size_t k = 0; k < k_steps; ++k) {
    memory.solved.mass.update(simulator.model(), states[k]);
    {
      const CpuTimer timer(detection_seconds);
      stepper.detector().detect(states[k].X_WB, margins[k], memory.detector, memory.manifold);
    }
    const CpuTimer timer(rows_seconds);
    make_rows(simulator.model(), memory.solved.mass, states[k], memory.manifold.contacts,
              memory.manifold.pairs, stepper.row_settings(), memory.solved.rows);
  }
  const auto measured = static_cast<double>(state.iterations());
  state.counters["steps_per_second"] = benchmark::Counter(measured, benchmark::Counter::kIsRate);
  state.counters["contacts"] = contacts / measured;
  state.counters["candidates"] = candidates / measured;
  state.counters["newton_iterations"] = newton_iterations / measured;
  state.counters["detection_us"] = 1e6 * detection_seconds / k_steps;
  state.counters["rows_us"] = 1e6 * rows_seconds / k_steps;
  double largest_speed = 0.0;
  for (const Vec6<double>& V_WB : states.back().V_WB)
    largest_speed = std::max(largest_speed, V_WB.tail<3>().norm());
  state.counters["largest_speed"] = largest_speed;
  Hash hash;
  for (const Pose<double>& X_WB : states.back().X_WB) {
    for (int i = 0; i < 3; ++i) hash.add(X_WB.p[i]);
  }
  state.SetLabel(hash.text());
}

BENCHMARK_CAPTURE(step_settled, two_armadillos, "two_armadillos", 1500)
    ->Name("step/two_armadillos")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(step_settled, interlocked_armadillos, "interlocked_armadillos", 1500)
    ->Name("step/interlocked_armadillos")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(step_settled, box_stack, "box_stack", 1000)
    ->Name("step/box_stack_10")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(step_settled, box_stack_of_corners, "box_stack_of_corners", 1000)
    ->Name("step/box_stack_10_corners")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(step_settled, box_pile, "box_pile", 1600)
    ->Name("step/box_pile_100")
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace abut::benchmarks
