/// Overlap that is resolved without a velocity: the smooth Coulomb law, whose contacts only stop each other,
/// and pseudo-velocities w that part what overlaps,
///     w = argmin 1/2 (w - v+)^T M (w - v+) + sum_c N_c(n.J_c w),   displacement h (w - v+),
/// with the targets of the law's own push-out. Bodies are displaced and forget it: no kinetic energy comes of
/// it.
#pragma once

#include "dynamics/solver/smooth_coulomb_solver.h"

namespace abut {

class SplitPushOutSolver final : public ContactSolver {
 public:
  SplitPushOutSolver(const StepConfig& config, double acceleration_scale);

  [[nodiscard]] std::unique_ptr<SolverMemory> make_memory() const override;
  [[nodiscard]] std::unique_ptr<SolutionLinearization> make_linearization() const override;
  void solve(const ContactProblem& problem, SolverMemory& memory, ContactSolution& solution) const override;
  [[nodiscard]] bool linearize(const ContactProblem& problem, const ContactSolution& solution,
                               LinearizeFor what_for, SolverMemory& memory,
                               SolutionLinearization& linearization) const override;
  void vjp(const ContactProblem& problem, const ContactSolution& solution,
           const SolutionLinearization& linearization, const EndMotionBar& solution_bar, SolverMemory& memory,
           ContactProblemBar& bar) const override;
  void impulses(const ContactProblem& problem, const ContactSolution& solution, SolverMemory& memory,
                std::vector<Vec3<double>>& impulses) const override;
  [[nodiscard]] double impact_speed() const override { return law_.impact_speed(); }
  [[nodiscard]] double default_dissipation_time() const override { return law_.default_dissipation_time(); }

 private:
  SmoothCoulombSolver law_;       ///< without push-out
  SmoothCoulombSolver push_out_;  ///< without friction
};

}  // namespace abut
