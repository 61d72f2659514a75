#include "dynamics/solver/smooth_coulomb_solver.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "dynamics/other_laws/convex_cone_solver.h"
#include "dynamics/rollout/rollout.h"
#include "dynamics/solver/island_solver.h"
#include "tests/support/close.h"
#include "tests/support/contact_problems.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::exact_config;
using test::random_problems;
using test::TestScene;
using Problem = test::ContactTestProblem;

ContactSolution solve(const Problem& p) { return test::solve(SmoothCoulombSolver(p.config, p.gravity()), p); }

// With the bounds of friction held fixed at those of the solution, the solution is where a convex potential
// is least. That potential, from its definition, with an integral for that of the normal impulse.

struct StepPotential {
  const Problem& p;
  std::vector<double> bounds;  ///< mu gamma_n
  smooth_coulomb::Settings s;

  /// @param v  that bounds friction
  StepPotential(const Problem& problem, const GrowableVector& v)
      : p(problem), s(SmoothCoulombSolver(p.config, p.gravity()).settings()) {
    for (const ContactRow& row : p.rows.rows) {
      const double mu = p.rows.pairs[static_cast<std::size_t>(row.pair)].material.friction;
      const double x = (target(row) - row.n.dot(p.slip<double>(row, v))) / s.velocity_smoothing;
      const double softplus = x > 0.0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
      bounds.push_back(mu * row.weight / resistance(row) * s.velocity_smoothing * softplus);
    }
  }

  [[nodiscard]] double resistance(const ContactRow& row) const {
    const PairMaterial& m = p.rows.pairs[static_cast<std::size_t>(row.pair)].material;
    return m.compliance / (s.h * (s.h + m.dissipation_time)) + s.near_rigid * row.inverse_mass;
  }
  [[nodiscard]] double target(const ContactRow& row) const {
    const PairMaterial& m = p.rows.pairs[static_cast<std::size_t>(row.pair)].material;
    return smooth_coulomb::normal_target(row.distance, row.inverse_mass, m.compliance, m.dissipation_time, s)
        .value;
  }

  template <typename S>
  [[nodiscard]] S operator()(const VecX<S>& v) const {
    using std::sqrt;
    S sum = p.kinetic(v);
    for (std::size_t i = 0; i < p.rows.rows.size(); ++i) {
      const ContactRow& row = p.rows.rows[i];
      const Vec3<S> n(S(row.n[0]), S(row.n[1]), S(row.n[2])), u = p.slip(row, v);
      const S u_n = n.dot(u);
      const double tau = s.velocity_smoothing;
      sum += S(row.weight / resistance(row) * tau * tau) *
             test::softplus_integral(S((S(target(row)) - u_n) / tau));
      const Vec3<S> u_t = u - n * u_n;
      sum +=
          S(bounds[i]) * (sqrt(u_t.dot(u_t) + S(s.stiction_speed * s.stiction_speed)) - S(s.stiction_speed));
    }
    return sum;
  }
};

}  // namespace

TEST_CASE("SmoothCoulombSolver: velocities and impulses balance, M (v - v*) = sum J^T gamma",
          "[dynamics][value]") {
  for (const Problem& p : random_problems(100, 4)) {
    const SmoothCoulombSolver solver(p.config, p.gravity());
    test::require_balance(solver, p);
  }
}

TEST_CASE("SmoothCoulombSolver: ends where the potential with its own bounds of friction is least",
          "[dynamics][property]") {
  Random random(7);
  for (const Problem& p : random_problems(60, 2)) {
    const GrowableVector v = solve(p).velocity;
    const StepPotential L(p, v);
    const double least = L(VecX<double>(v));
    for (int k = 0; k < 100; ++k) {
      GrowableVector d(v.size());
      for (double& x : d) x = random.normal();
      d *= std::pow(10.0, random.uniform(-4.0, 1.0));
      CAPTURE(k, d.norm(), p.rows.rows.size());
      // Contacts add convex terms, so that at the minimum L(v + d) - L(v) >= 1/2 d^T M d.
      GrowableVector Md;
      p.mass.multiply(d, Md);
      const double there = L(VecX<double>(v + d)), rounding = 1e-12 * (std::abs(least) + std::abs(there));
      REQUIRE(there - least >= 0.5 * d.dot(Md) * (1.0 - 1e-8) - rounding);
    }
  }
}

TEST_CASE("SmoothCoulombSolver: agrees with a brute-force minimiser", "[dynamics][value]") {
  double worst = 0.0;
  for (const Problem& p : random_problems(30, 2)) {
    const GrowableVector found = solve(p).velocity;
    REQUIRE(p.mass.size() <= test::k_reference_size);
    const StepPotential L(p, found);
    const GrowableVector v = test::minimise(L, p.free.v_free, 1e-3 * L.s.stiction_speed);
    CAPTURE(p.rows.rows.size(), v.transpose(), found.transpose());
    const double error = (found - v).norm() / (v.norm() + 9.81 * p.config.h);
    worst = std::max(worst, error);
    REQUIRE(error <= 1e-8);
  }
  CAPTURE(worst);
  CHECK(worst > 0.0);  // they are two programs
}

TEST_CASE("SmoothCoulombSolver: does not depend on where it starts", "[dynamics][property]") {
  for (const Problem& p : random_problems(40, 3)) {
    // Velocities at the start of the step are where Newton's method may start, no more.
    const GrowableVector elsewhere = p.free.v_start + GrowableVector::Constant(p.mass.size(), 3.0);
    const ContactProblem problem = p.problem();
    const ContactProblem from_elsewhere{problem.mass,   problem.rows, elsewhere,
                                        problem.v_free, problem.h,    problem.joints};
    const ContactSolution solution = test::solve(SmoothCoulombSolver(p.config, p.gravity()), from_elsewhere);
    REQUIRE(solution.converged);
    REQUIRE(test::close(solution.velocity, solve(p).velocity, 1e-8, 1e-8));
  }
}

TEST_CASE("SmoothCoulombSolver: does not depend on what was solved before", "[dynamics][determinism]") {
  SmoothCoulombMemory memory;
  ContactSolution reused;
  for (const Problem& p : random_problems(40, 3)) {
    SmoothCoulombSolver(p.config, p.gravity()).solve(p.problem(), memory, reused);
    REQUIRE(reused.velocity == solve(p).velocity);
  }
}

TEST_CASE("SmoothCoulombSolver: a mass ratio of 10000 converges, either way up", "[dynamics][value]") {
  const bool heavy_on_light = GENERATE(false, true);
  const double h = GENERATE(2e-3, 1e-2);
  TestScene scene = test::stack_scene(2, 0.1, 1.0);
  set_mass(scene.body(heavy_on_light ? 2 : 1), 1e4);
  StepConfig config;
  config.h = h;
  const Stepper stepper(scene.model, config);
  State end;
  int most = 0;
  double residual = 0.0;
  const StepReport report = simulate(stepper, scene.state, static_cast<int>(2.0 / h), {}, end,
                                     [&](int, const State&, const StepReport& r) {
                                       most = std::max(most, r.iterations);
                                       residual = std::max(residual, r.residual);
                                       return true;
                                     });
  CAPTURE(heavy_on_light, h, most, residual);
  CHECK(report.status == StepStatus::ok);
  CHECK(residual <= config.tolerance);
  CHECK(most <= 60);
}

TEST_CASE("SmoothCoulombSolver: without contact the velocities are the free ones", "[dynamics][value]") {
  TestScene scene = test::floor_scene();
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0, 0, 5}), test::moving_at({1, 2, 3}));
  const Problem p(scene, exact_config());
  const ContactSolution solution = solve(p);
  CHECK(solution.velocity == p.free.v_free);
  CHECK(solution.iterations == 0);
  CHECK(solution.converged);
}

TEST_CASE("SmoothCoulombSolver: says so when it does not converge", "[dynamics][value]") {
  const auto problems = random_problems(10, 3);
  int unconverged = 0;
  for (const Problem& p : problems) {
    StepConfig config = p.config;
    config.max_iterations = 1;
    config.tolerance = 1e-18;  // beyond rounding: some would be found after a step from each start
    const SmoothCoulombSolver solver(config, p.gravity());
    const ContactSolution solution = test::solve(solver, p);
    CHECK((solution.residual > config.tolerance) == !solution.converged);
    CHECK((solution.path == SolutionPath::none) == !solution.converged);
    unconverged += !solution.converged;
  }
  CHECK(unconverged >= 9);
}

TEST_CASE("ContactSolver: a solution that is not finite has no linearization, which is no exception",
          "[dynamics][value]") {
  const Problem p = random_problems(1, 2)[0];
  const StepConfig cone_config = exact_config(ContactLaw::convex_cone);
  std::vector<std::unique_ptr<ContactSolver>> laws;
  laws.push_back(std::make_unique<SmoothCoulombSolver>(p.config, p.gravity()));
  laws.push_back(std::make_unique<ConvexConeSolver>(cone_config, p.gravity()));
  for (std::unique_ptr<ContactSolver>& law : laws) {
    const auto memory = law->make_memory();
    const auto linearization = law->make_linearization();
    ContactSolution solution = test::solve(*law, p);
    REQUIRE(solution.converged);
    for (const LinearizeFor what_for : {LinearizeFor::vjp, LinearizeFor::both}) {
      CHECK(law->linearize(p.problem(), solution, what_for, *memory, *linearization));
      ContactSolution broken = solution;
      broken.velocity.setConstant(std::numeric_limits<double>::quiet_NaN());
      CHECK_FALSE(law->linearize(p.problem(), broken, what_for, *memory, *linearization));
    }
    const IslandSolver islands(std::move(law));
    IslandMemory island_memory;
    IslandLinearization of_islands;
    CHECK(islands.linearize(p.problem(), solution, LinearizeFor::vjp, island_memory, of_islands));
    CHECK(of_islands.is_complete);
    solution.velocity.setConstant(std::numeric_limits<double>::quiet_NaN());
    CHECK_FALSE(islands.linearize(p.problem(), solution, LinearizeFor::vjp, island_memory, of_islands));
    CHECK_FALSE(of_islands.is_complete);
  }
}

TEST_CASE("SmoothCoulombSolver: VJP agrees with differences in everything a problem is made of",
          "[dynamics][derivative]") {
  const bool with_impacts = GENERATE(false, true);
  CAPTURE(with_impacts);
  Random random(9);
  test::VjpComparison comparison;
  int hit = 0, parts = 0;
  for (Problem& p : random_problems(25, 3)) {
    for (ContactRow& row : p.rows.rows) {
      if (!with_impacts) break;
      row.hits = random.uniform() < 0.3;
      if (row.hits) {
        row.rebound = random.uniform(0.1, 1.0);
        row.settle = random.uniform(-0.05, 0.05);
      }
      if (random.uniform() < 0.7) row.answers = random.uniform(0.1, 0.9);
      hit += row.hits;
      parts += row.answers < 1.0;
    }
    const SmoothCoulombSolver solver(p.config, p.gravity());
    const ContactProblemBar bar = test::compare_vjp(solver, p, random, comparison);
    REQUIRE(bar.v_start.isZero(0.0));  // the weights and targets depend on it, the solver does not
  }
  CAPTURE(comparison.compared, comparison.unresolved, hit, parts);
  CHECK(comparison.disagreements <= comparison.compared / 20);
  CHECK(comparison.displaced == 0);
  CHECK((hit > 20 && parts > 20) == with_impacts);
}

TEST_CASE("SmoothCoulombSolver: contacts that do not take part are as if they were not there",
          "[dynamics][value]") {
  Random random(10);
  int left_out = 0;
  for (Problem& p : random_problems(40, 3)) {
    Problem without = p;
    for (std::size_t i = 0; i < p.rows.rows.size(); ++i) {
      if (random.uniform() < 0.5) continue;
      p.rows.rows[i].answers = 0.0;
      without.rows.rows[i].weight = 0.0;
      ++left_out;
    }
    const ContactSolution solution = solve(p), expected = solve(without);
    REQUIRE(solution.converged);
    CAPTURE((solution.velocity - expected.velocity).norm());
    REQUIRE(test::close(solution.velocity, expected.velocity, 1e-9, 1e-10));
  }
  CHECK(left_out > 100);
}

TEST_CASE("SmoothCoulombSolver: has no kinks", "[dynamics][value]") {
  const Problem p = random_problems(1, 2)[0];
  std::vector<bool> near_kink;
  CHECK(SmoothCoulombSolver(p.config, p.gravity()).contacts_near_kink(p.problem(), solve(p), near_kink) == 0);
  CHECK(near_kink == std::vector<bool>(p.rows.rows.size(), false));
}
