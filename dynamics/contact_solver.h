/// From free velocities to velocities with contact, and the way back: the interface every contact law
/// implements.
#pragma once

#include <memory>
#include <vector>

#include "dynamics/block_cholesky.h"
#include "dynamics/contact_rows.h"
#include "dynamics/interior_point_scratch.h"
#include "dynamics/kernel/row_blocks.h"
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
};

struct ContactSolution {
  std::vector<Eigen::VectorXd> passes;  ///< velocities after each pass; the last one is the answer
  int iterations = 0;                   ///< Newton iterations of all passes
  double residual = 0.0;                ///< relative residual of the worst pass
  bool converged = true;

  [[nodiscard]] const Eigen::VectorXd& velocity() const { return passes.back(); }
};

/// dL/d of everything a ContactProblem is made of.
struct ContactProblemBar {
  Eigen::VectorXd v_start, v_free;
  std::vector<Mat3<double>> inertia_W;  ///< per moving body, not symmetrised
  std::vector<double> mass;
  std::vector<ContactRowBar> rows;
  std::vector<PairMaterialBar> pairs;

  void set_zero(const ContactProblem& problem);
};

/// Scratch of one thread. `previous_*` are the warm start of the next solve: forget them before an unrelated
/// one.
struct SolverScratch {
  BlockCholesky hessian;
  std::vector<Coupling> couplings;
  Eigen::VectorXd gradient, direction, trial, momentum, mass_direction;
  RowBlocks rows;
  InteriorPointScratch interior_point;
  std::vector<Eigen::VectorXd> previous_passes;
  Eigen::VectorXd previous_start;
};

class ContactSolver {
 public:
  virtual ~ContactSolver() = default;

  /// How many velocities a solution has.
  [[nodiscard]] virtual int pass_count() const = 0;

  virtual void solve(const ContactProblem& problem, SolverScratch& scratch,
                     ContactSolution& solution) const = 0;

  /// Adds to `bar` the gradient of a loss whose gradient with respect to `solution.velocity()` is `v_bar`.
  virtual void vjp(const ContactProblem& problem, const ContactSolution& solution,
                   const Eigen::VectorXd& v_bar, SolverScratch& scratch, ContactProblemBar& bar) const = 0;

  /// The impulse [N s] each row's contact applies to its body B, in W, for a solved problem.
  virtual void impulses(const ContactProblem& problem, const ContactSolution& solution,
                        std::vector<Vec3<double>>& impulses) const = 0;

  /// tau_d [s] of a material that does not give one.
  [[nodiscard]] virtual double default_dissipation_time() const = 0;
};

/// @param acceleration_scale  g [m/s^2], > 0: turns the scale-free factors of the config into speeds.
[[nodiscard]] std::unique_ptr<ContactSolver> make_contact_solver(const StepConfig& config,
                                                                 double acceleration_scale);

}  // namespace abut
