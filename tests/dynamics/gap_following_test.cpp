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

/// How many steps were compared with differences, and in how many a body was touched.
struct StepsCompared {
  int resolved = 0, touching = 0;
};

/// Compares derivatives of a step that follows gaps with each other and with differences.
///
/// @param length   of perturbations [m]
/// @param follows  whether a step counts, by the gaps that it follows
template <typename Follows>
void compare_step_derivatives(const Model& model, const State& state, double length, Random& random,
                              const Follows& follows, StepsCompared& compared) {
  StepConfig config;
  config.h = k_h;
  config.tolerance = 1e-12;
  config.acceleration_scale = 9.81;
  const Stepper stepper(model, config);
  const std::size_t bodies = state.X_WB.size();
  StepScratch scratch;
  State next;
  StepRecord record, full;
  REQUIRE(stepper.step(state, {}, next, scratch, &full, Tape::full).status == StepStatus::ok);
  REQUIRE(stepper.step(state, {}, next, scratch, &record).status == StepStatus::ok);
  if (!follows(scratch.memory().solved.followed) || record.substeps[0].features.empty()) return;

  StateTangent direction = test::random_tangent(random, static_cast<int>(bodies)),
               weights = test::random_tangent(random, static_cast<int>(bodies));
  for (std::size_t b = 0; b < bodies; ++b) {
    direction.pose[b] *= length;
    direction.twist[b] *= length / k_h;
    if (model.bodies[b].fixed) direction.twist[b].setZero();
  }
  const auto loss = [&](const State& at) {
    double sum = 0.0;
    for (std::size_t b = 0; b < bodies; ++b) {
      sum += weights.pose[b].dot(difference<double>(at.X_WB[b], next.X_WB[b])) / k_h +
             weights.twist[b].dot(at.V_WB[b] - next.V_WB[b]);
    }
    return sum;
  };
  const auto moved_loss = [&](double t) {
    State moved = state, end;
    for (std::size_t b = 0; b < bodies; ++b) {
      moved.X_WB[b] = retract<double>(state.X_WB[b], t * direction.pose[b]).normalized();
      moved.V_WB[b] += t * direction.twist[b];
    }
    StepScratch fresh;
    REQUIRE(stepper.step(moved, {}, end, fresh).status == StepStatus::ok);
    return loss(end);
  };
  StateTangent next_bar = weights, state_bar(bodies), full_bar(bodies), next_dot(bodies);
  for (Vec6<double>& pose : next_bar.pose) pose /= k_h;
  std::vector<Vec6<double>> wrench_bar(bodies, Vec6<double>::Zero()), wrench(bodies, Vec6<double>::Zero());
  ModelGradient model_bar;
  model_bar.set_zero(model);
  const StepBar bar{&next_bar, &state_bar, wrench_bar, &model_bar, {false, false, false}},
      of_full{&next_bar, &full_bar, wrench_bar, &model_bar, {false, false, false}};
  (void)stepper.step_vjp(state, {}, next, record, {&bar, 1}, scratch);
  REQUIRE(full.substeps[0].tape != nullptr);
  StepScratch fresh_scratch;
  (void)stepper.step_vjp(state, {}, next, full, {&of_full, 1}, fresh_scratch);
  const std::vector<BodyDirection> body_directions(bodies);
  const StepDirection of_step{&direction, wrench, Vec3<double>::Zero(), body_directions, &next_dot};
  stepper.step_jvp(state, {}, next, record, {&of_step, 1}, scratch);
  const double backward = test::inner_product(state_bar, direction),
               of_tape = test::inner_product(full_bar, direction),
               forward = test::inner_product(next_bar, next_dot);
  double scale = 0.0;
  for (std::size_t b = 0; b < bodies; ++b) {
    scale += weights.pose[b].norm() * next_dot.pose[b].norm() / k_h +
             weights.twist[b].norm() * next_dot.twist[b].norm();
  }
  CAPTURE(forward, backward, of_tape, scale);
  CHECK(std::abs(forward - backward) < 1e-9 * scale);
  CHECK(std::abs(of_tape - backward) < 1e-9 * scale);
  const std::size_t last = bodies - 1;
  compared.touching += (next.V_WB[last] - state.V_WB[last]).norm() > 1e-6 * state.V_WB[last].norm();
  const auto swept = test::fd_sweep(moved_loss, 0.0, 1e-3, 1e-5, 1e-5 * scale);
  if (swept.disagrees_with_itself) return;
  ++compared.resolved;
  CAPTURE(swept.value, swept.error);
  CHECK(close(forward, swept.value, 0.0, 1e-4 * scale));
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

TEST_CASE("FollowingTime: of the end of a step, from a depth on", "[dynamics][value]") {
  const double h = 2e-3, tau_p = 1e-4, band = 4.0 * tau_p, depth = k_followed_depth * tau_p;
  const auto time = [&](double d, double u) { return FollowingTime(d, u, h, tau_p, band, depth); };
  for (const double d : {5e-4, 2.21e-3, 0.0, -0.4 * depth}) {
    CHECK(time(d, -1.0).value == h);
    CHECK(time(d, -1.0).amount == 1.0);
  }
  CHECK(time(1e-7, -0.3 * 0.03 * tau_p / h).amount == 1.0);
  CHECK(time(1e-7, -0.1 * 0.03 * tau_p / h).amount == 0.0);  // at rest
  CHECK(close(time(-0.75 * depth, -1.0).amount, 0.5, 1e-12, 0.0));
  CHECK(time(-depth, -1.0).amount == 0.0);
  CHECK(time(1e-7, 1.0).amount == 0.0);
}

TEST_CASE("PassedShare: of what still closes above a solid at the end of a step, and its derivatives",
          "[dynamics][derivative]") {
  const double depth = 1e-5;
  CHECK(PassedShare(0.0, 0.0, 1.0, depth).value == 1.0);
  CHECK(PassedShare(-0.5 * depth, 0.0, 1.0, depth).value == 1.0);
  CHECK(PassedShare(-depth, 0.0, 1.0, depth).value == 0.0);
  CHECK(PassedShare(1e-3, -1.0, 1.0, depth).value == 0.0);  // has been in a thin plate
  CHECK(PassedShare(0.0, 0.0, 0.0, depth).value == 0.0);    // a normal beyond those of the vertex
  for (const double distance : {-0.8 * depth, -0.6 * depth}) {
    for (const double closing : {-0.35, -0.25}) {
      for (const double facing : {0.3, 0.8}) {
        const PassedShare share(distance, closing, facing, depth);
        CAPTURE(distance, closing, facing, share.value);
        CHECK(
            close(share.by_distance,
                  test::fd_derivative([&](double x) { return PassedShare(x, closing, facing, depth).value; },
                                      distance, 1e-4 * depth),
                  1e-5, 0.0));
        CHECK(
            close(share.by_closing,
                  test::fd_derivative([&](double x) { return PassedShare(distance, x, facing, depth).value; },
                                      closing, 1e-4),
                  1e-5, 0.0));
        CHECK(
            close(share.by_facing,
                  test::fd_derivative(
                      [&](double x) { return PassedShare(distance, closing, x, depth).value; }, facing, 1e-4),
                  1e-5, 0.0));
      }
    }
  }
}

TEST_CASE("FollowingTime: derivatives agree with differences", "[dynamics][derivative]") {
  const double h = 2e-3, tau_p = 1e-4, rest = 0.03 * tau_p, band = 4.0 * tau_p;
  const double depth = GENERATE_COPY(0.0, k_followed_depth * tau_p), slow = depth > 0.0 ? 0.1 * rest : rest;
  for (const double u : {-1.0, -1.2 * slow / h, -1.7 * slow / h}) {
    // The last are those of the onset of a share, at d + h u in 0.9 to 1 band.
    for (const double c : {-0.01, 0.005, 0.015, 0.5, 0.93, 1.0, 1.07, 1.0 + 0.92 * band / (-u * h),
                           1.0 + 0.97 * band / (-u * h), -0.6 * depth / (-u * h), -0.9 * depth / (-u * h)}) {
      if (depth == 0.0 && c == 0.0) continue;  // where following begins
      const double d = -c * u * h, least = std::min(-u * h, depth > 0.0 ? depth : -u * h);
      const FollowingTime time(d, u, h, tau_p, band, depth);
      CAPTURE(depth, u, c, time.value, time.amount);
      const auto check = [&](double FollowingTime::*of, double by_distance, double by_velocity,
                             double scale) {
        const auto difference = [&](const auto& f, double x, double step, double unit) {
          const auto swept = test::fd_sweep(f, x, step, 1e-6, 1e-9 * scale / unit);
          CHECK_FALSE(swept.disagrees_with_itself);
          return swept.value;
        };
        CHECK(close(by_distance,
                    difference([&](double x) { return FollowingTime(x, u, h, tau_p, band, depth).*of; }, d,
                               1e-2 * least, least),
                    1e-6, 1e-8 * scale / least));
        CHECK(close(by_velocity,
                    difference([&](double x) { return FollowingTime(d, x, h, tau_p, band, depth).*of; }, u,
                               -1e-2 * u, -u),
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
  StepsCompared compared;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed + 555 * static_cast<std::uint64_t>(kind));
    const NearPass pass = test::make_near_pass(kind, random, 1.0, k_h);
    if (pass.steps == 0) continue;
    const State state = closing_state(pass, random);
    CAPTURE(static_cast<int>(kind), seed);
    compare_step_derivatives(
        pass.model, state, pass.clearance, random, [](const auto& gaps) { return !gaps.empty(); }, compared);
  }
  CHECK(compared.resolved >= 8);
  CHECK(compared.touching >= 8);
}

TEST_CASE("gap following: derivatives of a step in which a box comes to the seam of two flush tables",
          "[dynamics][derivative]") {
  StepsCompared compared;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    test::TestScene scene;
    for (const double x : {-0.5, 0.5}) {
      Body table = make_box({0.5, 0.4, 0.1}, 0.0, 4, 1000.0);
      table.fixed = true;
      scene.add(table, test::pose_at({x, 0.0, -0.1}));
    }
    const double before = random.uniform(0.0, 1e-3), height = random.uniform(-3e-6, 3e-6);
    const Vec3<double> along(1.0, random.uniform(-0.5, 0.5), 0.0);
    scene.add(make_box({0.1, 0.08, 0.06}, 0.0, 4, 1000.0),
              test::pose_at({-0.1 - before, random.uniform(-0.02, 0.02), 0.06 + height},
                            1e-6 * random.unit_vector()),
              test::moving_at(random.uniform(0.05, 1.5) * along));
    scene.set_friction(0.3);
    CAPTURE(seed, before, height);
    compare_step_derivatives(
        scene.model, scene.state, 1e-7, random,
        [](const auto& gaps) {
          return std::any_of(gaps.begin(), gaps.end(),
                             [](const FollowedGap& gap) { return gap.places[1].share > 0.0; });
        },
        compared);
  }
  CAPTURE(compared.resolved, compared.touching);
  CHECK(compared.resolved >= 8);
  CHECK(compared.touching >= 8);
}
