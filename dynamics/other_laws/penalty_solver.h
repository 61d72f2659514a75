/// The explicit penalty law: forces of the state at the start of the step, no equation to solve
///
///     v+ = v* + M^-1 sum_c J_c^T h f_c
///
/// but for joints, which then start from this velocity and are as implicit as with any other law.
#pragma once

#include "dynamics/contact_laws/penalty.h"
#include "dynamics/solver/contact_solver.h"
#include "engine/config.h"

namespace abut {

class PenaltySolver final : public ContactSolver {
 public:
  PenaltySolver(const StepConfig& config, double acceleration_scale);

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
  [[nodiscard]] double default_dissipation_time() const override {
    return config_.dissipation_steps * config_.h;
  }

 private:
  struct UnitForce;
  struct Impulse;
  /// @param inverse_mass  W_c [1/kg]
  [[nodiscard]] UnitForce unit_force(const RowPair& pair, const ContactRow& row, double inverse_mass,
                                     double u_n, double h) const;
  /// v* and what contacts add to it, as if nothing tied bodies together. `loads` and `momentum` are memory, left with
  /// S_b of each moving body and with the sums of the impulses.
  void find_contact_velocity(const ContactProblem& problem, std::vector<double>& loads,
                             GrowableVector& momentum, GrowableVector& velocity) const;

  StepConfig config_;
  double stiction_speed_;
  double speed_scale_;  ///< g h
};

/// The inverse mass W_c by which the step limits the contact of a row [1/kg]; see contact_laws/penalty.h.
[[nodiscard]] double penalty_inverse_mass(const MassMatrix& mass, const ContactRows& rows,
                                          const ContactRow& row);

}  // namespace abut
