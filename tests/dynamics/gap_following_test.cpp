#include "dynamics/step/gap_following.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dynamics/rollout/rollout.h"
#include "dynamics/step/step_memory.h"
#include "engine/lie.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/near_misses.h"
#include "tests/support/samples.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::close;
using test::NearMiss;
using test::NearPass;

constexpr double k_h = 1e-3;

/// The moment of a pass at which B is above A, closing by 0.3 to 2 clearances in the step, with a spin.
State closing_state(const NearPass& pass, Random& random) {
  State state = pass.start;
  state.X_WB[1].p += k_h * pass.steps * random.uniform(0.35, 0.65) * pass.velocity;
  state.V_WB[1].tail<3>() -= random.uniform(0.3, 2.0) * pass.clearance / k_h * pass.normal;
  state.V_WB[1].head<3>() =
      random.uniform(0.0, 1.0) * pass.clearance / pass.size / k_h * random.unit_vector();
  return state;
}

}  // namespace

TEST_CASE("FollowingTime: short of where the plane is reached or the step ends, and 0 otherwise",
          "[dynamics][value]") {
  const double h = 2e-3, tau_p = 1e-4, rest = 0.03 * tau_p, band = 4.0 * tau_p;
  const auto value = [&](double d, double u) { return FollowingTime(d, u, h, tau_p, band).value; };
  const auto left = [&](double d) { return 0.01 / (1.0 / d + 1.0 / tau_p); };
  CHECK(close(value(5e-4, -1.0), 5e-4 - left(5e-4), 1e-13, 0.0));
  CHECK(close(value(2.21e-3, -1.0), h, 1e-13, 0.0));
  CHECK(value(2.41e-3, -1.0) == 0.0);  // without a share
  CHECK(value(1e-3, 0.0) == 0.0);
  CHECK(value(1e-3, 1.0) == 0.0);
  CHECK(value(1e-7, -0.9 * rest / h) == 0.0);  // at rest
  CHECK(value(0.0, -1.0) == 0.0);              // has closed
  for (double d = 0.0; d < 3e-3; d += 1e-5) CHECK(value(d, -1.0) <= d);
}

TEST_CASE("FollowingTime: derivatives agree with differences", "[dynamics][derivative]") {
  const double h = 2e-3, tau_p = 1e-4, rest = 0.03 * tau_p, band = 4.0 * tau_p;
  for (const double u : {-1.0, -1.2 * rest / h, -1.7 * rest / h}) {
    // The last are those of the onset of a share, at d + h u in 0.9 to 1 band.
    for (const double c : {-0.01, 0.005, 0.015, 0.5, 0.93, 1.0, 1.07, 1.0 + 0.92 * band / (-u * h),
                           1.0 + 0.97 * band / (-u * h)}) {
      const double d = -c * u * h;
      const FollowingTime time(d, u, h, tau_p, band);
      CAPTURE(u, c, time.value, time.amount);
      const auto check = [&](double FollowingTime::*of, double by_distance, double by_velocity,
                             double scale) {
        const auto difference = [&](const auto& f, double x, double step, double unit) {
          const auto swept = test::fd_sweep(f, x, step, 1e-6, 1e-9 * scale / unit);
          CHECK_FALSE(swept.disagrees_with_itself);
          return swept.value;
        };
        CHECK(close(by_distance,
                    difference([&](double x) { return FollowingTime(x, u, h, tau_p, band).*of; }, d,
                               -1e-2 * u * h, -u * h),
                    1e-6, 1e-8 * scale / (-u * h)));
        CHECK(close(
            by_velocity,
            difference([&](double x) { return FollowingTime(d, x, h, tau_p, band).*of; }, u, -1e-2 * u, -u),
            1e-6, 1e-8 * scale / -u));
      };
      check(&FollowingTime::value, time.by_distance, time.by_velocity, h);
      check(&FollowingTime::amount, time.amount_by_distance, time.amount_by_velocity, 1.0);
    }
  }
}

TEST_CASE("gap following: a step that follows gaps has the derivatives of differences",
          "[dynamics][derivative]") {
  const NearMiss kind = GENERATE(NearMiss::edge_over_edge, NearMiss::vertex_over_face, NearMiss::faces_flush);
  int resolved = 0, touching = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed + 555 * static_cast<std::uint64_t>(kind));
    const NearPass pass = test::make_near_pass(kind, random, 1.0, k_h);
    if (pass.steps == 0) continue;
    const State state = closing_state(pass, random);
    StepConfig config;
    config.h = k_h;
    config.tolerance = 1e-12;
    config.acceleration_scale = 9.81;
    const Stepper stepper(pass.model, config);
    StepScratch scratch;
    State next;
    StepRecord record, full;
    REQUIRE(stepper.step(state, {}, next, scratch, &full, Tape::full).status == StepStatus::ok);
    REQUIRE(stepper.step(state, {}, next, scratch, &record).status == StepStatus::ok);
    if (scratch.memory().solved.followed.empty() || record.substeps[0].features.empty()) continue;

    StateTangent direction = test::random_tangent(random, 2), weights = test::random_tangent(random, 2);
    for (std::size_t b = 0; b < 2; ++b) {
      direction.pose[b] *= pass.clearance;
      direction.twist[b] *= pass.clearance / k_h;
    }
    const auto loss = [&](const State& at) {
      double sum = 0.0;
      for (std::size_t b = 0; b < 2; ++b) {
        sum += weights.pose[b].dot(difference<double>(at.X_WB[b], next.X_WB[b])) / k_h +
               weights.twist[b].dot(at.V_WB[b] - next.V_WB[b]);
      }
      return sum;
    };
    const auto moved_loss = [&](double t) {
      State moved = state, end;
      for (std::size_t b = 0; b < 2; ++b) {
        moved.X_WB[b] = retract<double>(state.X_WB[b], t * direction.pose[b]).normalized();
        moved.V_WB[b] += t * direction.twist[b];
      }
      StepScratch fresh;
      REQUIRE(stepper.step(moved, {}, end, fresh).status == StepStatus::ok);
      return loss(end);
    };
    StateTangent next_bar = weights, state_bar(2), full_bar(2), next_dot(2);
    for (Vec6<double>& pose : next_bar.pose) pose /= k_h;
    std::vector<Vec6<double>> wrench_bar(2, Vec6<double>::Zero()), wrench(2, Vec6<double>::Zero());
    ModelGradient model_bar;
    model_bar.set_zero(pass.model);
    const StepBar bar{&next_bar, &state_bar, wrench_bar, &model_bar, {false, false, false}},
        of_full{&next_bar, &full_bar, wrench_bar, &model_bar, {false, false, false}};
    (void)stepper.step_vjp(state, {}, next, record, {&bar, 1}, scratch);
    REQUIRE(full.substeps[0].tape != nullptr);
    StepScratch fresh_scratch;
    (void)stepper.step_vjp(state, {}, next, full, {&of_full, 1}, fresh_scratch);
    const std::vector<BodyDirection> bodies(2);
    const StepDirection of_step{&direction, wrench, Vec3<double>::Zero(), bodies, &next_dot};
    stepper.step_jvp(state, {}, next, record, {&of_step, 1}, scratch);
    const double backward = test::inner_product(state_bar, direction),
                 of_tape = test::inner_product(full_bar, direction),
                 forward = test::inner_product(next_bar, next_dot);
    double scale = 0.0;
    for (std::size_t b = 0; b < 2; ++b) {
      scale += weights.pose[b].norm() * next_dot.pose[b].norm() / k_h +
               weights.twist[b].norm() * next_dot.twist[b].norm();
    }
    CAPTURE(static_cast<int>(kind), seed, forward, backward, of_tape, scale);
    CHECK(std::abs(forward - backward) < 1e-9 * scale);
    CHECK(std::abs(of_tape - backward) < 1e-9 * scale);
    touching += (next.V_WB[1] - state.V_WB[1]).norm() > 1e-6 * state.V_WB[1].norm();
    const auto swept = test::fd_sweep(moved_loss, 0.0, 1e-3, 1e-5, 1e-5 * scale);
    if (swept.disagrees_with_itself) continue;
    ++resolved;
    CAPTURE(swept.value, swept.error);
    CHECK(close(forward, swept.value, 0.0, 1e-4 * scale));
  }
  CHECK(resolved >= 8);
  CHECK(touching >= 8);
}
