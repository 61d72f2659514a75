#include "dynamics/solver/smooth_coulomb_solver.h"

#include <algorithm>
#include <cmath>

#include "dynamics/solver/convex_newton.h"
#include "engine/instruction_set.h"

namespace abut {

SmoothCoulombSolver::SmoothCoulombSolver(const StepConfig& config, double acceleration_scale, Without without,
                                         const NewtonConstants& constants)
    : config_(config),
      constants_(constants),
      has_friction_(without != Without::friction),
      speed_scale_(acceleration_scale * config.h),
      settings_(smooth_coulomb_settings(config, speed_scale_)) {
  settings_.pushes_out = without != Without::push_out;
}

smooth_coulomb::Settings SmoothCoulombSolver::settings_of(const ContactProblem& problem) const {
  smooth_coulomb::Settings settings = settings_;
  settings.h = problem.h;
  return settings;
}

void SmoothCoulombSolver::prepare(const ContactProblem& problem, const smooth_coulomb::Settings& settings,
                                  SmoothCoulombRows& rows) const {
  rows.blocks.assign(problem.rows);
  for (BlockPair& pair : rows.blocks.pairs) {
    if (!has_friction_) pair.friction = 0.0;
    chosen_kernels<RowKernels>().set_law(settings, pair.compliance, pair.dissipation_time,
                                         rows.blocks.of(pair));
  }
  prepare_impacts(problem, settings, rows);
}

void SmoothCoulombSolver::prepare_impacts(const ContactProblem& problem,
                                          const smooth_coulomb::Settings& settings, SmoothCoulombRows& rows) {
  rows.impacts.clear();
  for (std::size_t p = 0; p < problem.rows.pairs.size(); ++p) {
    const RowPair& pair = problem.rows.pairs[p];
    if (pair.material.restitution == 0.0) continue;
    rows.impacts.resize(problem.rows.rows.size());
    for (int r = pair.begin; r < pair.end; ++r) {
      const auto i = static_cast<std::size_t>(r);
      const impact::Impact& impact = rows.impacts[i] =
          impact_of_row(problem, i, impact_settings(problem, settings));
      if (impact.share == 0.0) continue;
      const smooth_coulomb::NormalLaw law =
          smooth_coulomb::normal_law(smooth_coulomb_parameters(problem.rows, i), settings, impact);
      const auto [block, lane] = rows.blocks.place(pair, p, r);
      block.target[lane] = law.target;
      block.scale[lane] = law.scale;
      block.width[lane] = law.width;
    }
  }
}

/// Reads the impulses that the solution left in the lanes.
void SmoothCoulombSolver::displace(const ContactProblem& problem, const smooth_coulomb::Settings& settings,
                                   SmoothCoulombMemory& memory, ContactSolution& solution) {
  const SmoothCoulombRows& rows = memory.rows;
  const GrowableVector& v = solution.velocity;
  if (!problem.joints.empty()) return;  // joints answer an impact: it then acts from the start on
  bool has_impacts = false;
  for (std::size_t i = 0; i < rows.impacts.size(); ++i) {
    const impact::Impact& impact = rows.impacts[i];
    if (!impact.hit) continue;
    if (!has_impacts) memory.impulse.setZero(problem.mass.size());
    has_impacts = true;
    const ContactRow& row = problem.rows.rows[i];
    const auto p = static_cast<std::size_t>(row.pair);
    const auto [block, lane] = memory.rows.blocks.place(problem.rows.pairs[p], p, static_cast<int>(i));
    const Friction friction(relative_velocity(row, v), row.n, settings.stiction_speed);
    const double bound = rows.blocks.pairs[p].friction * block.impulse[lane];
    const Vec3<double> impulse = impact.share * (block.impulse[lane] * row.n + friction.impulse(bound));
    add_impulse(row, -impact.time * impulse, memory.impulse);
    const auto add_force = [&](int slot, double sign) {
      if (slot >= 0) memory.impulse.segment<3>(6 * slot + 3) -= sign * problem.lag.time * impulse;
    };
    add_force(row.slot_B, 1.0);
    add_force(row.slot_A, -1.0);
  }
  if (has_impacts) problem.mass.solve(memory.impulse, solution.displacement);
}

std::unique_ptr<SolverMemory> SmoothCoulombSolver::make_memory() const {
  return std::make_unique<SmoothCoulombMemory>();
}

std::unique_ptr<SolutionLinearization> SmoothCoulombSolver::make_linearization() const {
  return std::make_unique<SmoothCoulombLinearization>();
}

void SmoothCoulombSolver::solve(const ContactProblem& problem, SolverMemory& any_memory,
                                ContactSolution& solution) const {
  auto& memory = static_cast<SmoothCoulombMemory&>(any_memory);
  solution.reset();
  const smooth_coulomb::Settings settings = settings_of(problem);
  prepare(problem, settings, memory.rows);
  solution.converged =
      solve_coupled(problem, settings, speed_scale_, config_.tolerance, config_.max_iterations,
                    memory.rows.blocks, memory.newton, solution.velocity, solution, constants_);
  if (!solution.converged) solve_in_passes(problem, settings, memory, solution);
  displace(problem, settings, memory, solution);
}

void SmoothCoulombSolver::solve_in_passes(const ContactProblem& problem,
                                          const smooth_coulomb::Settings& settings,
                                          SmoothCoulombMemory& memory, ContactSolution& solution) const {
  GrowableVector& v = solution.velocity;
  v = problem.v_free;
  RowBlocks& rows = memory.rows.blocks;
  MomentumBalance balance(problem, settings, speed_scale_, rows, memory.newton.newton, constants_);
  for (int pass = 0; pass <= constants_.friction_passes; ++pass) {
    if (pass > 0) rows.set_bounds();
    (void)minimise(balance, pass == 0 ? RowLaw::frictionless : RowLaw::bounded, config_.tolerance,
                   config_.max_iterations, v, solution);
  }
}

bool SmoothCoulombSolver::linearize(const ContactProblem& problem, const ContactSolution& solution,
                                    LinearizeFor what_for, SolverMemory& any_memory,
                                    SolutionLinearization& linearization) const {
  auto& memory = static_cast<SmoothCoulombMemory&>(any_memory);
  auto& at = static_cast<SmoothCoulombLinearization&>(linearization);
  const smooth_coulomb::Settings settings = settings_of(problem);
  prepare(problem, settings, at.rows);
  MomentumBalance balance(problem, settings, speed_scale_, at.rows.blocks, memory.newton.newton);
  balance.evaluate(solution.velocity, RowLaw::coupled);
  if (!balance.factorize_coupled(solution.velocity, at.jacobian)) return false;
  at.of_row.clear();
  if (what_for != LinearizeFor::both) return true;
  for (std::size_t i = 0; i < problem.rows.rows.size(); ++i) {
    const RowImpulse law(problem, settings, at.rows, i);
    const Vec3<double> u = relative_velocity(law.row, solution.velocity);
    at.of_row.push_back({u, law.normal_impulse(u), law.friction(u)});
  }
  return true;
}

bool SmoothCoulombSolver::linearize_solved(const ContactProblem& problem, const ContactSolution& solution,
                                           SolverMemory& any_memory,
                                           SolutionLinearization& linearization) const {
  auto& memory = static_cast<SmoothCoulombMemory&>(any_memory);
  auto& at = static_cast<SmoothCoulombLinearization&>(linearization);
  std::swap(at.rows, memory.rows);  // evaluated at the solution
  at.of_row.clear();
  const smooth_coulomb::Settings settings = settings_of(problem);
  MomentumBalance balance(problem, settings, speed_scale_, at.rows.blocks, memory.newton.newton);
  return balance.factorize_coupled(solution.velocity, at.jacobian);
}

void SmoothCoulombSolver::impulses(const ContactProblem& problem, const ContactSolution& solution,
                                   SolverMemory& any_memory, std::vector<Vec3<double>>& impulses) const {
  SmoothCoulombRows& rows = static_cast<SmoothCoulombMemory&>(any_memory).rows;
  const smooth_coulomb::Settings settings = settings_of(problem);
  prepare(problem, settings, rows);
  impulses.resize(problem.rows.rows.size());
  for (std::size_t i = 0; i < impulses.size(); ++i) {
    const RowImpulse law(problem, settings, rows, i);
    impulses[i] = law.impulse(relative_velocity(law.row, solution.velocity));
  }
}

int SmoothCoulombSolver::contacts_near_kink(const ContactProblem& problem, const ContactSolution&,
                                            std::vector<bool>& near_kink) const {
  constexpr double k_share = 1e-3;
  near_kink.assign(problem.rows.rows.size(), false);
  const impact::Settings settings = impact_settings(problem, settings_);
  for (const RowPair& pair : problem.rows.pairs) {
    if (pair.material.restitution == 0.0) continue;
    for (int r = pair.begin; r < pair.end; ++r) {
      const auto i = static_cast<std::size_t>(r);
      const ContactRow& row = problem.start_row(i);
      const impact::Approach approach = RowApproach(problem, i, row).value;
      const impact::Impact impact = impact::make_impact(approach, settings);
      if (impact.share == 0.0) continue;
      // Closed just by the end of the step, or just from its start on.
      const double near = k_share * problem.h * -approach.u_free;
      near_kink[i] = std::abs(impact::gap_at_end(approach, settings)) <= near ||
                     (impact.hit && std::abs(row.distance) <= near);
    }
  }
  return static_cast<int>(std::count(near_kink.begin(), near_kink.end(), true));
}

}  // namespace abut
