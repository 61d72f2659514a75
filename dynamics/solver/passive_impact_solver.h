/// The smooth Coulomb law with impacts that create no energy.
///
/// Newton's restitution gives the normal velocity after an impact, whatever friction and other impacts do
/// meanwhile: where they speed a body up, energy is created (Kane's paradox; also several impacts of one body
/// at once). With
///     v_N  the solution of the law (e as given),   v_p  that with plastic impacts (e = 0),
/// the solution is
///     v = v_p + alpha (v_N - v_p),   alpha: the largest in [0, 1] with  Delta E(alpha) <= 0,
/// displacements and impulses likewise. Delta E is the energy that the bodies of the problem have at the end
/// of the step, over that without contacts and joints (contact_laws/impact_energy.h); it is nearly quadratic,
/// and not positive at alpha = 0: a plastic impact with friction loses energy (where push-out or joints that
/// are out of place make it gain some, the solution gains no more than that). Impulses of both solutions are
/// in the friction cones and act at the same times and places, and so do those of the mixture: it keeps
/// momentum and angular momentum. alpha = 1, and nothing is solved twice, unless energy would rise.
///
/// One alpha for an island. Islands with driven bodies, motors or springs of joints, which do work of their
/// own, keep Newton's restitution.
#pragma once

#include "dynamics/solver/smooth_coulomb_solver.h"

namespace abut {

class PassiveImpactSolver final : public ContactSolver {
 public:
  PassiveImpactSolver(const StepConfig& config, double acceleration_scale,
                      SmoothCoulombSolver::Without without = SmoothCoulombSolver::Without::nothing)
      : law_(config, acceleration_scale, without) {}

  [[nodiscard]] std::unique_ptr<SolverMemory> make_memory() const override;
  [[nodiscard]] std::unique_ptr<SolutionLinearization> make_linearization() const override;
  void solve(const ContactProblem& problem, SolverMemory& memory, ContactSolution& solution) const override;
  [[nodiscard]] bool linearize(const ContactProblem& problem, const ContactSolution& solution,
                               LinearizeFor what_for, SolverMemory& memory,
                               SolutionLinearization& linearization) const override;
  [[nodiscard]] bool linearize_solved(const ContactProblem& problem, const ContactSolution& solution,
                                      SolverMemory& memory,
                                      SolutionLinearization& linearization) const override;
  void vjp(const ContactProblem& problem, const ContactSolution& solution,
           const SolutionLinearization& linearization, const EndMotionBar& solution_bar, SolverMemory& memory,
           ContactProblemBar& bar) const override;
  [[nodiscard]] bool has_pair_vjp(const SolutionLinearization& linearization) const override;
  void multiplier_vjp(const ContactProblem& problem, const ContactSolution& solution,
                      const SolutionLinearization& linearization, const EndMotionBar& solution_bar,
                      SolverMemory& memory, ContactProblemBar& bar, GrowableVector& w) const override;
  Vec3<double> pair_vjp(const ContactProblem& problem, const ContactSolution& solution,
                        const SolutionLinearization& linearization, std::size_t pair, const Vec6<double>& W,
                        SolverMemory& memory, ContactProblemBar& bar) const override;
  void jvp(const ContactProblem& problem, const ContactSolution& solution,
           const SolutionLinearization& linearization, const ContactProblemDot& dot, SolverMemory& memory,
           EndMotionBar& solution_dot) const override;
  void impulses(const ContactProblem& problem, const ContactSolution& solution, SolverMemory& memory,
                std::vector<Vec3<double>>& impulses) const override;
  int contacts_near_kink(const ContactProblem& problem, const ContactSolution& solution,
                         std::vector<bool>& near_kink) const override {
    return law_.contacts_near_kink(problem, solution, near_kink);
  }
  [[nodiscard]] double impact_speed() const override { return law_.impact_speed(); }
  [[nodiscard]] double default_dissipation_time() const override { return law_.default_dissipation_time(); }

 private:
  SmoothCoulombSolver law_;
};

/// The law as the config asks for it: bounded, or as it is.
[[nodiscard]] std::unique_ptr<ContactSolver> make_smooth_coulomb_solver(
    const StepConfig& config, double acceleration_scale,
    SmoothCoulombSolver::Without without = SmoothCoulombSolver::Without::nothing);

}  // namespace abut
