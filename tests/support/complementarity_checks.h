/// What the laws with complementarity conditions have to prove alike.
#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "dynamics/solver/smooth_coulomb_solver.h"
#include "engine/scene_io.h"
#include "tests/support/close.h"
#include "tests/support/contact_problems.h"
#include "tests/support/gradient_check.h"

namespace abut::test {

using Problem = ContactTestProblem;

/// M (v - v*) = sum J^T gamma, s gamma_n = kappa with s and gamma_n positive, |gamma_t| <= mu gamma_n.
///
/// @return  whether there is a solution to check
template <typename Solver>
[[nodiscard]] bool check_conditions(const Problem& p) {
  const Solver solver(p.config, p.gravity());
  const ContactSolution solution = solve(solver, p);
  if (!solution.converged) return false;
  std::vector<Vec3<double>> impulses;
  solver.impulses(p.problem(), solution, *solver.make_memory(), impulses);
  GrowableVector momentum = GrowableVector::Zero(p.mass.size()), change;
  double scale = 9.81 * p.config.h * p.mass.total_mass();
  const auto& s = solver.settings();
  for (std::size_t i = 0; i < impulses.size(); ++i) {
    const ContactRow& row = p.rows.rows[i];
    const PairMaterial& m = p.rows.pairs[static_cast<std::size_t>(row.pair)].material;
    add_impulse(row, impulses[i], momentum);
    scale += impulses[i].norm();
    const Vec3<double> u = relative_velocity(row, solution.velocity), gamma = impulses[i] / row.weight;
    if (std::abs(row.n.norm() - 1.0) > 1e-12) continue;  // friction then has a part along n
    const double normal = row.n.dot(gamma), kappa = s.relaxation / row.inverse_mass;
    const double R = m.compliance / (s.normal.h * (s.normal.h + m.dissipation_time)) +
                     (s.normal.near_rigid + 1.0 / row.answers - 1.0) * row.inverse_mass;
    const double target = smooth_coulomb::normal_target(row.distance, row.inverse_mass, m.compliance,
                                                        m.dissipation_time, s.normal)
                              .value;
    const double slack = row.n.dot(u) - target + R * normal;
    const double tangential = (gamma - normal * row.n).norm();
    CAPTURE(i, normal, slack, kappa, tangential, m.friction);
    REQUIRE(normal > 0.0);
    // The slack, kappa/gamma_n, is a difference of numbers of this size, and its rounding shows in faint contacts.
    const double size = std::abs(target) + u.norm() + R * normal,
                 rounding = std::numeric_limits<double>::epsilon() * size;
    REQUIRE(std::abs(slack - kappa / normal) <= 1e-9 * size);
    REQUIRE(tangential <= m.friction * normal * (1.0 + 1e-9 + rounding * normal / kappa) + 1e-14 * normal);
    REQUIRE(gamma.dot(u - row.n.dot(u) * row.n) <= 1e-12 * ((tangential + normal) * u.norm() + kappa));
  }
  p.mass.multiply(solution.velocity - p.free.v_free, change);
  CAPTURE(p.rows.rows.size(), (change - momentum).norm(), scale);
  // Impulses are computed again from velocities, which rounding then moves by b^2/kappa, 1e8 and more in
  // stick.
  REQUIRE((change - momentum).norm() <= 1e-5 * scale);
  return true;
}

/// Scenes whose problems the primal-dual iteration alone does not solve: every step has to converge.
inline void check_hard_scenes(ContactLaw law) {
  struct Case {
    const char* scene;
    int steps;
  };
  for (const Case& hard : {Case{"armadillo_drop", 150}, Case{"gripper", 60}, Case{"two_armadillos", 420}}) {
    const Scene scene = read_scene(std::filesystem::path(ABUT_SOURCE_DIR) / "assets/scenes" /
                                   (std::string(hard.scene) + ".toml"));
    StepConfig config = scene.config.step;
    config.law = law;
    State end;
    const StepReport report = simulate(Stepper(scene.model, config), scene.initial, hard.steps, {}, end);
    CAPTURE(hard.scene, report.step, report.iterations, report.residual);
    CHECK(report.status == StepStatus::ok);
  }
  // From the first state on, without anything of the step before; tolerances that derivatives ask for.
  for (const std::uint64_t seed : {17, 63, 76, 97, 110, 166, 294}) {
    Random random(seed);
    RandomSceneOptions options;
    options.min_bodies = 2;
    options.max_bodies = 10;
    const TestScene scene = random_contact_scene(random, options);
    State end;
    const StepReport report = simulate(Stepper(scene.model, exact_config(law)), scene.state, 60, {}, end);
    CAPTURE(seed, report.step, report.iterations, report.residual);
    CHECK(report.status == StepStatus::ok);
  }
}

/// A motor that is far from linear, and a contact: the solver starts where the joints alone agree. The
/// impulses balance, and without contacts the answer is that of joints under any other law.
inline void check_start_from_motors(ContactLaw law) {
  TestScene scene = floor_scene();
  const Vec3<double> half(0.1, 0.1, 0.1);
  scene.add(box_of_mass(half, 1.0, 2), pose_at({0.0, 0.0, 0.1}));
  Joint joint;
  joint.name = "servo";
  joint.kind = JointKind::slider;
  joint.body_A = -1;
  joint.body_B = 1;
  joint.X_AJ = pose_at({0.0, 0.0, 0.1});  // its axis is z
  joint.X_BJ = pose_at(Vec3<double>::Zero());
  for (const double speed : {-50.0, -0.1, 0.1, 50.0}) {
    for (const double limit : {1.0, 100.0}) {
      TestScene driven = scene;
      joint.motor = {MotorKind::velocity, speed, 0.0, k_infinity, limit};
      driven.model.joints = {joint};
      for (const double height : {0.0, 1.0}) {
        driven.X_WB(1).p.z() = 0.1 + height;
        const auto end_of = [&](ContactLaw any) {
          StepConfig config;  // a motor this far beyond its limit is met to 1e-9, not to 1e-12
          config.law = any;
          const Stepper stepper(driven.model, config);
          State end;
          const StepReport report = simulate(stepper, driven.state, 1, {}, end);
          CAPTURE(to_string(any), speed, limit, height, report.residual, report.iterations);
          REQUIRE(report.status == StepStatus::ok);
          return end;
        };
        const Vec6<double> V = end_of(law).V_WB[1];
        CAPTURE(to_string(law), speed, limit, height, V.transpose());
        if (height > 0.0) CHECK(close(V, end_of(ContactLaw::convex_cone).V_WB[1], 1e-7, 1e-9));
        // Its limit, and its direction where nothing is in the way.
        CHECK(std::abs(V[5] + (height > 0.0 ? 9.81 * 2e-3 : 0.0)) <= limit * 2e-3 + 9.81 * 2e-3 + 1e-6);
        if (speed == 50.0 && limit == 100.0) CHECK(std::abs(V[5]) > 0.05);
      }
    }
  }
}

/// At the limit of friction, or about to touch, a contact with hardly any smoothing lies near a kink; well
/// inside a side, or with a corner rounded more widely than the change, it does not.
template <typename Solver>
void check_kinks() {
  const Vec3<double> half(0.1, 0.1, 0.05);
  constexpr double k_mu = 0.5;
  // Pushed by a share of what friction can hold.
  const auto share_near = [&](double share, double factor) {
    StepConfig config = exact_config();
    config.complementarity_factor = factor;
    Problem p(box_on_floor(box_of_mass(half, 1.0, 1), half, k_mu), config);
    const Solver solver(config, p.gravity());
    const double normal = solve(solver, p).velocity[5] - p.free.v_free[5];
    p.free.v_free[3] = share * k_mu * normal;
    const ContactSolution solution = solve(solver, p);
    REQUIRE(solution.converged);
    std::vector<bool> near;
    const int count = solver.contacts_near_kink(p.problem(), solution, near);
    CHECK(count == static_cast<int>(std::count(near.begin(), near.end(), true)));
    REQUIRE(near.size() == p.rows.rows.size());
    return static_cast<double>(count) / static_cast<double>(near.size());
  };
  CHECK(share_near(1.0, 1e-9) == 1.0);
  CHECK(share_near(0.5, 1e-9) == 0.0);
  CHECK(share_near(1.5, 1e-9) == 0.0);
  CHECK(share_near(1.0, 1e-4) == 0.0);

  TestScene scene = floor_scene();
  scene.model.gravity.setZero();
  scene.add(sphere_of_mass(0.1, 1.0), pose_at({0.0, 0.0, 0.1}));
  for (const double gap : {0.0, 0.02, -0.02}) {  // [m/s], of the free motion
    StepConfig config = exact_config();
    config.complementarity_factor = 1e-9;
    Problem p(scene, config);
    REQUIRE(p.rows.rows.size() == 1);
    const Solver solver(config, p.gravity());
    const double target =
        smooth_coulomb::normal_target(smooth_coulomb_parameters(p.rows, 0), solver.settings().normal).value;
    p.free.v_free[5] = target + gap;
    std::vector<bool> near;
    CAPTURE(gap);
    CHECK(solver.contacts_near_kink(p.problem(), solve(solver, p), near) == (gap == 0.0 ? 1 : 0));
  }
}

/// Slopes of the vjp against differences of solve(), in one direction for each input of every problem.
/// @param answers  of all contacts
template <typename Solver>
void check_vjp(const std::vector<Problem>& problems, double answers, double& worst) {
  Random random(9);
  int compared = 0, unresolved = 0;
  std::string names;
  for (Problem p : problems) {
    for (ContactRow& row : p.rows.rows) row.answers = answers;
    const Solver solver(p.config, p.gravity());
    const ContactSolution solution = solve(solver, p);
    REQUIRE(solution.converged);
    EndMotionBar end_bar;
    end_bar.velocity.resize(p.mass.size());
    GrowableVector d(p.mass.size());
    for (double& x : end_bar.velocity) x = random.uniform(-1.0, 1.0);
    for (double& x : d) x = random.uniform(-1.0, 1.0);
    const ContactProblemBar bar = test::vjp(solver, p.problem(), solution, end_bar);

    const auto check = [&](const char* name, double slope, double step, const auto& move) {
      const auto loss = [&](double t) {
        Problem moved = p;
        move(moved, t);
        return end_bar.velocity.dot(solve(solver, moved).velocity);
      };
      const auto fd = fd_sweep(loss, 0.0, step, 1e-6, 1e-8);
      CAPTURE(name, slope, fd.value, fd.error, p.rows.rows.size());
      ++compared;
      if (fd.disagrees_with_itself) {
        ++unresolved;
        names += std::string(name) + ", ";
        return;
      }
      worst = std::max(worst, std::abs(slope - fd.value) / (std::abs(fd.value) + 1e-3));
      CHECK(close(slope, fd.value, 1e-4, 1e-6));
    };
    check("v*", bar.v_free.dot(d), 5e-5, [&](Problem& m, double t) { m.free.v_free += t * d; });
    check("v", bar.v_start.dot(d), 5e-5, [&](Problem& m, double t) { m.free.v_start += t * d; });
    std::vector<ContactRowBar> e(bar.rows.size());
    ContactRowBar slopes;
    double arms = 0.0, normals = 0.0;
    for (std::size_t i = 0; i < e.size(); ++i) {
      e[i].r_A = random_vector(random, 0.05);
      e[i].r_B = random_vector(random, 0.05);
      e[i].n = random_vector(random, 0.1);
      e[i].distance = random.uniform(-1e-3, 1e-3);
      e[i].weight = random.uniform(-0.1, 0.1) * p.rows.rows[i].weight;
      e[i].inverse_mass = random.uniform(-0.3, 0.3);
      arms += e[i].r_A.dot(bar.rows[i].r_A) + e[i].r_B.dot(bar.rows[i].r_B);
      normals += e[i].n.dot(bar.rows[i].n);
      slopes.distance += e[i].distance * bar.rows[i].distance;
      slopes.weight += e[i].weight * bar.rows[i].weight;
      slopes.inverse_mass += e[i].inverse_mass * bar.rows[i].inverse_mass;
    }
    const auto rows = [&](const auto& move) {
      return [&e, move](Problem& m, double t) {
        for (std::size_t i = 0; i < e.size(); ++i) move(m.rows.rows[i], e[i], t);
      };
    };
    check("arms", arms, 1e-4, rows([](ContactRow& r, const ContactRowBar& b, double t) {
            r.r_A += t * b.r_A;
            r.r_B += t * b.r_B;
          }));
    check("normals", normals, 1e-5,
          rows([](ContactRow& r, const ContactRowBar& b, double t) { r.n += t * b.n; }));
    check("distances", slopes.distance, 1e-4,
          rows([](ContactRow& r, const ContactRowBar& b, double t) { r.distance += t * b.distance; }));
    check("weights", slopes.weight, 1e-2,
          rows([](ContactRow& r, const ContactRowBar& b, double t) { r.weight += t * b.weight; }));
    check(
        "inverse masses", slopes.inverse_mass, 1e-2,
        rows([](ContactRow& r, const ContactRowBar& b, double t) { r.inverse_mass += t * b.inverse_mass; }));
    if (answers < 1.0) {
      double by_answers = 0.0;
      std::vector<double> f;
      for (const ContactRowBar& row : bar.rows) {
        f.push_back(random.uniform(-0.1, 0.1));
        by_answers += f.back() * row.answers;
      }
      check("answers", by_answers, 1e-2, [&](Problem& m, double t) {
        for (std::size_t i = 0; i < f.size(); ++i) m.rows.rows[i].answers += t * f[i];
      });
    }
    const auto material = [&](const char* name, double step, double PairMaterial::*member,
                              double PairMaterialBar::*member_bar) {
      double slope = 0.0;
      std::vector<double> f;
      for (const PairMaterialBar& b : bar.pairs) {
        f.push_back(random.uniform(-1.0, 1.0));
        slope += f.back() * step * b.*member_bar;
      }
      check(name, slope, 1e-2, [&](Problem& m, double t) {
        for (std::size_t k = 0; k < f.size(); ++k) m.rows.pairs[k].material.*member += t * step * f[k];
      });
    };
    material("friction", 0.1, &PairMaterial::friction, &PairMaterialBar::friction);
    material("compliance", 1e-5, &PairMaterial::compliance, &PairMaterialBar::compliance);
    material("dissipation time", 1e-3, &PairMaterial::dissipation_time, &PairMaterialBar::dissipation_time);
    double inertia = 0.0;
    std::vector<double> f;
    for (int s = 0; s < p.mass.slot_count(); ++s) {
      const auto k = static_cast<std::size_t>(s);
      f.push_back(random.uniform(-0.3, 0.3));
      inertia +=
          f[k] * (p.mass.mass(s) * bar.mass[k] + p.mass.inertia_W(s).cwiseProduct(bar.inertia_W[k]).sum());
    }
    check("mass and inertia", inertia, 1e-2, [&](Problem& m, double t) {
      for (int s = 0; s < m.mass.slot_count(); ++s) {
        Body& body = m.scene.model.bodies[static_cast<std::size_t>(m.mass.body(s))];
        set_mass(body, body.mass * (1.0 + t * f[static_cast<std::size_t>(s)]));
      }
      m.mass.update(m.scene.model, m.scene.state);
    });
  }
  CAPTURE(compared, names);
  CHECK(unresolved <= compared / 10);
}

/// Of hard problems, what counts as solved balances, whichever search has found it: with all of the friction.
template <typename Solver>
void check_hard_problems() {
  int solved = 0;
  for (const Problem& p : hard_problems(60, 4)) {
    const Solver solver(p.config, p.gravity());
    const ContactSolution solution = solve(solver, p);
    if (!solution.converged) continue;
    ++solved;
    std::vector<Vec3<double>> impulses;
    solver.impulses(p.problem(), solution, *solver.make_memory(), impulses);
    GrowableVector change, momentum = Eigen::VectorXd::Zero(p.mass.size());
    for (std::size_t i = 0; i < impulses.size(); ++i) add_impulse(p.rows.rows[i], impulses[i], momentum);
    p.mass.multiply(solution.velocity - p.free.v_free, change);
    CAPTURE(solution.iterations, solution.residual, change.norm());
    REQUIRE(close(change, momentum, 0, 1e-3 * change.norm()));
  }
  CAPTURE(solved);
  CHECK(solved > 50);
}

/// Ways not to converge are told.
template <typename Solver>
void check_reports(const std::vector<Problem>& problems) {
  for (const Problem& p : problems) {
    StepConfig config = p.config;
    config.max_iterations = 1;
    const ContactSolution short_of = solve(Solver(config, p.gravity()), p);
    CHECK_FALSE(short_of.converged);
    CHECK(short_of.residual > config.tolerance);
    Problem broken = p;
    broken.rows.rows[0].distance = std::numeric_limits<double>::quiet_NaN();
    const ContactSolution none = solve(Solver(p.config, p.gravity()), broken);
    CHECK_FALSE(none.converged);
    CHECK_FALSE(std::isfinite(none.residual));
  }
  Problem free = problems[0];
  free.rows.rows.clear();
  free.rows.pairs.clear();
  const ContactSolution solution = solve(Solver(free.config, free.gravity()), free);
  CHECK(solution.velocity == free.free.v_free);
  CHECK(solution.converged);
}

/// The state after some time; every step has to converge.
inline State after(const TestScene& scene, double time, const StepConfig& config) {
  const Stepper stepper(scene.model, config);
  State end;
  const StepReport report =
      simulate(stepper, scene.state, static_cast<int>(std::lround(time / config.h)), {}, end);
  REQUIRE(report.status == StepStatus::ok);
  return end;
}

/// A box on a slope of friction angle alpha stays below it, and slides as g (sin - mu cos) above it; a sphere
/// that slides ends up rolling at 5/7; a stack stands.
inline void check_analytic_motions(ContactLaw law) {
  StepConfig config;
  config.law = law;
  constexpr double k_gravity = 9.81, k_time = 0.4;
  const Vec3<double> half(0.1, 0.1, 0.05);
  for (const double angle : {0.2, 0.4}) {
    const double mu = 0.3;  // its angle is 0.29
    const TestScene scene = box_on_floor(box_of_mass(half, 1.0, 1), half, mu, angle);
    const State end = after(scene, k_time, config);
    const double speed = end.V_WB[1].tail<3>().dot(Vec3<double>(std::cos(angle), 0.0, -std::sin(angle)));
    const double expected = k_gravity * (std::sin(angle) - mu * std::cos(angle)) * k_time;
    CAPTURE(angle, speed, expected);
    if (expected < 0.0) {
      CHECK(std::abs(speed) < 0.01 * k_gravity * config.h);  // creep, of the order of kappa over the impulse
    } else {
      // Between two of the LCP's directions friction is weaker by up to 0.9 %.
      const double mu_least = law == ContactLaw::lcp ? 0.991 * mu : mu;
      CHECK(speed >= 0.99 * expected);
      CHECK(speed <= 1.01 * k_gravity * (std::sin(angle) - mu_least * std::cos(angle)) * k_time);
    }
  }
  TestScene rolling = floor_scene();
  rolling.add(sphere_of_mass(0.1, 3.0), pose_at({0.0, 0.0, 0.1}), moving_at({2.0, 0.0, 0.0}));
  rolling.set_friction(0.3);
  CHECK(close(after(rolling, 0.5, config).V_WB[1][3], 2.0 * 5.0 / 7.0, 1e-3, 0.0));
  // What stands under the cone law stands as high here, but for the slack kappa/gamma_n that carries each
  // load: (h + tau_d) kappa/gamma_n = 15 nm for the uppermost box if one contact carried it, and more as some
  // thirty share it.
  const TestScene stack = stack_scene(3, 0.1, 1.0, 0.5, 1);
  StepConfig cone = config;
  cone.law = ContactLaw::convex_cone;
  const State rest = after(stack, 0.5, config), expected = after(stack, 0.5, cone);
  for (std::size_t b = 1; b < 4; ++b) {
    const Vec3<double> shift = rest.X_WB[b].p - expected.X_WB[b].p;
    CAPTURE(b, rest.X_WB[b].p.transpose(), shift.transpose());
    CHECK(shift.z() > 0.0);
    CHECK(shift.z() < 1e-7);
    CHECK(shift.norm() < 1e-6);  // lcp creeps sideways by 0.1 um, as its directions are not quite symmetric
    CHECK(rest.V_WB[b].norm() < 1e-4);
  }
}

/// d(loss)/d(initial twists) over a rollout, against central differences.
inline void check_adjoint(ContactLaw law, int scenes, int steps) {
  int resolved = 0;
  for (int i = 0; i < scenes; ++i) {
    Random random(300 + static_cast<std::uint64_t>(i));
    TestScene scene = random_contact_scene(random);
    StepConfig config;
    config.law = law;
    config.tolerance = 1e-12;
    config.acceleration_scale = 9.81;
    const Stepper stepper(scene.model, config);
    const Trajectory trajectory = rollout(stepper, scene.state, steps);
    if (!trajectory.ok()) continue;
    std::vector<Vec6<double>> weights, directions;
    for (std::size_t b = 0; b < scene.state.V_WB.size(); ++b) {
      weights.push_back(random_vector<6>(random));
      directions.push_back(b == 0 ? Vec6<double>::Zero().eval() : random_vector<6>(random));
    }
    const auto value = [&](const State& state) {
      double sum = 0.0;
      for (std::size_t b = 0; b < weights.size(); ++b)
        sum += weights[b].dot(state.V_WB[b]) + weights[b].head<3>().dot(state.X_WB[b].p);
      return sum;
    };
    const Gradient gradient = adjoint(stepper, trajectory, [&](int k, const State&, StateTangent& bar) {
      if (k != steps) return;
      for (std::size_t b = 0; b < weights.size(); ++b) {
        bar.twist[b] += weights[b];
        bar.pose[b].tail<3>() += weights[b].head<3>();
      }
    });
    double slope = 0.0;
    for (std::size_t b = 0; b < weights.size(); ++b) slope += gradient.initial.twist[b].dot(directions[b]);
    const auto loss = [&](double t) {
      State moved = scene.state, end;
      for (std::size_t b = 0; b < weights.size(); ++b) moved.V_WB[b] += t * directions[b];
      simulate(stepper, moved, steps, {}, end);
      return value(end);
    };
    const auto fd = fd_sweep(loss, 0.0, 1e-6, 1e-4, 1e-6);
    CAPTURE(i, slope, fd.value, fd.error);
    if (fd.disagrees_with_itself) continue;
    ++resolved;
    CHECK(close(slope, fd.value, 1e-3, 1e-5));
  }
  CHECK(resolved >= scenes / 2);
}

}  // namespace abut::test
