#include "dynamics/rollout/checkpointing.h"

#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::TestScene;

constexpr int k_rollout_steps = 120;

/// A box that falls onto a soft one and a ball that bounces: contacts, impacts and divided steps.
TestScene make_scene() {
  TestScene scene = test::floor_scene();
  scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 2), test::pose_at({0, 0, 0.06}, {0.1, 0, 0}));
  scene.add(test::box_of_mass({0.04, 0.04, 0.04}, 0.5, 2), test::pose_at({0.02, 0, 0.18}, {0, 0.3, 0.2}));
  scene.add(test::sphere_of_mass(0.05, 0.3), test::pose_at({0.3, 0, 0.1}), test::moving_at({0.2, 0, -1}));
  scene.body(3).material.restitution = 0.8;
  scene.body(1).material.stiffness = 2e4;
  scene.body(1).material.dissipation_time = 1e-3;
  return scene;
}

StepConfig config() {
  StepConfig config;
  config.acceleration_scale = 9.81;
  config.contact.edge_edge = false;
  config.adaptive_substeps = true;
  config.penetration_growth = 1e-4;
  return config;
}

void loss(int k, const State& state, StateTangent& bar) {
  if (k % 40 != 0) return;
  for (std::size_t b = 1; b < state.X_WB.size(); ++b) {
    bar.pose[b].tail<3>() += state.X_WB[b].p;
    bar.twist[b].head<3>() += 0.1 * state.V_WB[b].head<3>();
  }
}

}  // namespace

TEST_CASE("checkpointed_gradient: is the adjoint to the last bit, whatever the memory", "[dynamics][value]") {
  const TestScene scene = make_scene();
  const Stepper stepper(scene.model, config());
  const Trajectory kept = rollout(stepper, scene.state, k_rollout_steps);
  REQUIRE(kept.ok());
  CHECK(std::any_of(kept.records.begin(), kept.records.end(),
                    [](const StepRecord& record) { return record.substeps.size() > 1; }));
  const Gradient expected = adjoint(stepper, kept, loss);
  std::size_t all = 0;
  for (std::size_t k = 0; k < kept.records.size(); ++k)
    all += kept_numbers(kept.records[k], kept.states[k + 1]);

  std::int64_t steps_before = 0;
  for (const double share : {2.0, 0.5, 0.2, 0.06}) {
    const auto limit = static_cast<std::size_t>(share * static_cast<double>(all));
    const CheckpointedGradient got =
        checkpointed_gradient(stepper, scene.state, k_rollout_steps, {}, loss, limit);
    CAPTURE(share, limit, got.peak_numbers, got.steps_taken);
    CHECK(got.peak_numbers <= limit);
    CHECK(got.steps_taken > steps_before);                       // less memory, more steps
    if (share > 1.0) CHECK(got.steps_taken == k_rollout_steps);  // enough for all: none twice
    steps_before = got.steps_taken;
    CHECK(state_hash(got.final_state) == state_hash(kept.states.back()));
    for (std::size_t b = 1; b < 4; ++b) {
      CHECK(got.gradient.initial.pose[b] == expected.initial.pose[b]);
      CHECK(got.gradient.initial.twist[b] == expected.initial.twist[b]);
      CHECK(got.gradient.model.bodies[b].mass == expected.model.bodies[b].mass);
      CHECK(got.gradient.model.bodies[b].friction == expected.model.bodies[b].friction);
    }
    CHECK(got.gradient.health.adjoint_norm == expected.health.adjoint_norm);
  }
}

TEST_CASE("checkpointed_gradient: the schedule needs few repetitions", "[dynamics][property]") {
  // A tenth of the states, and each step is taken no more than about four times.
  TestScene scene;
  scene.add(test::sphere_of_mass(0.05, 0.3), test::pose_at({0.3, 0, 0.1}), test::moving_at({0.2, 0, -1}));
  const Stepper stepper(scene.model, config());
  const auto end_loss = [](int k, const State&, StateTangent& bar) {
    if (k == 1000) bar.pose[0][5] += 1.0;
  };
  const std::size_t checkpoint = checkpoint_numbers(scene.state);
  const CheckpointedGradient got =
      checkpointed_gradient(stepper, scene.state, 1000, {}, end_loss, 30 * checkpoint);
  CHECK(got.steps_taken <= 5 * 1000);
  CHECK(got.gradient.initial.twist[0][5] == Approx(2.0));
}

TEST_CASE("checkpointed_gradient: a rollout that fails has no gradient", "[dynamics][value]") {
  const TestScene scene = make_scene();
  StepConfig hopeless = config();
  hopeless.max_iterations = 1;
  hopeless.tolerance = 1e-14;
  const Stepper stepper(scene.model, hopeless);
  CHECK_THROWS_AS(checkpointed_gradient(stepper, scene.state, k_rollout_steps, {}, loss, 1000),
                  std::logic_error);
  CHECK_THROWS_AS(checkpointed_gradient(stepper, scene.state, 0, {}, loss, 1000), std::invalid_argument);
}
