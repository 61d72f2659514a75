/// Sparse LU factorization of a matrix of 6 x 6 blocks with a symmetric pattern (block_pattern.h), by
///     A = (I + L)(D + U),
/// with row exchanges inside the blocks of D only; or, where blocks are those of links, of J' A J, as BlockCholesky
/// has it: with left columns  C_i = A_ib S (+ X' A_bb S of the parent)  and rows  R_i = S' A_bi (+ S' A_bb X).
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
  ///
  /// @param multiplies  whether multiply() and multiply_transposed() are wanted
  void reset(int blocks, std::span<const BlockCoupling> couplings, const LinkMotions& links = {},
             bool multiplies = false);

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
  /// out = A x and out = A' x, after factorize() with links, if reset() asked for it.
  void multiply(const GrowableVector& x, GrowableVector& out) const;
  void multiply_transposed(const GrowableVector& x, GrowableVector& out) const;

  [[nodiscard]] std::size_t bytes() const {
    return sizeof(Pivot) * diagonal_.size() +
           sizeof(Mat6<double>) * (2 * lower_.size() + whole_diagonal_.size() + 2 * whole_lower_.size());
  }

 private:
  /// Row j of l u is row `row[j]` of the block.
  struct Pivot {
    Mat6<double> lu = Mat6<double>::Zero();
    std::array<int, 6> row{};
  };
  /// Of the first n rows and columns.
  template <int n>
  [[nodiscard]] bool factorize(Pivot& pivot);
  template <int k, int n>
  [[nodiscard]] bool eliminate_row(Pivot& pivot, Vec6<double>& scale);
  template <typename Block>
  static void solve_from_right(const Pivot& pivot, Block& block);
  [[nodiscard]] static Vec6<double> solve_pivot(const Pivot& pivot, const Vec6<double>& x, int n = 6);
  [[nodiscard]] static Vec6<double> solve_pivot_transposed(const Pivot& pivot, Vec6<double> x, int n = 6);
  template <int n>
  [[nodiscard]] bool eliminate(const LinkMotion& link, int column, std::size_t& product);
  [[nodiscard]] bool eliminate_link(const LinkMotion& link, int column, std::size_t& product);
  template <bool is_transposed>
  void multiply_by(const GrowableVector& x, GrowableVector& out) const;

  BlockPattern pattern_;
  std::vector<Pivot> diagonal_;
  std::vector<Mat6<double>> lower_, upper_transposed_;
  bool multiplies_ = false;
  std::vector<Mat6<double>> whole_diagonal_, whole_lower_, whole_upper_transposed_;  // A, of links
  std::vector<LinkMotion::Axes> left_, right_;  // C and R of a link's column
  int determinant_sign_ = 1;
};

}  // namespace abut
