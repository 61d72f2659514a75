/// Bodies that contacts and joints tie together, directly or through others, form an island; every island is
/// a contact problem of its own. Cost is linear in the number of islands, and what happens in one does not
/// depend on any other, not even in the last bit.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <typeindex>
#include <utility>
#include <vector>

#include "dynamics/solver/contact_solver.h"

namespace abut {

/// A part of a contact problem.
struct Island {
  std::vector<int> slots, pairs, joints;  ///< of the whole problem, ascending; joints are groups of rows
  MassMatrix mass;
  ContactRows rows;
  std::vector<ContactRow> start_rows;
  JointRows joint_rows;
  Eigen::VectorXd v_start, v_free;
  ContactSolution solution;
};

/// The islands of a problem. Keeps its memory from one problem to the next.
class Islands {
 public:
  Islands() = default;
  Islands(const Islands&) = delete;  // members() point into it
  Islands& operator=(const Islands&) = delete;
  Islands(Islands&&) = default;
  Islands& operator=(Islands&&) = default;

  void split(const ContactProblem& problem);

  /// One island holds everything that moves: it is not copied, and members() is empty.
  [[nodiscard]] bool is_whole() const { return is_whole_; }
  [[nodiscard]] const std::vector<Island*>& members() const { return members_; }
  /// Whether joints act in the island of a pair of the problem.
  [[nodiscard]] bool has_joints(const RowPair& pair) const {
    return is_whole_ ? has_joints_ : !members_[at(island_of(pair.slot_A, pair.slot_B))]->joints.empty();
  }
  /// The part that a pair of the problem is in, which is not whole, and its number there.
  [[nodiscard]] std::pair<std::size_t, std::size_t> place_of(const RowPair& pair, std::size_t index) const;
  /// Whether a contact or a joint acts on the body of a slot.
  [[nodiscard]] bool is_touched(int slot) const { return island_of_slot_[at(slot)] >= 0; }
  [[nodiscard]] std::size_t bytes() const;

 private:
  /// Islands of one size: their vectors never change it, so nothing is allocated when bodies meet and part.
  struct Pool {
    std::deque<Island> islands;
    std::size_t in_use = 0;
    [[nodiscard]] Island& next();
  };
  std::vector<Pool> pools_;  // by number of slots
  std::vector<Island*> members_;
  std::vector<int> size_of_root_;
  std::vector<int> parent_;          // of each slot: a forest with one tree an island
  std::vector<int> island_of_slot_;  // -1: nothing touches it
  std::vector<int> local_slot_;      // within its island
  bool is_whole_ = false, has_joints_ = false;

  [[nodiscard]] int island_of(int slot_A, int slot_B) const {
    return island_of_slot_[at(std::max(slot_A, slot_B))];
  }
};

/// Of one thread.
struct IslandMemory {
  /// For islands of one size.
  struct OfSize {
    std::unique_ptr<SolverMemory> of_law;
    EndMotionBar end;
    Eigen::VectorXd multiplier;
    ContactProblemBar bar;
    ContactProblemDot dot;
  };
  Islands islands;
  std::vector<OfSize> of_size;
  std::type_index law = typeid(void);  ///< that these are for: another one starts anew
  /// Of the first island that did not converge; empty if all did, or if the whole problem is one.
  std::vector<int> unconverged_slots;
};

/// See SolutionLinearization.
struct IslandLinearization {
  Islands islands;
  std::vector<std::unique_ptr<SolutionLinearization>> parts;  ///< one per member, or that of the whole
  std::type_index law = typeid(void);                         ///< that they are of
  bool is_complete = false;

  [[nodiscard]] std::size_t bytes() const;

  /// Of one of the members, see SolutionLinearization.
  [[nodiscard]] bool has_negative_determinant() const;
};

class IslandSolver {
 public:
  explicit IslandSolver(std::unique_ptr<ContactSolver> solver) : solver_(std::move(solver)) {}

  /// As those of ContactSolver; iterations are those of the island that took most.
  /// @param keep  unless null, filled in for VJPs as by linearize_solved(), if all islands converge and have
  ///              derivatives: is_complete
  void solve(const ContactProblem& problem, IslandMemory& memory, ContactSolution& solution,
             IslandLinearization* keep = nullptr) const;
  void linearize(const ContactProblem& problem, const ContactSolution& solution, LinearizeFor what_for,
                 IslandMemory& memory, IslandLinearization& linearization) const;
  void vjp(const ContactProblem& problem, const ContactSolution& solution,
           const IslandLinearization& linearization, const EndMotionBar& solution_bar, IslandMemory& memory,
           ContactProblemBar& bar) const;
  [[nodiscard]] bool has_pair_vjp(const IslandLinearization& linearization) const;
  void multiplier_vjp(const ContactProblem& problem, const ContactSolution& solution,
                      const IslandLinearization& linearization, const EndMotionBar& solution_bar,
                      IslandMemory& memory, ContactProblemBar& bar, Eigen::VectorXd& w) const;
  /// Adds to `bar.rows` and `bar.pairs` alone.
  Vec3<double> pair_vjp(const ContactProblem& problem, const ContactSolution& solution,
                        const IslandLinearization& linearization, std::size_t pair, const Vec6<double>& W,
                        IslandMemory& memory, ContactProblemBar& bar) const;
  void jvp(const ContactProblem& problem, const ContactSolution& solution,
           const IslandLinearization& linearization, const ContactProblemDot& dot, IslandMemory& memory,
           EndMotionBar& solution_dot) const;
  void impulses(const ContactProblem& problem, const ContactSolution& solution, IslandMemory& memory,
                std::vector<Vec3<double>>& impulses) const;

  /// It looks at one row at a time, so islands make no difference.
  int contacts_near_kink(const ContactProblem& problem, const ContactSolution& solution,
                         std::vector<bool>& near_kink) const {
    return solver_->contacts_near_kink(problem, solution, near_kink);
  }

  /// Adds the contacts of islands that are near a kink as a whole.
  void flag_islands_near_kink(const ContactProblem& problem, const IslandLinearization& linearization,
                              std::vector<bool>& near_kink) const;

  [[nodiscard]] const ContactSolver& law() const { return *solver_; }

 private:
  [[nodiscard]] IslandMemory::OfSize& memory_of(int slots, IslandMemory& memory) const;
  [[nodiscard]] SolutionLinearization& part_of(std::size_t k, IslandLinearization& linearization) const;

  std::unique_ptr<ContactSolver> solver_;
};

}  // namespace abut
