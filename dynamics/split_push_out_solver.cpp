#include "dynamics/split_push_out_solver.h"

#include <algorithm>
#include <utility>

namespace abut {
namespace {

StepConfig without_friction(StepConfig config) {
  config.friction_repeats = 0;
  return config;
}

/// The problem of the pseudo-velocities, where v+ is what is to be changed as little as possible.
ContactProblem push_out_problem(const ContactProblem& problem, const Eigen::VectorXd& v_end) {
  return {problem.mass, problem.rows, v_end, v_end, problem.h, problem.nominal_h, problem.joints};
}

}  // namespace

SplitPushOutSolver::SplitPushOutSolver(const StepConfig& config, double acceleration_scale)
    : law_(config, acceleration_scale, false), push_out_(without_friction(config), acceleration_scale) {}

void SplitPushOutSolver::solve(const ContactProblem& problem, SolverScratch& scratch,
                               ContactSolution& solution) const {
  std::vector<Eigen::VectorXd>& previous = scratch.previous_passes;
  const bool warm = static_cast<int>(previous.size()) == pass_count();
  Eigen::VectorXd previous_push_out, previous_end;
  if (warm) {
    previous_push_out = std::move(previous.front());
    previous_end = previous.back();
    previous.erase(previous.begin());
  }
  law_.solve(problem, scratch, solution);

  ContactSolution pushed;
  previous.clear();
  if (warm) {
    previous.push_back(std::move(previous_push_out));
    scratch.previous_start = std::move(previous_end);
  }
  push_out_.solve(push_out_problem(problem, solution.velocity()), scratch, pushed);
  const Eigen::VectorXd way = problem.h * (pushed.velocity() - solution.velocity());
  if (solution.displacement.size() == 0) {
    solution.displacement = way;
  } else {
    solution.displacement += way;
  }
  solution.passes.insert(solution.passes.begin(), pushed.velocity());
  solution.iterations += pushed.iterations;
  solution.residual = std::max(solution.residual, pushed.residual);
  solution.converged = solution.converged && pushed.converged;
}

void SplitPushOutSolver::vjp(const ContactProblem& problem, const ContactSolution& solution,
                             const EndMotionBar& solution_bar, SolverScratch& scratch,
                             ContactProblemBar& bar) const {
  const Eigen::VectorXd &w = solution.passes.front(), &v_end = solution.velocity();
  const Eigen::VectorXd &way_bar = solution_bar.displacement, moved = w - v_end;
  bar.h += way_bar.dot(moved);

  ContactSolution pushed;
  pushed.passes = {w};
  const ContactProblem push_out = push_out_problem(problem, v_end);
  ContactProblemBar push_out_bar;
  push_out_bar.set_zero(push_out);
  push_out_.vjp(push_out, pushed, {problem.h * way_bar, {}}, scratch, push_out_bar);

  ContactSolution of_law;
  of_law.passes.assign(solution.passes.begin() + 1, solution.passes.end());
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
  ContactSolution of_law;
  of_law.passes.assign(solution.passes.begin() + 1, solution.passes.end());
  law_.impulses(problem, of_law, impulses);
}

}  // namespace abut
