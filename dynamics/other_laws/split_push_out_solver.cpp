#include "dynamics/other_laws/split_push_out_solver.h"

#include <algorithm>

#include "dynamics/solver/passive_impact_solver.h"

namespace abut {
namespace {

/// The problem of the pseudo-velocities, where v+ is what is to be changed as little as possible.
ContactProblem push_out_problem(const ContactProblem& problem, const GrowableVector& v_end) {
  return {problem.mass, problem.rows, v_end, v_end, problem.h, problem.nominal_h, problem.joints};
}

/// What of a solution is the law's own: without the way of its push-out.
ContactSolution solution_of_law(const ContactProblem& problem, const ContactSolution& solution) {
  ContactSolution of_law = solution;
  of_law.displacement -= problem.h * (solution.push_out - solution.velocity);
  return of_law;
}

struct SplitMemory final : SolverMemory {
  std::unique_ptr<SolverMemory> law;
  SmoothCoulombMemory push_out;
  ContactSolution pushed;
};

struct SplitLinearization final : SolutionLinearization {
  std::unique_ptr<SolutionLinearization> law;
  SmoothCoulombLinearization push_out;
  [[nodiscard]] std::size_t bytes() const override { return law->bytes() + push_out.bytes(); }
  [[nodiscard]] bool is_near_kink() const override { return law->is_near_kink(); }
};

}  // namespace

SplitPushOutSolver::SplitPushOutSolver(const StepConfig& config, double acceleration_scale)
    : law_(make_smooth_coulomb_solver(config, acceleration_scale, SmoothCoulombSolver::Without::push_out)),
      push_out_(config, acceleration_scale, SmoothCoulombSolver::Without::friction) {}

std::unique_ptr<SolverMemory> SplitPushOutSolver::make_memory() const {
  auto memory = std::make_unique<SplitMemory>();
  memory->law = law_->make_memory();
  return memory;
}

std::unique_ptr<SolutionLinearization> SplitPushOutSolver::make_linearization() const {
  auto linearization = std::make_unique<SplitLinearization>();
  linearization->law = law_->make_linearization();
  return linearization;
}

void SplitPushOutSolver::solve(const ContactProblem& problem, SolverMemory& any_memory,
                               ContactSolution& solution) const {
  auto& memory = static_cast<SplitMemory&>(any_memory);
  law_->solve(problem, *memory.law, solution);
  ContactSolution& pushed = memory.pushed;
  push_out_.solve(push_out_problem(problem, solution.velocity), memory.push_out, pushed);
  if (solution.displacement.size() == 0) {
    solution.displacement = problem.h * (pushed.velocity - solution.velocity);
  } else {
    solution.displacement += problem.h * (pushed.velocity - solution.velocity);
  }
  solution.push_out = pushed.velocity;
  solution.iterations += pushed.iterations;
  solution.factorizations += pushed.factorizations;
  solution.residual = std::max(solution.residual, pushed.residual);
  solution.converged = solution.converged && pushed.converged;
}

bool SplitPushOutSolver::linearize(const ContactProblem& problem, const ContactSolution& solution,
                                   LinearizeFor what_for, SolverMemory& any_memory,
                                   SolutionLinearization& linearization) const {
  auto& memory = static_cast<SplitMemory&>(any_memory);
  auto& at = static_cast<SplitLinearization&>(linearization);
  if (!law_->linearize(problem, solution_of_law(problem, solution), what_for, *memory.law, *at.law))
    return false;
  ContactSolution pushed;
  pushed.velocity = solution.push_out;
  return push_out_.linearize(push_out_problem(problem, solution.velocity), pushed, what_for, memory.push_out,
                             at.push_out);
}

void SplitPushOutSolver::vjp(const ContactProblem& problem, const ContactSolution& solution,
                             const SolutionLinearization& linearization, const EndMotionBar& solution_bar,
                             SolverMemory& any_memory, ContactProblemBar& bar) const {
  auto& memory = static_cast<SplitMemory&>(any_memory);
  const auto& at = static_cast<const SplitLinearization&>(linearization);
  const GrowableVector &w = solution.push_out, &v_end = solution.velocity;
  const GrowableVector &way_bar = solution_bar.displacement, moved = w - v_end;
  bar.h += way_bar.dot(moved);

  ContactSolution pushed;
  pushed.velocity = w;
  const ContactProblem push_out = push_out_problem(problem, v_end);
  ContactProblemBar push_out_bar;
  push_out_bar.set_zero(push_out);
  push_out_.vjp(push_out, pushed, at.push_out, {problem.h * way_bar, {}}, memory.push_out, push_out_bar);

  const EndMotionBar law_bar{
      solution_bar.velocity - problem.h * way_bar + push_out_bar.v_free + push_out_bar.v_start, way_bar};
  law_->vjp(problem, solution_of_law(problem, solution), *at.law, law_bar, *memory.law, bar);
  push_out_bar.v_free.setZero();
  push_out_bar.v_start.setZero();
  bar += push_out_bar;
}

void SplitPushOutSolver::impulses(const ContactProblem& problem, const ContactSolution& solution,
                                  SolverMemory& memory, std::vector<Vec3<double>>& impulses) const {
  law_->impulses(problem, solution_of_law(problem, solution), *static_cast<SplitMemory&>(memory).law,
                 impulses);
}

}  // namespace abut
