/// Whole rollouts of the scenes, and the gradient of a loss over one. One iteration is one time step; the
/// time is the mean over the rollout, free fall and rest included. And the Jacobian of one step at rest.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "dynamics/simulator.h"
#include "scenes.h"
#include "timer.h"

namespace abut::benchmarks {
namespace {

std::string failure(int step, const StepReport& report) {
  return fmt::format("step {} ended '{}'", step, to_string(report.status));
}

void step(benchmark::State& state, const char* name) {
  const Scene scene = read_benchmark_scene(name);
  const Simulator simulator(scene.model, scene.config.step);
  const int steps = scene.config.steps;
  State final_state;
  double contacts = 0.0, newton_iterations = 0.0;
  int last = 0;
  const auto observe = [&](int k, const State&, const StepReport& report) {
    last = k;
    contacts += report.contacts;
    newton_iterations += report.iterations;
    return true;
  };
  while (state.KeepRunningBatch(steps)) {
    const StepReport report = simulate(simulator.stepper(), scene.initial, steps, {}, final_state, observe);
    if (report.status != StepStatus::ok) {
      state.SkipWithError(failure(last, report).c_str());
      return;
    }
  }
  const auto measured = static_cast<double>(state.iterations());
  state.counters["steps_per_second"] = benchmark::Counter(measured, benchmark::Counter::kIsRate);
  state.counters["contacts"] = contacts / measured;
  state.counters["newton_iterations"] = newton_iterations / measured;
  state.counters["steps"] = steps;
  state.SetLabel(Hash::text(state_hash(final_state)));
}

/// A part of a scene's rollout.
struct Span {
  int settling = 0;  ///< steps left out before
  int steps = 0;     ///< 0: those of the scene
};

/// Rollout and adjoint of L = 1/2 sum over the moving bodies of |p_WB|^2 at the end. `ratio` is their time by
/// that of simulate() of the same steps, which runs before each of them, untimed as far as the benchmark is
/// concerned; `rollout_ratio` and `adjoint_ratio` are its two parts. Records are full as far as `tape_bytes`
/// go; `bytes_per_step` is what they took.
void gradient(benchmark::State& state, const char* name, std::size_t tape_bytes, const Span& span = {}) {
  const Scene scene = read_benchmark_scene(name);
  const Simulator simulator(scene.model, scene.config.step);
  const int steps = span.steps > 0 ? span.steps : scene.config.steps;
  State initial = scene.initial;
  if (span.settling > 0) (void)simulate(simulator.stepper(), scene.initial, span.settling, {}, initial);
  const auto loss = [&](int k, const State& at, StateTangent& bar) {
    if (k != steps) return;
    for (std::size_t b = 0; b < at.X_WB.size(); ++b) {
      if (!scene.model.bodies[b].fixed) bar.pose[b].tail<3>() += at.X_WB[b].p;
    }
  };
  State final_state;
  std::size_t bytes = 0;
  double simulate_seconds = 0.0, rollout_seconds = 0.0, adjoint_seconds = 0.0;
  while (state.KeepRunningBatch(steps)) {
    state.PauseTiming();
    {
      const CpuTimer timer(simulate_seconds);
      (void)simulate(simulator.stepper(), initial, steps, {}, final_state);
    }
    state.ResumeTiming();
    Trajectory trajectory;
    {
      const CpuTimer timer(rollout_seconds);
      trajectory = simulator.rollout(initial, steps, {}, {}, tape_bytes);
    }
    if (!trajectory.ok()) {
      state.SkipWithError(failure(trajectory.failed_step, trajectory.failure).c_str());
      return;
    }
    bytes = 0;
    for (const StepRecord& record : trajectory.records) bytes += record.bytes();
    const CpuTimer timer(adjoint_seconds);
    const Gradient gradient = simulator.gradient(trajectory, loss);
    benchmark::DoNotOptimize(gradient.initial.pose.data());
  }
  state.counters["ratio"] = (rollout_seconds + adjoint_seconds) / simulate_seconds;
  state.counters["rollout_ratio"] = rollout_seconds / simulate_seconds;
  state.counters["adjoint_ratio"] = adjoint_seconds / simulate_seconds;
  state.counters["steps"] = steps;
  state.counters["bytes_per_step"] = static_cast<double>(bytes) / steps;
  state.SetLabel(Hash::text(state_hash(final_state)));
}

/// d(next state)/d(state) of the bodies of finite mass, 12 numbers each, of a step with a full tape: one row
/// a loss, which share its factorization. Or d(next velocities)/d(state), half of the rows.
void step_jacobian(benchmark::State& state, const char* name, int settling, bool of_velocities = false) {
  const Scene scene = read_benchmark_scene(name);
  const Simulator simulator(scene.model, scene.config.step);
  const Stepper& stepper = simulator.stepper();
  State start, next;
  (void)simulate(stepper, scene.initial, settling, {}, start);
  StepScratch scratch;
  StepRecord record;
  (void)stepper.step(start, {}, next, scratch, &record, Tape::full);
  std::vector<StateTangent> unit, rows;
  for (std::size_t b = 0; b < scene.model.bodies.size(); ++b) {
    if (scene.model.bodies[b].fixed) continue;
    for (int i = of_velocities ? 6 : 0; i < 12; ++i) {
      StateTangent& tangent = unit.emplace_back(scene.model.body_count());
      (i < 6 ? tangent.pose[b][i] : tangent.twist[b][i - 6]) = 1.0;
    }
  }
  rows.assign(unit.size(), StateTangent(scene.model.body_count()));
  std::vector<Vec6<double>> wrench(scene.model.bodies.size(), Vec6<double>::Zero());
  ModelGradient model;
  model.set_zero(scene.model);
  std::vector<StepBar> bars;
  for (std::size_t r = 0; r < unit.size(); ++r)
    bars.push_back({&unit[r], &rows[r], wrench, &model, {false, false, false}});
  for (auto _ : state) {
    (void)stepper.step_vjp(start, {}, next, record, bars, scratch);
    benchmark::DoNotOptimize(rows.data());
    benchmark::ClobberMemory();
  }
  state.counters["size"] = static_cast<double>(unit.size());
}
BENCHMARK_CAPTURE(step_jacobian, two_armadillos, "two_armadillos", 1500)
    ->Name("step_jacobian/two_armadillos")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(step_jacobian, two_armadillos_velocities, "two_armadillos", 1500, true)
    ->Name("step_jacobian/two_armadillos_velocities")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(step_jacobian, box_stack, "box_stack", 1000)
    ->Name("step_jacobian/box_stack_10")
    ->Unit(benchmark::kMicrosecond);

BENCHMARK_CAPTURE(step, armadillo_drop, "armadillo_drop")
    ->Name("step/armadillo_drop")
    ->Unit(benchmark::kMicrosecond);
constexpr std::size_t k_full_tape = std::size_t{256} << 20, k_lean_tape = 0;

BENCHMARK_CAPTURE(gradient, armadillo_drop, "armadillo_drop", k_full_tape)
    ->Name("gradient/armadillo_drop")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(gradient, two_armadillos, "two_armadillos", k_full_tape, Span{1500, 100})
    ->Name("gradient/two_armadillos")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(gradient, box_stack_10, "box_stack", k_full_tape, Span{1000, 100})
    ->Name("gradient/box_stack_10")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(gradient, box_stack_of_corners, "box_stack_of_corners", k_full_tape, Span{1000, 100})
    ->Name("gradient/box_stack_10_corners")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(gradient, armadillo_drop_lean, "armadillo_drop", k_lean_tape)
    ->Name("gradient_lean/armadillo_drop")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(gradient, two_armadillos_lean, "two_armadillos", k_lean_tape, Span{1500, 100})
    ->Name("gradient_lean/two_armadillos")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(gradient, box_stack_10_lean, "box_stack", k_lean_tape, Span{1000, 100})
    ->Name("gradient_lean/box_stack_10")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(step, box_stack, "box_stack")->Name("step/box_stack")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace abut::benchmarks
