/// Bodies that contacts and joints tie together, directly or through others, form an island; every island is
/// a contact problem of its own. Cost is linear in the number of islands, and what happens in one does not
/// depend on any other, not even in the last bit.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "dynamics/contact_solver.h"

namespace abut {

/// Scratch of one thread. Keeps the warm start of the next solve: forget it before an unrelated one.
struct IslandScratch {
  struct Island {
    std::vector<int> slots, pairs, joints;  ///< of the whole problem, ascending; joints are groups of rows
    MassMatrix mass;
    ContactRows rows;
    JointRows joint_rows;
    Eigen::VectorXd v_start, v_free, v_bar;
    ContactSolution solution;
    ContactProblemBar bar;
    SolverScratch solver;
  };
  SolverScratch whole;          ///< of a problem that is one island
  std::vector<Island> islands;  ///< the first `island_count` are in use
  std::size_t island_count = 0;
  std::vector<int> parent;          ///< of each slot: a forest with one tree an island
  std::vector<int> island_of_slot;  ///< -1: nothing touches it
  std::vector<int> local_slot;      ///< within its island
  std::vector<Eigen::VectorXd> previous_passes;
  Eigen::VectorXd previous_start;
};

class IslandSolver {
 public:
  explicit IslandSolver(std::unique_ptr<ContactSolver> solver) : solver_(std::move(solver)) {}

  /// As ContactSolver::solve(); its iterations are those of the island that took most.
  void solve(const ContactProblem& problem, IslandScratch& scratch, ContactSolution& solution) const;

  /// As ContactSolver::vjp().
  void vjp(const ContactProblem& problem, const ContactSolution& solution, const Eigen::VectorXd& v_bar,
           IslandScratch& scratch, ContactProblemBar& bar) const;

  [[nodiscard]] const ContactSolver& law() const { return *solver_; }

 private:
  /// True if there are islands to solve one by one; false if the whole problem is one.
  static bool split(const ContactProblem& problem, IslandScratch& scratch);

  std::unique_ptr<ContactSolver> solver_;
};

}  // namespace abut
