/// Newton's method for the convex problem of one pass of a contact law,
///     L(v) = 1/2 (v - v*)^T M (v - v*) + sum_c l_c(J_c v) + the potentials of joints (joint_rows.h),
/// with a sparse Cholesky factorization (block_cholesky.h) and an exact line search. `gamma_c = -dl_c/du` and
/// `K_c = d^2 l_c/du^2` are those of the rows' law (kernel/row_kernels.h).
#pragma once

#include "dynamics/contact_solver.h"
#include "dynamics/kernel/row_kernels.h"

namespace abut {

class ConvexNewton {
 public:
  /// @param speed_scale  g h [m/s]: residuals are relative to it where nothing moves
  ConvexNewton(const ContactProblem& problem, const smooth_coulomb::Settings& settings, RowLaw law,
               double speed_scale, SolverScratch& scratch)
      : problem_(problem), settings_(settings), law_(law), speed_scale_(speed_scale), scratch_(scratch) {}

  /// Fills scratch.gradient = dL/dv, and the normal impulses and slopes of all rows.
  void evaluate(const Eigen::VectorXd& v);

  /// H = M + sum J^T K J at the v of the last evaluate(), factorized in scratch.hessian. False if it is not
  /// positive definite (which only non-finite numbers can bring about).
  [[nodiscard]] bool factorize(const Eigen::VectorXd& v);

  /// Minimises from v on, and leaves there what evaluate() found at the answer; adds its iterations to
  /// `solution` and raises its residual. Stops at a relative residual
  ///     rho = |grad L|_{M^-1} / sqrt(v*^T M v* + m_total speed_scale^2);
  /// false if that stays out of reach.
  [[nodiscard]] bool minimise(double tolerance, int max_iterations, Eigen::VectorXd& v,
                              ContactSolution& solution);

 private:
  /// What the law needs to know of a pair whose relative twist is V.
  [[nodiscard]] RowKernelInput input(const BlockPair& pair, const Vec6<double>& V) const {
    return {settings_, law_, V.data(), pair.friction};
  }

  /// The minimiser a in (0, 1) of L(v + a direction), by a bracketed Newton search.
  [[nodiscard]] double line_search(const Eigen::VectorXd& v, double slope_at_0);

  const ContactProblem& problem_;
  const smooth_coulomb::Settings& settings_;
  RowLaw law_;
  double speed_scale_;
  SolverScratch& scratch_;
};

/// -w^T dM (v - v*): what an implicit derivative takes from the mass matrix, given w = H^-1 v_bar.
void mass_vjp(const ContactProblem& problem, const Eigen::VectorXd& w, const Eigen::VectorXd& v,
              ContactProblemBar& bar);

}  // namespace abut
