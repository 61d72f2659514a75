#include "dynamics/block_matrix/block_cholesky.h"

#include <cmath>

#include "dynamics/kernel/row_kernels.h"
#include "engine/instruction_set.h"

namespace abut {
namespace {

/// The lower Cholesky factor of a block in its own place.
bool factorize_block(Mat6<double>& block) {
  for (int j = 0; j < 6; ++j) {
    double pivot = block(j, j);
    for (int k = 0; k < j; ++k) pivot -= block(j, k) * block(j, k);
    if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
    const double root = std::sqrt(pivot), inverse = 1.0 / root;
    block(j, j) = root;
    for (int i = j + 1; i < 6; ++i) {
      double sum = block(i, j);
      for (int k = 0; k < j; ++k) sum -= block(i, k) * block(j, k);
      block(i, j) = sum * inverse;
    }
  }
  return true;
}

// Eigen's own triangular solvers allocate.

/// x <- L^-1 x
template <typename Segment>
void solve_lower(const Mat6<double>& L, Segment& x) {
  for (int j = 0; j < 6; ++j) {
    x[j] /= L(j, j);
    for (int i = j + 1; i < 6; ++i) x[i] -= L(i, j) * x[j];
  }
}

/// x <- L^-T x
template <typename Segment>
void solve_lower_transposed(const Mat6<double>& L, Segment& x) {
  for (int j = 6; j-- > 0;) {
    for (int i = j + 1; i < 6; ++i) x[j] -= L(i, j) * x[i];
    x[j] /= L(j, j);
  }
}

}  // namespace

void BlockCholesky::reset(int blocks, std::span<const Coupling> couplings) {
  pattern_.update(blocks, couplings);
  diagonal_.assign(at(blocks), Mat6<double>::Zero());
  lower_.assign(pattern_.off_diagonal_blocks(), Mat6<double>::Zero());
}

bool BlockCholesky::factorize() {
  const RowKernels& kernels = chosen_kernels<RowKernels>();
  std::size_t product = 0;
  for (int k = 0; k < pattern_.blocks(); ++k) {
    Mat6<double>& L_kk = diagonal_[at(k)];
    if (!factorize_block(L_kk)) return false;
    for (int b = pattern_.begin(k); b < pattern_.end(k); ++b) {
      Mat6<double>& L_b = lower_[at(b)];
      kernels.solve_block_transposed(L_kk.data(), L_b.data());
      kernels.subtract_block_product(L_b.data(), L_b.data(), diagonal_[at(pattern_.row(b))].data());
    }
    pattern_.each_product(k, product, [&](int a, int b, int target) {
      kernels.subtract_block_product(lower_[at(a)].data(), lower_[at(b)].data(), lower_[at(target)].data());
    });
  }
  return true;
}

void BlockCholesky::solve_in_place(GrowableVector& x) const {
  const auto part = [&](int position) { return x.segment<6>(6 * pattern_.block(position)); };
  const int n = pattern_.blocks();
  for (int k = 0; k < n; ++k) {
    auto x_k = part(k);
    solve_lower(diagonal_[at(k)], x_k);
    for (int b = pattern_.begin(k); b < pattern_.end(k); ++b)
      part(pattern_.row(b)).noalias() -= lower_[at(b)] * x_k;
  }
  for (int k = n; k-- > 0;) {
    auto x_k = part(k);
    for (int b = pattern_.begin(k); b < pattern_.end(k); ++b)
      x_k.noalias() -= lower_[at(b)].transpose() * part(pattern_.row(b));
    solve_lower_transposed(diagonal_[at(k)], x_k);
  }
}

}  // namespace abut
