/// Smooth Coulomb friction in three convex passes.
///
/// Pass 0 is frictionless; each further pass solves the same problem with friction bounded by mu times the
/// normal impulse of the pass before (Picard). Every pass minimises a strictly convex C-infinity function of
/// velocity,
///     L(v) = 1/2 (v - v*)^T M (v - v*) + sum_c [ N_c(n.u_c) + b_c (sqrt(|P u_c|^2 + v_s^2) - v_s) ],   u_c =
///     J_c v,
/// by Newton's method (convex_newton.h), and is differentiated implicitly: one linear solve with the Hessian
/// of each pass. The impulses of impacts (contact_laws/impact.h) act at their own time: they displace bodies
/// by
///     delta = -sum_c s_c M^-1 [t_c r_c x gamma_c; (t_c + c) gamma_c],   c being the lag of a substep
///     (EndMotion).
#pragma once

#include "dynamics/contact_laws/smooth_coulomb.h"
#include "dynamics/contact_solver.h"

namespace abut {

/// @param speed_scale  g h [m/s]
[[nodiscard]] smooth_coulomb::Settings smooth_coulomb_settings(const StepConfig& config, double speed_scale);
[[nodiscard]] smooth_coulomb::Parameters smooth_coulomb_parameters(const ContactRows& rows, std::size_t row);

class SmoothCoulombSolver final : public ContactSolver {
 public:
  /// @param pushes_out  false: overlap is not resolved, contacts only stop each other
  SmoothCoulombSolver(const StepConfig& config, double acceleration_scale, bool pushes_out = true);

  void solve(const ContactProblem& problem, SolverScratch& scratch, ContactSolution& solution) const override;
  void vjp(const ContactProblem& problem, const ContactSolution& solution, const EndMotionBar& solution_bar,
           SolverScratch& scratch, ContactProblemBar& bar) const override;
  void prepare_jvp(const ContactProblem& problem, const ContactSolution& solution,
                   SolverScratch& scratch) const override;
  void jvp(const ContactProblem& problem, const ContactSolution& solution, const ContactProblemDot& dot,
           SolverScratch& scratch, EndMotionBar& solution_dot) const override;
  void impulses(const ContactProblem& problem, const ContactSolution& solution,
                std::vector<Vec3<double>>& impulses) const override;
  /// Those whose hit test (contact_laws/impact.h) nearly flips: |gap at the end of the step| <= 1e-3 h times
  /// the speed of approach. There are no other kinks.
  int contacts_near_kink(const ContactProblem& problem, const ContactSolution& solution,
                         std::vector<bool>& near_kink) const override;
  [[nodiscard]] double default_dissipation_time() const override {
    return config_.dissipation_steps * config_.h;
  }
  [[nodiscard]] int pass_count() const override { return config_.friction_repeats + 1; }
  /// For steps of the config's length.
  [[nodiscard]] const smooth_coulomb::Settings& settings() const { return settings_; }

 private:
  [[nodiscard]] smooth_coulomb::Settings settings_of(const ContactProblem& problem) const;
  static void prepare(const ContactProblem& problem, const smooth_coulomb::Settings& settings,
                      SolverScratch& scratch);
  static void prepare_impacts(const ContactProblem& problem, const smooth_coulomb::Settings& settings,
                              SolverScratch& scratch);
  void displace(const ContactProblem& problem, const smooth_coulomb::Settings& settings,
                SolverScratch& scratch, ContactSolution& solution) const;

  StepConfig config_;
  double speed_scale_;  ///< g h
  smooth_coulomb::Settings settings_;
};

}  // namespace abut
