/// The smooth Coulomb law: friction bounded by mu times the normal impulse at the same velocity,
///     F(v) = M (v - v*) - sum_c J_c^T gamma_c(J_c v) = 0,
///     gamma = g(u_n) (n - mu u_t/sqrt(|u_t|^2 + v_s^2)),
/// solved by Newton's method (coupled_newton.h) and differentiated implicitly: one linear solve with
/// A = dF/dv, w = A^-T dL/dv. A step is a function of its arguments alone.
#pragma once

#include "dynamics/solver/smooth_coulomb_row.h"

namespace abut {

class SmoothCoulombSolver final : public ContactSolver {
 public:
  /// What is left out of the law for a split push-out or an impact: that overlap is resolved, or friction.
  enum class Without { nothing, push_out, friction };

  SmoothCoulombSolver(const StepConfig& config, double acceleration_scale, Without without = Without::nothing,
                      const NewtonConstants& constants = k_newton_constants);

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
  /// Where all rows are ordinary.
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
  [[nodiscard]] double default_dissipation_time() const override {
    return config_.dissipation_steps * config_.h;
  }
  [[nodiscard]] double impact_speed() const override { return settings_.impact_speed; }
  /// For steps of the config's length.
  [[nodiscard]] const smooth_coulomb::Settings& settings() const { return settings_; }
  /// Another compliance of nearly rigid contacts, in place of the config's beta^2/(4 pi^2) [-].
  void set_near_rigid(double near_rigid) { settings_.near_rigid = near_rigid; }
  /// Makes the law of normal impulses narrower, tau_v in its foot and in its target.
  void set_narrower(double factor) { settings_.velocity_smoothing *= factor; }

 private:
  [[nodiscard]] smooth_coulomb::Settings settings_of(const ContactProblem& problem) const;
  void prepare(const ContactProblem& problem, const smooth_coulomb::Settings& settings,
               SmoothCoulombRows& rows) const;
  /// What friction does of a step that was not solved: convex passes (NewtonConstants::friction_passes), each
  /// bounded by mu times the normal impulses of the one before.
  void solve_in_passes(const ContactProblem& problem, const smooth_coulomb::Settings& settings,
                       SmoothCoulombMemory& memory, ContactSolution& solution) const;

  StepConfig config_;
  NewtonConstants constants_;
  bool has_friction_;
  double speed_scale_;  ///< g h
  smooth_coulomb::Settings settings_;
};

}  // namespace abut
