/// From free velocities to velocities with contact, and the way back: the interface every contact law
/// implements.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "dynamics/block_cholesky.h"
#include "dynamics/block_lu.h"
#include "dynamics/contact_laws/friction.h"
#include "dynamics/contact_laws/impact.h"
#include "dynamics/contact_laws/smooth_coulomb.h"
#include "dynamics/contact_rows.h"
#include "dynamics/free_motion.h"
#include "dynamics/interior_point_scratch.h"
#include "dynamics/joint_rows.h"
#include "dynamics/kernel/row_blocks.h"
#include "dynamics/kernel/row_vjp.h"
#include "dynamics/mass_matrix.h"
#include "engine/config.h"

namespace abut {

/// Velocities are those of the moving bodies, [w; v] each.
struct ContactProblem {
  const MassMatrix& mass;
  const ContactRows& rows;
  const Eigen::VectorXd& v_start;  ///< at the start of the step
  const Eigen::VectorXd& v_free;   ///< v*: at its end, had there been no contact
  double h;                        ///< length of the step [s]
  double nominal_h;                ///< of the whole step, where this is a part of it [s]
  const JointRows& joints = k_no_joints;
  /// Which contacts may be impacts: those of pairs with restitution, all, or only those closed already.
  enum class Impacts { with_restitution, all, closed } impacts = Impacts::with_restitution;

  /// See EndMotion.
  MotionLag lag{};
};

/// How a solution was found, from the usual way to the rarest (coupled_newton.h).
enum class SolutionPath { newton, convex_pass, graduated_friction, other_start, none };

struct ContactSolution {
  Eigen::VectorXd velocity;
  Eigen::VectorXd push_out;      ///< pseudo-velocities of a split push-out, else empty
  Eigen::VectorXd displacement;  ///< see EndMotion
  int impact_row = -1;           ///< of the first impact after the start of the step, -1 if none
  double impact_time = 0.0;      ///< its t_c [s]
  int iterations = 0;            ///< of Newton's method
  int factorizations = 0;
  double residual = 0.0;  ///< relative
  SolutionPath path = SolutionPath::newton;
  bool has_negative_determinant = false;  ///< of dF/dv: on the way back between two folds
  bool converged = true;

  /// @param lag  of its problem
  [[nodiscard]] EndMotion end_motion(const MotionLag& lag) const { return {velocity, displacement, lag}; }

  /// No displacement, no impact, nothing done; vectors keep their memory.
  void reset();
};

/// dL/d of everything a ContactProblem is made of.
struct ContactProblemBar {
  Eigen::VectorXd v_start, v_free;
  std::vector<Mat3<double>> inertia_W;  ///< per moving body, not symmetrised
  std::vector<double> mass;
  std::vector<ContactRowBar> rows;
  std::vector<PairMaterialBar> pairs;
  double h = 0;
  std::vector<JointRowBar> joints;

  void set_zero(const ContactProblem& problem);
  /// Those of one problem.
  ContactProblemBar& operator+=(const ContactProblemBar& other);
};

/// A direction of what a ContactProblem is made of; its lengths are constant.
struct ContactProblemDot {
  Eigen::VectorXd v_start, v_free;
  std::vector<Mat3<double>> inertia_W;  ///< per moving body
  std::vector<double> mass;
  std::vector<ContactRowBar> rows;
  std::vector<PairMaterialBar> pairs;
  /// Adds the change of the impulses J^T lambda of the joints at velocities that are held fixed.
  std::function<void(const Eigen::VectorXd& v, Eigen::VectorXd& out)> add_joint_impulses;

  /// out += factor dM v
  void add_mass_product(const Eigen::VectorXd& v, double factor, Eigen::VectorXd& out) const;

  /// out = M dv* - dM (v - v*) + d(J^T lambda): how the balance of momentum at velocities v changes, but for
  /// its contacts.
  void set_balance(const ContactProblem& problem, const Eigen::VectorXd& v, Eigen::VectorXd& out) const;
};

/// What the impulse of a row depends on, at the solution.
struct RowLinearization {
  Vec3<double> u;  ///< relative velocity
  smooth_coulomb::NormalImpulse normal;
  Friction friction;
};

/// Scratch of one thread.
struct SolverScratch {
  BlockCholesky hessian;
  BlockLu jacobian;
  Eigen::VectorXd best;  ///< iterate of least residual (coupled_newton.h)
  std::vector<Coupling> couplings;
  Eigen::VectorXd gradient, direction, trial, momentum, mass_direction, contact_velocity;
  RowBlocks rows;
  std::vector<impact::Impact> impacts;  ///< of the rows; none if no row's pair may have one
  std::vector<RowBarBlock> row_bars;    ///< of the way back, as are those down to `shift`
  std::vector<impact::ImpactBar> impact_bars;
  Eigen::VectorXd velocity_bar, multiplier, shift_turn, shift;
  Eigen::VectorXd impulse;
  InteriorPointScratch interior_point;
  std::vector<RowLinearization> linearized;    ///< of ContactSolver::prepare_jvp(), as the next one
  Eigen::VectorXd exact_velocity;              ///< of the interior point methods
  std::vector<impact::ImpactBar> impacts_dot;  ///< of jvp(), as are those down to `at_rest`
  Eigen::VectorXd sum_dot, at_rest;
};

class ContactSolver {
 public:
  virtual ~ContactSolver() = default;

  virtual void solve(const ContactProblem& problem, SolverScratch& scratch,
                     ContactSolution& solution) const = 0;

  /// Adds to `bar` the gradient of a loss, given its gradient with respect to the solution.
  virtual void vjp(const ContactProblem& problem, const ContactSolution& solution,
                   const EndMotionBar& solution_bar, SolverScratch& scratch,
                   ContactProblemBar& bar) const = 0;

  /// What the JVPs of a solution have in common, left in `scratch`. Throws std::logic_error where there are
  /// none: with push-out of kind "split".
  virtual void prepare_jvp(const ContactProblem& problem, const ContactSolution& solution,
                           SolverScratch& scratch) const;

  /// A JVP of the solution, overwritten, after prepare_jvp() of the same problem.
  virtual void jvp(const ContactProblem& problem, const ContactSolution& solution,
                   const ContactProblemDot& dot, SolverScratch& scratch, EndMotionBar& solution_dot) const;

  /// The impulse [N s] each row's contact applies to its body B, in W, for a solved problem.
  virtual void impulses(const ContactProblem& problem, const ContactSolution& solution,
                        std::vector<Vec3<double>>& impulses) const = 0;

  /// How many rows of a solved problem are about to change the formula they follow (from open to closed, from
  /// sticking to sliding), so that derivatives may jump nearby, and which: one flag for each row. None for
  /// laws without kinks.
  virtual int contacts_near_kink(const ContactProblem& problem, const ContactSolution& solution,
                                 std::vector<bool>& near_kink) const;

  /// tau_d [s] of a material that does not give one.
  [[nodiscard]] virtual double default_dissipation_time() const = 0;
};

/// @param acceleration_scale  g [m/s^2], > 0: turns the scale-free factors of the config into speeds.
[[nodiscard]] std::unique_ptr<ContactSolver> make_contact_solver(const StepConfig& config,
                                                                 double acceleration_scale);

}  // namespace abut
