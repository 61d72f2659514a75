/// Sparse Cholesky factorization of a symmetric positive definite matrix of 6 x 6 blocks (block_pattern.h).
#pragma once

#include <span>
#include <vector>

#include "dynamics/block_matrix/block_pattern.h"
#include "engine/growable_vector.h"
#include "engine/types.h"

namespace abut {

class BlockCholesky {
 public:
  /// The zero matrix with room for the couplings.
  void reset(int blocks, std::span<const Coupling> couplings);

  /// Only the lower triangle counts.
  [[nodiscard]] Mat6<double>& diagonal(int block) { return diagonal_[pattern_.position(block)]; }

  /// Adds to the block in the row of the k-th coupling's second body and the column of its first one, and the
  /// transpose to its mirror image.
  void add_coupling(std::size_t k, const Mat6<double>& block) {
    Mat6<double>& target = lower_[pattern_.place(k)];
    if (pattern_.second_is_row(k)) {
      target += block;
    } else {
      target += block.transpose();
    }
  }

  /// The matrix becomes its factor. False if it is not positive definite: it has none then.
  [[nodiscard]] bool factorize();

  /// x = matrix^-1 x, after factorize().
  void solve_in_place(GrowableVector& x) const;

  [[nodiscard]] std::size_t bytes() const {
    return sizeof(Mat6<double>) * (diagonal_.size() + lower_.size());
  }

  /// How many off-diagonal blocks the factor has.
  [[nodiscard]] std::size_t off_diagonal_blocks() const { return lower_.size(); }

 private:
  BlockPattern pattern_;
  std::vector<Mat6<double>> diagonal_, lower_;
};

}  // namespace abut
