/// Overlap that is resolved without a velocity: the smooth Coulomb law, whose contacts only stop each other,
/// and pseudo-velocities w that part what overlaps,
///     w = argmin 1/2 (w - v+)^T M (w - v+) + sum_c N_c(n.J_c w),   displacement h (w - v+),
/// with the targets of the law's own push-out. Bodies are displaced and forget it: no kinetic energy comes of
/// it.
#pragma once

#include "dynamics/smooth_coulomb_solver.h"

namespace abut {

class SplitPushOutSolver final : public ContactSolver {
 public:
  SplitPushOutSolver(const StepConfig& config, double acceleration_scale);

  void solve(const ContactProblem& problem, SolverScratch& scratch, ContactSolution& solution) const override;
  void vjp(const ContactProblem& problem, const ContactSolution& solution, const EndMotionBar& solution_bar,
           SolverScratch& scratch, ContactProblemBar& bar) const override;
  void impulses(const ContactProblem& problem, const ContactSolution& solution,
                std::vector<Vec3<double>>& impulses) const override;
  [[nodiscard]] double default_dissipation_time() const override { return law_.default_dissipation_time(); }

 private:
  SmoothCoulombSolver law_, push_out_;
};

}  // namespace abut
