/// Sparse LU factorization of a matrix of 6 x 6 blocks with a symmetric pattern (block_pattern.h), by
///     A = (I + L)(D + U),
/// with row exchanges inside the blocks of D only.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "dynamics/block_matrix/block_pattern.h"
#include "engine/growable_vector.h"
#include "engine/types.h"

namespace abut {

class BlockLu {
 public:
  /// The zero matrix with room for the couplings.
  void reset(int blocks, std::span<const Coupling> couplings);

  [[nodiscard]] Mat6<double>& diagonal(int block) { return diagonal_[pattern_.position(block)].lu; }

  /// Adds to the block in the row of the k-th coupling's second body and the column of its first one, and to
  /// the block in the row of the first and the column of the second.
  void add_coupling(std::size_t k, const Mat6<double>& second_first, const Mat6<double>& first_second) {
    const bool second_is_row = pattern_.second_is_row(k);
    lower_[pattern_.place(k)] += second_is_row ? second_first : first_second;
    upper_transposed_[pattern_.place(k)] += (second_is_row ? first_second : second_first).transpose();
  }

  /// The matrix becomes its factors. False if a pivot is 0 or not finite: it has none then.
  [[nodiscard]] bool factorize();

  /// Of the determinant, after factorize(): 1 or -1.
  [[nodiscard]] int determinant_sign() const { return determinant_sign_; }

  /// x = A^-1 x and x = A^-T x, after factorize().
  void solve_in_place(GrowableVector& x) const;
  void solve_transposed_in_place(GrowableVector& x) const;

  [[nodiscard]] std::size_t bytes() const {
    return sizeof(Pivot) * diagonal_.size() + 2 * sizeof(Mat6<double>) * lower_.size();
  }

 private:
  /// Row j of l u is row `row[j]` of the block.
  struct Pivot {
    Mat6<double> lu = Mat6<double>::Zero();
    std::array<int, 6> row{};
  };
  [[nodiscard]] bool factorize(Pivot& pivot);
  template <int k>
  [[nodiscard]] bool eliminate(Pivot& pivot, Vec6<double>& scale);
  static void solve_from_right(const Pivot& pivot, Mat6<double>& block);

  BlockPattern pattern_;
  std::vector<Pivot> diagonal_;
  std::vector<Mat6<double>> lower_, upper_transposed_;
  int determinant_sign_ = 1;
};

}  // namespace abut
