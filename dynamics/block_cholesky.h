/// Sparse Cholesky factorization of a symmetric positive definite matrix of 6 x 6 blocks, one block row a
/// body.
///
/// Blocks are eliminated in the order of least degree (Tinney and Walker 1967, scheme 2), so that bodies in a
/// chain, a stack or far apart cost linear time. Pattern and order are kept until the couplings change.
#pragma once

#include <span>
#include <vector>

#include "engine/types.h"

namespace abut {

/// Two bodies (slots) whose velocities meet in a row: an off-diagonal block.
struct Coupling {
  int first = -1, second = -1;
  bool operator==(const Coupling&) const = default;
};

class BlockCholesky {
 public:
  /// The zero matrix with room for the couplings; a coupling may stand there twice, in either order.
  void reset(int blocks, std::span<const Coupling> couplings);

  /// Only the lower triangle counts.
  [[nodiscard]] Mat6<double>& diagonal(int block) {
    return diagonal_[static_cast<std::size_t>(position_[static_cast<std::size_t>(block)])];
  }

  /// Adds to the block in the row of the k-th coupling's second body and the column of its first one, and the
  /// transpose to its mirror image.
  void add_coupling(std::size_t k, const Mat6<double>& block) {
    Mat6<double>& target = lower_[static_cast<std::size_t>(coupling_place_[k])];
    if (coupling_is_transposed_[k]) {
      target += block.transpose();
    } else {
      target += block;
    }
  }

  /// The matrix becomes its factor. False if it is not positive definite: it has none then.
  [[nodiscard]] bool factorize();

  /// x = matrix^-1 x, after factorize().
  void solve_in_place(Eigen::VectorXd& x) const;

  /// How many off-diagonal blocks the factor has.
  [[nodiscard]] std::size_t off_diagonal_blocks() const { return lower_.size(); }

 private:
  void choose_order();
  void place_couplings();
  [[nodiscard]] int place_of(int row, int column) const;

  // Everything below counts in positions of the order of elimination, unless it says otherwise.
  std::vector<Coupling> couplings_;      // as given
  std::vector<int> position_;            // of a block as given
  std::vector<int> order_;               // block as given, of a position
  std::vector<int> column_begin_, row_;  // of the factor's off-diagonal blocks, column by column
  std::vector<int> coupling_place_;      // into lower_
  std::vector<bool> coupling_is_transposed_;
  std::vector<int> update_target_;  // of each product L_ik L_jk^T, i > j: into lower_
  std::vector<Mat6<double>> diagonal_, lower_;
  std::vector<std::vector<int>> neighbours_;  // of a block as given, not yet eliminated
  mutable Eigen::VectorXd permuted_;
};

}  // namespace abut
