/// Contact laws of complementarity conditions (contact_laws/complementarity.h), solved on their central path:
///
///     M (v - v*) = sum_c Gamma_c J_c^T gamma_c,   gamma_c and J_c v complementary to kappa_c.
///
/// Conditions are linearised, and impulses and slacks eliminated contact by contact, which leaves one system
/// of the velocities of the bodies, (6 n, 6 n) and not symmetric. Five searches follow each other, each where
/// those before have failed:
///   1. From the velocities at the start of the step, Newton's method at the end of the path: a few
///      iterations where little changes.
///   2. A primal-dual interior point with Mehrotra's predictor and corrector: velocities, impulses and slacks
///      move together, from far up the path.
///   3. Along the path itself, whose products are t kappa: impulses are functions of the velocities, and what
///      is left of the balance of momentum one of v and t, F(v, t). A step of t along the path's tangent,
///      then Newton's method, in steps that are halved until |F| falls; a shorter step of t where that fails.
///   4. The same around a fold of the path: half of the way without friction, then friction grows.
///   5. 3, 2 and 4 from the velocities of the smooth Coulomb law (smooth_coulomb_solver.h): they are near a
///      solution of this law, so that the path may be joined at a t of 10 to 10^6.
/// 2 to 4 set out from the velocities without contact, then from those at the start of the step.
/// F = 0 has solutions for every t, as contacts do no more than bounded work, but Coulomb's bound follows the
/// normal impulse, so the problem is not convex. Where no answer is found the solution says so.
///
/// The solution is a smooth function of the problem. Its impulses are functions of the velocities, hence
/// these alone are kept, and the derivative is implicit: one solve with the transposed system.
#pragma once

#include "dynamics/other_laws/interior_point_memory.h"
#include "engine/config.h"

namespace abut {

/// `Law` is a policy: lcp::Law or relaxed_complementarity::Law.
template <typename Law>
class InteriorPointSolver : public ContactSolver {
 public:
  InteriorPointSolver(const StepConfig& config, double acceleration_scale,
                      const InteriorPointConstants& constants = k_interior_point_constants);

  [[nodiscard]] std::unique_ptr<SolverMemory> make_memory() const final;
  [[nodiscard]] std::unique_ptr<SolutionLinearization> make_linearization() const final;
  /// The residual is the length in the metric of M of the Newton step that is left, over sqrt(v*^T M v* +
  /// m_total (g h)^2): an estimate of the relative error of the velocities.
  void solve(const ContactProblem& problem, SolverMemory& memory, ContactSolution& solution) const final;
  [[nodiscard]] bool linearize(const ContactProblem& problem, const ContactSolution& solution,
                               LinearizeFor what_for, SolverMemory& memory,
                               SolutionLinearization& linearization) const final;
  void vjp(const ContactProblem& problem, const ContactSolution& solution,
           const SolutionLinearization& linearization, const EndMotionBar& solution_bar, SolverMemory& memory,
           ContactProblemBar& bar) const final;
  void jvp(const ContactProblem& problem, const ContactSolution& solution,
           const SolutionLinearization& linearization, const ContactProblemDot& dot, SolverMemory& memory,
           EndMotionBar& solution_dot) const final;
  void impulses(const ContactProblem& problem, const ContactSolution& solution, SolverMemory& memory,
                std::vector<Vec3<double>>& impulses) const final;
  int contacts_near_kink(const ContactProblem& problem, const ContactSolution& solution,
                         std::vector<bool>& near_kink) const final;
  [[nodiscard]] double default_dissipation_time() const final {
    return config_.dissipation_steps * config_.h;
  }
  [[nodiscard]] double impact_speed() const final {
    return Law::k_has_impacts ? settings_.normal.impact_speed : 0.0;
  }
  /// For steps of the config's length.
  [[nodiscard]] const complementarity::Settings& settings() const { return settings_; }

 private:
  /// The velocities as exact as rounding lets them be, and the contacts of the memory at them. Impulses and
  /// slacks are functions of the velocities, which change where these change by kappa over an impulse: a
  /// hard impact of 1 m/s is right to 1e-8 of its velocity long before its derivative is.
  [[nodiscard]] GrowableVector to_all_digits(const ContactProblem& problem, const ContactSolution& solution,
                                             InteriorPointMemory<Law>& memory) const;
  [[nodiscard]] complementarity::Settings settings_of(const ContactProblem& problem) const;

  StepConfig config_;
  InteriorPointConstants constants_;
  double speed_scale_;  ///< g h
  SmoothCoulombSolver smooth_coulomb_;
  complementarity::Settings settings_;
};

extern template class InteriorPointSolver<lcp::Law>;
extern template class InteriorPointSolver<relaxed_complementarity::Law>;

}  // namespace abut
