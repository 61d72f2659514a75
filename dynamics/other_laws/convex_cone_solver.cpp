#include "dynamics/other_laws/convex_cone_solver.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "dynamics/solver/convex_newton.h"
#include "dynamics/solver/linear_solve.h"
#include "engine/instruction_set.h"

namespace abut {

using convex_cone::Cone;

namespace {

struct ConeMemory final : SolverMemory {
  RowBlocks rows;
  NewtonMemory newton;
};

struct ConeLinearization final : SolutionLinearization {
  BlockCholesky hessian;
  GrowableVector reaction;  ///< see MomentumBalance::keep_reaction()
  [[nodiscard]] std::size_t bytes() const override {
    return hessian.bytes() + sizeof(double) * static_cast<std::size_t>(reaction.size());
  }
};

}  // namespace

ConvexConeSolver::ConvexConeSolver(const StepConfig& config, double acceleration_scale)
    : config_(config), speed_scale_(acceleration_scale * config.h) {}

ConvexConeSolver::Law ConvexConeSolver::law_of(const ContactProblem& problem) const {
  Law law;
  law.drake = smooth_coulomb_settings(config_, speed_scale_);
  law.drake.h = problem.h;
  law.mujoco = impedance::settings_of(config_.impedance, problem.h);
  if (is_impedance()) law.carry = law.mujoco.carry;
  return law;
}

convex_cone::Parameters<double> ConvexConeSolver::parameters(const ContactProblem& problem, const Law& law,
                                                             std::size_t i) const {
  const ContactRow& row = problem.rows.rows[i];
  const double mu = problem.rows.pairs[static_cast<std::size_t>(row.pair)].material.friction;
  if (is_impedance()) {
    const auto response = impedance::response(row.distance, row.weight, row.inverse_mass, law.mujoco);
    return {response.target, response.scale, law.mujoco.ratio, mu};
  }
  return convex_cone::parameters_of(smooth_coulomb_parameters(problem.rows, i), mu, config_.tangential_factor,
                                    law.drake);
}

Cone ConvexConeSolver::cone(const ContactProblem& problem, const Law& law, std::size_t i,
                            const GrowableVector& v) const {
  const ContactRow& row = problem.rows.rows[i];
  Vec3<double> u = relative_velocity(row, v);
  if (law.carry != 0.0) u -= law.carry * relative_velocity(row, problem.v_start);
  return {u, row.n, parameters(problem, law, i)};
}

void ConvexConeSolver::prepare(const ContactProblem& problem, const Law& law, RowBlocks& rows) const {
  rows.assign(problem.rows);
  const RowKernels& kernels = chosen_kernels<RowKernels>();
  for (BlockPair& pair : rows.pairs) {
    const std::span<RowBlock> blocks = rows.of(pair);
    if (is_impedance()) {
      pair.carried = law.carry * relative_twist(pair, problem.v_start);
      pair.turning *= 1.0 - law.carry;
      kernels.set_impedance(law.mujoco, blocks);
    } else {
      kernels.set_cone(law.drake, config_.tangential_factor, pair.compliance, pair.dissipation_time, blocks);
    }
  }
}

std::unique_ptr<SolverMemory> ConvexConeSolver::make_memory() const { return std::make_unique<ConeMemory>(); }

std::unique_ptr<SolutionLinearization> ConvexConeSolver::make_linearization() const {
  return std::make_unique<ConeLinearization>();
}

void ConvexConeSolver::solve(const ContactProblem& problem, SolverMemory& any_memory,
                             ContactSolution& solution) const {
  auto& memory = static_cast<ConeMemory&>(any_memory);
  solution.reset();
  const Law law = law_of(problem);
  prepare(problem, law, memory.rows);
  GrowableVector& v = solution.velocity;
  set_start(problem, v);
  MomentumBalance balance(problem, law.drake, speed_scale_, memory.rows, memory.newton);
  solution.converged =
      minimise(balance, RowLaw::cone, config_.tolerance, config_.max_iterations, v, solution);
}

bool ConvexConeSolver::linearize(const ContactProblem& problem, const ContactSolution& solution, LinearizeFor,
                                 SolverMemory& any_memory, SolutionLinearization& linearization) const {
  auto& memory = static_cast<ConeMemory&>(any_memory);
  auto& at = static_cast<ConeLinearization&>(linearization);
  const Law law = law_of(problem);
  prepare(problem, law, memory.rows);
  MomentumBalance balance(problem, law.drake, speed_scale_, memory.rows, memory.newton);
  balance.evaluate(solution.velocity, RowLaw::cone);
  balance.keep_reaction(at.reaction);
  return balance.factorize(solution.velocity, RowLaw::cone, at.hessian, true);
}

void ConvexConeSolver::vjp(const ContactProblem& problem, const ContactSolution& solution,
                           const SolutionLinearization& linearization, const EndMotionBar& solution_bar,
                           SolverMemory& any_memory, ContactProblemBar& bar) const {
  const Law law = law_of(problem);
  const GrowableVector& v = solution.velocity;
  const auto& at = static_cast<const ConeLinearization&>(linearization);
  GrowableVector w = solution_bar.velocity;
  solve_vjp(problem, at.hessian, at.reaction, v, w, bar);
  balance_vjp(problem, w, v, static_cast<ConeMemory&>(any_memory).newton.momentum, bar);
  for (std::size_t i = 0; i < problem.rows.rows.size(); ++i) {
    const ContactRow& row = problem.rows.rows[i];
    ContactRowBar& row_bar = bar.rows[i];
    PairMaterialBar& material_bar = bar.pairs[static_cast<std::size_t>(row.pair)];
    const Cone at_v = cone(problem, law, i, v);
    const Cone::Bar cone_bar = at_v.vjp(relative_change(row, w));

    row_bar.n += cone_bar.n;
    add_arm_bar(row, at_v.impulse(), w, row_bar);
    add_velocity_bar(row, cone_bar.u, v, row_bar);
    material_bar.friction += cone_bar.friction;
    if (is_impedance()) {
      const Vec3<double> carried_bar = -law.carry * cone_bar.u;
      add_velocity_bar(row, carried_bar, problem.v_start, row_bar);
      add_impulse(row, carried_bar, bar.v_start);
      const auto by = impedance::response_vjp(row.distance, row.weight, row.inverse_mass, law.mujoco,
                                              cone_bar.target, cone_bar.scale);
      row_bar.distance += by.distance;
      row_bar.weight += by.weight;
      row_bar.inverse_mass += by.inverse_mass;
    } else {
      const auto by =
          convex_cone::parameters_vjp(smooth_coulomb_parameters(problem.rows, i), config_.tangential_factor,
                                      law.drake, cone_bar.target, cone_bar.scale, cone_bar.ratio);
      row_bar.distance += by.distance;
      row_bar.weight += by.weight;
      row_bar.inverse_mass += by.inverse_mass;
      material_bar.compliance += by.compliance;
      material_bar.dissipation_time += by.dissipation_time;
    }
  }
}

void ConvexConeSolver::jvp(const ContactProblem& problem, const ContactSolution& solution,
                           const SolutionLinearization& linearization, const ContactProblemDot& dot,
                           SolverMemory&, EndMotionBar& solution_dot) const {
  // H dv = M dv* - dM (v - v*) + d(J^T gamma) + d(J^T lambda), the latter two at fixed v.
  const Law law = law_of(problem);
  const GrowableVector& v = solution.velocity;
  const GrowableVector at_rest = GrowableVector::Zero(problem.mass.size());
  GrowableVector& v_dot = solution_dot.velocity;
  dot.set_balance(problem, v, v_dot);
  for (std::size_t i = 0; i < problem.rows.rows.size(); ++i) {
    const ContactRow& row = problem.rows.rows[i];
    const ContactRowBar& row_dot = dot.rows[i];
    const PairMaterialBar& material_dot = dot.pairs[static_cast<std::size_t>(row.pair)];
    Vec3<double> u_dot = relative_velocity_jvp(row, row_dot, v, at_rest);
    if (law.carry != 0.0)
      u_dot -= law.carry * relative_velocity_jvp(row, row_dot, problem.v_start, dot.v_start);
    const Cone at_v = cone(problem, law, i, v);
    Vec3<double> impulse_dot;
    for (int axis = 0; axis < 3; ++axis) {
      const Cone::Bar by = at_v.vjp(Vec3<double>::Unit(axis));
      impulse_dot[axis] = by.u.dot(u_dot) + by.n.dot(row_dot.n) + by.friction * material_dot.friction;
      if (is_impedance()) {
        const auto of = impedance::response_vjp(row.distance, row.weight, row.inverse_mass, law.mujoco,
                                                by.target, by.scale);
        impulse_dot[axis] += of.distance * row_dot.distance + of.weight * row_dot.weight +
                             of.inverse_mass * row_dot.inverse_mass;
      } else {
        const auto of =
            convex_cone::parameters_vjp(smooth_coulomb_parameters(problem.rows, i), config_.tangential_factor,
                                        law.drake, by.target, by.scale, by.ratio);
        impulse_dot[axis] += of.distance * row_dot.distance + of.weight * row_dot.weight +
                             of.inverse_mass * row_dot.inverse_mass +
                             of.compliance * material_dot.compliance +
                             of.dissipation_time * material_dot.dissipation_time;
      }
    }
    add_impulse_jvp(row, row_dot, at_v.impulse(), impulse_dot, v_dot);
  }
  const auto& at = static_cast<const ConeLinearization&>(linearization);
  solve_jvp(problem, at.hessian, at.reaction, dot, v, v_dot);
  solution_dot.displacement.resize(0);
}

void ConvexConeSolver::impulses(const ContactProblem& problem, const ContactSolution& solution, SolverMemory&,
                                std::vector<Vec3<double>>& impulses) const {
  const Law law = law_of(problem);
  impulses.resize(problem.rows.rows.size());
  for (std::size_t i = 0; i < impulses.size(); ++i)
    impulses[i] = cone(problem, law, i, solution.velocity).impulse();
}

int ConvexConeSolver::contacts_near_kink(const ContactProblem& problem, const ContactSolution& solution,
                                         std::vector<bool>& near_kink) const {
  constexpr double k_share = 1e-3;
  const Law law = law_of(problem);
  near_kink.assign(problem.rows.rows.size(), false);
  for (std::size_t i = 0; i < near_kink.size(); ++i) {
    const ContactRow& row = problem.rows.rows[i];
    if (is_impedance()) {
      // Forces set in at d = 0: nothing to change without overlap, but a jump nearby if d_0 > 0.
      const bool is_touching = row.distance < 0.0;
      if (law.mujoco.start > 0.0 && std::abs(row.distance) <= k_share * law.mujoco.width) near_kink[i] = true;
      if (!is_touching) continue;
    }
    const double speed = relative_velocity(row, problem.v_free).norm() + speed_scale_;
    if (cone(problem, law, i, solution.velocity).is_near_kink(k_share * speed, row.inverse_mass / row.weight))
      near_kink[i] = true;
  }
  return static_cast<int>(std::count(near_kink.begin(), near_kink.end(), true));
}

}  // namespace abut
