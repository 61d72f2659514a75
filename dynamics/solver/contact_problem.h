/// From free velocities to velocities with contact: what is given, what is found, and their derivatives.
#pragma once

#include <span>
#include <vector>

#include "dynamics/motion/free_motion.h"
#include "dynamics/motion/mass_matrix.h"
#include "dynamics/rows/contact_rows.h"
#include "dynamics/rows/joint_rows.h"
#include "dynamics/solver/solution_path.h"

namespace abut {

/// Velocities are those of the moving bodies, [w; v] each. Those of links of trees, which `mass` knows, are
/// v* + J d: such that their joints allow. v_start need not be one of them.
struct ContactProblem {
  const MassMatrix& mass;
  const ContactRows& rows;
  const GrowableVector& v_start;  ///< at the start of the step
  const GrowableVector& v_free;   ///< v*: at its end, had there been no contact
  double h;                       ///< length of the step [s]
  const JointRows& joints = k_no_joints;

  /// See EndMotion.
  MotionLag lag{};

  /// Of an impact: what bodies are faster than v at its time (impact_solver.h).
  const GrowableVector* v_lead = nullptr;

  /// Impacts are those of bodies without restitution.
  bool impacts_are_plastic = false;
};

struct ContactSolution {
  GrowableVector velocity;
  GrowableVector push_out;      ///< pseudo-velocities of a split push-out, else empty
  GrowableVector displacement;  ///< see EndMotion
  /// Largest |w| and |v| of each moving body in turn in the phases of the step; empty: it has no impacts.
  GrowableVector phase_speeds;
  int iterations = 0;  ///< of Newton's method
  int factorizations = 0;
  double residual = 0.0;  ///< relative; above the tolerance of a solution at which rounding ended the search
  int worst_slot = 0;     ///< of a body of the island with this residual
  SolutionPath path = SolutionPath::newton;
  bool has_negative_determinant = false;  ///< of dF/dv: on the way back between two folds
  bool converged = true;

  /// @param lag  of its problem
  [[nodiscard]] EndMotion end_motion(const MotionLag& lag) const { return {velocity, displacement, lag}; }

  /// No displacement, nothing done; vectors keep their memory.
  void reset();
};

/// dL/d of what a ContactProblem is made of; its lengths are constant.
struct ContactProblemBar {
  GrowableVector v_start, v_free, v_lead;  ///< the last only where the problem has it
  std::vector<Mat3<double>> inertia_W;     ///< per moving body, not symmetrised
  std::vector<double> mass;
  std::vector<ContactRowBar> rows;
  std::vector<PairMaterialBar> pairs;
  JointRowBars joints;
  std::vector<LinkMotionBar> links;

  void set_zero(const ContactProblem& problem);
  /// Those of one problem.
  ContactProblemBar& operator+=(const ContactProblemBar& other);
};

/// A direction of what a ContactProblem is made of; its lengths are constant.
struct ContactProblemDot {
  GrowableVector v_start, v_free, v_lead;
  std::vector<Mat3<double>> inertia_W;  ///< per moving body
  std::vector<double> mass;
  std::vector<ContactRowBar> rows;
  std::vector<PairMaterialBar> pairs;
  std::vector<LinkMotionBar> links;
  /// Change of the impulses J^T lambda of the joints, the velocities of the solution held fixed; empty where
  /// there are no joints.
  GrowableVector joint_impulses;

  /// out += factor dM v
  void add_mass_product(const GrowableVector& v, double factor, GrowableVector& out) const;

  /// out = M dv* - dM (v - v*) + d(J^T lambda): how the balance of momentum at velocities v changes, but for
  /// its contacts.
  void set_balance(const ContactProblem& problem, const GrowableVector& v, GrowableVector& out) const;
};

/// The velocities a search starts from: v_start, or of links v* + J d with the joint rates d of v_start - v*.
void set_start(const ContactProblem& problem, GrowableVector& v);

/// Part of an implicit derivative that all but contacts contribute, given w = (dF/dv)^-T v_bar: from masses, v* and rows of
/// joints. `momentum` is memory.
void balance_vjp(const ContactProblem& problem, const GrowableVector& w, const GrowableVector& v,
                 GrowableVector& momentum, ContactProblemBar& bar);

}  // namespace abut
