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

/// Velocities are those of the moving bodies, [w; v] each.
struct ContactProblem {
  const MassMatrix& mass;
  const ContactRows& rows;
  const GrowableVector& v_start;  ///< at the start of the step
  const GrowableVector& v_free;   ///< v*: at its end, had there been no contact
  double h;                       ///< length of the step [s]
  double nominal_h;               ///< of the whole step, where this is a part of it [s]
  const JointRows& joints = k_no_joints;

  /// See EndMotion.
  MotionLag lag{};

  /// The rows as they are at the start of the step, in the order of `rows`, where impacts moved some of these
  /// (step/impact_rows.h); else empty.
  std::span<const ContactRow> start_rows = {};

  /// Impacts are those of bodies without restitution (passive_impact_solver.h).
  bool impacts_are_plastic = false;

  [[nodiscard]] bool has_moved_rows() const { return !start_rows.empty(); }
  [[nodiscard]] const ContactRow& start_row(std::size_t i) const {
    return has_moved_rows() ? start_rows[i] : rows.rows[i];
  }
};

struct ContactSolution {
  GrowableVector velocity;
  GrowableVector push_out;      ///< pseudo-velocities of a split push-out, else empty
  GrowableVector displacement;  ///< see EndMotion
  int iterations = 0;           ///< of Newton's method
  int factorizations = 0;
  double residual = 0.0;  ///< relative; above the tolerance of a solution at which rounding ended the search
  int worst_slot = 0;     ///< of a body of the island with this residual
  SolutionPath path = SolutionPath::newton;
  bool has_negative_determinant = false;  ///< of dF/dv: on the way back between two folds
  bool converged = true;

  /// @param lag  of its problem
  [[nodiscard]] EndMotion end_motion(const MotionLag& lag) const {
    return {velocity, displacement, lag, push_out.size() == 0};
  }

  /// No displacement, nothing done; vectors keep their memory.
  void reset();
};

/// dL/d of everything a ContactProblem is made of.
struct ContactProblemBar {
  GrowableVector v_start, v_free;
  std::vector<Mat3<double>> inertia_W;  ///< per moving body, not symmetrised
  std::vector<double> mass;
  std::vector<ContactRowBar> rows, start_rows;  ///< the latter only where the problem has moved rows
  std::vector<PairMaterialBar> pairs;
  double h = 0;
  std::vector<JointRowBar> joints;

  [[nodiscard]] ContactRowBar& start_row(std::size_t i) {
    return start_rows.empty() ? rows[i] : start_rows[i];
  }

  void set_zero(const ContactProblem& problem);
  /// Those of one problem.
  ContactProblemBar& operator+=(const ContactProblemBar& other);
};

/// A direction of what a ContactProblem is made of; its lengths are constant.
struct ContactProblemDot {
  GrowableVector v_start, v_free;
  std::vector<Mat3<double>> inertia_W;  ///< per moving body
  std::vector<double> mass;
  std::vector<ContactRowBar> rows, start_rows;  ///< as those of ContactProblemBar
  std::vector<PairMaterialBar> pairs;
  /// Change of the impulses J^T lambda of the joints, the velocities of the solution held fixed; empty where
  /// there are no joints.
  GrowableVector joint_impulses;

  [[nodiscard]] const ContactRowBar& start_row(std::size_t i) const {
    return start_rows.empty() ? rows[i] : start_rows[i];
  }

  /// out += factor dM v
  void add_mass_product(const GrowableVector& v, double factor, GrowableVector& out) const;

  /// out = M dv* - dM (v - v*) + d(J^T lambda): how the balance of momentum at velocities v changes, but for
  /// its contacts.
  void set_balance(const ContactProblem& problem, const GrowableVector& v, GrowableVector& out) const;
};

/// -w^T dM (v - v*): what an implicit derivative takes from the mass matrix, given w = (dF/dv)^-T v_bar.
void mass_vjp(const ContactProblem& problem, const GrowableVector& w, const GrowableVector& v,
              ContactProblemBar& bar);

}  // namespace abut
