#include "dynamics/rollout_env.h"

#include <cmath>
#include <stdexcept>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/no_alloc.h"
#include "tests/support/scenes.h"

namespace abut {
namespace {

test::TestScene box_and_ball_on_floor() {
  test::TestScene scene = test::floor_scene();
  scene.add(test::box_of_mass({0.05, 0.06, 0.04}, 1.0), test::pose_at({0, 0, 0.039}));
  scene.add(test::sphere_of_mass(0.05, 0.4), test::pose_at({0.01, 0, 0.135}));
  return scene;
}

std::vector<Control> controls_of_step(int worlds, int k) {
  std::vector<Control> controls(at(worlds), test::zero_wrenches(3));
  for (int w = 0; w < worlds; ++w) controls[at(w)].wrenches[1][3] = 0.5 * w * std::cos(0.1 * k);
  return controls;
}

}  // namespace

TEST_CASE("RolloutEnv: worlds are the same to the last bit on 1, 2 and 5 threads, and as single steps",
          "[dynamics][determinism]") {
  constexpr int k_worlds = 7, k_rounds = 60;
  const test::TestScene scene = box_and_ball_on_floor();
  const Simulator simulator(scene.model, {});
  std::vector<State> expected(k_worlds, scene.state);
  for (int k = 0; k < k_rounds; ++k) {
    for (int w = 0; w < k_worlds; ++w) {
      if (k == 20 && w % 3 == 0) expected[at(w)] = scene.state;
      expected[at(w)] = simulator.step(expected[at(w)], controls_of_step(k_worlds, k)[at(w)]).state;
    }
  }
  for (const int threads : {1, 2, 5, 0}) {
    CAPTURE(threads);
    RolloutEnv env(simulator, scene.state, k_worlds, threads);
    CHECK(env.world_count() == k_worlds);
    for (int k = 0; k < k_rounds; ++k) {
      if (k == 20) env.reset(std::vector<int>{0, 3, 6});
      env.step(controls_of_step(k_worlds, k));
    }
    for (int w = 0; w < k_worlds; ++w) {
      CHECK(state_hash(env.states()[at(w)]) == state_hash(expected[at(w)]));
      CHECK(env.steps()[at(w)] == (w % 3 == 0 ? k_rounds - 20 : k_rounds));
      CHECK(env.reports()[at(w)].step == env.steps()[at(w)] - 1);
      CHECK(env.reports()[at(w)].contacts > 0);
    }
  }
}

TEST_CASE("RolloutEnv: a world that fails stays where it was until it is reset, and disturbs no other",
          "[dynamics][value]") {
  const test::TestScene scene = box_and_ball_on_floor();
  const Simulator simulator(scene.model, {});
  RolloutEnv env(simulator, scene.state, 3, 2), undisturbed(simulator, scene.state, 3, 1);
  for (int k = 0; k < 5; ++k) {
    env.step();
    undisturbed.step();
  }
  const State before = env.states()[1];
  std::vector<Control> controls(3);
  controls[1].wrenches.assign(3, Vec6<double>::Constant(std::nan("")));
  env.step(controls);
  undisturbed.step();
  CHECK(env.failed(1));
  CHECK(env.reports()[1].status == StepStatus::non_finite);
  CHECK(env.reports()[1].step == 5);
  env.step();
  undisturbed.step();
  CHECK(state_hash(env.states()[1]) == state_hash(before));
  CHECK(env.steps()[1] == 5);
  for (const std::size_t w : {0u, 2u})
    CHECK(state_hash(env.states()[w]) == state_hash(undisturbed.states()[w]));
  env.reset(1, undisturbed.states()[1]);
  CHECK_FALSE(env.failed(1));
  env.step();
  undisturbed.step();
  for (std::size_t w = 0; w < 3; ++w)
    CHECK(state_hash(env.states()[w]) == state_hash(undisturbed.states()[w]));
  env.reset();
  for (std::size_t w = 0; w < 3; ++w) CHECK(state_hash(env.states()[w]) == state_hash(scene.state));
}

TEST_CASE("RolloutEnv: gradients of recorded windows are those of rollouts", "[dynamics][derivative]") {
  const test::TestScene scene = box_and_ball_on_floor();
  const Simulator simulator(scene.model, {});
  RolloutEnv env(simulator, scene.state, 4, 2);
  for (int k = 0; k < 10; ++k) env.step(controls_of_step(4, k));
  const std::vector<State> starts = env.states();
  const auto tape_bytes = static_cast<std::size_t>(GENERATE(0, 1, 1 << 24));  // no full record, one, all
  env.start_recording(tape_bytes);
  for (int k = 0; k < 15; ++k) {
    if (k == 5) env.reset(std::vector<int>{2});
    env.step(controls_of_step(4, k));
  }
  env.stop_recording();
  env.step();
  for (int w = 0; w < 4; ++w) {
    CAPTURE(w);
    const int steps = w == 2 ? 10 : 15;
    const Trajectory& window = env.window(w);
    REQUIRE(window.step_count() == steps);
    int full = 0;
    for (const StepRecord& record : window.records) full += record.substeps.front().tape != nullptr;
    CHECK(full == (tape_bytes == 0 ? 0 : tape_bytes == 1 ? 1 : steps));
    Controls controls;
    for (int k = 15 - steps; k < 15; ++k) controls.push_back(controls_of_step(4, k)[at(w)]);
    const RolloutLoss loss =
        final_loss(steps, [](const auto& x) { return x.position(1).x() + x.velocity(2).z(); });
    const LossAndGradient expected =
        simulator.value_and_gradient(w == 2 ? scene.state : starts[at(w)], steps, controls, loss);
    CHECK(value_of(loss, window) == expected.value);
    const Gradient gradient = simulator.gradient(window, loss.gradient);
    CHECK((gradient.initial.twist[1] - expected.gradient.initial.twist[1]).norm() <=
          1e-12 * expected.gradient.initial.twist[1].norm());
    CHECK(gradient.model.bodies[1].mass == Approx(expected.gradient.model.bodies[1].mass).epsilon(1e-9));
  }
}

TEST_CASE("RolloutEnv: a step allocates nothing once its worlds have been through the like",
          "[dynamics][property]") {
  if (!test::k_counts_allocations) return;
  const test::TestScene scene = box_and_ball_on_floor();
  const Simulator simulator(scene.model, {});
  for (const int threads : {1, 3}) {  // counted is the thread of the caller, which has worlds of its own
    RolloutEnv env(simulator, scene.state, 6, threads);
    const std::vector<Control> controls = controls_of_step(6, 0);
    const std::vector<int> some{0, 2};
    const auto go = [&] {
      env.reset(some);
      for (int k = 0; k < 40; ++k) env.step(controls);
    };
    for (int i = 0; i < 3; ++i) go();
    const test::NoAlloc guard;
    go();
    const std::size_t count = guard.allocations();
    CHECK(count == 0);
    CHECK_FALSE(env.failed(0));
  }
}

TEST_CASE("RolloutEnv: an observer sees every state once, of steps that ended well and of resets",
          "[dynamics][value]") {
  constexpr int k_worlds = 4;
  const test::TestScene scene = box_and_ball_on_floor();
  const Simulator simulator(scene.model, {});
  RolloutEnv env(simulator, scene.state, k_worlds, 2);
  std::vector<int> calls(k_worlds, 0);
  std::vector<State> seen(k_worlds);
  env.observe([&](int world, const State& state) {
    ++calls[at(world)];
    seen[at(world)] = state;
  });
  CHECK(calls == std::vector<int>(k_worlds, 1));
  std::vector<Control> controls = controls_of_step(k_worlds, 0);
  controls[2].wrenches[1][3] = std::nan("");
  env.step(controls);
  env.reset(std::vector<int>{1});
  CHECK(calls == std::vector<int>{2, 3, 1, 2});
  for (int w = 0; w < k_worlds; ++w) CHECK(state_hash(seen[at(w)]) == state_hash(env.states()[at(w)]));
}

TEST_CASE("RolloutEnv: what makes no sense is refused", "[dynamics][value]") {
  const test::TestScene scene = box_and_ball_on_floor();
  const Simulator simulator(scene.model, {});
  CHECK_THROWS_AS(RolloutEnv(simulator, scene.state, 0), std::invalid_argument);
  CHECK_THROWS_AS(RolloutEnv(simulator, scene.state, 1, -1), std::invalid_argument);
  CHECK_THROWS_AS(RolloutEnv(simulator, state_at_rest(2), 1), std::invalid_argument);
  RolloutEnv env(simulator, scene.state, 2);
  CHECK_THROWS_AS(env.step(std::vector<Control>(3)), std::invalid_argument);
  CHECK_THROWS_AS(env.step({{test::zero_wrenches(2), Control()}}), std::invalid_argument);
  CHECK_THROWS_AS(env.reset(2, scene.state), std::invalid_argument);
  CHECK_THROWS_AS(env.reset(0, state_at_rest(1)), std::invalid_argument);
}

}  // namespace abut
