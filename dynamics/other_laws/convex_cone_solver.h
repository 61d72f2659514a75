/// Compliant contact in the friction cone, by a convex problem: the laws "convex_cone" (Drake's) and
/// "impedance" (MuJoCo's parameters of the same cone).
///
/// The velocities minimise a strictly convex, piecewise smooth C^1 function,
///     L(v) = 1/2 (v - v*)^T M (v - v*) + sum_c l_c(J_c v)
/// with l_c of contact_laws/convex_cone.h, by Newton's method (convex_newton.h); they are differentiated
/// implicitly by one linear solve with the Hessian of the zones the contacts are in.
#pragma once

#include "dynamics/contact_laws/convex_cone.h"
#include "dynamics/contact_laws/impedance.h"
#include "dynamics/kernel/row_blocks.h"
#include "dynamics/solver/contact_solver.h"
#include "dynamics/solver/smooth_coulomb_settings.h"
#include "engine/config.h"

namespace abut {

class ConvexConeSolver final : public ContactSolver {
 public:
  ConvexConeSolver(const StepConfig& config, double acceleration_scale);

  [[nodiscard]] std::unique_ptr<SolverMemory> make_memory() const override;
  [[nodiscard]] std::unique_ptr<SolutionLinearization> make_linearization() const override;
  void solve(const ContactProblem& problem, SolverMemory& memory, ContactSolution& solution) const override;
  [[nodiscard]] bool linearize(const ContactProblem& problem, const ContactSolution& solution,
                               LinearizeFor what_for, SolverMemory& memory,
                               SolutionLinearization& linearization) const override;
  void vjp(const ContactProblem& problem, const ContactSolution& solution,
           const SolutionLinearization& linearization, const EndMotionBar& solution_bar, SolverMemory& memory,
           ContactProblemBar& bar) const override;
  void jvp(const ContactProblem& problem, const ContactSolution& solution,
           const SolutionLinearization& linearization, const ContactProblemDot& dot, SolverMemory& memory,
           EndMotionBar& solution_dot) const override;
  void impulses(const ContactProblem& problem, const ContactSolution& solution, SolverMemory& memory,
                std::vector<Vec3<double>>& impulses) const override;
  int contacts_near_kink(const ContactProblem& problem, const ContactSolution& solution,
                         std::vector<bool>& near_kink) const override;
  [[nodiscard]] double default_dissipation_time() const override {
    return config_.dissipation_steps * config_.h;
  }

 private:
  /// The law for steps of one length.
  struct Law {
    smooth_coulomb::Settings drake;
    impedance::Settings mujoco;
    double carry = 0;  ///< part of the velocity at the start that the target takes over
  };
  [[nodiscard]] bool is_impedance() const { return config_.law == ContactLaw::impedance; }
  [[nodiscard]] Law law_of(const ContactProblem& problem) const;
  [[nodiscard]] convex_cone::Parameters<double> parameters(const ContactProblem& problem, const Law& law,
                                                           std::size_t row) const;
  /// Of a row at velocities v.
  [[nodiscard]] convex_cone::Cone cone(const ContactProblem& problem, const Law& law, std::size_t row,
                                       const GrowableVector& v) const;
  void prepare(const ContactProblem& problem, const Law& law, RowBlocks& rows) const;

  StepConfig config_;
  double speed_scale_;  ///< g h
};

}  // namespace abut
