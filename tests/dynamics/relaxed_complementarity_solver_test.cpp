#include "dynamics/other_laws/relaxed_complementarity_solver.h"

#include "tests/support/complementarity_checks.h"

using namespace abut;
using RelaxedSolver = RelaxedComplementaritySolver;

TEST_CASE("RelaxedComplementaritySolver: momentum, complementarity and cones hold", "[dynamics][value]") {
  for (const test::Problem& p : test::random_problems(60, 3))
    REQUIRE(test::check_conditions<RelaxedSolver>(p));
}

TEST_CASE("RelaxedComplementaritySolver: every step of the scenes that are hard to solve converges",
          "[dynamics][value]") {
  test::check_hard_scenes(ContactLaw::relaxed_complementarity);
}

TEST_CASE("RelaxedComplementaritySolver: a motor that is far from linear is no hindrance",
          "[dynamics][value]") {
  test::check_start_from_motors(ContactLaw::relaxed_complementarity);
}

TEST_CASE(
    "RelaxedComplementaritySolver: contacts at a corner that is hardly rounded are said to be near a kink",
    "[dynamics][value]") {
  test::check_kinks<RelaxedSolver>();
}

TEST_CASE("RelaxedComplementaritySolver: boxes stick and slide, spheres roll, stacks stand",
          "[dynamics][value]") {
  test::check_analytic_motions(ContactLaw::relaxed_complementarity);
}

TEST_CASE("RelaxedComplementaritySolver: what counts as solved balances, however hard it was",
          "[dynamics][property]") {
  test::check_hard_problems<RelaxedSolver>();
}

TEST_CASE("RelaxedComplementaritySolver: says so when it does not converge", "[dynamics][value]") {
  test::check_reports<RelaxedSolver>(test::random_problems(10, 3));
}

TEST_CASE(
    "RelaxedComplementaritySolver: with less relaxation friction opposes sliding at mu times the normal",
    "[dynamics][property]") {
  for (const double factor : {1e-2, 1e-4}) {
    StepConfig config = test::exact_config();
    config.complementarity_factor = factor;
    test::TestScene scene = test::floor_scene();
    scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0.0, 0.0, 0.1}),
              test::moving_at({1.0, 0.5, -0.1}));
    scene.set_friction(0.3);
    const test::Problem p(scene, config);
    const RelaxedSolver solver(config, p.gravity());
    const ContactSolution solution = test::solve(solver, p);
    std::vector<Vec3<double>> impulses;
    solver.impulses(p.problem(), solution, *solver.make_memory(), impulses);
    REQUIRE(impulses.size() == 1);
    const Vec3<double> u = relative_velocity(p.rows.rows[0], solution.velocity);
    const Vec3<double> expected = -0.3 * impulses[0].z() * Vec3<double>(u.x(), u.y(), 0.0).normalized();
    const double error = (Vec3<double>(impulses[0].x(), impulses[0].y(), 0.0) - expected).norm();
    CAPTURE(factor, error);
    CHECK(error <= factor * 1e-3);
    CHECK(error > 0.0);
  }
}

TEST_CASE("RelaxedComplementaritySolver: VJP agrees with differences in everything a problem is made of",
          "[dynamics][derivative]") {
  double worst = 0.0;
  test::check_vjp<RelaxedSolver>(test::random_problems(12, 3), 1.0, worst);
  CAPTURE(worst);
  CHECK(worst > 0.0);
}

TEST_CASE("RelaxedComplementaritySolver: the adjoint of 50 steps agrees with differences",
          "[dynamics][derivative]") {
  test::check_adjoint(ContactLaw::relaxed_complementarity, 8, 50);
}
