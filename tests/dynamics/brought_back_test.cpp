// Contacts that recede at the start of a step and that the bodies' other contacts bring back in it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <utility>

#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "dynamics/rollout/rollout_jvp.h"
#include "dynamics/step/step_memory.h"
#include "tests/support/close.h"
#include "tests/support/fitted_derivative.h"
#include "tests/support/impacts.h"
#include "tests/support/random_drops.h"
#include "tests/support/watched_run.h"

namespace {

using namespace abut;
using test::TestScene;

constexpr double k_blow_ratio = 100.0, k_blow_step = 1e-2, k_blow_seconds = 0.3;
constexpr int k_blows = 25;
constexpr double k_widths[] = {1e-4, 1e-5, 1e-6, 1e-7};

TestScene heavy_blow(int seed, double restitution) {
  Random random(static_cast<std::uint64_t>(seed));
  return test::random_blow(random, k_blow_ratio, restitution);
}

/// The states of a blow whose step has no impact but of contacts that are brought back.
std::vector<State> states_before_brought_back(const TestScene& scene, const StepConfig& config) {
  const Stepper stepper(scene.model, config);
  StepScratch scratch;
  std::vector<State> found;
  State state = scene.state, next;
  for (int k = 0; k < static_cast<int>(k_blow_seconds / config.h); ++k) {
    const StepReport report = stepper.step(state, {}, next, scratch);
    REQUIRE(report.status == StepStatus::ok);
    if (report.impacts == 1 && !scratch.memory().phases.brought_back.empty()) found.push_back(state);
    std::swap(state, next);
  }
  return found;
}

}  // namespace

TEST_CASE("ImpactPhases: a blow of 100 : 1 in steps of 10 ms leaves no overlap above 0.5 mm",
          "[dynamics][property]") {
  const double restitution = GENERATE(0.3, 0.8, 1.0);
  for (int seed = 1; seed <= k_blows; ++seed) {
    const test::WatchedRun run =
        test::watch(heavy_blow(seed, restitution), test::config_with_step(k_blow_step),
                    static_cast<int>(k_blow_seconds / k_blow_step));
    CAPTURE(restitution, seed, run.overlap);
    CHECK(run.status == StepStatus::ok);
    CHECK(run.overlap <= 0.5e-3);
    CHECK(run.jump <= 1e-12);
    CHECK(run.energy_gain() <= 1e-4 * run.start_energy);
  }
}

TEST_CASE(
    "ImpactPhases: a light box that bounces dozens of times under a heavy one does not come into the floor",
    "[dynamics][property]") {
  // In one of the steps the box hits the floor and the heavy one in turn, some forty times each.
  const auto [seed, restitution] = GENERATE(std::pair(32, 0.3), std::pair(37, 0.8));
  const test::WatchedRun run = test::watch(heavy_blow(seed, restitution), test::config_with_step(k_blow_step),
                                           static_cast<int>(k_blow_seconds / k_blow_step));
  CAPTURE(seed, restitution, run.overlap);
  CHECK(run.status == StepStatus::ok);
  CHECK(run.overlap <= 0.5e-3);
}

TEST_CASE("ImpactPhases: adjoint and JVP agree with differences through steps that bring contacts back",
          "[dynamics][derivative]") {
  const StepConfig config = test::impact_config(k_blow_step);
  int compared = 0;
  for (const double restitution : {0.3, 0.8}) {
    for (int seed = 1; seed <= k_blows; ++seed) {
      TestScene scene = heavy_blow(seed, restitution);
      const Stepper stepper(scene.model, config);
      Random random(static_cast<std::uint64_t>(seed));
      for (const State& start : states_before_brought_back(scene, config)) {
        scene.state = start;
        const Trajectory trajectory = rollout(stepper, start, 1);
        const StateTangent weights = test::random_tangent(random, scene.model.body_count());
        RolloutDirection direction;
        direction.initial = test::random_tangent(random, scene.model.body_count());
        direction.bodies.resize(scene.model.bodies.size());
        for (const std::size_t floor : {0u}) {
          direction.initial.pose[floor].setZero();
          direction.initial.twist[floor].setZero();
        }
        for (Vec6<double>& pose : direction.initial.pose) pose *= 0.01;
        const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
          if (k == 1) bar = weights;
        });
        const double slope = test::inner_product(gradient.initial, direction.initial),
                     forward =
                         test::inner_product(weights, rollout_jvp(stepper, trajectory, direction).back());
        const auto loss = [&](double t) {
          State moved = start, end;
          for (std::size_t b = 0; b < moved.X_WB.size(); ++b) {
            moved.X_WB[b] = retract<double>(moved.X_WB[b], t * direction.initial.pose[b]);
            moved.V_WB[b] += t * direction.initial.twist[b];
          }
          (void)simulate(stepper, moved, 1, {}, end);
          double sum = 0.0;
          for (std::size_t b = 0; b < moved.X_WB.size(); ++b)
            sum += weights.pose[b].dot(difference(end.X_WB[b], trajectory.states.back().X_WB[b])) +
                   weights.twist[b].dot(end.V_WB[b] - trajectory.states.back().V_WB[b]);
          return sum;
        };
        // Friction may leave v_0 two solutions: a wide range mixes them.
        const test::FittedDerivative reference = test::fitted_derivative(loss, 0.0, k_widths);
        const int near_kink = gradient.health.contacts_near_kink;
        CAPTURE(restitution, seed, slope, forward, reference.value, reference.error, near_kink);
        CHECK(test::close(forward, slope, 1e-8, 1e-8));
        CHECK(reference.is_resolved());
        CHECK(reference.agrees_with(slope));
        ++compared;
      }
    }
  }
  CHECK(compared >= 8);
}
