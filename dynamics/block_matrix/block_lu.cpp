#include "dynamics/block_matrix/block_lu.h"

#include <cmath>
#include <utility>

#include "dynamics/kernel/row_kernels.h"
#include "engine/instruction_set.h"

namespace abut {

void BlockLu::reset(int blocks, std::span<const Coupling> couplings) {
  pattern_.update(blocks, couplings);
  diagonal_.assign(at(blocks), Pivot());
  lower_.assign(pattern_.off_diagonal_blocks(), Mat6<double>::Zero());
  upper_transposed_.assign(pattern_.off_diagonal_blocks(), Mat6<double>::Zero());
}

/// The k-th step of an elimination, whose bounds are constants. False if the pivot is 0 or not finite.
///
/// @param scale  of rows
template <int k>
bool BlockLu::eliminate(Pivot& pivot, Vec6<double>& scale) {
  Mat6<double>& m = pivot.lu;
  int largest = k;
  double most = scale[k] * std::abs(m(k, k));
  for (int i = k + 1; i < 6; ++i) {
    const double size = scale[i] * std::abs(m(i, k));
    if (!(size > most)) continue;
    largest = i;
    most = size;
  }
  if (largest != k) {
    for (int j = 0; j < 6; ++j) std::swap(m(k, j), m(largest, j));
    std::swap(scale[k], scale[largest]);
    std::swap(pivot.row[at(k)], pivot.row[at(largest)]);
    determinant_sign_ = -determinant_sign_;
  }
  const double value = m(k, k);
  if (value == 0.0 || !std::isfinite(value)) return false;
  if (value < 0.0) determinant_sign_ = -determinant_sign_;
  const double inverse = 1.0 / value;
  double below[6];
  for (int i = k + 1; i < 6; ++i) below[i] = m(i, k) *= inverse;
  for (int j = k + 1; j < 6; ++j) {
    const double right = m(k, j);
    for (int i = k + 1; i < 6; ++i) m(i, j) -= below[i] * right;
  }
  return true;
}

/// Rows of torques and of forces differ in their units: pivots are compared relative to the square roots of
/// the diagonal, so that they do not depend on these.
bool BlockLu::factorize(Pivot& pivot) {
  const Mat6<double>& m = pivot.lu;
  Vec6<double> scale;
  for (int k = 0; k < 6; ++k) {
    pivot.row[at(k)] = k;
    scale[k] = m(k, k) == 0.0 ? 1.0 : 1.0 / std::sqrt(std::abs(m(k, k)));
  }
  return [&]<int... k>(std::integer_sequence<int, k...>) { return (eliminate<k>(pivot, scale) && ...); }
  (std::make_integer_sequence<int, 6>());
}

/// X <- X D^-1: with P D = l u it is X u^-1 l^-1 P.
void BlockLu::solve_from_right(const Pivot& pivot, Mat6<double>& block) {
  const Mat6<double>& m = pivot.lu;
  Mat6<double> x = block;
  for (int j = 0; j < 6; ++j) {
    for (int i = 0; i < j; ++i) x.col(j) -= m(i, j) * x.col(i);
    x.col(j) *= 1.0 / m(j, j);
  }
  for (int j = 6; j-- > 0;) {
    for (int i = j + 1; i < 6; ++i) x.col(j) -= m(i, j) * x.col(i);
  }
  for (int j = 0; j < 6; ++j) block.col(pivot.row[at(j)]) = x.col(j);
}

bool BlockLu::factorize() {
  const RowKernels& kernels = chosen_kernels<RowKernels>();
  determinant_sign_ = 1;
  std::size_t product = 0;
  for (int k = 0; k < pattern_.blocks(); ++k) {
    const Pivot& pivot = diagonal_[at(k)];
    if (!factorize(diagonal_[at(k)])) return false;
    for (int b = pattern_.begin(k); b < pattern_.end(k); ++b) {
      solve_from_right(pivot, lower_[at(b)]);
      kernels.subtract_block_product(lower_[at(b)].data(), upper_transposed_[at(b)].data(),
                                     diagonal_[at(pattern_.row(b))].lu.data());
    }
    pattern_.each_product(k, product, [&](int a, int b, int target) {
      kernels.subtract_block_product(lower_[at(a)].data(), upper_transposed_[at(b)].data(),
                                     lower_[at(target)].data());
      kernels.subtract_block_product(upper_transposed_[at(a)].data(), lower_[at(b)].data(),
                                     upper_transposed_[at(target)].data());
    });
  }
  return true;
}

void BlockLu::solve_in_place(GrowableVector& x) const {
  const auto part = [&](int position) { return x.segment<6>(6 * pattern_.block(position)); };
  const int n = pattern_.blocks();
  for (int k = 0; k < n; ++k) {
    for (int b = pattern_.begin(k); b < pattern_.end(k); ++b)
      part(pattern_.row(b)).noalias() -= lower_[at(b)] * part(k);
  }
  for (int k = n; k-- > 0;) {
    auto x_k = part(k);
    for (int b = pattern_.begin(k); b < pattern_.end(k); ++b)
      x_k.noalias() -= upper_transposed_[at(b)].transpose() * part(pattern_.row(b));
    const Pivot& pivot = diagonal_[at(k)];
    const Mat6<double>& m = pivot.lu;
    Vec6<double> y;
    for (int i = 0; i < 6; ++i) y[i] = x_k[pivot.row[at(i)]];
    for (int j = 0; j < 6; ++j) {
      for (int i = j + 1; i < 6; ++i) y[i] -= m(i, j) * y[j];
    }
    for (int j = 6; j-- > 0;) {
      y[j] /= m(j, j);
      for (int i = 0; i < j; ++i) y[i] -= m(i, j) * y[j];
    }
    x_k = y;
  }
}

/// A^T = (D + U)^T (I + L)^T
void BlockLu::solve_transposed_in_place(GrowableVector& x) const {
  const auto part = [&](int position) { return x.segment<6>(6 * pattern_.block(position)); };
  const int n = pattern_.blocks();
  for (int k = 0; k < n; ++k) {
    auto x_k = part(k);
    const Pivot& pivot = diagonal_[at(k)];
    const Mat6<double>& m = pivot.lu;
    Vec6<double> y = x_k;
    for (int j = 0; j < 6; ++j) {
      for (int i = 0; i < j; ++i) y[j] -= m(i, j) * y[i];
      y[j] /= m(j, j);
    }
    for (int j = 6; j-- > 0;) {
      for (int i = j + 1; i < 6; ++i) y[j] -= m(i, j) * y[i];
    }
    for (int i = 0; i < 6; ++i) x_k[pivot.row[at(i)]] = y[i];
    for (int b = pattern_.begin(k); b < pattern_.end(k); ++b)
      part(pattern_.row(b)).noalias() -= upper_transposed_[at(b)] * x_k;
  }
  for (int k = n; k-- > 0;) {
    for (int b = pattern_.begin(k); b < pattern_.end(k); ++b)
      part(k).noalias() -= lower_[at(b)].transpose() * part(pattern_.row(b));
  }
}

}  // namespace abut
