#include "dynamics/smooth_coulomb_solver.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Cholesky>

#include "dynamics/free_motion.h"
#include "dynamics/rollout.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/scenes.h"

namespace {

using namespace abut;
using test::TestScene;

/// The velocity problem of a state, as a step poses it.
struct Problem {
  TestScene scene;
  StepConfig config;
  MassMatrix mass;
  ContactRows rows;
  FreeMotion free;

  Problem(TestScene s, const StepConfig& c) : scene(std::move(s)), config(c) {
    const ContactDetector detector(scene.model, config.contact);
    DetectorScratch scratch;
    ContactManifold manifold;
    const std::vector<double> margins(scene.model.bodies.size(), 0.01);
    detector.detect(scene.state.X_WB, margins, scratch, manifold);
    mass.update(scene.model, scene.state);
    const RowSettings settings{config.h, 0.1 * gravity() * config.h * config.h,
                               config.dissipation_steps * config.h};
    make_rows(scene.model, mass, scene.state, manifold, settings, rows);
    free_motion(scene.model, mass, scene.state, {}, config.h, free);
  }
  [[nodiscard]] ContactProblem problem() const { return {mass, rows, free.v_start, free.v_free, config.h}; }
  [[nodiscard]] double gravity() const { return 9.81; }
};

StepConfig exact_config() {
  StepConfig config;
  config.tolerance = 1e-12;
  config.acceleration_scale = 9.81;
  return config;
}

ContactSolution solve(const Problem& p) {
  const SmoothCoulombSolver solver(p.config, p.gravity());
  SolverScratch scratch;
  ContactSolution solution;
  solver.solve(p.problem(), scratch, solution);
  return solution;
}

// The potential again, from its definition and by other means: with an integral for that of the normal
// impulse, and velocities that know nothing of rows and slots.

/// int_{-inf}^x log(1 + e^t) dt = int_0^{e^x} log(1 + s)/s ds, by Gauss-Legendre; for x > 0 from x -> -x.
template <typename S>
S softplus_integral(const S& x) {
  using std::exp, std::log1p;
  static constexpr std::array<double, 8> nodes{
      0.0950125098376374402, 0.2816035507792589132, 0.4580167776572273863, 0.6178762444026437484,
      0.7554044083550030339, 0.8656312023878317439, 0.9445750230732325761, 0.9894009349916499326};
  static constexpr std::array<double, 8> weights{
      0.1894506104550684963, 0.1826034150449235889, 0.1691565193950025382, 0.1495959888165767321,
      0.1246289712555338721, 0.0951585116824927848, 0.0622535239386478929, 0.0271524594117540949};
  if (x > S(0))
    return S(0.5) * x * x + S(std::numbers::pi * std::numbers::pi / 6.0) - softplus_integral(S(-x));
  const S end = exp(x);
  S sum = S(0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const double node : {nodes[i], -nodes[i]}) {
      const S s = S(0.5 * (1.0 + node)) * end;
      sum += S(0.5 * weights[i]) * (s > S(1e-8) ? S(log1p(s) / s) : S(S(1) - S(0.5) * s));
    }
  }
  return sum * end;
}

struct StepPotential {
  const Problem& p;
  std::vector<double> bounds;  ///< mu gamma_n of the pass before, empty in pass 0
  smooth_coulomb::Settings s;

  explicit StepPotential(const Problem& problem)
      : p(problem), s(SmoothCoulombSolver(p.config, p.gravity()).settings()) {}

  template <typename S>
  [[nodiscard]] Vec3<S> slip(const ContactRow& row, const VecX<S>& v) const {
    const auto of = [&](int body, const Vec3<double>& r) -> Vec3<S> {
      const int slot = p.mass.slot(body);
      if (slot < 0) return Vec3<S>(S(0), S(0), S(0));
      const Vec3<S> w = v.template segment<3>(6 * slot), u = v.template segment<3>(6 * slot + 3);
      return u + w.cross(Vec3<S>(S(r[0]), S(r[1]), S(r[2])));
    };
    return of(row.body_B, row.r_B) - of(row.body_A, row.r_A);
  }
  [[nodiscard]] double resistance(const ContactRow& row) const {
    const PairMaterial& m = p.rows.pairs[static_cast<std::size_t>(row.pair)].material;
    return m.compliance / (s.h * (s.h + m.dissipation_time)) + s.near_rigid * row.inverse_mass;
  }
  [[nodiscard]] double target(const ContactRow& row) const {
    return smooth_coulomb::normal_target(
               row.distance, p.rows.pairs[static_cast<std::size_t>(row.pair)].material.dissipation_time, s)
        .value;
  }

  /// L(v) of this pass.
  template <typename S>
  [[nodiscard]] S operator()(const VecX<S>& v) const {
    using std::sqrt;
    S sum = S(0);
    for (int slot = 0; slot < p.mass.slot_count(); ++slot) {
      const TestScene& scene = p.scene;
      const auto b = static_cast<std::size_t>(p.mass.body(slot));
      const Mat3<double> R = scene.state.X_WB[b].rotation(),
                         I = R * scene.model.bodies[b].inertia * R.transpose();
      Vec6<S> d;
      for (int i = 0; i < 6; ++i) d[i] = v[6 * slot + i] - S(p.free.v_free[6 * slot + i]);
      for (int i = 0; i < 3; ++i) {
        sum += S(0.5 * scene.model.bodies[b].mass) * d[3 + i] * d[3 + i];
        for (int j = 0; j < 3; ++j) sum += S(0.5 * I(i, j)) * d[i] * d[j];
      }
    }
    for (std::size_t i = 0; i < p.rows.rows.size(); ++i) {
      const ContactRow& row = p.rows.rows[i];
      const Vec3<S> n(S(row.n[0]), S(row.n[1]), S(row.n[2])), u = slip(row, v);
      const S u_n = n.dot(u);
      const double tau = s.velocity_smoothing;
      sum += S(row.weight / resistance(row) * tau * tau) * softplus_integral(S((S(target(row)) - u_n) / tau));
      if (bounds.empty()) continue;
      const Vec3<S> u_t = u - n * u_n;
      sum +=
          S(bounds[i]) * (sqrt(u_t.dot(u_t) + S(s.stiction_speed * s.stiction_speed)) - S(s.stiction_speed));
    }
    return sum;
  }

  /// Bounds for the pass after one that ended with v.
  void freeze_bounds(const Eigen::VectorXd& v) {
    bounds.clear();
    for (const ContactRow& row : p.rows.rows) {
      const double mu = p.rows.pairs[static_cast<std::size_t>(row.pair)].material.friction;
      const double x = (target(row) - row.n.dot(slip<double>(row, v))) / s.velocity_smoothing;
      const double softplus = x > 0.0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
      bounds.push_back(mu * row.weight / resistance(row) * s.velocity_smoothing * softplus);
    }
  }
};

constexpr int k_reference_size = 12;
using ReferenceJet = test::Jet<k_reference_size>;

/// Gradient of the potential by Jet.
Eigen::VectorXd gradient_of(const StepPotential& L, const Eigen::VectorXd& v) {
  VecX<ReferenceJet> x(v.size());
  for (int i = 0; i < v.size(); ++i) x[i] = ReferenceJet(v[i], i);
  return L(x).v.head(v.size());
}

/// Minimiser by a slow and sure method: Newton with a Hessian by differences, and halving until the potential
/// falls.
Eigen::VectorXd minimise(const StepPotential& L, Eigen::VectorXd v) {
  const auto n = v.size();
  Eigen::MatrixXd H(n, n);
  for (int iteration = 0; iteration < 500; ++iteration) {
    const Eigen::VectorXd g = gradient_of(L, v);
    for (Eigen::Index i = 0; i < n; ++i) {
      Eigen::VectorXd moved = v;
      const double step = 1e-3 * L.s.stiction_speed;
      moved[i] += step;
      const Eigen::VectorXd forward = gradient_of(L, moved);
      moved[i] -= 2.0 * step;
      H.col(i) = (forward - gradient_of(L, moved)) / (2.0 * step);
    }
    const Eigen::VectorXd direction = -(0.5 * (H + H.transpose())).llt().solve(g);
    double a = 1.0;
    const double value = L(VecX<double>(v));
    while (a > 1e-12 &&
           L(VecX<double>(v + a * direction)) > value + 1e-4 * a * g.dot(direction) + 1e-15 * std::abs(value))
      a *= 0.5;
    v += a * direction;
    if (direction.norm() < 1e-13 * (1.0 + v.norm())) break;
  }
  return v;
}

std::vector<Problem> random_problems(int count, int max_bodies) {
  std::vector<Problem> problems;
  for (std::uint64_t seed = 1; static_cast<int>(problems.size()) < count; ++seed) {
    Random random(seed);
    Problem p(test::random_contact_scene(random, {1, max_bodies, true, seed % 4 == 0, 0.5, 2.0}),
              exact_config());
    if (!p.rows.rows.empty()) problems.push_back(std::move(p));
  }
  return problems;
}

}  // namespace

TEST_CASE("SmoothCoulombSolver: velocities and impulses balance, M (v - v*) = sum J^T gamma",
          "[dynamics][value]") {
  for (const Problem& p : random_problems(100, 4)) {
    const SmoothCoulombSolver solver(p.config, p.gravity());
    const ContactSolution solution = solve(p);
    REQUIRE(solution.converged);
    REQUIRE(solution.residual <= 1e-10);
    std::vector<Vec3<double>> impulses;
    solver.impulses(p.problem(), solution, impulses);
    // Of each body by itself, as wrenches about its centre of mass, from the lever arms to the contact
    // points.
    Eigen::VectorXd momentum = Eigen::VectorXd::Zero(p.mass.size());
    double scale = 0.0;
    for (std::size_t i = 0; i < impulses.size(); ++i) {
      const ContactRow& row = p.rows.rows[i];
      if (row.slot_B >= 0)
        momentum.segment<6>(6 * row.slot_B) += wrench_of_force<double>(row.r_B, impulses[i]);
      if (row.slot_A >= 0)
        momentum.segment<6>(6 * row.slot_A) -= wrench_of_force<double>(row.r_A, impulses[i]);
      scale += impulses[i].norm();
      // An impulse pushes, but for what the projector of friction leaves along n: rounding, and more where
      // |n| < 1.
      const double weight = 9.81 * p.config.h * p.mass.total_mass();
      if (std::abs(row.n.norm() - 1.0) < 1e-14)
        REQUIRE(impulses[i].dot(row.n) >= -1e-12 * (impulses[i].norm() + weight));
    }
    Eigen::VectorXd change;
    p.mass.multiply(solution.velocity() - p.free.v_free, change);
    CAPTURE(p.rows.rows.size(), solution.residual, (change - momentum).norm(), scale);
    REQUIRE((change - momentum).norm() <= 1e-9 * (scale + 9.81 * p.config.h * p.mass.total_mass()));
  }
}

TEST_CASE("SmoothCoulombSolver: each pass ends where its potential is least", "[dynamics][property]") {
  Random random(7);
  for (const Problem& p : random_problems(60, 2)) {
    const ContactSolution solution = solve(p);
    REQUIRE(solution.passes.size() == 3);
    StepPotential L(p);
    for (std::size_t pass = 0; pass < 3; ++pass) {
      const Eigen::VectorXd& v = solution.passes[pass];
      if (pass > 0) L.freeze_bounds(solution.passes[pass - 1]);
      const double least = L(VecX<double>(v));
      for (int k = 0; k < 100; ++k) {
        Eigen::VectorXd d(v.size());
        for (double& x : d) x = random.normal();
        d *= std::pow(10.0, random.uniform(-4.0, 1.0));
        CAPTURE(pass, k, d.norm(), p.rows.rows.size());
        // Contacts add convex terms, so that at the minimum L(v + d) - L(v) >= 1/2 d^T M d.
        Eigen::VectorXd Md;
        p.mass.multiply(d, Md);
        const double there = L(VecX<double>(v + d)), rounding = 1e-12 * (std::abs(least) + std::abs(there));
        REQUIRE(there - least >= 0.5 * d.dot(Md) * (1.0 - 1e-8) - rounding);
      }
    }
  }
}

TEST_CASE("SmoothCoulombSolver: agrees with a brute-force minimiser in every pass", "[dynamics][value]") {
  double worst = 0.0;
  for (const Problem& p : random_problems(30, 2)) {
    const ContactSolution solution = solve(p);
    REQUIRE(p.mass.size() <= k_reference_size);
    StepPotential L(p);
    Eigen::VectorXd v = p.free.v_free;
    for (std::size_t pass = 0; pass < solution.passes.size(); ++pass) {
      if (pass > 0) L.freeze_bounds(v);
      v = minimise(L, v);
      CAPTURE(pass, p.rows.rows.size(), v.transpose(), solution.passes[pass].transpose());
      const double error = (solution.passes[pass] - v).norm() / (v.norm() + 9.81 * p.config.h);
      worst = std::max(worst, error);
      REQUIRE(error <= 1e-8);
    }
  }
  CAPTURE(worst);
  CHECK(worst > 0.0);  // they are two programs
}

TEST_CASE("SmoothCoulombSolver: does not depend on where it starts", "[dynamics][property]") {
  const auto problems = random_problems(40, 3);
  for (std::size_t i = 0; i + 1 < problems.size(); ++i) {
    const Problem& p = problems[i];
    const SmoothCoulombSolver solver(p.config, p.gravity());
    const ContactSolution cold = solve(p);
    SolverScratch scratch;  // warm from a wrong place
    scratch.previous_passes.assign(3, p.free.v_free + Eigen::VectorXd::Constant(p.mass.size(), 3.0));
    scratch.previous_start = Eigen::VectorXd::Zero(p.mass.size());
    ContactSolution warm;
    solver.solve(p.problem(), scratch, warm);
    REQUIRE(warm.converged);
    REQUIRE(test::close(warm.velocity(), cold.velocity(), 1e-8, 1e-8));
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
  CHECK(solution.passes.size() == 3);
  CHECK(solution.velocity() == p.free.v_free);
  CHECK(solution.iterations == 0);
  CHECK(solution.converged);
}

TEST_CASE("SmoothCoulombSolver: says so when it does not converge", "[dynamics][value]") {
  const auto problems = random_problems(10, 3);
  int unconverged = 0;
  for (const Problem& p : problems) {
    StepConfig config = p.config;
    config.max_iterations = 1;
    const SmoothCoulombSolver solver(config, p.gravity());
    SolverScratch scratch;
    ContactSolution solution;
    solver.solve(p.problem(), scratch, solution);
    if (!solution.converged) {
      ++unconverged;
      CHECK(solution.residual > config.tolerance);
    }
  }
  CHECK(unconverged >= 9);
}

TEST_CASE("SmoothCoulombSolver: VJP agrees with differences in everything a problem is made of",
          "[dynamics][derivative]") {
  Random random(9);
  int compared = 0, disagreements = 0;
  std::string unresolved;
  for (const Problem& p : random_problems(25, 3)) {
    const SmoothCoulombSolver solver(p.config, p.gravity());
    const ContactSolution solution = solve(p);
    SolverScratch scratch;
    Eigen::VectorXd v_bar(p.mass.size());
    for (double& x : v_bar) x = random.uniform(-1.0, 1.0);
    ContactProblemBar bar;
    bar.set_zero(p.problem());
    solver.vjp(p.problem(), solution, v_bar, scratch, bar);
    REQUIRE(bar.v_start.isZero(0.0));  // the weights know it, this solver does not

    const auto value = [&](const ContactRows& rows, const Eigen::VectorXd& v_free, const MassMatrix& mass) {
      SolverScratch fresh;
      ContactSolution moved;
      solver.solve({mass, rows, p.free.v_start, v_free, p.config.h}, fresh, moved);
      return v_bar.dot(moved.velocity());
    };
    const auto check = [&](const char* name, double slope, const auto& loss, double step) {
      const auto fd = test::fd_sweep(loss, 0.0, step, 1e-7, 1e-9);
      CAPTURE(name, slope, fd.value, fd.error, p.rows.rows.size());
      ++compared;
      if (fd.disagrees_with_itself) {
        ++disagreements;
        unresolved += std::string(name) + ", ";
        return;
      }
      REQUIRE(test::close(slope, fd.value, 1e-5, 1e-7));
    };

    Eigen::VectorXd d(p.mass.size());
    for (double& x : d) x = random.uniform(-1.0, 1.0);
    check(
        "v*", bar.v_free.dot(d), [&](double t) { return value(p.rows, p.free.v_free + t * d, p.mass); },
        5e-5);

    // Row by row: normal, distance, weight, inverse mass; all rows in one random direction each.
    std::vector<ContactRowBar> directions;
    double by_normal = 0.0, by_distance = 0.0, by_weight = 0.0, by_mass = 0.0;
    for (const ContactRowBar& row : bar.rows) {
      ContactRowBar e;
      e.r_A = test::random_vector(random, 0.05);
      e.r_B = test::random_vector(random, 0.05);
      e.n = test::random_vector(random, 0.1);
      e.distance = random.uniform(-1e-3, 1e-3);
      e.weight = random.uniform(-0.1, 0.1) * p.rows.rows[directions.size()].weight;
      e.inverse_mass = random.uniform(-0.3, 0.3);
      by_normal += e.n.dot(row.n);
      by_distance += e.distance * row.distance;
      by_weight += e.weight * row.weight;
      by_mass += e.inverse_mass * row.inverse_mass;
      directions.push_back(e);
    }
    const auto moved_rows = [&](const auto& move) {
      ContactRows rows = p.rows;
      for (std::size_t i = 0; i < rows.rows.size(); ++i) move(rows.rows[i], directions[i]);
      return value(rows, p.free.v_free, p.mass);
    };
    // The Hessian of a pair is summed about one body's centre, with r_B - r_A the same for all rows, as it is
    // in every manifold: moving arms at random breaks that, so here they move by one vector for each body of
    // a pair.
    {
      double slope = 0.0;
      for (std::size_t i = 0; i < bar.rows.size(); ++i) {
        const auto first =
            static_cast<std::size_t>(p.rows.pairs[static_cast<std::size_t>(p.rows.rows[i].pair)].begin);
        slope += directions[first].r_A.dot(bar.rows[i].r_A) + directions[first].r_B.dot(bar.rows[i].r_B);
      }
      const auto loss = [&](double t) {
        ContactRows rows = p.rows;
        for (ContactRow& row : rows.rows) {
          const auto first = static_cast<std::size_t>(rows.pairs[static_cast<std::size_t>(row.pair)].begin);
          row.r_A += t * directions[first].r_A;
          row.r_B += t * directions[first].r_B;
        }
        return value(rows, p.free.v_free, p.mass);
      };
      check("arms", slope, loss, 3e-4);
    }
    check(
        "normals", by_normal,
        [&](double t) {
          return moved_rows([&](ContactRow& row, const ContactRowBar& e) { row.n += t * e.n; });
        },
        1e-4);
    check(
        "distances", by_distance,
        [&](double t) {
          return moved_rows([&](ContactRow& row, const ContactRowBar& e) { row.distance += t * e.distance; });
        },
        1e-3);
    check(
        "weights", by_weight,
        [&](double t) {
          return moved_rows([&](ContactRow& row, const ContactRowBar& e) { row.weight += t * e.weight; });
        },
        1e-3);
    check(
        "inverse masses", by_mass,
        [&](double t) {
          return moved_rows(
              [&](ContactRow& row, const ContactRowBar& e) { row.inverse_mass += t * e.inverse_mass; });
        },
        1e-2);

    // Materials of the pairs.
    double by_material = 0.0;
    std::vector<Vec3<double>> d_material;
    for (std::size_t k = 0; k < bar.pairs.size(); ++k) {
      const Vec3<double> e(random.uniform(-0.1, 0.1), random.uniform(-1e-5, 1e-5),
                           random.uniform(-1e-3, 1e-3));
      by_material += e[0] * bar.pairs[k].friction + e[1] * bar.pairs[k].compliance +
                     e[2] * bar.pairs[k].dissipation_time;
      d_material.push_back(e);
    }
    check(
        "materials", by_material,
        [&](double t) {
          ContactRows rows = p.rows;
          for (std::size_t k = 0; k < rows.pairs.size(); ++k) {
            rows.pairs[k].material.friction += t * d_material[k][0];
            rows.pairs[k].material.compliance += t * d_material[k][1];
            rows.pairs[k].material.dissipation_time += t * d_material[k][2];
          }
          return value(rows, p.free.v_free, p.mass);
        },
        1e-2);

    // Mass and world inertia: in the potential alone, the rows' inverse masses held.
    double by_inertia = 0.0;
    std::vector<double> d_mass;
    for (int s = 0; s < p.mass.slot_count(); ++s) {
      d_mass.push_back(random.uniform(-0.3, 0.3));
      const auto k = static_cast<std::size_t>(s);
      by_inertia += d_mass[k] *
                    (p.mass.mass(s) * bar.mass[k] + p.mass.inertia_W(s).cwiseProduct(bar.inertia_W[k]).sum());
    }
    check(
        "mass and inertia", by_inertia,
        [&](double t) {
          Model model = p.scene.model;
          for (int s = 0; s < p.mass.slot_count(); ++s) {
            Body& body = model.bodies[static_cast<std::size_t>(p.mass.body(s))];
            set_mass(body, body.mass * (1.0 + t * d_mass[static_cast<std::size_t>(s)]));
          }
          MassMatrix mass;
          mass.update(model, p.scene.state);
          return value(p.rows, p.free.v_free, mass);
        },
        1e-2);
  }
  CAPTURE(compared, unresolved);
  CHECK(disagreements <= compared / 20);
}
