/// The balance of momentum at the end of a step, and its derivative:
///     F(v) = M (v - v*) - sum_c J_c^T gamma_c(J_c v) - joints,    dF/dv = M + sum_c J_c^T K_c J_c + joints,
/// `K_c = -dgamma_c/du`, by the rows' law (kernel/row_kernels.h) and the rows of joints (joint_rows.h). It is to be 0,
/// or, where links of trees are among the bodies, to do no work on motions that their joints allow: J^T F = 0
/// (motion/link_motion.h). Factors and norms are then those of these motions.
#pragma once

#include "dynamics/block_matrix/block_cholesky.h"
#include "dynamics/block_matrix/block_lu.h"
#include "dynamics/kernel/row_blocks.h"
#include "dynamics/kernel/row_kernels.h"
#include "dynamics/solver/contact_problem.h"
#include "dynamics/solver/impulse_norm.h"
#include "dynamics/solver/newton_constants.h"

namespace abut {

/// What Newton's methods on the balance work with.
struct NewtonMemory {
  /// The relative twist of a pair where a line starts, and its change along it.
  struct LineTwists {
    Vec6<double> start, change;
  };
  GrowableVector gradient;  ///< F
  GrowableVector direction, trial;
  GrowableVector momentum, mass_direction, rounding;
  std::vector<BlockCoupling> couplings;
  std::vector<LineTwists> line_twists;  ///< of each pair of rows
  BlockCholesky hessian;                ///< of convex problems
  ImpulseNorm norm;
};

class MomentumBalance {
 public:
  /// @param settings     must outlive it
  /// @param speed_scale  g h [m/s]: residuals are relative to it where nothing moves
  /// @param rows         those of the problem, their laws set
  /// @param constants    must outlive it
  MomentumBalance(const ContactProblem& problem, const smooth_coulomb::Settings& settings, double speed_scale,
                  RowBlocks& rows, NewtonMemory& memory,
                  const NewtonConstants& constants = k_newton_constants);

  /// Fills memory().gradient = F, and the normal impulses and slopes of all rows.
  ///
  /// @param v_before  of RowLaw::dual: the velocities before the last step; null at the start
  void evaluate(const GrowableVector& v, RowLaw law, const GrowableVector* v_before = nullptr);

  /// F of the last evaluate(): what joints of trees answer, where there are links; else nothing.
  void keep_reaction(GrowableVector& reaction) const {
    reaction.resize(0);
    if (!problem_.mass.links().empty()) reaction = memory_.gradient;
  }

  /// Of the last evaluate():  rho = |F|_{M^-1} / sqrt(v*^T M v* + m_total speed_scale^2).
  [[nodiscard]] double residual() const {
    return memory_.norm(problem_.mass, memory_.gradient) / momentum_scale_;
  }

  /// Size of residual() that rounding leaves at the v of the last evaluate() [-]:
  ///     |r|_{M^-1}/momentum_scale(),   r_i = u sum_k sqrt((J^T K J)_ii) e_k
  /// over mass, pairs of bodies and rows of joints, u being the unit roundoff and e_k the sum of the sizes of
  /// the velocities that cancel in J v and in the law's target, in the metric of K. It is the change of F by
  /// rounding of these velocities, which the steep laws of nearly rigid contacts magnify.
  [[nodiscard]] double rounding(const GrowableVector& v, RowLaw law);

  /// Whether `residual`, that of the last evaluate(), is as small as rounding lets it become: it no longer
  /// falls and is at most rounding_factor times rounding().
  [[nodiscard]] bool is_rounding(double residual, double previous, const GrowableVector& v, RowLaw law) {
    return residual > constants_.progress * previous && residual <= constants_.largest_rounding &&
           residual <= constants_.rounding_factor * rounding(v, law);
  }

  /// dF/dv at the v of the last evaluate(), factorized: of laws with symmetric K, or with the bounds of
  /// friction held fixed. False if it is not positive definite (which only non-finite numbers can bring
  /// about).
  ///
  /// @param multiplies  see BlockCholesky::reset()
  [[nodiscard]] bool factorize(const GrowableVector& v, RowLaw law, BlockCholesky& H,
                               bool multiplies = false);

  /// dF/dv at the v of the last evaluate(), factorized: of the coupled law, or of its tangents. False if that
  /// fails.
  [[nodiscard]] bool factorize_coupled(const GrowableVector& v, BlockLu& A, bool multiplies = false,
                                       RowLaw law = RowLaw::coupled);

  /// F(v + a direction).direction and its derivative by a, along the direction last set. The latter is the
  /// slope of the potential of a law that has one.
  void set_direction(const GrowableVector& v, const GrowableVector& direction);
  [[nodiscard]] LineSums along(double a, RowLaw law);

  /// Where |along(a)| is at most NewtonConstants::line_slope of `slope_at_0` between `low` and `high`: a
  /// bracketed Newton search from their middle, the slope being negative at `low`.
  [[nodiscard]] double root_along(double low, double high, double slope_at_0, RowLaw law);

  [[nodiscard]] NewtonMemory& memory() { return memory_; }
  [[nodiscard]] const NewtonConstants& constants() const { return constants_; }
  /// sqrt(v*^T M v* + m_total speed_scale^2) [kg^1/2 m/s]
  [[nodiscard]] double momentum_scale() const { return momentum_scale_; }

 private:
  /// What the law needs to know of a pair whose relative twist is V.
  [[nodiscard]] RowKernelInput input(const BlockPair& pair, RowLaw law, const Vec6<double>& V) const {
    return {settings_, law, V.data(), pair.turning.data(), pair.friction};
  }
  /// The blocks that a pair adds to dF/dv: rows and columns of A (or of the one body that moves) and B.
  struct PairBlocks {
    Mat6<double> AA, BB, BA, AB;
  };
  void find_blocks(const BlockPair& pair, RowLaw law, const Vec6<double>& V, PairBlocks& blocks) const;
  template <typename Matrix, typename AddPair>
  void assemble(const GrowableVector& v, RowLaw law, bool multiplies, Matrix& matrix,
                const AddPair& add_pair);

  const ContactProblem& problem_;
  const smooth_coulomb::Settings& settings_;
  RowBlocks& rows_;
  NewtonMemory& memory_;
  const NewtonConstants& constants_;
  double momentum_scale_;
  const GrowableVector *line_start_ = nullptr, *line_direction_ = nullptr;
  double line_constant_ = 0.0, line_linear_ = 0.0;
};

}  // namespace abut
