/// The interface that every contact law implements.
///
/// A solution is linearized once; any number of VJPs and JVPs then share its factorization. A linearization
/// is not changed by them, so that several threads may use one, each with a memory of its own.
#pragma once

#include <memory>
#include <vector>

#include "collision/manifold/linearize_for.h"
#include "dynamics/solver/contact_problem.h"

namespace abut {

/// Working memory of a law, of one thread. What it holds changes no result.
class SolverMemory {
 public:
  SolverMemory() = default;
  SolverMemory(const SolverMemory&) = delete;
  SolverMemory& operator=(const SolverMemory&) = delete;
  virtual ~SolverMemory() = default;
};

/// What the derivatives of a solution have in common.
class SolutionLinearization {
 public:
  SolutionLinearization() = default;
  SolutionLinearization(const SolutionLinearization&) = delete;
  SolutionLinearization& operator=(const SolutionLinearization&) = delete;
  virtual ~SolutionLinearization() = default;

  /// Memory that it takes, about [bytes].
  [[nodiscard]] virtual std::size_t bytes() const = 0;

  /// Whether the problem as a whole is about to change the formula it follows; see contacts_near_kink().
  [[nodiscard]] virtual bool is_near_kink() const { return false; }

  /// Whether the determinant of the linearized problem is negative: on the way back between two folds.
  [[nodiscard]] virtual bool has_negative_determinant() const { return false; }
};

class ContactSolver {
 public:
  virtual ~ContactSolver() = default;

  /// Of the law's own types, which the functions below take and no others.
  [[nodiscard]] virtual std::unique_ptr<SolverMemory> make_memory() const = 0;
  [[nodiscard]] virtual std::unique_ptr<SolutionLinearization> make_linearization() const = 0;

  virtual void solve(const ContactProblem& problem, SolverMemory& memory,
                     ContactSolution& solution) const = 0;

  /// Overwrites `linearization`. False if there is none, as for a solution that is not finite, or where that
  /// shows only later: then the derivatives throw std::logic_error.
  [[nodiscard]] virtual bool linearize(const ContactProblem& problem, const ContactSolution& solution,
                                       LinearizeFor what_for, SolverMemory& memory,
                                       SolutionLinearization& linearization) const = 0;

  /// The same for VJPs alone, right after solve() of the same problem with the same memory: saves work where
  /// solve() left something to go on with. Afterwards the memory holds nothing of this problem.
  [[nodiscard]] virtual bool linearize_solved(const ContactProblem& problem, const ContactSolution& solution,
                                              SolverMemory& memory,
                                              SolutionLinearization& linearization) const {
    return linearize(problem, solution, LinearizeFor::vjp, memory, linearization);
  }

  /// Adds to `bar` the gradient of a loss, given its gradient with respect to the solution.
  virtual void vjp(const ContactProblem& problem, const ContactSolution& solution,
                   const SolutionLinearization& linearization, const EndMotionBar& solution_bar,
                   SolverMemory& memory, ContactProblemBar& bar) const = 0;

  /// Whether vjp() comes in the two parts below. What a pair's rows contribute is linear in the twist W of B
  /// relative to A that the multiplier w = (dF/dv)^-T v_bar has there: a Jacobian takes six of them a pair.
  [[nodiscard]] virtual bool has_pair_vjp(const SolutionLinearization& linearization) const;
  /// Overwrites w, and adds to `bar` what vjp() does but for the rows.
  virtual void multiplier_vjp(const ContactProblem& problem, const ContactSolution& solution,
                              const SolutionLinearization& linearization, const EndMotionBar& solution_bar,
                              SolverMemory& memory, ContactProblemBar& bar, GrowableVector& w) const;
  /// Adds to `bar` what the rows of a pair do, given W about the pair's centre (BlockPair), the body that
  /// moves, or of two B, having it alone. Returns the sum of their impulses on B [N s].
  virtual Vec3<double> pair_vjp(const ContactProblem& problem, const ContactSolution& solution,
                                const SolutionLinearization& linearization, std::size_t pair,
                                const Vec6<double>& W, SolverMemory& memory, ContactProblemBar& bar) const;

  /// How the solution changes along a direction, overwritten; after linearize() for both. Throws
  /// std::logic_error where that is not known: with push-out of kind "split".
  virtual void jvp(const ContactProblem& problem, const ContactSolution& solution,
                   const SolutionLinearization& linearization, const ContactProblemDot& dot,
                   SolverMemory& memory, EndMotionBar& solution_dot) const;

  /// The impulse [N s] each row's contact applies to its body B, in W, for a solved problem.
  virtual void impulses(const ContactProblem& problem, const ContactSolution& solution, SolverMemory& memory,
                        std::vector<Vec3<double>>& impulses) const = 0;

  /// How many rows of a solved problem are about to change the formula they follow (from open to closed, from
  /// sticking to sliding), so that derivatives may jump nearby, and which: one flag for each row. None for
  /// laws without kinks.
  virtual int contacts_near_kink(const ContactProblem& problem, const ContactSolution& solution,
                                 std::vector<bool>& near_kink) const;

  /// The speed of approach from which on an impulse acts at the time of its impact (contact_laws/impact.h)
  /// [m/s]; 0: a law whose impulses act over the whole step.
  [[nodiscard]] virtual double impact_speed() const { return 0.0; }

  /// tau_d [s] of a material that does not give one.
  [[nodiscard]] virtual double default_dissipation_time() const = 0;
};

}  // namespace abut
