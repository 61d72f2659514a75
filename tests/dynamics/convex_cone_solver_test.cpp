#include "dynamics/other_laws/convex_cone_solver.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "dynamics/rollout/rollout.h"
#include "dynamics/solver/island_solver.h"
#include "tests/support/close.h"
#include "tests/support/contact_problems.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::exact_config;
using test::TestScene;
using Problem = test::ContactTestProblem;

constexpr double k_cone_gravity = 9.81;

/// MuJoCo's d_0 = 0.9, so that small overlaps already push as hard as they can.
StepConfig config_of(ContactLaw law, double d_0 = 0.9) {
  StepConfig config = exact_config(law);
  if (law == ContactLaw::impedance) config.impedance.solimp[0] = d_0;
  return config;
}

ContactLaw any_law() { return GENERATE(ContactLaw::convex_cone, ContactLaw::impedance); }

ContactSolution solve(const Problem& p) { return test::solve(ConvexConeSolver(p.config, p.gravity()), p); }

/// The potential again, from its definition: half the squared length, in the metric of R, of the projection
/// onto the cone.
struct ConePotential {
  const Problem& p;

  struct Compliance {
    double normal, tangential;
    double target = 0.0;  ///< v_hat = target n + carried
    Vec3<double> carried = Vec3<double>::Zero();
  };
  [[nodiscard]] Compliance compliance(const ContactRow& row) const {
    const StepConfig& config = p.config;
    const PairMaterial& material = p.rows.pairs[static_cast<std::size_t>(row.pair)].material;
    const double h = config.h;
    if (config.law == ContactLaw::convex_cone) {
      const double tau = material.dissipation_time,
                   near_rigid = std::pow(config.near_rigid_factor / (2.0 * std::numbers::pi), 2);
      const double d = row.distance, width = config.normal_smoothing_factor * k_cone_gravity * h * h;
      const double depth = -d / width > 0.0 ? -d + width * std::log1p(std::exp(d / width))
                                            : width * std::log1p(std::exp(-d / width));
      const double uncapped = -d / h - (1.0 / h - 1.0 / (h + tau)) * depth;
      const double rigid = near_rigid * row.inverse_mass, R = material.compliance / (h * (h + tau)) + rigid;
      const double speed = config.push_out_factor * k_cone_gravity * h,
                   x = (uncapped - speed * R / rigid) / (0.05 * speed);
      const double over = 0.05 * speed * (x > 0.0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)));
      return {R / row.weight, config.tangential_factor * row.inverse_mass / row.weight, uncapped - over};
    }
    const auto& [time_constant, damping_ratio] = config.impedance.solref;
    const auto& [d_0, d_w, width, mid, power] = config.impedance.solimp;
    const double tc = std::max(time_constant, 2.0 * h), x = std::min(-row.distance / width, 1.0);
    const double y = x < mid ? std::pow(x / mid, power) * mid
                             : 1.0 - std::pow((1.0 - x) / (1.0 - mid), power) * (1.0 - mid);
    const double impedance = row.distance < 0.0 ? d_0 + y * (d_w - d_0) : 0.0;
    const double b = 2.0 / (d_w * tc), K = 1.0 / (d_w * d_w * tc * tc * damping_ratio * damping_ratio);
    const Vec3<double> u = p.slip<double>(row, p.free.v_start);
    const double R = (1.0 - impedance) / impedance * row.inverse_mass / row.weight;
    return {R, R / config.impedance.impratio, -h * K * impedance * row.distance, u - h * b * u};
  }

  template <typename S>
  [[nodiscard]] S operator()(const VecX<S>& v) const {
    using std::sqrt;
    S sum = p.kinetic(v);
    for (const ContactRow& row : p.rows.rows) {
      const Compliance R = compliance(row);
      if (std::isinf(R.normal)) continue;
      const double mu = p.friction(row);
      const Vec3<S> slip = Vec3<S>(R.carried.cast<S>()) - p.slip(row, v), n = row.n.cast<S>();
      const S N = S(R.target) + n.dot(slip);
      const Vec3<S> z_t = slip - n * n.dot(slip);
      const S T2 = z_t.dot(z_t), T = T2 > S(0) ? S(sqrt(T2)) : S(0);
      const S y_n = N / S(R.normal), y_t = T / S(R.tangential);
      if (y_t <= S(mu) * y_n) {
        sum += S(0.5) * (y_n * N + y_t * T);
      } else if (y_n + S(mu * R.tangential / R.normal) * y_t > S(0)) {
        const S gamma = (N + S(mu) * T) / S(R.normal + mu * mu * R.tangential);
        sum += S(0.5 * (R.normal + mu * mu * R.tangential)) * gamma * gamma;
      }
    }
    return sum;
  }
};

/// -1 open, 0 sliding, 1 sticking: by the impulses.
std::vector<int> zones(const Problem& p, const ConvexConeSolver& solver, const ContactSolution& solution) {
  std::vector<Vec3<double>> impulses;
  solver.impulses(p.problem(), solution, *solver.make_memory(), impulses);
  std::vector<int> zones;
  for (std::size_t i = 0; i < impulses.size(); ++i) {
    const ContactRow& row = p.rows.rows[i];
    const double normal = row.n.dot(impulses[i]), tangential = (impulses[i] - normal * row.n).norm();
    zones.push_back(normal == 0.0 ? -1 : tangential < p.friction(row) * normal * (1.0 - 1e-12) ? 1 : 0);
  }
  return zones;
}

/// The state after `seconds`; a failed step fails the test.
State after(const TestScene& scene, double seconds, const StepConfig& config,
            const StepObserver& observer = {}) {
  const Stepper stepper(scene.model, config);
  State end;
  const StepReport report =
      simulate(stepper, scene.state, static_cast<int>(std::lround(seconds / config.h)), {}, end, observer);
  REQUIRE(report.status == StepStatus::ok);
  return end;
}

}  // namespace

TEST_CASE("ConvexConeSolver: random problems converge to 1e-12 but for rounding, and impulses balance",
          "[dynamics][value]") {
  const ContactLaw law = any_law();
  const double d_0 = law == ContactLaw::impedance ? GENERATE(0.0, 0.9) : 0.9;
  int most = 0, total = 0;
  double worst = 0.0;
  const auto problems = test::random_problems(150, 4, config_of(law, d_0));
  for (const Problem& p : problems) {
    test::require_balance(ConvexConeSolver(p.config, p.gravity()), p);
    const ContactSolution solution = solve(p);
    most = std::max(most, solution.iterations);
    total += solution.iterations;
    worst = std::max(worst, solution.residual);
  }
  CAPTURE(static_cast<int>(law), d_0, most, total, worst);
  CHECK(worst <= 1e-11);
  CHECK(most <= 40);
  CHECK(total <= 12 * static_cast<int>(problems.size()));
}

TEST_CASE("ConvexConeSolver: impulses lie in the cone, and oppose what slides on it",
          "[dynamics][property]") {
  const ContactLaw law = any_law();
  int sliding = 0, sticking = 0, open = 0;
  for (const Problem& p : test::random_problems(60, 3, config_of(law))) {
    const ConvexConeSolver solver(p.config, p.gravity());
    const ContactSolution solution = solve(p);
    const ConePotential L{p};
    std::vector<Vec3<double>> impulses;
    solver.impulses(p.problem(), solution, *solver.make_memory(), impulses);
    const std::vector<int> zone = zones(p, solver, solution);
    for (std::size_t i = 0; i < impulses.size(); ++i) {
      const ContactRow& row = p.rows.rows[i];
      if (std::abs(row.n.norm() - 1.0) > 1e-12) continue;
      const double mu = p.friction(row), normal = row.n.dot(impulses[i]);
      const Vec3<double> tangential = impulses[i] - normal * row.n;
      const double unit = k_cone_gravity * p.config.h * p.mass.total_mass();
      REQUIRE(normal >= -1e-14 * unit);
      REQUIRE(tangential.norm() <= mu * normal * (1.0 + 1e-10) + 1e-14 * unit);
      if (zone[i] < 0) {
        ++open;
        continue;
      }
      // Sliding friction is against v_hat - u; sticking, the impulse is that of the spring: gamma = R^-1
      // (v_hat - u).
      const auto R = L.compliance(row);
      const Vec3<double> v_hat = R.target * row.n + R.carried,
                         z = v_hat - p.slip<double>(row, solution.velocity);
      const Vec3<double> z_t = z - row.n.dot(z) * row.n;
      if (zone[i] == 0 && mu > 0.0) {
        ++sliding;
        REQUIRE(test::close(tangential.dot(z_t), tangential.norm() * z_t.norm(), 1e-9, 1e-14 * unit));
      } else if (zone[i] == 1) {
        ++sticking;
        // v_hat and u are rounded at their own size.
        const double noise = 1e-13 * (v_hat.norm() + z.norm() + 1.0);
        REQUIRE(test::close(normal, row.n.dot(z) / R.normal, 1e-8, noise / R.normal));
        REQUIRE((tangential - z_t / R.tangential).norm() <= 1e-8 * tangential.norm() + noise / R.tangential);
      }
    }
  }
  CAPTURE(static_cast<int>(law), sliding, sticking, open);
  CHECK(sliding >= 30);
  CHECK(sticking >= 30);
  CHECK(open >= 30);
}

TEST_CASE("ConvexConeSolver: agrees with a brute-force minimiser, and ends where the potential is least",
          "[dynamics][value]") {
  const ContactLaw law = any_law();
  Random random(7);
  int compared = 0, agreeing = 0;
  double worst = 0.0;
  for (const Problem& p : test::random_problems(25, 2, config_of(law))) {
    const ContactSolution solution = solve(p);
    const ConePotential L{p};
    REQUIRE(p.mass.size() <= test::k_reference_size);
    // The potential is at least as convex as M: this bounds the distance from its minimum.
    const double scale = std::sqrt(p.kinetic<double>(VecX<double>::Zero(p.mass.size()))) +
                         k_cone_gravity * p.config.h * std::sqrt(p.mass.total_mass());
    CAPTURE(static_cast<int>(law), p.rows.rows.size());
    REQUIRE(p.mass.inverse_norm(test::gradient_of(L, solution.velocity)) <= 1e-9 * scale);
    // The brute force does not always come through where zones meet, but never finds less.
    const GrowableVector v = test::minimise(L, p.free.v_free, 1e-8);
    const double error = (solution.velocity - v).norm() / (v.norm() + k_cone_gravity * p.config.h);
    worst = std::max(worst, error);
    ++compared;
    if (error <= 1e-8) ++agreeing;
    REQUIRE(L(VecX<double>(solution.velocity)) <= L(VecX<double>(v)) * (1.0 + 1e-13));
    const double least = L(VecX<double>(solution.velocity));
    for (int k = 0; k < 50; ++k) {
      GrowableVector d(v.size()), Md;
      for (double& x : d) x = random.normal();
      d *= std::pow(10.0, random.uniform(-4.0, 1.0));
      p.mass.multiply(d, Md);
      const double there = L(VecX<double>(solution.velocity + d));
      REQUIRE(there - least >= 0.5 * d.dot(Md) * (1.0 - 1e-8) - 1e-12 * (std::abs(least) + std::abs(there)));
    }
  }
  CAPTURE(compared, agreeing, worst);
  CHECK(agreeing >= 0.9 * compared);
  CHECK(worst > 0.0);  // they are two programs
}

TEST_CASE("ConvexConeSolver: does not depend on where it starts", "[dynamics][property]") {
  // The impedance law carries a part of the velocities at the start over; to the cone they are a start alone.
  for (const Problem& p : test::random_problems(40, 3, config_of(ContactLaw::convex_cone))) {
    const GrowableVector elsewhere = p.free.v_start + GrowableVector::Constant(p.mass.size(), 3.0);
    const ContactProblem problem = p.problem();
    const ContactProblem from_elsewhere{problem.mass,   problem.rows, elsewhere,
                                        problem.v_free, problem.h,    problem.joints};
    const ContactSolution solution = test::solve(ConvexConeSolver(p.config, p.gravity()), from_elsewhere);
    CAPTURE(solution.iterations, solution.residual);
    REQUIRE(solution.converged);
    REQUIRE(test::close(solution.velocity, solve(p).velocity, 1e-8, 1e-8));
  }
}

TEST_CASE("ConvexConeSolver: VJP agrees with differences in everything a problem is made of, away from kinks",
          "[dynamics][derivative]") {
  const ContactLaw law = any_law();
  const double d_0 = law == ContactLaw::impedance ? GENERATE(0.0, 0.9) : 0.9;
  Random random(9);
  test::VjpComparison comparison;
  int skipped = 0, problems = 0, rows = 0, near_kinks = 0;
  double by_start = 0.0;
  for (const Problem& p : test::random_problems(40, 3, config_of(law, d_0))) {
    const ConvexConeSolver solver(p.config, p.gravity());
    std::vector<bool> near_kink;
    ++problems;
    rows += static_cast<int>(p.rows.rows.size());
    const int near = solver.contacts_near_kink(p.problem(), solve(p), near_kink);
    near_kinks += near;
    if (near > 0) {
      ++skipped;
      continue;
    }
    const ContactProblemBar bar = test::compare_vjp(solver, p, random, comparison);
    by_start = std::max(by_start, bar.v_start.cwiseAbs().maxCoeff());
  }
  std::sort(comparison.errors.begin(), comparison.errors.end());
  const std::size_t n = comparison.errors.size();
  REQUIRE(n > 100);
  const double median = comparison.errors[n / 2], p99 = comparison.errors[n - 1 - n / 100];
  CAPTURE(static_cast<int>(law), d_0, problems, skipped, rows, near_kinks, comparison.compared,
          comparison.disagreements, median, p99, comparison.unresolved);
  CHECK((law == ContactLaw::impedance) == (by_start > 0.0));
  // One contact of dozens is enough to skip a problem.
  CHECK(near_kinks <= rows / 40);
  CHECK(skipped <= 2 * problems / 5);
  CHECK(comparison.disagreements <= comparison.compared / 20);
  CHECK(median <= 1e-8);
}

TEST_CASE("ConvexConeSolver: contacts change their zone only where they were said to be near a kink",
          "[dynamics][property]") {
  const ContactLaw law = any_law();
  int changes = 0, missed = 0, flagged = 0, rows = 0;
  for (Problem p : test::random_problems(40, 1, config_of(law))) {
    const ConvexConeSolver solver(p.config, p.gravity());
    const GrowableVector v_free = p.free.v_free;
    const Vec3<double> push = Random(static_cast<std::uint64_t>(p.rows.rows.size())).unit_vector();
    std::vector<int> before;
    std::vector<bool> near_before;
    for (int k = 0; k <= 3000; ++k) {
      // In steps below a thousandth of the speeds at most contacts.
      p.free.v_free = v_free;
      p.free.v_free.segment<3>(3) += 1e-4 * (k - 1500) * push;
      const ContactSolution solution = solve(p);
      REQUIRE(solution.converged);
      std::vector<bool> near;
      const int count = solver.contacts_near_kink(p.problem(), solution, near);
      REQUIRE(count == std::count(near.begin(), near.end(), true));
      REQUIRE(near.size() == p.rows.rows.size());
      const std::vector<int> now = zones(p, solver, solution);
      for (std::size_t i = 0; k > 0 && i < now.size(); ++i) {
        ++rows;
        flagged += near[i];
        if (now[i] == before[i]) continue;
        ++changes;
        missed += !(near[i] || near_before[i]);
      }
      before = now;
      near_before = near;
    }
  }
  CAPTURE(static_cast<int>(law), changes, missed, flagged, rows);
  CHECK(changes >= 20);
  CHECK(missed <= changes / 10);  // contacts that share a load act on each other, which one alone cannot tell
  CHECK(flagged <= rows / 10);
}

TEST_CASE("IslandSolver: says which contacts are near a kink as the law itself does", "[dynamics][value]") {
  const StepConfig config = config_of(any_law());
  for (const Problem& p : test::random_problems(10, 3, config)) {
    const IslandSolver islands(make_contact_solver(config, k_cone_gravity));
    IslandMemory memory;
    ContactSolution solution;
    islands.solve(p.problem(), memory, solution);
    std::vector<bool> near, expected;
    CHECK(islands.contacts_near_kink(p.problem(), solution, near) ==
          ConvexConeSolver(config, k_cone_gravity).contacts_near_kink(p.problem(), solution, expected));
    CHECK(near == expected);
    CHECK(near.size() == p.rows.rows.size());
  }
}

// Physics ---------------------------------------------------------------------------------------------------

TEST_CASE("ConvexConeSolver: a box on a slope sticks below the friction angle and slides above it",
          "[dynamics][value]") {
  StepConfig config = config_of(any_law());
  config.tolerance = 1e-10;
  const double mu = GENERATE(0.3, 0.8);
  const Vec3<double> half(0.05, 0.05, 0.02);
  const auto speed = [&](double share) {
    const double angle = std::atan(share * mu);
    TestScene scene = test::box_on_floor(test::box_of_mass(half, 1.0), half, mu, angle);
    const Vec3<double> v = after(scene, 1.0, config).V_WB[1].tail<3>(),
                       normal(std::sin(angle), 0.0, std::cos(angle));
    // A sliding contact lets go and comes back, so that the box hops; what it has lost to friction is mu
    // times what the floor has given it upwards, whenever that was.
    const double v_n = normal.dot(v);
    return (v - v_n * normal).norm() + mu * v_n;
  };
  CAPTURE(static_cast<int>(config.law), mu);
  // Sticking contacts creep: Drake's by R_t gamma_t; MuJoCo's by R_t gamma_t/(h b), as its damper is all that
  // holds them.
  const double creep = config.law == ContactLaw::convex_cone ? 1e-4 : 0.02;
  CHECK(speed(0.97) < creep);
  const double angle = std::atan(1.1 * mu), exact = k_cone_gravity * (std::sin(angle) - mu * std::cos(angle));
  CHECK(test::close(speed(1.1), exact, 0.02, 0.0));
}

TEST_CASE("ConvexConeSolver: a box sags by m g over k, or as MuJoCo's parameters say, however it is meshed",
          "[dynamics][value]") {
  const int subdivisions = GENERATE(2, 4);
  const double mass = GENERATE(0.1, 10.0);
  const Vec3<double> half(0.1, 0.08, 0.05);
  TestScene scene = test::box_on_floor(test::box_of_mass(half, mass, subdivisions), half, 0.4);
  const double stiffness = 1e4 * mass;
  scene.body(1).material.stiffness = stiffness;
  for (Body& body : scene.model.bodies) body.material.dissipation_time = 0.05;
  const auto sag = [&](ContactLaw law) {
    return half.z() - after(test::without_ignored(scene, law), 2.0, config_of(law)).X_WB[1].p.z();
  };
  CAPTURE(subdivisions, mass);
  CHECK(test::close(sag(ContactLaw::convex_cone), mass * k_cone_gravity / stiffness, 1e-3, 0.0));
  CHECK(test::close(sag(ContactLaw::impedance), 0.367e-3, 2e-3, 0.0));
}

TEST_CASE("ConvexConeSolver: a sliding box floats at mu h times its speed", "[dynamics][value]") {
  const double mu = 0.4, speed = 0.5;
  const Vec3<double> half(0.1, 0.1, 0.02);
  const TestScene scene = test::box_on_floor(test::box_of_mass(half, 1.0), half, mu, 0.0, speed);
  const StepConfig config = config_of(ContactLaw::convex_cone);
  // While it slides it slows down with mu g.
  const State end = after(scene, 0.05, config);
  const double slower = speed - mu * k_cone_gravity * 0.05;
  CHECK(test::close(end.V_WB[1][3], slower, 0.02, 0.0));
  CHECK(test::close(end.X_WB[1].p.z() - half.z(), mu * config.h * slower, 0.1, 0.0));
}

TEST_CASE("ConvexConeSolver: a stack of ten boxes stands", "[dynamics][value]") {
  StepConfig config = config_of(any_law(), 0.0);
  config.tolerance = 1e-8;
  const TestScene scene = test::stack_scene(10, 0.1, 1.0);
  const State end = after(scene, 2.0, config);
  if (config.law == ContactLaw::impedance) {
    // d^2/(1 - d) K r = g W load, with d = 0.95 deeper than a width: the loads times W are 10 g on the floor,
    // and 2 g times the number of boxes above in the other pairs.
    const double K = 1.0 / (0.95 * 0.95 * 0.02 * 0.02),
                 sag = k_cone_gravity * (10.0 + 2.0 * 45.0) / (0.95 * 0.95 / 0.05 * K);
    CHECK(test::close(scene.state.X_WB[10].p.z() - end.X_WB[10].p.z(), sag, 0.1, 0.0));
  }
  for (std::size_t b = 1; b <= 10; ++b) {
    const Vec6<double> d = difference(end.X_WB[b], scene.state.X_WB[b]);
    CAPTURE(static_cast<int>(config.law), b, d.transpose());
    CHECK(d.head<3>().norm() < 1e-3);
    CHECK(d.segment<2>(3).norm() < 1e-3);
    if (config.law == ContactLaw::convex_cone) CHECK(std::abs(d[5]) < 1e-3);
  }
}
