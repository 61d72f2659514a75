#include "apps/viewer/simulation/gradient_job.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <utility>

#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"

namespace abut::viewer {
namespace {

SimulationCore core_of(const std::string& name) {
  SimulationOptions options;
  options.scene = ABUT_SOURCE_DIR "/assets/scenes/" + name + ".toml";
  return SimulationCore(options);
}

GradientRequest request_of(const SimulationCore& core, const Loss& loss, int steps) {
  GradientRequest request;
  request.model = core.model();
  request.initial = core.state();
  request.number = core.number();
  request.steps = steps;
  request.loss = loss;
  return request;
}

Loss loss_of(LossKind kind, int body = 1, int other = 0) {
  Loss loss;
  loss.kind = kind;
  loss.body = body;
  loss.other = other;
  loss.direction = Vec3<double>(0.2, -0.3, 1.0);
  loss.target = Vec3<double>(0.5, 0.2, 0.1);
  return loss;
}

}  // namespace

TEST_CASE("losses: their gradients are those of differences", "[viewer][derivative]") {
  const LossKind kind = GENERATE(LossKind::position, LossKind::distance_to_target,
                                 LossKind::distance_of_bodies, LossKind::kinetic_energy, LossKind::energy);
  const SimulationCore core = core_of("drill_mustard");
  const Model& model = core.model()->model();
  Random random(3);
  const Loss loss = loss_of(kind, 1, 2);
  for (int i = 0; i < 20; ++i) {
    State state = core.state();
    StateTangent direction(model.body_count());
    for (std::size_t b = 0; b < state.X_WB.size(); ++b) {
      state.X_WB[b] = test::random_pose(random);
      state.V_WB[b] = test::random_vector<6>(random);
      direction.pose[b] = test::random_vector<6>(random);
      direction.twist[b] = test::random_vector<6>(random);
    }
    StateTangent bar(model.body_count());
    add_loss_gradient(model, state, loss, bar);
    double along = 0.0;
    for (std::size_t b = 0; b < state.X_WB.size(); ++b)
      along += bar.pose[b].dot(direction.pose[b]) + bar.twist[b].dot(direction.twist[b]);
    const auto moved = [&](double h) {
      State other = state;
      for (std::size_t b = 0; b < state.X_WB.size(); ++b) {
        other.X_WB[b] = retract(state.X_WB[b], Vec6<double>(h * direction.pose[b]));
        other.V_WB[b] += h * direction.twist[b];
      }
      return loss_value(model, other, loss);
    };
    constexpr double k_step = 1e-5;
    CHECK(along != 0.0);
    CHECK(test::close(along, (moved(k_step) - moved(-k_step)) / (2.0 * k_step), 1e-7, 1e-8));
  }
}

TEST_CASE("compute_gradient: of the height of a falling ball it is what mechanics says", "[viewer][value]") {
  const SimulationCore core = core_of("sphere_bounce");
  constexpr int k_steps = 50;
  Loss loss = loss_of(LossKind::position);
  loss.direction = Vec3<double>::UnitZ();
  const GradientResult result = compute_gradient(request_of(core, loss, k_steps));
  REQUIRE(result.error.empty());
  const double h = core.model()->config().h, m = core.model()->model().bodies[1].mass;
  CHECK(test::close(result.gradient.initial.pose[1][5], 1.0, 1e-10, 0.0));
  CHECK(test::close(result.gradient.initial.twist[1][5], k_steps * h, 1e-10, 0.0));
  CHECK(result.gradient.initial.pose[0].isZero(0.0));  // the floor is where it is
  REQUIRE(result.gradient.controls.size() == k_steps);
  for (int k = 0; k < k_steps; ++k) {
    CHECK(test::close(result.gradient.controls[static_cast<std::size_t>(k)].wrenches[1][5],
                      (k_steps - k) * h * h / m, 1e-9, 0.0));
  }
  CHECK(result.loss == Approx(core.state().X_WB[1].p.z() - 0.5 * 9.81 * h * h * k_steps * (k_steps + 1)));
}

TEST_CASE("compute_gradient: checks itself through contact, group by group", "[viewer][derivative]") {
  SimulationCore core = core_of("drill_mustard");
  for (int i = 0; i < 150; ++i) core.step_forward();
  GradientRequest request = request_of(core, loss_of(LossKind::position), 40);
  request.check = true;
  const GradientResult result = compute_gradient(request);
  REQUIRE(result.error.empty());
  CHECK(result.check.size() == 5);
  for (const GradientSample& sample : result.check) {
    CAPTURE(sample.group, sample.adjoint, sample.difference);
    CHECK_FALSE(sample.non_finite);
    CHECK((sample.unresolved || sample.relative_error < 1e-4));
  }
}

TEST_CASE("compute_gradient: a rollout that fails has none, and says why", "[viewer][value]") {
  SimulationCore core = core_of("sphere_bounce");
  core.edit([](Scene& scene) { scene.config.step.speed_limit = 0.1; });
  const GradientResult result = compute_gradient(request_of(core, loss_of(LossKind::position), 50));
  CHECK_THAT(result.error, Catch::Contains("speed of") && Catch::Contains("ball"));
  CHECK(result.gradient.controls.empty());
}

TEST_CASE("compute_gradient: what differences cannot see is unresolved, not wrong", "[viewer][derivative]") {
  SimulationCore core = core_of("box_stack");
  for (int i = 0; i < 5; ++i) core.step_forward();
  Loss loss = loss_of(LossKind::position, 10);
  loss.direction = Vec3<double>::UnitZ();
  GradientRequest request = request_of(core, loss, 20);
  request.check = true;
  const GradientResult result = compute_gradient(request);
  REQUIRE(result.error.empty());
  for (const GradientSample& sample : result.check) {
    CAPTURE(sample.group, sample.adjoint, sample.difference, sample.step);
    CHECK((sample.unresolved || sample.relative_error < 1e-4));
  }
}

TEST_CASE("GradientJob: one job at a time, its result comes once", "[viewer][value]") {
  const SimulationCore core = core_of("sphere_bounce");
  GradientJob job;
  CHECK_FALSE(job.busy());
  CHECK_FALSE(job.poll());
  job.start(request_of(core, loss_of(LossKind::position), 20));
  CHECK(job.busy());
  job.start(request_of(core, loss_of(LossKind::energy), 99));  // not while it is busy
  const GradientResult result = job.wait();
  CHECK(result.request.steps == 20);
  CHECK_FALSE(job.busy());
  CHECK_FALSE(job.poll());
}

TEST_CASE("check_determinism: repeats what was done, pulls included, and notices a state that was changed",
          "[viewer][determinism]") {
  SimulationCore core = core_of("spot_on_pole");
  for (int i = 0; i < 80; ++i) {
    core.set_pull(i < 40 ? Pull{2, Vec3<double>(0.01, 0, 0), Vec3<double>(0.1, 0, 0.5)} : Pull{});
    core.step_forward();
  }
  const DeterminismResult result = check_determinism(core, 0);
  CHECK(result.error.empty());
  CHECK(result.steps == 80);
  CHECK(result.first_difference == -1);
  CHECK_FALSE(check_determinism(core, 80).error.empty());

  History tampered(100);
  tampered.restart(core.history().at(0));
  for (std::int64_t n = 1; n <= 80; ++n) {
    Moment moment = core.history().at(n);
    if (n == 50) moment.state.X_WB[2].p.x() += 1e-12;
    tampered.push(std::move(moment));
  }
  CHECK(check_determinism(*core.model(), tampered, 0).first_difference == 50);

  core.seek(50);
  core.set_pose(2, core.state().X_WB[2]);  // no step leads to that
  for (int i = 0; i < 10; ++i) core.step_forward();
  const DeterminismResult after = check_determinism(core, 0);
  CHECK(after.steps == 10);
  CHECK(after.first_difference == -1);
}

}  // namespace abut::viewer
