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
  rows.are_ordinary = true;
  for (std::size_t p = 0; p < problem.rows.pairs.size(); ++p) {
    const RowPair& pair = problem.rows.pairs[p];
    for (int r = pair.begin; r < pair.end; ++r) {
      const ContactRow& row = problem.rows.rows[at(r)];
      if (row.is_ordinary()) continue;
      rows.are_ordinary = false;
      const smooth_coulomb::NormalLaw law = smooth_coulomb::normal_law(
          smooth_coulomb_parameters(problem.rows, at(r)), settings, part_of(problem, row));
      const auto [block, lane] = rows.blocks.place(pair, p, r);
      block.target[lane] = law.target;
      block.scale[lane] = law.scale;
      block.width[lane] = law.width;
    }
  }
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
  balance.keep_reaction(at.reaction);
  if (!balance.factorize_coupled(solution.velocity, at.jacobian, true)) return false;
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
  balance.keep_reaction(at.reaction);
  return balance.factorize_coupled(solution.velocity, at.jacobian, true);
}

void SmoothCoulombSolver::impulses(const ContactProblem& problem, const ContactSolution& solution,
                                   SolverMemory& any_memory, std::vector<Vec3<double>>& impulses) const {
  SmoothCoulombRows& rows = static_cast<SmoothCoulombMemory&>(any_memory).rows;
  const smooth_coulomb::Settings settings = settings_of(problem);
  prepare(problem, settings, rows);
  impulses.resize(problem.rows.rows.size());
  for (std::size_t p = 0; p < problem.rows.pairs.size(); ++p) {
    const RowPair& pair = problem.rows.pairs[p];
    const double coefficient = rows.blocks.pairs[p].friction;
    for (int i = pair.begin; i < pair.end; ++i) {
      const ContactRow& row = problem.rows.rows[at(i)];
      const auto [block, lane] = rows.blocks.place(pair, p, i);
      const Vec3<double> u = relative_velocity(row, solution.velocity);
      const double normal = smooth_coulomb::normal_impulse(row.n.dot(u), block.target[lane],
                                                           block.scale[lane], block.width[lane])
                                .value;
      impulses[at(i)] =
          normal * row.n + Friction{u, row.n, settings.stiction_speed}.impulse(coefficient * normal);
    }
  }
}

}  // namespace abut
