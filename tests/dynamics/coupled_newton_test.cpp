/// The solver of the default law on scenes with everything in them.
#include "dynamics/solver/coupled_newton.h"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>

#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "dynamics/solver/smooth_coulomb_solver.h"
#include "tests/support/contact_problems.h"
#include "tests/support/jointed_scenes.h"
#include "tests/support/no_alloc.h"
#include "tests/support/truths.h"

namespace {

using namespace abut;
using test::ContactTestProblem;
using test::hard_problems;
using test::TestScene;

SmoothCoulombSolver solver_of(const ContactTestProblem& p, int max_iterations, double tolerance = 1e-9) {
  StepConfig config = p.config;
  config.max_iterations = max_iterations;
  config.tolerance = tolerance;
  return {config, config.acceleration_scale};
}

}  // namespace

TEST_CASE("solve_coupled: max_iterations is what Newton's method takes at most from its start",
          "[dynamics][property]") {
  int compared = 0, most = 0;
  for (const ContactTestProblem& p : hard_problems(150, 5)) {
    const ContactSolution solution = test::solve(solver_of(p, 500), p);
    if (solution.path != SolutionPath::newton || solution.iterations == 0) continue;
    const int needed = solution.iterations;
    CAPTURE(needed);
    const ContactSolution enough = test::solve(solver_of(p, needed), p);
    REQUIRE(enough.path == SolutionPath::newton);
    REQUIRE(enough.velocity == solution.velocity);
    REQUIRE(test::solve(solver_of(p, needed - 1), p).path != SolutionPath::newton);
    ++compared;
    most = std::max(most, needed);
  }
  CAPTURE(most);
  CHECK(compared > 100);
  CHECK(most > 15);
}

TEST_CASE("solve_coupled: a max_iterations above 60 is taken", "[dynamics][value]") {
  const ContactTestProblem p =
      test::hard_problem(2182, 6);  // of 4,000 the one in which Newton's method is slowest
  const ContactSolution slow = test::solve(solver_of(p, 500), p);
  CHECK(slow.path == SolutionPath::newton);
  CHECK(slow.iterations > 60);
  CHECK(test::solve(solver_of(p, 60), p).path != SolutionPath::newton);
}

TEST_CASE("solve_coupled: a tolerance below rounding ends at rounding, and the residual says so",
          "[dynamics][property]") {
  int at_rounding = 0, solved = 0;
  double largest = 0.0;
  for (const ContactTestProblem& p : hard_problems(150, 5)) {
    const ContactSolution exact = test::solve(solver_of(p, 60, 1e-18), p);
    if (!exact.converged) continue;
    ++solved;
    at_rounding += exact.residual > 1e-18;
    largest = std::max(largest, exact.residual);
    // To a tolerance that is met, the residual is within it.
    const ContactSolution usual = test::solve(solver_of(p, 60), p);
    REQUIRE(usual.converged);
    REQUIRE(usual.residual <= 1e-9);
  }
  CAPTURE(solved, at_rounding, largest);
  CHECK(solved >= 148);
  CHECK(at_rounding > 100);
  CHECK(largest < 1e-9);
}

TEST_CASE("solve_coupled: no fallback allocates once its memory has grown", "[dynamics][property]") {
  if (!test::k_counts_allocations) return;
  std::array<int, 5> paths{};
  std::size_t allocations = 0;
  const std::vector<ContactTestProblem> problems = hard_problems(80, 5);
  for (const int max_iterations : {2, 5, 6, 60}) {
    for (const ContactTestProblem& p : problems) {
      const SmoothCoulombSolver solver = solver_of(p, max_iterations);
      const auto memory = solver.make_memory();
      const ContactProblem problem = p.problem();
      ContactSolution solution;
      solver.solve(problem, *memory, solution);
      const test::NoAlloc guard;
      solver.solve(problem, *memory, solution);
      allocations += guard.allocations();
      ++paths[static_cast<std::size_t>(solution.path)];
    }
  }
  CAPTURE(paths);
  for (const int count : paths) CHECK(count > 0);
  CHECK(allocations == 0);
}

TEST_CASE("solve_coupled: solves random scenes with joints, motors, stops and impacts",
          "[dynamics][property]") {
  std::array<int, 5> paths{};
  int steps = 0;
  for (int seed = 1; seed <= 40; ++seed) {
    const TestScene scene = test::random_jointed_scene(seed);
    const Stepper stepper(scene.model, {});
    State end;
    const StepReport last =
        simulate(stepper, scene.state, 150, {}, end, [&](int, const State&, const StepReport& report) {
          ++steps;
          ++paths[static_cast<std::size_t>(report.path)];
          return report.residual <= stepper.config().tolerance;
        });
    CAPTURE(seed, last.step, last.residual);
    REQUIRE(last.status == StepStatus::ok);
    REQUIRE(last.step == 149);
  }
  CAPTURE(paths);
  CHECK(paths[static_cast<std::size_t>(SolutionPath::newton)] >= 0.995 * steps);
  CHECK(paths[static_cast<std::size_t>(SolutionPath::none)] == 0);
}

TEST_CASE("Stepper: a step depends on nothing but its arguments", "[dynamics][determinism]") {
  const TestScene scene = test::random_jointed_scene(5), other = test::random_jointed_scene(8);
  const Stepper stepper(scene.model, {}), of_other(other.model, {});
  StepScratch used;
  State state = scene.state, elsewhere = other.state, next, fresh_next, other_next;
  for (int k = 0; k < 60; ++k) {
    REQUIRE(stepper.step(state, {}, next, used).status == StepStatus::ok);
    REQUIRE(of_other.step(elsewhere, {}, other_next, used).status == StepStatus::ok);
    StepScratch fresh;
    REQUIRE(stepper.step(state, {}, fresh_next, fresh).status == StepStatus::ok);
    REQUIRE(state_hash(next) == state_hash(fresh_next));
    std::swap(state, next);
    std::swap(elsewhere, other_next);
  }
}

TEST_CASE("Stepper: bodies at rest take no iteration", "[dynamics][property]") {
  const TestScene scene = test::stack_scene(5, 0.1, 1.0);
  const Stepper stepper(scene.model, {});
  State end;
  int iterations = 0;
  const StepReport last =
      simulate(stepper, scene.state, 2000, {}, end, [&](int k, const State&, const StepReport& report) {
        if (k >= 1900) iterations += report.iterations;
        return true;
      });
  REQUIRE(last.status == StepStatus::ok);
  CHECK(iterations <= 100);
}

TEST_CASE("SmoothCoulombSolver: a rod that jams stops within a step or two", "[dynamics][value]") {
  CHECK(test::painleve_rod({}, 1.0).catch_time <= 0.036 + 1e-9);
  CHECK(test::painleve_rod({}, 1.6).catch_time <= 0.004 + 1e-9);
  CHECK(test::painleve_rod({}, 3.0).catch_time <= 0.004 + 1e-9);
}

TEST_CASE("adjoint: says where a step was found by other means than from its start", "[dynamics][value]") {
  TestScene scene = test::floor_scene();
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0, 0, 0.1}));
  const Stepper stepper(scene.model, {});
  Trajectory trajectory = rollout(stepper, scene.state, 3);
  REQUIRE(trajectory.ok());
  const auto loss = [](int k, const State&, StateTangent& bar) {
    if (k == 3) bar.pose[1][5] += 1.0;
  };
  CHECK(adjoint(stepper, trajectory, loss).health.steps_on_branches == 0);
  trajectory.records[1].report.path = SolutionPath::graduated_friction;
  trajectory.records[2].report.has_negative_determinant = true;
  const GradientHealth health = adjoint(stepper, trajectory, loss).health;
  CHECK(health.steps_on_branches == 2);
  REQUIRE(health.warnings.size() == 2);
  CHECK(health.warnings[1].kind == GradientWarning::Kind::branch);
  CHECK(health.warnings[1].step == 1);
  CHECK(warning_text(scene.model, health.warnings[1]).find("step 1") == 0);
}

TEST_CASE("adjoint: says where the answer lies on the way back between two folds", "[dynamics][value]") {
  // Of the rod that jams, as if it had ended each of a range of speeds into the floor: friction drives the
  // sliding end down by more than the floor pushes it up. Without friction there is one answer to every step.
  const double friction = GENERATE(0.0, 3.0);
  const TestScene scene = test::painleve_scene(friction, 2.0);
  const Stepper stepper(scene.model, {});
  Trajectory trajectory = rollout(stepper, scene.state, 1);
  REQUIRE(trajectory.ok());
  REQUIRE(trajectory.records[0].substeps.size() == 1);
  const auto loss = [](int k, const State&, StateTangent& bar) {
    if (k == 1) bar.pose[1][5] += 1.0;
  };
  int flagged = 0;
  for (double speed = 1e-5; speed < 1.0; speed *= 1.5) {
    GrowableVector& velocity = trajectory.records[0].substeps[0].velocity;
    velocity.setZero();
    velocity[3] = -2.0;
    velocity[5] = -speed;
    flagged += adjoint(stepper, trajectory, loss).health.steps_on_branches;
  }
  CAPTURE(friction, flagged);
  CHECK((flagged > 0) == (friction > 0.0));
}
