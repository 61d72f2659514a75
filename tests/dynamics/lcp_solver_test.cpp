#include "dynamics/other_laws/lcp_solver.h"

#include <algorithm>

#include "dynamics/rollout/adjoint.h"
#include "engine/body_builder.h"
#include "tests/support/complementarity_checks.h"
#include "tests/support/samples.h"
#include "tests/support/scenes.h"

using namespace abut;
using Solver = LcpSolver;

TEST_CASE("LcpSolver: momentum, complementarity and cones hold", "[dynamics][value]") {
  // Of ten times as many, the iteration for friction with polyhedral cones does not converge in 6.
  int solved = 0;
  for (const test::Problem& p : test::random_problems(60, 3)) solved += test::check_conditions<Solver>(p);
  CHECK(solved == 60);
}

TEST_CASE("LcpSolver: they hold for contacts that take part in part, whose resistance is R + W (1/q - 1)",
          "[dynamics][value]") {
  Random random(5);
  int solved = 0;
  for (test::Problem& p : test::random_problems(60, 3)) {
    for (ContactRow& row : p.rows.rows) row.answers = random.uniform(0.05, 1.0);
    solved += test::check_conditions<Solver>(p);
  }
  CHECK(solved == 60);
}

TEST_CASE("LcpSolver: every step of the scenes that are hard to solve converges", "[dynamics][value]") {
  test::check_hard_scenes(ContactLaw::lcp);
}

TEST_CASE("LcpSolver: a motor that is far from linear is no hindrance", "[dynamics][value]") {
  test::check_start_from_motors(ContactLaw::lcp);
}

TEST_CASE("LcpSolver: contacts at a corner that is hardly rounded are said to be near a kink",
          "[dynamics][value]") {
  test::check_kinks<Solver>();
}

TEST_CASE("LcpSolver: boxes stick and slide, spheres roll, stacks stand", "[dynamics][value]") {
  test::check_analytic_motions(ContactLaw::lcp);
}

TEST_CASE("LcpSolver: what counts as solved balances, however hard it was", "[dynamics][property]") {
  test::check_hard_problems<Solver>();
}

TEST_CASE("LcpSolver: says so when it does not converge", "[dynamics][value]") {
  test::check_reports<Solver>(test::random_problems(10, 3));
}

TEST_CASE("LcpSolver: an impact gives back e of the approach velocity", "[dynamics][value]") {
  const double e = GENERATE(0.0, 0.3, 0.5, 0.9, 1.0);
  test::TestScene scene = test::floor_scene();
  scene.model.gravity.setZero();
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({0.0, 0.0, 0.1 - 1e-5}),
            test::moving_at({0.0, 0.0, -2.0}));
  for (Body& body : scene.model.bodies) body.material.restitution = e;
  StepConfig config = test::exact_config();
  config.law = ContactLaw::lcp;
  const State end = test::after(scene, config.h, config);
  // The row is compliant and relaxed: softer than hard by R/(R + W) = 2.5e-4.
  CHECK(test::close(end.V_WB[1][5], 2.0 * e, 1e-9, 2.0 * (1.0 + e) * 3e-4));
}

TEST_CASE("LcpSolver: agrees with projected Gauss-Seidel without friction", "[dynamics][value]") {
  StepConfig config = test::exact_config();
  config.complementarity_factor = 1e-8;
  for (test::Problem p : test::random_problems(30, 3, config)) {
    for (RowPair& pair : p.rows.pairs) pair.material.friction = 0.0;
    const Solver solver(config, p.gravity());
    const ContactSolution solution = test::solve(solver, p);
    REQUIRE(solution.converged);
    const auto& s = solver.settings();
    GrowableVector v = p.free.v_free, change, push;
    std::vector<double> impulses(p.rows.rows.size(), 0.0);
    for (int sweep = 0; sweep < 20000; ++sweep) {
      double most = 0.0;
      for (std::size_t i = 0; i < impulses.size(); ++i) {
        const ContactRow& row = p.rows.rows[i];
        const PairMaterial& m = p.rows.pairs[static_cast<std::size_t>(row.pair)].material;
        const double R = (m.compliance / (s.normal.h * (s.normal.h + m.dissipation_time)) +
                          s.normal.near_rigid * row.inverse_mass) /
                         row.weight;
        const double target = smooth_coulomb::normal_target(row.distance, row.inverse_mass, m.compliance,
                                                            m.dissipation_time, s.normal)
                                  .value;
        push.setZero(v.size());
        add_impulse(row, row.n, push);
        p.mass.solve(push, change);
        const double W = row.n.dot(relative_velocity(row, change));
        const double next = std::max(
            0.0, impulses[i] - (row.n.dot(relative_velocity(row, v)) - target + R * impulses[i]) / (W + R));
        v += (next - impulses[i]) * change;
        most = std::max(most, std::abs(next - impulses[i]));
        impulses[i] = next;
      }
      if (most < 1e-14) break;
    }
    CAPTURE(p.rows.rows.size(), (v - solution.velocity).norm());
    CHECK((v - solution.velocity).norm() <= 1e-4 * (v.norm() + 9.81 * config.h));
  }
}

TEST_CASE("LcpSolver: tangents are orthonormal, and their derivative that of differences",
          "[dynamics][derivative]") {
  Random random(5);
  for (int k = 0; k < 200; ++k) {
    const Vec3<double> n = random.uniform(0.5, 1.5) * random.unit_vector();
    const auto t = lcp::Law::tangents(n);
    REQUIRE(std::abs(t.first.dot(t.second)) < 1e-12);
    REQUIRE(test::close(t.first.cross(t.second), n.normalized(), 0.0, 1e-12));
    const complementarity::Tangents bar{test::random_vector(random), test::random_vector(random)};
    const auto loss = [&](const Vec3<double>& x) {
      const auto moved = lcp::Law::tangents(x);
      return bar.first.dot(moved.first) + bar.second.dot(moved.second);
    };
    if ((n.normalized() - lcp::Law::k_seam()).norm() < 0.2) continue;
    REQUIRE(test::close(lcp::Law::tangents_vjp(n, bar), test::fd_gradient(loss, n, 1e-5), 1e-5, 1e-6));
  }
  CHECK(
      test::close(lcp::Law::tangents(Vec3<double>::UnitZ()).first, Vec3<double>::UnitX().eval(), 0.0, 1e-12));
}

TEST_CASE("LcpSolver: VJP agrees with differences in everything a problem is made of",
          "[dynamics][derivative][nightly]") {
  const double answers = GENERATE(1.0, 0.4);
  double worst = 0.0;
  test::check_vjp<Solver>(test::random_problems(test::samples(12), 3), answers, worst);
  CAPTURE(worst);
  CHECK(worst > 0.0);
}

TEST_CASE("LcpSolver: the adjoint of 50 steps agrees with differences", "[dynamics][derivative][nightly]") {
  test::check_adjoint(ContactLaw::lcp, test::samples(8), 50);
}

TEST_CASE("LcpSolver: the gradient of a hard impact is right at the default tolerance, whatever the step",
          "[dynamics][derivative]") {
  // Impulses of 0.5 N s against a central path of 1e-12 J and less: friction's part of the answer changes
  // where the velocities change by as little.
  const double h = GENERATE(1e-3, 1e-4, 1e-5);
  CAPTURE(h);
  test::TestScene scene = test::floor_scene(0.5);
  scene.add(make_sphere(0.05, 1000.0), test::pose_at({0, 0, 0.05 - 0.5 * h}));
  scene.set_friction(0.5);
  for (Body& body : scene.model.bodies) body.material.restitution = 0.5;
  scene.V_WB(1) = stack<double>(Vec3<double>::Zero(), Vec3<double>(1.0, 0.0, -1.0));
  StepConfig config;
  config.law = ContactLaw::lcp;
  config.h = h;
  const Stepper stepper(scene.model, config);
  const Gradient gradient =
      adjoint(stepper, rollout(stepper, scene.state, 3), [](int k, const State&, StateTangent& bar) {
        if (k == 3) bar.twist[1][3] += 1.0;
      });
  const auto speed_after = [&](double dz) {
    State state = scene.state, end;
    state.X_WB[1].p.z() += dz;
    (void)simulate(stepper, state, 3, {}, end);
    return end.V_WB[1][3];
  };
  const double step = 1e-3 * h, difference = (speed_after(step) - speed_after(-step)) / (2.0 * step);
  CAPTURE(difference, gradient.initial.pose[1].transpose());
  CHECK(gradient.initial.pose[1][5] == Approx(difference).epsilon(1e-4).margin(1e-6));
  CHECK(std::abs(difference) > 1e-2);
}
