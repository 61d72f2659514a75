#include "dynamics/other_laws/split_push_out_solver.h"

#include <algorithm>

namespace abut {
namespace {

/// The problem of the pseudo-velocities, where v+ is what is to be changed as little as possible.
ContactProblem push_out_problem(const ContactProblem& problem, const GrowableVector& v_end) {
  return {problem.mass, problem.rows, v_end, v_end, problem.h, problem.joints};
}

struct SplitMemory final : SolverMemory {
  SmoothCoulombMemory law, push_out;
  ContactSolution pushed;
};

struct SplitLinearization final : SolutionLinearization {
  SmoothCoulombLinearization law, push_out;
  [[nodiscard]] std::size_t bytes() const override { return law.bytes() + push_out.bytes(); }
};

}  // namespace

SplitPushOutSolver::SplitPushOutSolver(const StepConfig& config, double acceleration_scale)
    : law_(config, acceleration_scale, SmoothCoulombSolver::Without::push_out),
      push_out_(config, acceleration_scale, SmoothCoulombSolver::Without::friction) {}

std::unique_ptr<SolverMemory> SplitPushOutSolver::make_memory() const {
  return std::make_unique<SplitMemory>();
}

std::unique_ptr<SolutionLinearization> SplitPushOutSolver::make_linearization() const {
  return std::make_unique<SplitLinearization>();
}

void SplitPushOutSolver::solve(const ContactProblem& problem, SolverMemory& any_memory,
                               ContactSolution& solution) const {
  auto& memory = static_cast<SplitMemory&>(any_memory);
  law_.solve(problem, memory.law, solution);
  ContactSolution& pushed = memory.pushed;
  push_out_.solve(push_out_problem(problem, solution.velocity), memory.push_out, pushed);
  solution.displacement = problem.h * (pushed.velocity - solution.velocity);
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
  if (!law_.linearize(problem, solution, what_for, memory.law, at.law)) return false;
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
  const GrowableVector& way_bar = solution_bar.displacement;

  ContactSolution pushed;
  pushed.velocity = w;
  const ContactProblem push_out = push_out_problem(problem, v_end);
  ContactProblemBar push_out_bar;
  push_out_bar.set_zero(push_out);
  push_out_.vjp(push_out, pushed, at.push_out, {problem.h * way_bar, {}}, memory.push_out, push_out_bar);

  const EndMotionBar law_bar{
      solution_bar.velocity - problem.h * way_bar + push_out_bar.v_free + push_out_bar.v_start, way_bar};
  law_.vjp(problem, solution, at.law, law_bar, memory.law, bar);
  push_out_bar.v_free.setZero();
  push_out_bar.v_start.setZero();
  bar += push_out_bar;
}

void SplitPushOutSolver::impulses(const ContactProblem& problem, const ContactSolution& solution,
                                  SolverMemory& memory, std::vector<Vec3<double>>& impulses) const {
  law_.impulses(problem, solution, static_cast<SplitMemory&>(memory).law, impulses);
}

}  // namespace abut
