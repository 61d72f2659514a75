/// Contact laws of complementarity conditions (contact_laws/complementarity.h), solved on their central path:
///
///     M (v - v*) = sum_c Gamma_c J_c^T gamma_c,   gamma_c and J_c v complementary to kappa_c.
///
/// Conditions are linearised, and impulses and slacks eliminated contact by contact, which leaves one system
/// of the velocities of the bodies, (6 n, 6 n) and not symmetric. Three ways lead to the answer; the next one
/// is taken where one does not:
///   1. From the velocities of the step before, Newton's method at the end of the path: a few iterations
///      where little changes.
///   2. A primal-dual interior point with Mehrotra's predictor and corrector: velocities, impulses and slacks
///      move together, from far up the path.
///   3. Along the path itself, products t kappa: impulses are functions of the velocities, and the residual
///   of
///      momentum F(v, t) one of v and t. A step of t with the tangent of the path, then Newton's method with
///      halved steps until |F| falls; shorter where that fails. F = 0 has solutions for every t, as impulses
///      do no more than bounded work, and the path only ends if it folds back: Coulomb's bound follows the
///      normal impulse, so the problem is not convex. Where no answer is found the solution says so.
///
/// The solution is a smooth function of the problem. Its impulses are functions of the velocities, hence
/// these alone are kept, and the derivative is implicit: one solve with the transposed system.
#pragma once

#include "dynamics/contact_laws/lcp.h"
#include "dynamics/contact_laws/relaxed_complementarity.h"
#include "dynamics/contact_solver.h"

namespace abut {

/// `Law` is a policy: lcp::Law or relaxed_complementarity::Law.
template <typename Law>
class InteriorPointSolver : public ContactSolver {
 public:
  InteriorPointSolver(const StepConfig& config, double acceleration_scale);

  /// The residual is the length in the metric of M of the Newton step that is left, over sqrt(v*^T M v* +
  /// m_total (g h)^2): an estimate of the relative error of the velocities.
  void solve(const ContactProblem& problem, SolverScratch& scratch, ContactSolution& solution) const final;
  void vjp(const ContactProblem& problem, const ContactSolution& solution, const EndMotionBar& solution_bar,
           SolverScratch& scratch, ContactProblemBar& bar) const final;
  void jvp(const ContactProblem& problem, const ContactSolution& solution, const ContactProblemDot& dot,
           SolverScratch& scratch, EndMotionBar& solution_dot) const final;
  void impulses(const ContactProblem& problem, const ContactSolution& solution,
                std::vector<Vec3<double>>& impulses) const final;
  int contacts_near_kink(const ContactProblem& problem, const ContactSolution& solution,
                         std::vector<bool>& near_kink) const final;
  [[nodiscard]] int pass_count() const final { return 1; }
  [[nodiscard]] double default_dissipation_time() const final {
    return config_.dissipation_steps * config_.h;
  }
  /// For steps of the config's length.
  [[nodiscard]] const complementarity::Settings& settings() const { return settings_; }

 private:
  [[nodiscard]] complementarity::Settings settings_of(const ContactProblem& problem) const;

  StepConfig config_;
  double speed_scale_;  ///< g h
  complementarity::Settings settings_;
};

extern template class InteriorPointSolver<lcp::Law>;
extern template class InteriorPointSolver<relaxed_complementarity::Law>;

}  // namespace abut
