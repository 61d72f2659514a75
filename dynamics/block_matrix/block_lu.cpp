#include "dynamics/block_matrix/block_lu.h"

#include <cmath>
#include <utility>

#include "dynamics/block_matrix/link_blocks.h"
#include "dynamics/kernel/row_kernels.h"
#include "engine/instruction_set.h"

namespace abut {

void BlockLu::reset(int blocks, std::span<const BlockCoupling> couplings, const LinkMotions& links,
                    bool multiplies) {
  multiplies_ = multiplies;
  pattern_.update(blocks, couplings, links);
  diagonal_.assign(at(blocks), Pivot());
  lower_.assign(pattern_.off_diagonal_blocks(), Mat6<double>::Zero());
  upper_transposed_.assign(pattern_.off_diagonal_blocks(), Mat6<double>::Zero());
  whole_diagonal_.clear();
  whole_lower_.clear();
  whole_upper_transposed_.clear();
}

/// The k-th step of an elimination, whose bounds are constants. False if the pivot is 0 or not finite.
///
/// @param scale  of rows
template <int k, int n>
bool BlockLu::eliminate_row(Pivot& pivot, Vec6<double>& scale) {
  Mat6<double>& m = pivot.lu;
  int largest = k;
  double most = scale[k] * std::abs(m(k, k));
  for (int i = k + 1; i < n; ++i) {
    const double size = scale[i] * std::abs(m(i, k));
    if (!(size > most)) continue;
    largest = i;
    most = size;
  }
  if (largest != k) {
    for (int j = 0; j < n; ++j) std::swap(m(k, j), m(largest, j));
    std::swap(scale[k], scale[largest]);
    std::swap(pivot.row[at(k)], pivot.row[at(largest)]);
    determinant_sign_ = -determinant_sign_;
  }
  const double value = m(k, k);
  if (value == 0.0 || !std::isfinite(value)) return false;
  if (value < 0.0) determinant_sign_ = -determinant_sign_;
  const double inverse = 1.0 / value;
  double below[n];
  for (int i = k + 1; i < n; ++i) below[i] = m(i, k) *= inverse;
  for (int j = k + 1; j < n; ++j) {
    const double right = m(k, j);
    for (int i = k + 1; i < n; ++i) m(i, j) -= below[i] * right;
  }
  return true;
}

/// Rows of torques and of forces differ in their units: pivots are compared relative to the square roots of
/// the diagonal, so that they do not depend on these.
template <int n>
bool BlockLu::factorize(Pivot& pivot) {
  const Mat6<double>& m = pivot.lu;
  Vec6<double> scale;
  for (int k = 0; k < n; ++k) {
    pivot.row[at(k)] = k;
    scale[k] = m(k, k) == 0.0 ? 1.0 : 1.0 / std::sqrt(std::abs(m(k, k)));
  }
  return [&]<int... k>(std::integer_sequence<int, k...>) {
    return (eliminate_row<k, n>(pivot, scale) && ...);
  }
  (std::make_integer_sequence<int, n>());
}

/// X <- X D^-1: with P D = l u it is X u^-1 l^-1 P.
template <typename Block>
void BlockLu::solve_from_right(const Pivot& pivot, Block& block) {
  constexpr int n = Block::ColsAtCompileTime;
  const Mat6<double>& m = pivot.lu;
  Block x = block;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < j; ++i) x.col(j) -= m(i, j) * x.col(i);
    x.col(j) *= 1.0 / m(j, j);
  }
  for (int j = n; j-- > 0;) {
    for (int i = j + 1; i < n; ++i) x.col(j) -= m(i, j) * x.col(i);
  }
  for (int j = 0; j < n; ++j) block.col(pivot.row[at(j)]) = x.col(j);
}

bool BlockLu::factorize() {
  const RowKernels& kernels = chosen_kernels<RowKernels>();
  if (multiplies_ && pattern_.has_links()) {
    whole_diagonal_.clear();
    for (const Pivot& pivot : diagonal_) whole_diagonal_.push_back(pivot.lu);
    whole_lower_ = lower_;
    whole_upper_transposed_ = upper_transposed_;
  }
  determinant_sign_ = 1;
  std::size_t product = 0;
  for (int k = 0; k < pattern_.blocks(); ++k) {
    if (const LinkMotion* const link = pattern_.link(k)) {
      if (!eliminate_link(*link, k, product)) return false;
      continue;
    }
    const Pivot& pivot = diagonal_[at(k)];
    if (!factorize<6>(diagonal_[at(k)])) return false;
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

bool BlockLu::eliminate_link(const LinkMotion& link, int column, std::size_t& product) {
  switch (link.rates) {
    case 0:
      return eliminate<0>(link, column, product);
    case 1:
      return eliminate<1>(link, column, product);
    default:
      return eliminate<3>(link, column, product);
  }
}

/// Left columns are kept as C D^-1.
template <int n>
bool BlockLu::eliminate(const LinkMotion& link, int column, std::size_t& product) {
  using Columns = Eigen::Matrix<double, 6, n>;
  Pivot& pivot = diagonal_[at(column)];
  const Mat6<double> A = pivot.lu;
  const Columns S = link.S.leftCols<n>(), AS = A * S, A_transposed_S = A.transpose() * S;
  const int parent = link.parent < 0 ? -1 : static_cast<int>(pattern_.position(link.parent)),
            begin = pattern_.begin(column), end = pattern_.end(column);
  if constexpr (n > 0) {
    pivot.lu.template topLeftCorner<n, n>().noalias() = S.transpose() * AS;
    if (!factorize<n>(pivot)) return false;
  }
  left_.resize(at(end - begin));
  right_.resize(at(end - begin));
  for (int b = begin; b < end; ++b) {
    const int row = pattern_.row(b);
    const Mat6<double>&below = lower_[at(b)], &beside = upper_transposed_[at(b)];
    Columns C = below * S, R = beside * S;
    Mat6<double>& diagonal = diagonal_[at(row)].lu;
    if (row == parent) {
      C += block_on_parent(link, AS);
      R += block_on_parent(link, A_transposed_S);
      diagonal += block_on_parent(link, times_carried(link, A)) + times_carried(link, below) +
                  times_carried(link, beside).transpose();
    }
    if constexpr (n > 0) {
      solve_from_right(pivot, C);
      diagonal.noalias() -= C * R.transpose();
      left_[at(b - begin)].template leftCols<n>() = C;
      right_[at(b - begin)].template leftCols<n>() = R;
    }
  }
  pattern_.each_product(column, product, [&](int a, int b, int target) {
    Mat6<double>&lower = lower_[at(target)], &upper_transposed = upper_transposed_[at(target)];
    if constexpr (n > 0) {
      const auto left = [&](int k) { return left_[at(k - begin)].template leftCols<n>(); };
      const auto right = [&](int k) { return right_[at(k - begin)].template leftCols<n>(); };
      lower.noalias() -= left(a) * right(b).transpose();
      upper_transposed.noalias() -= right(a) * left(b).transpose();
    }
    if (pattern_.row(b) == parent) {
      lower += times_carried(link, lower_[at(a)]);
      upper_transposed += times_carried(link, upper_transposed_[at(a)]);
    }
    if (pattern_.row(a) == parent) {
      lower += times_carried(link, upper_transposed_[at(b)]).transpose();
      upper_transposed += times_carried(link, lower_[at(b)]).transpose();
    }
  });
  if constexpr (n > 0) {
    for (int b = begin; b < end; ++b) {
      lower_[at(b)].template leftCols<n>() = left_[at(b - begin)].template leftCols<n>();
      upper_transposed_[at(b)].template leftCols<n>() = right_[at(b - begin)].template leftCols<n>();
    }
  }
  return true;
}

Vec6<double> BlockLu::solve_pivot(const Pivot& pivot, const Vec6<double>& x, int n) {
  const Mat6<double>& m = pivot.lu;
  Vec6<double> y = Vec6<double>::Zero();
  for (int i = 0; i < n; ++i) y[i] = x[pivot.row[at(i)]];
  for (int j = 0; j < n; ++j) {
    for (int i = j + 1; i < n; ++i) y[i] -= m(i, j) * y[j];
  }
  for (int j = n; j-- > 0;) {
    y[j] /= m(j, j);
    for (int i = 0; i < j; ++i) y[i] -= m(i, j) * y[j];
  }
  return y;
}

Vec6<double> BlockLu::solve_pivot_transposed(const Pivot& pivot, Vec6<double> y, int n) {
  const Mat6<double>& m = pivot.lu;
  Vec6<double> x = Vec6<double>::Zero();
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < j; ++i) y[j] -= m(i, j) * y[i];
    y[j] /= m(j, j);
  }
  for (int j = n; j-- > 0;) {
    for (int i = j + 1; i < n; ++i) y[j] -= m(i, j) * y[i];
  }
  for (int i = 0; i < n; ++i) x[pivot.row[at(i)]] = y[i];
  return x;
}

void BlockLu::solve_in_place(GrowableVector& x) const {
  const auto part = [&](int position) { return x.segment<6>(6 * pattern_.block(position)); };
  const int n = pattern_.blocks();
  for (int k = 0; k < n; ++k) {
    if (const LinkMotion* const link = pattern_.link(k)) force_to_rates(*link, x);
    for (int b = pattern_.begin(k); b < pattern_.end(k); ++b)
      part(pattern_.row(b)).noalias() -= lower_[at(b)] * part(k);
  }
  for (int k = n; k-- > 0;) {
    const LinkMotion* const link = pattern_.link(k);
    auto x_k = part(k);
    for (int b = pattern_.begin(k); b < pattern_.end(k); ++b)
      x_k.noalias() -= upper_transposed_[at(b)].transpose() * part(pattern_.row(b));
    x_k = solve_pivot(diagonal_[at(k)], x_k, link == nullptr ? 6 : link->rates);
    if (link != nullptr) rates_to_twist(*link, x);
  }
}

/// A^T = (D + U)^T (I + L)^T
void BlockLu::solve_transposed_in_place(GrowableVector& x) const {
  const auto part = [&](int position) { return x.segment<6>(6 * pattern_.block(position)); };
  const int n = pattern_.blocks();
  for (int k = 0; k < n; ++k) {
    const LinkMotion* const link = pattern_.link(k);
    auto x_k = part(k);
    if (link != nullptr) force_to_rates(*link, x);
    x_k = solve_pivot_transposed(diagonal_[at(k)], x_k, link == nullptr ? 6 : link->rates);
    for (int b = pattern_.begin(k); b < pattern_.end(k); ++b)
      part(pattern_.row(b)).noalias() -= upper_transposed_[at(b)] * x_k;
  }
  for (int k = n; k-- > 0;) {
    for (int b = pattern_.begin(k); b < pattern_.end(k); ++b)
      part(k).noalias() -= lower_[at(b)].transpose() * part(pattern_.row(b));
    if (const LinkMotion* const link = pattern_.link(k)) rates_to_twist(*link, x);
  }
}

template <bool is_transposed>
void BlockLu::multiply_by(const GrowableVector& x, GrowableVector& out) const {
  out.resize(x.size());
  const auto part = [&](auto& of, int position) {
    return of.template segment<6>(6 * pattern_.block(position));
  };
  const auto& below = is_transposed ? whole_upper_transposed_ : whole_lower_;
  const auto& beside_transposed = is_transposed ? whole_lower_ : whole_upper_transposed_;
  for (int k = 0; k < pattern_.blocks(); ++k) {
    const Mat6<double>& A = whole_diagonal_[at(k)];
    part(out, k) = (is_transposed ? Mat6<double>(A.transpose()) : A) * part(x, k);
  }
  for (int k = 0; k < pattern_.blocks(); ++k) {
    for (int b = pattern_.begin(k); b < pattern_.end(k); ++b) {
      part(out, pattern_.row(b)).noalias() += below[at(b)] * part(x, k);
      part(out, k).noalias() += beside_transposed[at(b)].transpose() * part(x, pattern_.row(b));
    }
  }
}

void BlockLu::multiply(const GrowableVector& x, GrowableVector& out) const { multiply_by<false>(x, out); }

void BlockLu::multiply_transposed(const GrowableVector& x, GrowableVector& out) const {
  multiply_by<true>(x, out);
}

}  // namespace abut
