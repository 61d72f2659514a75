/// What the other benchmarks measure, in MuJoCo.
#include "tests/support/mujoco_peer/mujoco_peer.h"

#ifdef ABUT_HAVE_MUJOCO

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "scenes.h"

namespace abut::benchmarks {
namespace {

using test::MujocoPeer;

const test::MujocoSettings k_settings{.shapes = test::MujocoShapes::coarse};

MujocoPeer armadillo_peer() {
  const PoseSet& set = colliding_armadillos();
  State initial;
  initial.X_WB.assign(set.X_WB[0].begin(), set.X_WB[0].end());
  initial.V_WB.assign(initial.X_WB.size(), Vec6<double>::Zero());
  return {set.model, StepConfig().h, initial, k_settings};
}

/// What mj_collision reads of the poses, so that it can be measured alone.
class Kinematics {
 public:
  explicit Kinematics(const MujocoPeer& peer) {
    const auto bodies = static_cast<std::size_t>(peer.model()->nbody),
               geoms = static_cast<std::size_t>(peer.model()->ngeom);
    const mjData* d = peer.data();
    keep(d->xpos, 3 * bodies);
    keep(d->xquat, 4 * bodies);
    keep(d->xmat, 9 * bodies);
    keep(d->xipos, 3 * bodies);
    keep(d->ximat, 9 * bodies);
    keep(d->geom_xpos, 3 * geoms);
    keep(d->geom_xmat, 9 * geoms);
  }

  void restore() const {
    for (const auto& [place, values] : kept_) std::copy(values.begin(), values.end(), place);
  }

 private:
  void keep(mjtNum* values, std::size_t count) {
    kept_.emplace_back(values, std::vector<mjtNum>(values, values + count));
  }

  std::vector<std::pair<mjtNum*, std::vector<mjtNum>>> kept_;
};

/// mj_collision of poses whose kinematics are ready: copying them in is part of the time (less than 1 %).
void collision(benchmark::State& state) {
  const PoseSet& set = colliding_armadillos();
  const MujocoPeer peer = armadillo_peer();
  std::vector<Kinematics> kinematics;
  std::vector<double> contacts;
  for (const PosePair& X_WB : set.X_WB) {
    peer.set_poses(X_WB);
    mj_kinematics(peer.model(), peer.data());
    kinematics.emplace_back(peer);
    mj_collision(peer.model(), peer.data());
    contacts.push_back(peer.data()->ncon);
  }
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(kinematics.size()))) {
    for (const Kinematics& pose : kinematics) {
      pose.restore();
      mj_collision(peer.model(), peer.data());
      benchmark::ClobberMemory();
    }
  }
  state.counters["contacts"] = median(contacts);
}

void collision_with_kinematics(benchmark::State& state) {
  const PoseSet& set = colliding_armadillos();
  const MujocoPeer peer = armadillo_peer();
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(set.X_WB.size()))) {
    for (const PosePair& X_WB : set.X_WB) {
      peer.set_poses(X_WB);
      mj_kinematics(peer.model(), peer.data());
      mj_collision(peer.model(), peer.data());
      benchmark::ClobberMemory();
    }
  }
}

/// What MuJoCo offers for the Jacobian of contacts by poses: central differences of kinematics and collision
/// over the 12 coordinates, 24 evaluations (and no differences taken: contacts come and go between them).
void collision_differences(benchmark::State& state) {
  constexpr double k_difference = 1e-6;
  const PoseSet& set = colliding_armadillos();
  const MujocoPeer peer = armadillo_peer();
  std::array<mjtNum, 12> direction{};
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(set.X_WB.size()))) {
    for (const PosePair& X_WB : set.X_WB) {
      for (std::size_t i = 0; i < direction.size(); ++i) {
        for (const double difference : {k_difference, -k_difference}) {
          peer.set_poses(X_WB);
          direction[i] = difference;
          mj_integratePos(peer.model(), peer.data()->qpos, direction.data(), 1.0);
          direction[i] = 0.0;
          mj_kinematics(peer.model(), peer.data());
          mj_collision(peer.model(), peer.data());
          benchmark::ClobberMemory();
        }
      }
    }
  }
}

void step(benchmark::State& state, const char* name) {
  const Scene scene = read_asset_scene(name);
  MujocoPeer peer(scene.model, scene.config.step.h, scene.initial, k_settings);
  double contacts = 0.0;
  while (state.KeepRunningBatch(scene.config.steps)) {
    peer.reset(scene.initial);
    for (int k = 0; k < scene.config.steps; ++k) {
      mj_step(peer.model(), peer.data());
      contacts += peer.data()->ncon;
    }
    if (peer.has_warned()) {
      state.SkipWithError("MuJoCo warned");
      return;
    }
  }
  const auto measured = static_cast<double>(state.iterations());
  state.counters["steps_per_second"] = benchmark::Counter(measured, benchmark::Counter::kIsRate);
  state.counters["contacts"] = contacts / measured;
  state.counters["steps"] = scene.config.steps;
}

/// Steps of bodies that have settled, as step_settled() of settled_benchmark.cpp has them.
void step_settled(benchmark::State& state, const char* name, int settling) {
  constexpr int k_steps = 50;
  const Scene scene = read_benchmark_scene(name);
  MujocoPeer peer(scene.model, scene.config.step.h, scene.initial, k_settings);
  peer.reset(scene.initial);
  for (int k = 0; k < settling; ++k) mj_step(peer.model(), peer.data());
  double contacts = 0.0;
  while (state.KeepRunningBatch(k_steps)) {
    for (int k = 0; k < k_steps; ++k) {
      mj_step(peer.model(), peer.data());
      contacts += peer.data()->ncon;
    }
  }
  if (peer.has_warned()) {
    state.SkipWithError("MuJoCo warned");
    return;
  }
  const auto measured = static_cast<double>(state.iterations());
  state.counters["steps_per_second"] = benchmark::Counter(measured, benchmark::Counter::kIsRate);
  state.counters["contacts"] = contacts / measured;
  double largest_speed = 0.0;  // free bodies: v in W, then w in B
  for (int i = 0; i < peer.model()->nv; i += 6)
    largest_speed = std::max(largest_speed, mju_norm3(peer.data()->qvel + i));
  state.counters["largest_speed"] = largest_speed;
}

/// A step and, by central differences, its Jacobian by the state, as a gradient over a rollout would need it.
void gradient(benchmark::State& state, const char* name) {
  constexpr double k_difference = 1e-6;
  const Scene scene = read_asset_scene(name);
  MujocoPeer peer(scene.model, scene.config.step.h, scene.initial, k_settings);
  std::vector<mjtNum> jacobian(static_cast<std::size_t>(4 * peer.model()->nv * peer.model()->nv));
  while (state.KeepRunningBatch(scene.config.steps)) {
    peer.reset(scene.initial);
    for (int k = 0; k < scene.config.steps; ++k) {
      mjd_transitionFD(peer.model(), peer.data(), k_difference, 1, jacobian.data(), nullptr, nullptr,
                       nullptr);
      mj_step(peer.model(), peer.data());
      benchmark::DoNotOptimize(jacobian.data());
    }
  }
  state.counters["steps"] = scene.config.steps;
}

BENCHMARK(collision)->Name("mujoco/manifold/armadillo")->Unit(benchmark::kMicrosecond);
BENCHMARK(collision_with_kinematics)
    ->Name("mujoco/manifold/armadillo_with_kinematics")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(collision_differences)
    ->Name("mujoco/manifold/armadillo_differences")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(step, armadillo_drop, "armadillo_drop")
    ->Name("mujoco/step/armadillo_drop")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(gradient, armadillo_drop, "armadillo_drop")
    ->Name("mujoco/gradient/armadillo_drop")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(step, box_stack, "box_stack")->Name("mujoco/step/box_stack")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(step_settled, two_armadillos, "two_armadillos", 1500)
    ->Name("mujoco/step/two_armadillos")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(step_settled, box_stack, "box_stack", 1000)
    ->Name("mujoco/step/box_stack_10")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(step_settled, box_pile, "box_pile", 1600)
    ->Name("mujoco/step/box_pile_100")
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace abut::benchmarks

#endif
