/// Bodies that contacts and joints tie together, directly or through others, form an island; every island is
/// a contact problem of its own. Cost is linear in the number of islands, and what happens in one does not
/// depend on any other, not even in the last bit.
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "dynamics/contact_solver.h"

namespace abut {

/// Scratch of one thread.
struct IslandScratch {
  struct Island {
    std::vector<int> slots, pairs, joints;  ///< of the whole problem, ascending; joints are groups of rows
    MassMatrix mass;
    ContactRows rows;
    JointRows joint_rows;
    Eigen::VectorXd v_start, v_free;
    ContactSolution solution;
    EndMotionBar solution_bar;
    ContactProblemBar bar;
    SolverScratch solver;
  };
  /// Islands of one size: their vectors never change it, so nothing is allocated when bodies meet and part.
  struct Pool {
    std::deque<Island> members;
    std::size_t in_use = 0;
    [[nodiscard]] Island& next();
  };
  SolverScratch whole;           ///< of a problem that is one island
  std::vector<Pool> pools;       ///< by number of slots
  std::vector<Island*> islands;  ///< those in use
  std::vector<int> size_of_root;
  /// Of the first island that did not converge; empty if all did, or if the whole problem is one.
  std::vector<int> unconverged_slots;
  std::vector<int> parent;          ///< of each slot: a forest with one tree an island
  std::vector<int> island_of_slot;  ///< -1: nothing touches it
  std::vector<int> local_slot;      ///< within its island
};

class IslandSolver {
 public:
  explicit IslandSolver(std::unique_ptr<ContactSolver> solver) : solver_(std::move(solver)) {}

  /// As ContactSolver::solve(); its iterations are those of the island that took most.
  void solve(const ContactProblem& problem, IslandScratch& scratch, ContactSolution& solution) const;

  /// As ContactSolver::vjp().
  void vjp(const ContactProblem& problem, const ContactSolution& solution, const EndMotionBar& solution_bar,
           IslandScratch& scratch, ContactProblemBar& bar) const;

  /// As ContactSolver::prepare_jvp() and jvp(), of all islands at once: the factorization is as sparse.
  void prepare_jvp(const ContactProblem& problem, const ContactSolution& solution,
                   IslandScratch& scratch) const {
    if (!is_free(problem)) solver_->prepare_jvp(problem, solution, scratch.whole);
  }
  void jvp(const ContactProblem& problem, const ContactSolution& solution, const ContactProblemDot& dot,
           IslandScratch& scratch, EndMotionBar& solution_dot) const {
    if (is_free(problem)) {
      solution_dot.velocity = dot.v_free;
      solution_dot.displacement.resize(0);
    } else {
      solver_->jvp(problem, solution, dot, scratch.whole, solution_dot);
    }
  }

  /// As ContactSolver::contacts_near_kink(): it looks at one row at a time, so islands make no difference.
  int contacts_near_kink(const ContactProblem& problem, const ContactSolution& solution,
                         std::vector<bool>& near_kink) const {
    return solver_->contacts_near_kink(problem, solution, near_kink);
  }

  [[nodiscard]] const ContactSolver& law() const { return *solver_; }

 private:
  /// True if there are islands to solve one by one; false if the whole problem is one.
  static bool split(const ContactProblem& problem, IslandScratch& scratch);

  static bool is_free(const ContactProblem& problem) {
    return problem.rows.rows.empty() && problem.joints.empty();
  }

  std::unique_ptr<ContactSolver> solver_;
};

}  // namespace abut
