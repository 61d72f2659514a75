/// Problems of impacts, for tests of what they make of velocities.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "dynamics/solver/impact_solver.h"
#include "tests/support/contact_problems.h"
#include "tests/support/impacts.h"
#include "tests/support/scenes.h"

namespace abut::test {

/// A problem of impacts: rows of which some are hit and others answer, velocities before.
struct ImpactTestProblem {
  ContactTestProblem contacts;
  GrowableVector v_start, v_free, v_lead;

  explicit ImpactTestProblem(ContactTestProblem of) : contacts(std::move(of)) {
    v_start = v_free = contacts.free.v_start;
    v_lead.setZero(v_start.size());
  }
  [[nodiscard]] ContactProblem problem() const {
    ContactProblem out{contacts.mass, contacts.rows, v_start, v_free, contacts.config.h, k_no_joints};
    out.v_lead = &v_lead;
    return out;
  }
  [[nodiscard]] ImpactSolver solver(bool is_bounded = true) const {
    StepConfig config = contacts.config;
    config.passive_impacts = is_bounded;
    return {config, ContactTestProblem::gravity()};
  }
  [[nodiscard]] ContactSolution solve(bool is_bounded = true) const {
    return test::solve(solver(is_bounded), problem());
  }
  /// The same without restitution.
  [[nodiscard]] ImpactTestProblem plastic() const {
    ImpactTestProblem out = *this;
    for (ContactRow& row : out.contacts.rows.rows) row.rebound = 0.0;
    return out;
  }
  /// E(v) [J]
  [[nodiscard]] double energy(const GrowableVector& v) const {
    GrowableVector momentum;
    const GrowableVector sum = v + v_lead;
    contacts.mass.multiply(sum, momentum);
    return 0.5 * sum.dot(momentum);
  }
};

/// Rows that approach are hit, the others answer, some only in part; those that are hit settle by J v_lead.
inline void set_impacts(ImpactTestProblem& p, double restitution, Random& random) {
  for (ContactRow& row : p.contacts.rows.rows) {
    const double lead = row.n.dot(relative_change(row, p.v_lead)),
                 u = row.n.dot(relative_velocity(row, p.v_start)) + lead;
    row.hits = u < -0.05;
    row.answers = row.hits ? 1.0 : random.uniform() < 0.5 ? 1.0 : random.uniform(0.05, 0.95);
    row.rebound = row.hits ? -restitution * u : 0.0;
    row.settle = row.hits ? -lead : 0.0;
  }
}

/// Of bodies on a floor.
inline std::vector<ImpactTestProblem> floor_problems(int count, int max_bodies, double restitution,
                                                     Random& random) {
  std::vector<ImpactTestProblem> problems;
  for (ContactTestProblem& contacts : random_problems(count, max_bodies)) {
    ImpactTestProblem p(std::move(contacts));
    for (double& x : p.v_start) x *= 3.0;
    p.v_free = p.v_start;
    for (double& x : p.v_lead) x = random.uniform(-0.05, 0.05);
    set_impacts(p, restitution, random);
    problems.push_back(std::move(p));
  }
  return problems;
}

/// Of two boxes thrown at each other, at the last step before they meet.
inline std::vector<ImpactTestProblem> thrown_problems(int count, double restitution, double friction,
                                                      Random& random) {
  std::vector<ImpactTestProblem> problems;
  for (std::uint64_t seed = 1; static_cast<int>(problems.size()) < count; ++seed) {
    Random of_scene(seed);
    TestScene scene = thrown_bodies(ThrownKind::box, ThrownKind::box, restitution, friction, of_scene);
    const StepConfig config = impact_config(2e-3);
    const Trajectory trajectory = rollout(Stepper(scene.model, config), scene.state, 60);
    const auto meets = std::find_if(trajectory.records.begin(), trajectory.records.end(),
                                    [](const StepRecord& record) { return record.report.impacts > 0; });
    if (meets == trajectory.records.end()) continue;
    scene.state = trajectory.states[static_cast<std::size_t>(meets - trajectory.records.begin())];
    ImpactTestProblem p(ContactTestProblem(std::move(scene), config));
    if (p.contacts.rows.rows.empty()) continue;
    for (double& x : p.v_lead) x = random.uniform(-0.05, 0.05);
    set_impacts(p, restitution, random);
    problems.push_back(std::move(p));
  }
  return problems;
}

/// Whether energy would rise with all of the restitution.
[[nodiscard]] inline bool is_mixed(const ImpactTestProblem& p) {
  return (p.solve(true).velocity - p.solve(false).velocity).norm() > 1e-6 * p.v_start.norm();
}

}  // namespace abut::test
