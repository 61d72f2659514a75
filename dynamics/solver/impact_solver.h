/// What one impact, or several at one time, make of velocities:
///     M (v - v_before) = sum_c J_c^T gamma_c(J_c v) + J^T (lambda(v) - lambda(v_before)),
/// with the smooth Coulomb law without push-out, whose contacts are impacts or answer these (ContactRow). What
/// contacts bore before, and the joints', has been counted: it is not taken back.
///
/// Newton's restitution gives the normal velocity after an impact, whatever friction and other impacts do
/// meanwhile: where they speed a body up, energy is created (Kane's paradox; also several impacts of one body
/// at once). With
///     v_N  the solution (e as given),   v_P  that with plastic impacts (e = 0),
/// the answer is
///     v = v_P + alpha (v_N - v_P),   alpha: the largest in [0, 1] with  E(v) <= max(E(v_before), E(v_P)),
///     E(v) = 1/2 (v + v_lead)^T M (v + v_lead),
/// the kinetic energy at that time (contact_laws/impact.h): the root of a parabola. Impulses of both solutions
/// are in the friction cones and act at the same places, and so do those of the mixture: it keeps momentum and
/// angular momentum. alpha = 1, and nothing is solved twice, unless energy would rise.
///
/// What contacts that answer carry without the impact is part of v_before, but at the foot of their law, tau_v
/// wide, they push bodies apart once more: by 3 tau_v, or by 8 those that rest at a distance of 0, as under `lcp`.
/// A law a quarter as wide does not, and takes Newton's method several times as many iterations where a heavy
/// body hits a stack. It is used under `lcp`, and where E(v_P) > E(v_before), as of a light body that hits a
/// stack: then both solutions are found again with it.
///
/// One alpha for an island. Islands with driven bodies, motors or springs of joints, which do work of their
/// own, keep Newton's restitution.
#pragma once

#include "dynamics/solver/smooth_coulomb_solver.h"

namespace abut {

struct ImpactMemory;

/// Of problems with a v_lead, v_start being v_before and v_free = v_before - M^-1 J^T lambda(v_before).
class ImpactSolver final : public ContactSolver {
 public:
  ImpactSolver(const StepConfig& config, double acceleration_scale);

  [[nodiscard]] std::unique_ptr<SolverMemory> make_memory() const override;
  [[nodiscard]] std::unique_ptr<SolutionLinearization> make_linearization() const override;
  void solve(const ContactProblem& problem, SolverMemory& memory, ContactSolution& solution) const override;
  /// Right after solve() with the same memory: a mixture is not found again.
  [[nodiscard]] bool linearize(const ContactProblem& problem, const ContactSolution& solution,
                               LinearizeFor what_for, SolverMemory& memory,
                               SolutionLinearization& linearization) const override;
  /// For VJPs and JVPs.
  [[nodiscard]] bool linearize_solved(const ContactProblem& problem, const ContactSolution& solution,
                                      SolverMemory& memory,
                                      SolutionLinearization& linearization) const override;
  void vjp(const ContactProblem& problem, const ContactSolution& solution,
           const SolutionLinearization& linearization, const EndMotionBar& solution_bar, SolverMemory& memory,
           ContactProblemBar& bar) const override;
  void jvp(const ContactProblem& problem, const ContactSolution& solution,
           const SolutionLinearization& linearization, const ContactProblemDot& dot, SolverMemory& memory,
           EndMotionBar& solution_dot) const override;
  void impulses(const ContactProblem& problem, const ContactSolution& solution, SolverMemory& memory,
                std::vector<Vec3<double>>& impulses) const override;
  [[nodiscard]] double impact_speed() const override { return law().impact_speed(); }
  [[nodiscard]] double default_dissipation_time() const override { return law().default_dissipation_time(); }

 private:
  using Laws = std::vector<SmoothCoulombSolver>;  ///< contacts from soft to hard

  /// Rigid contacts give by 1e-5 of the bodies' own inertia.
  [[nodiscard]] const SmoothCoulombSolver& law(bool is_narrow = false) const {
    return (is_narrow ? narrow_laws_ : laws_).back();
  }
  /// Where the search does not end at once, from the solution of softer contacts to that of harder ones.
  static void solve_law(const Laws& laws, const ContactProblem& problem, SmoothCoulombMemory& memory,
                        ContactSolution& solution);
  void find_mixture(const ContactProblem& problem, ImpactMemory& memory) const;

  bool is_bounded_;
  bool is_always_narrow_;
  Laws laws_, narrow_laws_;
};

}  // namespace abut
