/// Steps of 2 ms of mechanisms that fall without contact, of the trees alone, of the simulator and in MuJoCo; forward
/// dynamics and derivatives.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "dynamics/step/step_scratch.h"
#include "dynamics/step/stepper.h"
#include "dynamics/trees/free_tree_motion.h"
#include "dynamics/trees/tree_dynamics.h"
#include "engine/control.h"
#include "engine/random.h"
#include "tests/support/mechanisms.h"
#include "timer.h"
#ifdef ABUT_HAVE_MUJOCO
#include "tests/support/mujoco_tree.h"
#endif

namespace abut::benchmarks {
namespace {

using test::TreeCase;

constexpr double k_time_step = 2e-3;
constexpr int k_steps_of_a_run = 5000;  ///< then from the start again: 10 s
constexpr int k_driven_steps = 500;

struct FallingTrees {
  TreeCase c;
  TreeState<double> state;
  TreeLoads<double> loads;
  FreeTreeMotion motion;
  int steps = 0;

  explicit FallingTrees(const TreeCase& tree_case) : c(tree_case) {
    loads = {std::vector<Vec6<double>>(c.trees.links.size(), Vec6<double>::Zero()),
             VecX<double>::Zero(c.trees.nv)};
    start();
  }
  void start() {
    state = {c.q, c.u, std::vector<Vec6<double>>(c.trees.links.size(), Vec6<double>::Zero())};
    steps = 0;
  }
  void step(TreeMotionRecord* record = nullptr) {
    if (steps++ == k_steps_of_a_run) start();
    benchmark::DoNotOptimize(motion.step(c.trees, c.parameters, loads, k_time_step, state, record));
  }
};

void step(benchmark::State& state, const TreeCase& c) {
  FallingTrees trees(c);
  for (auto _ : state) trees.step();
}

void step_and_vjp(benchmark::State& state, const TreeCase& c) {
  FallingTrees trees(c);
  TreeMotionRecord record;
  TreeMotionTangent bar(c.trees);
  for (auto _ : state) {
    trees.step(&record);
    bar.state.q.setOnes();
    trees.motion.step_vjp(c.trees, c.parameters, trees.loads, record, bar);
    benchmark::DoNotOptimize(bar.state.q.data());
  }
}

/// A step of the simulator.
void whole_step(benchmark::State& state, const TreeCase& c) {
  const Model& model = c.mechanism.model;
  StepConfig config;
  config.h = k_time_step;
  const Stepper stepper(model, config);
  StepScratch scratch;
  State start = state_at_rest(model.body_count());
  start.X_WB = c.mechanism.X_WB;
  State from = start, to;
  int steps = 0;
  for (auto _ : state) {
    if (steps++ == k_steps_of_a_run) {
      from = start;
      steps = 0;
    }
    benchmark::DoNotOptimize(stepper.step(from, {}, to, scratch));
    std::swap(from, to);
  }
}

/// The gradient of a loss at the end by all commands of a run in which random torques drive all hinges. `ratio` is the
/// processor time of rollout and adjoint by that of simulate() of the same steps, which runs before each of them.
void gradient_by_commands(benchmark::State& state, const TreeCase& c) {
  Model model = c.mechanism.model;
  for (Joint& joint : model.joints) {
    if (has_coordinate(joint.kind)) joint.motor.kind = MotorKind::force;
  }
  StepConfig config;
  config.h = k_time_step;
  const Stepper stepper(model, config);
  State start = state_at_rest(model.body_count()), end;
  start.X_WB = c.mechanism.X_WB;
  Random random(1);
  Controls controls(k_driven_steps, zero_control(model));
  for (Control& control : controls) {
    for (double& command : control.commands) command = random.uniform(-1.0, 1.0);
  }
  const LossGradient loss = [&](int k, const State& at, StateTangent& bar) {
    if (k == k_driven_steps) bar.pose.back().tail<3>() = at.X_WB.back().p;
  };
  double simulate_seconds = 0.0, gradient_seconds = 0.0;
  while (state.KeepRunningBatch(k_driven_steps)) {
    state.PauseTiming();
    {
      const CpuTimer timer(simulate_seconds);
      (void)simulate(stepper, start, k_driven_steps, controls, end);
    }
    state.ResumeTiming();
    const CpuTimer timer(gradient_seconds);
    const Trajectory trajectory =
        rollout(stepper, start, k_driven_steps, controls, {}, std::size_t{256} << 20);
    if (!trajectory.ok()) {
      state.SkipWithError("the rollout failed");
      return;
    }
    const AdjointOptions options{nullptr, {false, false, false}};
    benchmark::DoNotOptimize(adjoint(stepper, trajectory, loss, options).controls.data());
  }
  state.counters["ratio"] = gradient_seconds / simulate_seconds;
}

void forward(benchmark::State& state, const TreeCase& c) {
  TreeElimination<double> elimination;
  TreeKinematics<double> kinematics;
  const VecX<double> tau = VecX<double>::Zero(c.trees.nv);
  for (auto _ : state) {
    tree_kinematics(c.trees, c.parameters, c.q, kinematics);
    const VecX<double> a =
        forward_dynamics<double>(c.trees, c.parameters, kinematics, c.u, tau, {}, elimination);
    benchmark::DoNotOptimize(a.data());
  }
}

#ifdef ABUT_HAVE_MUJOCO
/// mj_step with the semi-implicit Euler method.
void mujoco_step(benchmark::State& state, const TreeCase& c) {
  const test::MujocoTree tree(c, k_time_step);
  int steps = 0;
  for (auto _ : state) {
    if (steps++ == k_steps_of_a_run) {
      mj_resetData(tree.model.get(), tree.data.get());
      steps = 0;
    }
    mj_step(tree.model.get(), tree.data.get());
  }
}
#endif

const bool k_registered = [] {
  const std::vector<TreeCase> cases = {{"arm7", test::arm7()},
                                       {"humanoid_hanging", test::humanoid(true)},
                                       {"humanoid", test::humanoid()},
                                       {"chain30", test::chain(30, 0.1, 0.01, 0.1, false)},
                                       {"chain300", test::chain(300, 0.1, 0.01, 0.1, false)}};
  for (const TreeCase& c : cases) {
    const auto name = [&](const std::string& what) { return "trees/" + c.name + "/" + what; };
    benchmark::RegisterBenchmark(name("step").c_str(), step, c);
    benchmark::RegisterBenchmark(name("step_and_vjp").c_str(), step_and_vjp, c);
    benchmark::RegisterBenchmark(name("whole_step").c_str(), whole_step, c);
    benchmark::RegisterBenchmark(name("gradient_by_commands").c_str(), gradient_by_commands, c);
    benchmark::RegisterBenchmark(name("forward_dynamics").c_str(), forward, c);
#ifdef ABUT_HAVE_MUJOCO
    if (c.trees.link_count() <= 100) {  // its parser refuses deeper files
      benchmark::RegisterBenchmark(name("mujoco_step").c_str(), mujoco_step, c);
    }
#endif
  }
  return true;
}();

}  // namespace
}  // namespace abut::benchmarks
