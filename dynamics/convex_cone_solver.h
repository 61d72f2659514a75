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
#include "dynamics/contact_solver.h"

namespace abut {

class ConvexConeSolver final : public ContactSolver {
 public:
  ConvexConeSolver(const StepConfig& config, double acceleration_scale);

  void solve(const ContactProblem& problem, SolverScratch& scratch, ContactSolution& solution) const override;
  void vjp(const ContactProblem& problem, const ContactSolution& solution, const EndMotionBar& solution_bar,
           SolverScratch& scratch, ContactProblemBar& bar) const override;
  void prepare_jvp(const ContactProblem& problem, const ContactSolution& solution,
                   SolverScratch& scratch) const override;
  void jvp(const ContactProblem& problem, const ContactSolution& solution, const ContactProblemDot& dot,
           SolverScratch& scratch, EndMotionBar& solution_dot) const override;
  void impulses(const ContactProblem& problem, const ContactSolution& solution,
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
                                       const Eigen::VectorXd& v) const;
  void prepare(const ContactProblem& problem, const Law& law, SolverScratch& scratch) const;

  StepConfig config_;
  double speed_scale_;  ///< g h
};

}  // namespace abut
