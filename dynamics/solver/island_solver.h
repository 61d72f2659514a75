/// Bodies that contacts and joints tie together, directly or through others, form an island, whole trees with any
/// of their links; every island is a contact problem of its own. Cost is linear in the number of islands, and
/// what happens in one does not depend on any other, not even in the last bit.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <typeindex>
#include <utility>
#include <vector>

#include "dynamics/solver/contact_solver.h"
#include "dynamics/solver/disjoint_sets.h"

namespace abut {

/// The part of a contact problem that is an island: copies of what belongs to it, numbered within it.
struct Island {
  std::span<const int> slots, pairs, joints, links;  ///< see Islands, which they point into
  MassMatrix mass;
  ContactRows rows;
  JointRows joint_rows;
  GrowableVector v_start, v_free, v_lead;
  ContactSolution solution;
};

/// The islands of a problem, in the order of their lowest slots. Keeps its memory from one problem to the
/// next.
class Islands {
 public:
  Islands() = default;
  Islands(const Islands&) = delete;  // Island::slots and the like point into it
  Islands& operator=(const Islands&) = delete;
  Islands(Islands&&) = default;
  Islands& operator=(Islands&&) = default;

  void split(const ContactProblem& problem);

  /// One island holds everything that moves: it is not copied, and size() is 0.
  [[nodiscard]] bool is_whole() const { return is_whole_; }
  [[nodiscard]] std::size_t size() const { return slots_.list_count(); }
  [[nodiscard]] int slot_count(std::size_t island) const { return static_cast<int>(slots_[island].size()); }
  /// Copies an island out of the problem that was split; all but its solution.
  void select(const ContactProblem& problem, std::size_t island, Island& out) const;

  /// The island that a pair of the problem is in, which is not whole, and the pair's number there.
  [[nodiscard]] std::pair<std::size_t, std::size_t> place_of(const RowPair& pair, std::size_t index) const;
  /// Whether a contact or a joint acts on the slot's body or its tree.
  [[nodiscard]] bool is_touched(int slot) const { return island_of_slot_[at(slot)] >= 0; }

 private:
  /// A list of indices for each island, all in one array.
  class Lists {
   public:
    /// @param island_of  the island of each index, or -1
    template <typename IslandOf>
    void assign(std::size_t lists, std::size_t indices, const IslandOf& island_of);
    void clear() { begin_.clear(); }
    [[nodiscard]] std::size_t list_count() const { return begin_.empty() ? 0 : begin_.size() - 1; }
    [[nodiscard]] std::span<const int> operator[](std::size_t list) const {
      return std::span(indices_).subspan(at(begin_[list]), at(begin_[list + 1] - begin_[list]));
    }

   private:
    std::vector<int> indices_, begin_;
  };

  Lists slots_, pairs_, joints_, links_;  // of the whole problem, ascending; joints are groups of rows
  DisjointSets sets_;                     // of slots
  std::vector<int> island_of_slot_;       // -1: nothing touches it
  std::vector<int> local_slot_;           // within its island
  std::vector<char> is_touched_;          // of roots of sets
  bool is_whole_ = false;

  [[nodiscard]] int island_of(int slot_A, int slot_B) const {
    return island_of_slot_[at(std::max(slot_A, slot_B))];
  }
};

/// Working memory of one thread. Islands use it one after the other: it grows with the largest of them, not
/// with their number.
struct IslandMemory {
  /// For islands of one capacity class (island_solver.cpp). Solvers swap vectors of their memory with those
  /// of a solution, so that both have to be of one class.
  struct OfClass {
    Island island;  ///< the one that is being solved
    std::unique_ptr<SolverMemory> of_law;
    EndMotionBar end;
    GrowableVector multiplier;
    ContactProblemBar bar;
    ContactProblemDot dot;
  };
  Islands islands;
  std::vector<OfClass> of_class;
  std::type_index law = typeid(void);  ///< that these are for: another one starts anew
  /// Of the first island that did not converge; empty if all did, or if the whole problem is one.
  std::vector<int> unconverged_slots;
};

/// See SolutionLinearization.
struct IslandLinearization {
  struct Part {
    Island island;  ///< unused if it is the whole
    std::unique_ptr<SolutionLinearization> of_law;
  };
  Islands islands;
  std::vector<Part*> parts;            ///< one per island, or that of the whole
  std::type_index law = typeid(void);  ///< that they are of
  bool is_complete = false;

  /// No parts. Keeps their memory for those of the same law.
  void clear(std::type_index of_law);
  /// @param slots  of the island
  Part& add_part(const ContactSolver& solver, int slots);

  [[nodiscard]] std::size_t bytes() const;

  /// Of one of the parts, see SolutionLinearization.
  [[nodiscard]] bool has_negative_determinant() const;

 private:
  /// Parts for islands of one capacity class.
  struct Pool {
    std::vector<std::unique_ptr<Part>> parts;
    std::size_t in_use = 0;
  };
  std::vector<Pool> pools_;
};

class IslandSolver {
 public:
  explicit IslandSolver(std::unique_ptr<ContactSolver> solver) : solver_(std::move(solver)) {}

  /// As those of ContactSolver; iterations are those of the island that took most.
  /// @param keep  unless null, filled in for VJPs as by linearize_solved(), if all islands converge and have
  ///              derivatives: is_complete
  void solve(const ContactProblem& problem, IslandMemory& memory, ContactSolution& solution,
             IslandLinearization* keep = nullptr) const;
  [[nodiscard]] bool linearize(const ContactProblem& problem, const ContactSolution& solution,
                               LinearizeFor what_for, IslandMemory& memory,
                               IslandLinearization& linearization) const;
  void vjp(const ContactProblem& problem, const ContactSolution& solution,
           const IslandLinearization& linearization, const EndMotionBar& solution_bar, IslandMemory& memory,
           ContactProblemBar& bar) const;
  [[nodiscard]] bool has_pair_vjp(const IslandLinearization& linearization) const;
  void multiplier_vjp(const ContactProblem& problem, const ContactSolution& solution,
                      const IslandLinearization& linearization, const EndMotionBar& solution_bar,
                      IslandMemory& memory, ContactProblemBar& bar, GrowableVector& w) const;
  /// Adds to `bar.rows` and `bar.pairs` alone.
  Vec3<double> pair_vjp(const ContactProblem& problem, const ContactSolution& solution,
                        const IslandLinearization& linearization, std::size_t pair, const Vec6<double>& W,
                        IslandMemory& memory, ContactProblemBar& bar) const;
  void jvp(const ContactProblem& problem, const ContactSolution& solution,
           const IslandLinearization& linearization, const ContactProblemDot& dot, IslandMemory& memory,
           EndMotionBar& solution_dot) const;
  void impulses(const ContactProblem& problem, const ContactSolution& solution, IslandMemory& memory,
                std::vector<Vec3<double>>& impulses) const;

  /// Of a law that looks at an island as a whole, after linearize().
  void impulses_by_island(const ContactProblem& problem, const ContactSolution& solution,
                          const IslandLinearization& linearization, IslandMemory& memory,
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
  [[nodiscard]] IslandMemory::OfClass& memory_of(int slots, IslandMemory& memory) const;

  std::unique_ptr<ContactSolver> solver_;
};

}  // namespace abut
