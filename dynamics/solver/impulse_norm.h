/// The size of impulses by what they can do.
#pragma once

#include "dynamics/block_matrix/block_cholesky.h"
#include "dynamics/motion/mass_matrix.h"

namespace abut {

/// |f| = sqrt(f^T M^-1 f); of links, of the motions v = J d that joints allow, sqrt(f^T J (J^T M J)^-1 J^T f): what
/// joints answer does not count.
class ImpulseNorm {
 public:
  /// Has to be called before the norm is taken with this mass.
  void update(const MassMatrix& mass);

  [[nodiscard]] double operator()(const MassMatrix& mass, const GrowableVector& f) {
    if (mass.links().empty()) return mass.inverse_norm(f);
    scratch_ = f;
    return factor_.inverse_norm_in_place(scratch_);
  }

 private:
  BlockCholesky factor_;  ///< of M, with links
  GrowableVector scratch_;
};

}  // namespace abut
