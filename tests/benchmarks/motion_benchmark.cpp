/// Bodies that nothing touches, and many small worlds.
#include <benchmark/benchmark.h>

#include <memory>
#include <numeric>
#include <vector>

#include "dynamics/batch_rollout.h"
#include "dynamics/motion/free_motion.h"
#include "dynamics/rollout/rollout.h"
#include "dynamics/rollout_env.h"
#include "engine/body_builder.h"
#include "engine/random.h"
#include "scenes.h"
#include "timer.h"

namespace abut::benchmarks {
namespace {

/// Free velocities of 100 bricks that turn by h w [rad]; the time is that of one.
void free_motion_of_bricks(benchmark::State& state, double turn) {
  constexpr int k_bodies = 100;
  constexpr double k_h = 2e-3;  // [s]
  Model model;
  State at;
  Random random(1);
  for (int b = 0; b < k_bodies; ++b) {
    model.bodies.push_back(make_box(Vec3<double>(0.05, 0.1, 0.2), 0.0, 1, 1000.0));
    at.X_WB.push_back({random.quaternion(), Vec3<double>::Zero()});
    at.V_WB.push_back(Vec6<double>::Zero());
    at.V_WB.back().head<3>() = turn / k_h * random.unit_vector();
  }
  MassMatrix mass;
  mass.update(model, at);
  FreeMotion free;
  while (state.KeepRunningBatch(k_bodies)) {
    free_motion(model, mass, at, {}, k_h, free);
    benchmark::DoNotOptimize(free.v_free.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK_CAPTURE(free_motion_of_bricks, slow, 0.01)->Name("free_motion/0.01_rad");
BENCHMARK_CAPTURE(free_motion_of_bricks, fast, 1.0)->Name("free_motion/1_rad");
BENCHMARK_CAPTURE(free_motion_of_bricks, fastest, 30.0)->Name("free_motion/30_rad");

constexpr int k_worlds = 100, k_steps = 100;

/// 100 worlds of three bodies (the bundled two armadillos, falling) on one thread; the time is that of a step
/// of a world. `speedup` is the time of the same steps one world after the other, by it.
template <typename StepAll>
void time_worlds(benchmark::State& state, const Scene& scene, const Simulator& simulator,
                 const StepAll& step_all) {
  double alone = 0.0, together = 0.0;  // [s] of the processor
  while (state.KeepRunningBatch(k_worlds * k_steps)) {
    state.PauseTiming();
    {
      const CpuTimer timer(alone);
      State end;
      for (int world = 0; world < k_worlds; ++world)
        (void)simulate(simulator.stepper(), scene.initial, k_steps, {}, end);
    }
    state.ResumeTiming();
    const CpuTimer timer(together);
    step_all();
  }
  state.counters["speedup"] = alone / together;
}

/// All worlds a step at a time, as for learning.
void worlds_in_step(benchmark::State& state) {
  const Scene scene = read_benchmark_scene("two_armadillos");
  const Simulator simulator(scene.model, scene.config.step);
  RolloutEnv environment(simulator, scene.initial, k_worlds, 1);
  time_worlds(state, scene, simulator, [&] {
    environment.reset();
    for (int step = 0; step < k_steps; ++step) environment.step();
  });
}
BENCHMARK(worlds_in_step)
    ->Name("worlds/two_armadillos/100")
    ->Unit(benchmark::kMicrosecond)
    ->MeasureProcessCPUTime();

/// Rollout by rollout, as `abut batch` does, which looks for overlaps and penetrations as well.
void batch(benchmark::State& state) {
  const Scene scene = read_benchmark_scene("two_armadillos");
  const auto simulator = std::make_shared<const Simulator>(scene.model, scene.config.step);
  std::vector<int> worlds(k_worlds);
  std::iota(worlds.begin(), worlds.end(), 0);
  time_worlds(state, scene, *simulator, [&] {
    (void)run_batch(worlds, [&](int) { return BatchTask{simulator, scene.initial, k_steps}; }, {1}, {});
  });
}
BENCHMARK(batch)->Name("batch/two_armadillos/100")->Unit(benchmark::kMicrosecond)->MeasureProcessCPUTime();

}  // namespace
}  // namespace abut::benchmarks
