#include "dynamics/split_push_out_solver.h"

#include <algorithm>

namespace abut {
namespace {

/// The problem of the pseudo-velocities, where v+ is what is to be changed as little as possible.
ContactProblem push_out_problem(const ContactProblem& problem, const Eigen::VectorXd& v_end) {
  return {problem.mass, problem.rows, v_end, v_end, problem.h, problem.nominal_h, problem.joints};
}

}  // namespace

SplitPushOutSolver::SplitPushOutSolver(const StepConfig& config, double acceleration_scale)
    : law_(config, acceleration_scale, SmoothCoulombSolver::Without::push_out),
      push_out_(config, acceleration_scale, SmoothCoulombSolver::Without::friction) {}

void SplitPushOutSolver::solve(const ContactProblem& problem, SolverScratch& scratch,
                               ContactSolution& solution) const {
  law_.solve(problem, scratch, solution);
  ContactSolution pushed;
  push_out_.solve(push_out_problem(problem, solution.velocity), scratch, pushed);
  const Eigen::VectorXd way = problem.h * (pushed.velocity - solution.velocity);
  if (solution.displacement.size() == 0) {
    solution.displacement = way;
  } else {
    solution.displacement += way;
  }
  solution.push_out = pushed.velocity;
  solution.iterations += pushed.iterations;
  solution.factorizations += pushed.factorizations;
  solution.residual = std::max(solution.residual, pushed.residual);
  solution.converged = solution.converged && pushed.converged;
}

void SplitPushOutSolver::vjp(const ContactProblem& problem, const ContactSolution& solution,
                             const EndMotionBar& solution_bar, SolverScratch& scratch,
                             ContactProblemBar& bar) const {
  const Eigen::VectorXd &w = solution.push_out, &v_end = solution.velocity;
  const Eigen::VectorXd &way_bar = solution_bar.displacement, moved = w - v_end;
  bar.h += way_bar.dot(moved);

  ContactSolution pushed;
  pushed.velocity = w;
  const ContactProblem push_out = push_out_problem(problem, v_end);
  ContactProblemBar push_out_bar;
  push_out_bar.set_zero(push_out);
  push_out_.vjp(push_out, pushed, {problem.h * way_bar, {}}, scratch, push_out_bar);

  ContactSolution of_law = solution;
  of_law.displacement = solution.displacement - problem.h * moved;  // of impacts; zero where there are none
  const EndMotionBar law_bar{
      solution_bar.velocity - problem.h * way_bar + push_out_bar.v_free + push_out_bar.v_start, way_bar};
  law_.vjp(problem, of_law, law_bar, scratch, bar);
  push_out_bar.v_free.setZero();
  push_out_bar.v_start.setZero();
  bar += push_out_bar;
}

void SplitPushOutSolver::impulses(const ContactProblem& problem, const ContactSolution& solution,
                                  std::vector<Vec3<double>>& impulses) const {
  law_.impulses(problem, solution, impulses);
}

}  // namespace abut
