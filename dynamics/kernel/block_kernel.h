/// Products and triangular solves of 6 x 6 blocks, a column at a time in registers of four and two numbers.
/// Blocks are 36 numbers, column by column, as Eigen stores them.
#pragma once

#include "engine/pack.h"

namespace abut {
inline namespace ABUT_SIMD {

/// A column of a block.
struct BlockColumn {
  Pack<double, 4> head;
  Pack<double, 2> tail;

  static ABUT_INLINE BlockColumn load(const double* x) {
    return {Pack<double, 4>::load(x), Pack<double, 2>::load(x + 4)};
  }
  ABUT_INLINE void store(double* x) const {
    head.store(x);
    tail.store(x + 4);
  }
  /// Subtracts s x.
  ABUT_INLINE void subtract(double s, const BlockColumn& x) {
    head -= Pack<double, 4>(s) * x.head;
    tail -= Pack<double, 2>(s) * x.tail;
  }
  ABUT_INLINE void scale(double s) {
    head *= Pack<double, 4>(s);
    tail *= Pack<double, 2>(s);
  }
};

/// C -= A B^T
[[gnu::flatten]] inline void subtract_block_product(const double* A, const double* B, double* C) {
  BlockColumn a[6];
  for (int k = 0; k < 6; ++k) a[k] = BlockColumn::load(A + 6 * k);
  for (int j = 0; j < 6; ++j) {
    BlockColumn c = BlockColumn::load(C + 6 * j);
    for (int k = 0; k < 6; ++k) c.subtract(B[6 * k + j], a[k]);
    c.store(C + 6 * j);
  }
}

/// X <- X L^-T, L lower triangular.
[[gnu::flatten]] inline void solve_block_transposed(const double* L, double* X) {
  BlockColumn x[6];
  for (int j = 0; j < 6; ++j) {
    x[j] = BlockColumn::load(X + 6 * j);
    for (int k = 0; k < j; ++k) x[j].subtract(L[6 * k + j], x[k]);
    x[j].scale(1.0 / L[7 * j]);
    x[j].store(X + 6 * j);
  }
}

}  // namespace ABUT_SIMD
}  // namespace abut
