// What impacts make of velocities: the law's answer and its bound of energy.
#include "dynamics/solver/impact_solver.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "dynamics/step/step_memory.h"
#include "dynamics/step/stepper.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/impact_problems.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::floor_problems, test::ImpactTestProblem, test::is_mixed, test::TestScene, test::thrown_problems;

/// The potential of the law without push-out, with bounds of friction held fixed at those of a solution.
struct ImpactPotential {
  const ImpactTestProblem& p;
  smooth_coulomb::Settings s;
  std::vector<double> bounds;

  ImpactPotential(const ImpactTestProblem& problem, const GrowableVector& v) : p(problem) {
    SmoothCoulombSolver law(p.contacts.config, test::ContactTestProblem::gravity(),
                            SmoothCoulombSolver::Without::push_out);
    law.set_near_rigid(1e-5);
    s = law.settings();
    for (const ContactRow& row : p.contacts.rows.rows) {
      const double x = (target(row) - row.n.dot(p.contacts.slip<double>(row, v))) / width(row);
      const double softplus = x > 0.0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
      bounds.push_back(p.contacts.friction(row) * row.weight / resistance(row) * width(row) * softplus);
    }
  }
  [[nodiscard]] const PairMaterial& material(const ContactRow& row) const {
    return p.contacts.rows.pairs[static_cast<std::size_t>(row.pair)].material;
  }
  [[nodiscard]] double width(const ContactRow& row) const {
    return (row.hits ? smooth_coulomb::k_impact_width : 1.0) * s.velocity_smoothing;
  }
  [[nodiscard]] double resistance(const ContactRow& row) const {
    const PairMaterial& m = material(row);
    const double spring = row.hits ? 0.0 : m.compliance / (s.h * (s.h + m.dissipation_time));
    return spring + (1e-5 + 1.0 / row.answers - 1.0) * row.inverse_mass;
  }
  [[nodiscard]] double target(const ContactRow& row) const {
    if (row.hits) return std::max(0.0, row.rebound + row.settle);
    const PairMaterial& m = material(row);
    return smooth_coulomb::normal_target(row.distance, row.inverse_mass, m.compliance, m.dissipation_time, s)
        .value;
  }
  template <typename S>
  [[nodiscard]] S operator()(const VecX<S>& v) const {
    using std::sqrt;
    VecX<S> from_free = v;  // kinetic() is about free.v_free
    for (Eigen::Index i = 0; i < v.size(); ++i)
      from_free[i] = v[i] + S(p.contacts.free.v_free[i] - p.v_free[i]);
    S sum = p.contacts.kinetic(from_free);
    for (std::size_t i = 0; i < p.contacts.rows.rows.size(); ++i) {
      const ContactRow& row = p.contacts.rows.rows[i];
      const Vec3<S> n(S(row.n[0]), S(row.n[1]), S(row.n[2])), u = p.contacts.slip(row, v);
      const S u_n = n.dot(u);
      const double w = width(row);
      sum += S(row.weight / resistance(row) * w * w) * test::softplus_integral(S((S(target(row)) - u_n) / w));
      const Vec3<S> u_t = u - n * u_n;
      sum +=
          S(bounds[i]) * (sqrt(u_t.dot(u_t) + S(s.stiction_speed * s.stiction_speed)) - S(s.stiction_speed));
    }
    return sum;
  }
};

}  // namespace

TEST_CASE("ImpactSolver: is right against the gradient of a potential and a bisection", "[dynamics][value]") {
  Random random(3);
  int mixed = 0, plain = 0;
  std::vector<ImpactTestProblem> problems = floor_problems(10, 2, 0.5, random);
  for (ImpactTestProblem& p : thrown_problems(80, 1.0, 1.0, random)) problems.push_back(std::move(p));
  for (const ImpactTestProblem& p : problems) {
    REQUIRE(p.v_start.size() <= test::k_reference_size);
    const auto minimum = [&](const ImpactTestProblem& of) {
      const GrowableVector found = of.solve(false).velocity;
      const ImpactPotential L(of, found);
      // The potential is convex: where its gradient is 0 it is least.
      GrowableVector momentum;
      of.contacts.mass.multiply(found - of.v_free, momentum);
      const double gradient = test::gradient_of(L, found).norm();
      CAPTURE(gradient, momentum.norm());
      REQUIRE(gradient <=
              1e-7 * (momentum.norm() + of.contacts.mass.total_mass() * 9.81 * of.contacts.config.h));
      return found;
    };
    const GrowableVector newton = minimum(p), got = p.solve().velocity;
    const double before = p.energy(p.v_start);
    if (p.energy(newton) <= before) {
      CHECK(test::close(got, newton, 1e-7, 1e-7));
      ++plain;
      continue;
    }
    const GrowableVector plastic = minimum(p.plastic());
    const double bound = std::max(before, p.energy(plastic));
    const auto mixture = [&](double alpha) -> GrowableVector { return plastic + alpha * (newton - plastic); };
    double low = 0.0, high = 1.0;  // the energy is convex along it, and below the bound at 0
    for (int k = 0; k < 60; ++k) {
      const double middle = 0.5 * (low + high);
      (p.energy(mixture(middle)) <= bound ? low : high) = middle;
    }
    CAPTURE(low, before, p.energy(newton), p.energy(plastic));
    CHECK(test::close(got, mixture(low), 1e-6, 1e-6));
    ++mixed;
  }
  CHECK(plain >= 10);
  CHECK(mixed >= 10);
}

TEST_CASE("ImpactSolver: the energy stays below that before and that after plastic impacts",
          "[dynamics][property]") {
  const double restitution = GENERATE(0.5, 0.9, 1.0), friction = GENERATE(0.0, 0.5, 1.0);
  Random random(4);
  int mixed = 0;
  double newton = 0.0;
  std::vector<ImpactTestProblem> problems = thrown_problems(40, restitution, friction, random);
  for (ImpactTestProblem& p : floor_problems(40, 4, restitution, random)) problems.push_back(std::move(p));
  for (const ImpactTestProblem& p : problems) {
    const ContactSolution solution = p.solve();
    REQUIRE(solution.converged);
    const double bound = std::max(p.energy(p.v_start), p.energy(p.plastic().solve(false).velocity)),
                 of_newton = p.energy(p.solve(false).velocity), after = p.energy(solution.velocity);
    CAPTURE(restitution, friction, after / bound - 1.0, of_newton / bound - 1.0);
    REQUIRE(after <= (1.0 + 2e-9) * bound);
    // No more is taken than that: the largest alpha.
    if (of_newton > (1.0 + 1e-6) * bound) REQUIRE(after >= (1.0 - 1e-9) * bound);
    mixed += is_mixed(p);
    newton = std::max(newton, of_newton / bound - 1.0);
  }
  CAPTURE(mixed, newton);
  if (restitution == 1.0 && friction > 0.0) CHECK(mixed >= 10);
  if (restitution == 1.0 && friction > 0.0) CHECK(newton > 1e-2);
}

TEST_CASE("ImpactSolver: where energy does not rise, the answer is Newton's to the last bit",
          "[dynamics][value]") {
  Random random(5);
  for (const ImpactTestProblem& p : thrown_problems(30, 0.3, 0.3, random)) {
    if (p.energy(p.solve(false).velocity) > p.energy(p.v_start)) continue;
    REQUIRE(p.solve(true).velocity == p.solve(false).velocity);
  }
}

TEST_CASE("ImpactSolver: free bodies keep momentum and angular momentum, mixed or not",
          "[dynamics][property]") {
  Random random(6);
  int mixed = 0;
  for (const ImpactTestProblem& p : thrown_problems(200, 1.0, 1.0, random)) {
    const ContactSolution solution = p.solve();
    mixed += is_mixed(p);
    Vec3<double> momentum = Vec3<double>::Zero(), angular = Vec3<double>::Zero();
    double size = 0.0, angular_size = 0.0;
    GrowableVector change;
    p.contacts.mass.multiply(solution.velocity - p.v_start, change);
    for (int s = 0; s < p.contacts.mass.slot_count(); ++s) {
      const Vec3<double> x = p.contacts.scene.state.X_WB[static_cast<std::size_t>(p.contacts.mass.body(s))].p,
                         dp = change.segment<3>(6 * s + 3), dL = change.segment<3>(6 * s);
      momentum += dp;
      angular += dL + x.cross(dp);
      size += dp.norm();
      angular_size += dL.norm() + x.norm() * dp.norm();
    }
    CAPTURE(momentum.norm(), angular.norm(), size, angular_size);
    REQUIRE(momentum.norm() <= 1e-11 * (size + 1.0));
    REQUIRE(angular.norm() <= 1e-11 * (angular_size + 1.0));
  }
  CHECK(mixed >= 20);
}

TEST_CASE("ImpactSolver: impulses add up to the change of momentum and lie in their cones, mixed or not",
          "[dynamics][property]") {
  Random random(7);
  std::vector<ImpactTestProblem> problems = thrown_problems(40, 1.0, 1.0, random);
  for (ImpactTestProblem& p : floor_problems(40, 4, 0.9, random)) problems.push_back(std::move(p));
  for (const ImpactTestProblem& p : problems) {
    const ImpactSolver solver = p.solver();
    const ContactSolution solution = p.solve();
    std::vector<Vec3<double>> impulses;
    solver.impulses(p.problem(), solution, *solver.make_memory(), impulses);
    GrowableVector momentum = GrowableVector::Zero(p.v_start.size()), change;
    double scale = 0.0;
    for (std::size_t i = 0; i < impulses.size(); ++i) {
      const ContactRow& row = p.contacts.rows.rows[i];
      add_impulse(row, impulses[i], momentum);
      scale += impulses[i].norm();
      const Vec3<double> n = row.n.normalized();
      const double normal = n.dot(impulses[i]);
      if (std::abs(row.n.norm() - 1.0) > 1e-12) continue;
      REQUIRE((impulses[i] - normal * n).stableNorm() <=
              p.contacts.friction(row) * normal * (1.0 + 1e-9) + 1e-12 * impulses[i].stableNorm() +
                  std::numeric_limits<double>::min());  // of impulses that underflow
    }
    p.contacts.mass.multiply(solution.velocity - p.v_free, change);
    CAPTURE((change - momentum).norm(), scale);
    REQUIRE((change - momentum).norm() <= 1e-8 * (scale + 9.81 * p.contacts.config.h));
  }
}

TEST_CASE(
    "ImpactSolver: what the search does not solve at once it solves from softer contacts to harder ones",
    "[dynamics][value]") {
  Random random(11);
  int continued = 0, unsolved = 0, count = 0;  // three of them are hard
  for (test::ContactTestProblem& contacts : test::hard_problems(1010, 6)) {
    ImpactTestProblem p(std::move(contacts));
    p.contacts.config.tolerance = 1e-12;  // relative to the momentum of the problem, of which little changes
    test::set_impacts(p, 0.8, random);
    SmoothCoulombSolver law(p.contacts.config, test::ContactTestProblem::gravity(),
                            SmoothCoulombSolver::Without::push_out);
    law.set_near_rigid(1e-5);
    const bool is_hard = !test::solve(law, p.problem()).converged;
    const ImpactSolver solver = p.solver(false);
    const ContactSolution solution = test::solve(solver, p.problem());
    ++count;
    unsolved += !solution.converged;
    if (!solution.converged) continue;
    continued += is_hard;
    CAPTURE(is_hard, solution.iterations, solution.residual);
    std::vector<Vec3<double>> impulses;
    solver.impulses(p.problem(), solution, *solver.make_memory(), impulses);
    GrowableVector momentum = GrowableVector::Zero(p.v_start.size()), change;
    for (std::size_t i = 0; i < impulses.size(); ++i)
      add_impulse(p.contacts.rows.rows[i], impulses[i], momentum);
    p.contacts.mass.multiply(solution.velocity - p.v_free, change);
    REQUIRE(test::close(change, momentum, 0, 1e-6 * change.norm() + 1e-12));
  }
  CAPTURE(count, continued, unsolved);
  CHECK(continued >= 1);
  CHECK(unsolved <= 3);
}

TEST_CASE("ImpactSolver: a light ball bounces off a stack that carries its weight as off a rigid floor",
          "[dynamics][value]") {
  // What the stack's contacts carry is in the velocities before the impact. If they pushed it up once more, the
  // energy of that would be taken from the ball, 1/3000 of its mass.
  const double restitution = GENERATE(0.5, 1.0), speed = 2.0;
  StepConfig config;
  config.h = 2e-2;
  config.law = GENERATE(ContactLaw::smooth_coulomb, ContactLaw::lcp);
  TestScene scene = test::stack_scene(3, 0.1, 1.0, 0.5, 1);
  for (Body& body : scene.model.bodies) body.material.restitution = restitution;
  State settled;
  REQUIRE(simulate(Stepper(scene.model, config), scene.state, 20, {}, settled).status == StepStatus::ok);
  scene.state = settled;
  scene.add(test::sphere_of_mass(0.05, 1e-3), test::pose_at({0.01, 0.005, 0.35 + 0.5 * speed * config.h}),
            test::moving_at({0, 0, -speed}));
  scene.model.bodies.back().material.restitution = restitution;
  StepScratch scratch;
  State next;
  const StepReport report = Stepper(scene.model, config).step(scene.state, {}, next, scratch);
  CAPTURE(restitution, report.impacts, next.V_WB[4][5]);
  REQUIRE(report.status == StepStatus::ok);
  REQUIRE(report.impacts > 0);
  CHECK(next.V_WB[4][5] >= 0.9 * restitution * speed);
}

TEST_CASE("ImpactSolver: a blow on a stack that carries its weight takes at most 6 Newton iterations",
          "[dynamics][value]") {
  const double aside = GENERATE(0.0, 0.01, 0.03);
  TestScene scene = test::stack_scene(5, 0.1, 1.0, 0.5, 1);
  scene.add(test::sphere_of_mass(0.05, 1.0), test::pose_at({aside, 0, 0.551}), test::moving_at({0, 0, -2}));
  for (Body& body : scene.model.bodies) body.material.restitution = 0.3;
  StepConfig config;
  config.h = 2e-3;
  StepScratch scratch;
  State next;
  REQUIRE(Stepper(scene.model, config).step(scene.state, {}, next, scratch).impacts == 1);
  const PhasesMemory& phases = scratch.memory().phases;
  CAPTURE(aside, phases.iterations, phases.residual);
  CHECK(phases.iterations <= 6);
  CHECK(phases.residual <= config.tolerance);
}
