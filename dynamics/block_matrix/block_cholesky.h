/// Sparse Cholesky factorization of a symmetric positive definite matrix H of 6 x 6 blocks (block_pattern.h), or,
/// where blocks are those of links, of J' H J (motion/link_motion.h), from leaves to roots: with A the block of a
/// link, B_i those between it and others that are left, p its parent,
///     D = S' A S,   C_i = B_i S (+ X' A S of p),   A_ij -= C_i D^-1 C_j',
///     A_pp += X' A X + B_p X + X' B_p',   A_ip += B_i X.
/// Solutions are J (J' H J)^-1 J' x then: what x does to velocities that joints allow.
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
  ///
  /// @param multiplies  whether multiply() is wanted
  void reset(int blocks, std::span<const BlockCoupling> couplings, const LinkMotions& links = {},
             bool multiplies = false);

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
  /// sqrt(x' matrix^-1 x), after factorize(). Overwrites x.
  [[nodiscard]] double inverse_norm_in_place(GrowableVector& x) const;
  /// out = H x, after factorize() with links, if reset() asked for it.
  void multiply(const GrowableVector& x, GrowableVector& out) const;
  // It is symmetric.
  void solve_transposed_in_place(GrowableVector& x) const { solve_in_place(x); }
  void multiply_transposed(const GrowableVector& x, GrowableVector& out) const { multiply(x, out); }

  [[nodiscard]] std::size_t bytes() const {
    return sizeof(Mat6<double>) *
           (diagonal_.size() + lower_.size() + whole_diagonal_.size() + whole_lower_.size());
  }

  /// How many off-diagonal blocks the factor has.
  [[nodiscard]] std::size_t off_diagonal_blocks() const { return lower_.size(); }

 private:
  template <int n>
  [[nodiscard]] bool eliminate(const LinkMotion& link, int column, std::size_t& product);
  [[nodiscard]] bool eliminate_link(const LinkMotion& link, int column, std::size_t& product);
  /// x <- L^-1 x; of links the rates alone are left, and zeros.
  void solve_lower_in_place(GrowableVector& x) const;

  BlockPattern pattern_;
  std::vector<Mat6<double>> diagonal_, lower_;
  bool multiplies_ = false;
  std::vector<Mat6<double>> whole_diagonal_, whole_lower_;  // H, of links
  std::vector<LinkMotion::Axes> columns_;                   // C of a link's column
};

}  // namespace abut
