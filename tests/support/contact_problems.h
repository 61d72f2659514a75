/// Velocity problems of random scenes, and what every contact solver is checked by.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <Eigen/Cholesky>

#include "collision/manifold/contact_detector.h"
#include "dynamics/motion/free_motion.h"
#include "dynamics/rollout/rollout.h"
#include "dynamics/solver/contact_solver.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/scenes.h"

namespace abut::test {

/// The velocity problem of a state, as a step poses it, and parts of its potential L again, by other means.
struct ContactTestProblem {
  TestScene scene;
  StepConfig config;
  MassMatrix mass;
  ContactRows rows;
  FreeMotion free;

  ContactTestProblem(TestScene s, const StepConfig& c) : scene(std::move(s)), config(c) {
    const ContactDetector detector(scene.model, config.contact);
    DetectorScratch scratch;
    ContactManifold manifold;
    const std::vector<double> margins(scene.model.bodies.size(), 0.01);
    detector.detect(scene.state.X_WB, margins, scratch, manifold);
    mass.update(scene.model, scene.state);
    const RowSettings settings{config.h, 0.1 * gravity() * config.h * config.h,
                               config.dissipation_steps * config.h};
    make_rows(scene.model, mass, scene.state, manifold.contacts, manifold.pairs, settings, rows);
    free_motion(scene.model, mass, scene.state, {}, config.h, free);
  }
  [[nodiscard]] ContactProblem problem() const { return {mass, rows, free.v_start, free.v_free, config.h}; }
  [[nodiscard]] static double gravity() { return 9.81; }
  [[nodiscard]] double friction(const ContactRow& row) const {
    return rows.pairs[static_cast<std::size_t>(row.pair)].material.friction;
  }

  /// Relative velocity at a contact, that knows nothing of rows' slots.
  template <typename S>
  [[nodiscard]] Vec3<S> slip(const ContactRow& row, const VecX<S>& v) const {
    const auto of = [&](int body, const Vec3<double>& r) -> Vec3<S> {
      const int slot = mass.slot(body);
      if (slot < 0) return Vec3<S>(S(0), S(0), S(0));
      const Vec3<S> w = v.template segment<3>(6 * slot), u = v.template segment<3>(6 * slot + 3);
      return u + w.cross(Vec3<S>(S(r[0]), S(r[1]), S(r[2])));
    };
    return of(row.body_B, row.r_B) - of(row.body_A, row.r_A);
  }
  /// 1/2 (v - v*)^T M (v - v*).
  template <typename S>
  [[nodiscard]] S kinetic(const VecX<S>& v) const {
    S sum = S(0);
    for (int slot = 0; slot < mass.slot_count(); ++slot) {
      const auto b = static_cast<std::size_t>(mass.body(slot));
      const Mat3<double> R = scene.state.X_WB[b].rotation(),
                         I = R * scene.model.bodies[b].inertia * R.transpose();
      Vec6<S> d;
      for (int i = 0; i < 6; ++i) d[i] = v[6 * slot + i] - S(free.v_free[6 * slot + i]);
      for (int i = 0; i < 3; ++i) {
        sum += S(0.5 * scene.model.bodies[b].mass) * d[3 + i] * d[3 + i];
        for (int j = 0; j < 3; ++j) sum += S(0.5 * I(i, j)) * d[i] * d[j];
      }
    }
    return sum;
  }
};

inline StepConfig exact_config(ContactLaw law = ContactLaw::smooth_coulomb) {
  StepConfig config;
  config.law = law;
  config.tolerance = 1e-12;
  config.acceleration_scale = 9.81;
  return config;
}

inline ContactSolution solve(const ContactSolver& solver, const ContactProblem& problem) {
  ContactSolution solution;
  solver.solve(problem, *solver.make_memory(), solution);
  return solution;
}

inline ContactSolution solve(const ContactSolver& solver, const ContactTestProblem& p) {
  return solve(solver, p.problem());
}

inline ContactProblemBar vjp(const ContactSolver& solver, const ContactProblem& problem,
                             const ContactSolution& solution, const EndMotionBar& end_bar) {
  const auto memory = solver.make_memory();
  const auto linearization = solver.make_linearization();
  REQUIRE(solver.linearize(problem, solution, LinearizeFor::vjp, *memory, *linearization));
  ContactProblemBar bar;
  bar.set_zero(problem);
  solver.vjp(problem, solution, *linearization, end_bar, *memory, bar);
  return bar;
}

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

inline constexpr int k_reference_size = 12;
using ReferenceJet = Jet<k_reference_size>;

/// Gradient of the potential by Jet.
template <typename Potential>
GrowableVector gradient_of(const Potential& L, const GrowableVector& v) {
  VecX<ReferenceJet> x(v.size());
  for (int i = 0; i < v.size(); ++i) x[i] = ReferenceJet(v[i], i);
  return L(x).v.head(v.size());
}

/// Minimiser by a slow and sure method: Newton with a Hessian by differences, and halving until the potential
/// falls.
///
/// @param step  of the differences [m/s]
template <typename Potential>
GrowableVector minimise(const Potential& L, GrowableVector v, double step) {
  const auto n = v.size();
  Eigen::MatrixXd H(n, n);
  for (int iteration = 0; iteration < 500; ++iteration) {
    const GrowableVector g = gradient_of(L, v);
    for (Eigen::Index i = 0; i < n; ++i) {
      GrowableVector moved = v;
      moved[i] += step;
      const GrowableVector forward = gradient_of(L, moved);
      moved[i] -= 2.0 * step;
      H.col(i) = (forward - gradient_of(L, moved)) / (2.0 * step);
    }
    const GrowableVector direction = -(0.5 * (H + H.transpose())).llt().solve(g);
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

/// Of random scenes that have contacts.
inline std::vector<ContactTestProblem> random_problems(int count, int max_bodies,
                                                       const StepConfig& config = exact_config()) {
  std::vector<ContactTestProblem> problems;
  for (std::uint64_t seed = 1; static_cast<int>(problems.size()) < count; ++seed) {
    Random random(seed);
    ContactTestProblem p(random_contact_scene(random, {1, max_bodies, true, seed % 4 == 0, 0.5, 2.0}),
                         config);
    if (!p.rows.rows.empty()) problems.push_back(std::move(p));
  }
  return problems;
}

/// A problem that may be hard: two to `max_bodies` bodies whose masses differ by up to 10^3, with friction of
/// 0.5 to 3, at speeds up to 10 m/s, in a step of 1 to 10 ms. One in five takes another path than Newton's
/// method from its start, or more than 20 iterations.
inline ContactTestProblem hard_problem(std::uint64_t seed, int max_bodies) {
  Random random(seed);
  const double speed = std::pow(10.0, random.uniform(-1.0, 1.0));
  TestScene scene = random_contact_scene(
      random, {.min_bodies = 2, .max_bodies = max_bodies, .speed = speed, .spin = 3.0 * speed});
  for (Body& body : scene.model.bodies) {
    body.material.friction = random.uniform(0.5, 3.0);
    if (!body.fixed) set_mass(body, body.mass * std::pow(10.0, random.uniform(-1.5, 1.5)));
  }
  StepConfig config;
  config.acceleration_scale = 9.81;
  config.h = std::pow(10.0, random.uniform(-3.0, -2.0));
  return {std::move(scene), config};
}

/// The first `count` of them that have contacts.
inline std::vector<ContactTestProblem> hard_problems(int count, int max_bodies) {
  std::vector<ContactTestProblem> problems;
  for (std::uint64_t seed = 1; static_cast<int>(problems.size()) < count; ++seed) {
    ContactTestProblem p = hard_problem(seed, max_bodies);
    if (!p.rows.rows.empty()) problems.push_back(std::move(p));
  }
  return problems;
}

/// Velocities and impulses balance, M (v - v*) = sum J^T gamma, and impulses push.
inline void require_balance(const ContactSolver& solver, const ContactTestProblem& p) {
  const ContactSolution solution = solve(solver, p);
  REQUIRE(solution.converged);
  REQUIRE(solution.residual <= 1e-10);
  std::vector<Vec3<double>> impulses;
  solver.impulses(p.problem(), solution, *solver.make_memory(), impulses);
  // Of each body by itself, as wrenches about its centre of mass, from the lever arms to the contact
  // points.
  GrowableVector momentum = GrowableVector::Zero(p.mass.size());
  double scale = 0.0;
  for (std::size_t i = 0; i < impulses.size(); ++i) {
    const ContactRow& row = p.rows.rows[i];
    if (row.slot_B >= 0) momentum.segment<6>(6 * row.slot_B) += wrench_of_force<double>(row.r_B, impulses[i]);
    if (row.slot_A >= 0) momentum.segment<6>(6 * row.slot_A) -= wrench_of_force<double>(row.r_A, impulses[i]);
    scale += impulses[i].norm();
    // An impulse pushes, but for what the projector of friction leaves along n: rounding, and more where
    // |n| < 1.
    const double weight = 9.81 * p.config.h * p.mass.total_mass();
    if (std::abs(row.n.norm() - 1.0) < 1e-14)
      REQUIRE(impulses[i].dot(row.n) >= -1e-12 * (impulses[i].norm() + weight));
  }
  GrowableVector change;
  p.mass.multiply(solution.velocity - p.free.v_free, change);
  CAPTURE(p.rows.rows.size(), solution.residual, (change - momentum).norm(), scale);
  REQUIRE((change - momentum).norm() <= 1e-9 * (scale + 9.81 * p.config.h * p.mass.total_mass()));
}

/// How a VJP and differences have compared so far.
struct VjpComparison {
  int compared = 0, disagreements = 0;  ///< disagreements of differences with themselves
  int displaced = 0;                    ///< problems whose solution has a displacement
  std::string unresolved;
  std::vector<double> errors;  ///< of the others, relative
};

/// Compares the VJP of a problem with differences in one random direction for each kind of input.
inline ContactProblemBar compare_vjp(const ContactSolver& solver, const ContactTestProblem& p, Random& random,
                                     VjpComparison& comparison) {
  const ContactSolution solution = solve(solver, p);
  EndMotionBar end_bar;
  end_bar.velocity.resize(p.mass.size());
  for (double& x : end_bar.velocity) x = random.uniform(-1.0, 1.0);
  end_bar.displacement = end_bar.velocity.reverse() / p.config.h;
  const ContactProblemBar bar = vjp(solver, p.problem(), solution, end_bar);
  if (solution.displacement.size() > 0) ++comparison.displaced;

  const auto value_of = [&](const ContactProblem& problem) {
    const ContactSolution moved = solve(solver, problem);
    return end_bar.velocity.dot(moved.velocity) +
           (moved.displacement.size() > 0 ? end_bar.displacement.dot(moved.displacement) : 0.0);
  };
  const auto value_from = [&](const ContactRows& rows, const GrowableVector& v_start,
                              const GrowableVector& v_free, const MassMatrix& mass) {
    return value_of({mass, rows, v_start, v_free, p.config.h});
  };
  const auto value = [&](const ContactRows& rows, const GrowableVector& v_free, const MassMatrix& mass) {
    return value_from(rows, p.free.v_start, v_free, mass);
  };
  const auto check = [&](const char* name, double slope, const auto& loss, double step) {
    const auto fd = fd_sweep(loss, 0.0, step, 1e-7, 1e-9);
    CAPTURE(name, slope, fd.value, fd.error, p.rows.rows.size());
    ++comparison.compared;
    if (fd.disagrees_with_itself) {
      ++comparison.disagreements;
      comparison.unresolved += std::string(name) + ", ";
      return;
    }
    comparison.errors.push_back(std::abs(slope - fd.value) / (std::abs(fd.value) + 1e-2));
    REQUIRE(close(slope, fd.value, 1e-5, 1e-7));
  };

  GrowableVector d(p.mass.size());
  for (double& x : d) x = random.uniform(-1.0, 1.0);
  check(
      "v*", bar.v_free.dot(d), [&](double t) { return value(p.rows, p.free.v_free + t * d, p.mass); }, 5e-5);

  check(
      "v at the start", bar.v_start.dot(d),
      [&](double t) { return value_from(p.rows, p.free.v_start + t * d, p.free.v_free, p.mass); }, 5e-5);

  // Row by row: normal, distance, weight, inverse mass; all rows in one random direction each.
  std::vector<ContactRowBar> directions;
  double by_normal = 0.0, by_distance = 0.0, by_weight = 0.0, by_mass = 0.0;
  for (const ContactRowBar& row : bar.rows) {
    ContactRowBar e;
    e.r_A = random_vector(random, 0.05);
    e.r_B = random_vector(random, 0.05);
    e.n = random_vector(random, 0.1);
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
  const bool takes_part = std::any_of(p.rows.rows.begin(), p.rows.rows.end(),
                                      [](const ContactRow& row) { return !row.is_ordinary(); });
  if (takes_part) {
    double by_answers = 0.0, by_target = 0.0;
    std::vector<Vec3<double>> e;
    for (std::size_t i = 0; i < bar.rows.size(); ++i) {
      e.push_back(random_vector(random, 0.1));
      if (p.rows.rows[i].answers == 1.0) e[i][0] = 0.0;  // the most
      by_answers += e[i][0] * bar.rows[i].answers;
      by_target += e[i][1] * bar.rows[i].rebound + e[i][2] * bar.rows[i].settle;
    }
    const auto moved = [&](const auto& move) {
      ContactRows rows = p.rows;
      for (std::size_t i = 0; i < rows.rows.size(); ++i) move(rows.rows[i], e[i]);
      return value(rows, p.free.v_free, p.mass);
    };
    check(
        "answers", by_answers,
        [&](double t) {
          return moved([&](ContactRow& row, const Vec3<double>& by) { row.answers += t * by[0]; });
        },
        1e-2);
    check(
        "targets", by_target,
        [&](double t) {
          return moved([&](ContactRow& row, const Vec3<double>& by) {
            row.rebound += t * by[1];
            row.settle += t * by[2];
          });
        },
        1e-3);
  }
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
    const Vec3<double> e(random.uniform(-0.1, 0.1), random.uniform(-1e-5, 1e-5), random.uniform(-1e-3, 1e-3));
    by_material +=
        e[0] * bar.pairs[k].friction + e[1] * bar.pairs[k].compliance + e[2] * bar.pairs[k].dissipation_time;
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
    by_inertia +=
        d_mass[k] * (p.mass.mass(s) * bar.mass[k] + p.mass.inertia_W(s).cwiseProduct(bar.inertia_W[k]).sum());
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
  return bar;
}

}  // namespace abut::test
