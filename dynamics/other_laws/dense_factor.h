/// The dense derivative of a balance of momentum, factorized.
#pragma once

#include <Eigen/LU>

#include "dynamics/motion/link_motion.h"
#include "engine/growable_vector.h"

namespace abut {

/// J^T H J with H = dF/dv, of solves J (J^T H J)^-1 J^T x; J is 1 where there are no links (motion/link_motion.h).
class DenseFactor {
 public:
  Eigen::MatrixXd whole;  ///< H (6 n, 6 n): set before factorize()

  void factorize(const LinkMotions& links) {
    has_links_ = !links.empty();
    if (has_links_) {
      set_motions(links);
      lu_.compute(J_.transpose() * whole * J_);
    } else {
      lu_.compute(whole);
    }
  }
  [[nodiscard]] Eigen::VectorXd solve(const GrowableVector& x) const {
    if (has_links_) return J_ * lu_.solve(J_.transpose() * x);
    return lu_.solve(x);
  }
  void solve_in_place(GrowableVector& x) const { x = solve(x); }
  void solve_transposed_in_place(GrowableVector& x) const {
    Eigen::VectorXd y = x;
    if (has_links_) y = J_.transpose() * x;
    const Eigen::VectorXd solution = lu_.transpose().solve(y);
    if (has_links_) {
      x.noalias() = J_ * solution;
    } else {
      x = solution;
    }
  }
  void multiply(const GrowableVector& x, GrowableVector& out) const { out = whole * x; }
  void multiply_transposed(const GrowableVector& x, GrowableVector& out) const {
    out = whole.transpose() * x;
  }

  [[nodiscard]] std::size_t bytes() const {
    return sizeof(double) * static_cast<std::size_t>(whole.size() + lu_.matrixLU().size() + J_.size());
  }

 private:
  /// J (6 n, m): columns of slots that are no links first, in their order, then those of rates.
  void set_motions(const LinkMotions& links);

  bool has_links_ = false;
  Eigen::MatrixXd J_;
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
};

}  // namespace abut
