#include "dynamics/other_laws/split_push_out_solver.h"

#include <catch2/catch.hpp>

#include <algorithm>

#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "tests/support/contact_problems.h"

namespace {

using namespace abut;
using test::TestScene;

StepConfig config_of(PushOut push_out) {
  StepConfig config = test::exact_config();
  config.push_out = push_out;
  return config;
}

/// A box that starts 4 cm deep in the floor.
TestScene deep_box() {
  TestScene scene = test::floor_scene();
  scene.add(test::box_of_mass({0.05, 0.05, 0.05}, 1.0, 1), test::pose_at({0, 0, 0.01}));
  return scene;
}

struct Motion {
  double fastest = 0, highest = 0, last = 0;
};

Motion motion(PushOut push_out) {
  const TestScene scene = deep_box();
  const Stepper stepper(scene.model, config_of(push_out));
  Motion motion;
  State end;
  const StepReport report =
      simulate(stepper, scene.state, 500, {}, end, [&](int, const State& state, const StepReport&) {
        motion.fastest = std::max(motion.fastest, state.V_WB[1].tail<3>().norm());
        motion.highest = std::max(motion.highest, state.X_WB[1].p.z());
        return true;
      });
  REQUIRE(report.status == StepStatus::ok);
  motion.last = end.X_WB[1].p.z();
  return motion;
}

}  // namespace

TEST_CASE("SplitPushOutSolver: overlap is resolved without a velocity", "[dynamics][property]") {
  const Motion bias = motion(PushOut::bias), split = motion(PushOut::split);
  CHECK(bias.fastest > 0.3);           // push_out_factor g h = 0.98 m/s caps it
  CHECK(split.fastest < 9.81 * 2e-3);  // no more than gravity gives and takes in a step
  CHECK(split.highest < 0.0501);
  CHECK(test::close(bias.last, 0.05, 0, 1e-4));
  CHECK(test::close(split.last, 0.05, 0, 1e-4));
}

TEST_CASE("SplitPushOutSolver: VJP agrees with differences in everything a problem is made of",
          "[dynamics][derivative]") {
  Random random(19);
  test::VjpComparison comparison;
  for (const test::ContactTestProblem& p : test::random_problems(25, 3, config_of(PushOut::split))) {
    const SplitPushOutSolver solver(p.config, p.gravity());
    (void)test::compare_vjp(solver, p, random, comparison);
  }
  CAPTURE(comparison.compared, comparison.unresolved);
  CHECK(comparison.displaced == 25);
  CHECK(comparison.disagreements <= comparison.compared / 20);
}

TEST_CASE("SplitPushOutSolver: a rollout's adjoint agrees with differences", "[dynamics][derivative]") {
  TestScene scene = deep_box();
  scene.V_WB(1) << 0.3, 0.2, 0.1, 0.5, 0, 0;
  scene.add(test::sphere_of_mass(0.05, 0.5), test::pose_at({0.02, 0, 0.09}));
  const Stepper stepper(scene.model, config_of(PushOut::split));
  constexpr int k_steps = 40;
  const Trajectory trajectory = rollout(stepper, scene.state, k_steps);
  REQUIRE(trajectory.ok());
  const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
    if (k == k_steps) bar.pose[2] << 0.1, 0.2, 0.3, 1.0, 2.0, 3.0;
  });
  const auto end = [&](double t) {
    TestScene moved = scene;
    moved.X_WB(1).p.z() += t;
    moved.V_WB(1)[3] += t;
    const State last = rollout(stepper, moved.state, k_steps).states.back();
    return Vec3<double>(1.0, 2.0, 3.0).dot(last.X_WB[2].p) +
           Vec3<double>(0.1, 0.2, 0.3)
               .dot(difference(last.X_WB[2], trajectory.states.back().X_WB[2]).head<3>());
  };
  const auto fd = test::fd_sweep(end, 0.0, 1e-4, 1e-6, 1e-9);
  REQUIRE_FALSE(fd.disagrees_with_itself);
  CHECK(test::close(gradient.initial.pose[1][5] + gradient.initial.twist[1][3], fd.value, 1e-5, 1e-8));
}
