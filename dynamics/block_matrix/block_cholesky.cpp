#include "dynamics/block_matrix/block_cholesky.h"

#include <cmath>

#include "dynamics/block_matrix/link_blocks.h"
#include "dynamics/kernel/row_kernels.h"
#include "engine/instruction_set.h"

namespace abut {
namespace {

/// The lower Cholesky factor of the first n rows and columns of a block, in its own place.
template <int n = 6>
bool factorize_block(Mat6<double>& block) {
  for (int j = 0; j < n; ++j) {
    double pivot = block(j, j);
    for (int k = 0; k < j; ++k) pivot -= block(j, k) * block(j, k);
    if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
    const double root = std::sqrt(pivot), inverse = 1.0 / root;
    block(j, j) = root;
    for (int i = j + 1; i < n; ++i) {
      double sum = block(i, j);
      for (int k = 0; k < j; ++k) sum -= block(i, k) * block(j, k);
      block(i, j) = sum * inverse;
    }
  }
  return true;
}

// Eigen's own triangular solvers allocate.

/// x <- L^-1 x, of the first n rows and columns
template <typename Segment>
void solve_lower(const Mat6<double>& L, Segment& x, int n = 6) {
  for (int j = 0; j < n; ++j) {
    x[j] /= L(j, j);
    for (int i = j + 1; i < n; ++i) x[i] -= L(i, j) * x[j];
  }
}

/// x <- L^-T x
template <typename Segment>
void solve_lower_transposed(const Mat6<double>& L, Segment& x, int n = 6) {
  for (int j = n; j-- > 0;) {
    for (int i = j + 1; i < n; ++i) x[j] -= L(i, j) * x[i];
    x[j] /= L(j, j);
  }
}

}  // namespace

void BlockCholesky::reset(int blocks, std::span<const BlockCoupling> couplings, const LinkMotions& links,
                          bool multiplies) {
  multiplies_ = multiplies;
  pattern_.update(blocks, couplings, links);
  diagonal_.assign(at(blocks), Mat6<double>::Zero());
  lower_.assign(pattern_.off_diagonal_blocks(), Mat6<double>::Zero());
  whole_diagonal_.clear();
  whole_lower_.clear();
}

bool BlockCholesky::factorize() {
  const RowKernels& kernels = chosen_kernels<RowKernels>();
  if (multiplies_ && pattern_.has_links()) {
    whole_diagonal_ = diagonal_;
    whole_lower_ = lower_;
  }
  std::size_t product = 0;
  for (int k = 0; k < pattern_.blocks(); ++k) {
    if (const LinkMotion* const link = pattern_.link(k)) {
      if (!eliminate_link(*link, k, product)) return false;
      continue;
    }
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

bool BlockCholesky::eliminate_link(const LinkMotion& link, int column, std::size_t& product) {
  switch (link.rates) {
    case 0:
      return eliminate<0>(link, column, product);
    case 1:
      return eliminate<1>(link, column, product);
    default:
      return eliminate<3>(link, column, product);
  }
}

/// Of D only the factor is kept, and of each column C its product with that factor's inverse.
template <int n>
bool BlockCholesky::eliminate(const LinkMotion& link, int column, std::size_t& product) {
  using Columns = Eigen::Matrix<double, 6, n>;
  Mat6<double>& A = diagonal_[at(column)];
  A.triangularView<Eigen::StrictlyUpper>() = A.transpose();
  const Columns S = link.S.leftCols<n>(), AS = A * S;
  const int parent = link.parent < 0 ? -1 : static_cast<int>(pattern_.position(link.parent)),
            begin = pattern_.begin(column), end = pattern_.end(column);
  Mat6<double> D;
  if constexpr (n > 0) {
    D.template topLeftCorner<n, n>().noalias() = S.transpose() * AS;
    if (!factorize_block<n>(D)) return false;
  }
  columns_.resize(at(end - begin));
  for (int b = begin; b < end; ++b) {
    const int row = pattern_.row(b);
    const Mat6<double>& B = lower_[at(b)];
    Columns C = B * S;
    if (row == parent) {
      C += block_on_parent(link, AS);
      Mat6<double>& above = diagonal_[at(row)];
      const Mat6<double> BX = times_carried(link, B);
      above += block_on_parent(link, times_carried(link, A)) + BX + BX.transpose();
    }
    if constexpr (n > 0) {
      for (int j = 0; j < n; ++j) {  // C L^-T
        for (int k = 0; k < j; ++k) C.col(j) -= D(j, k) * C.col(k);
        C.col(j) *= 1.0 / D(j, j);
      }
      diagonal_[at(row)].noalias() -= C * C.transpose();
      columns_[at(b - begin)].template leftCols<n>() = C;
    }
  }
  pattern_.each_product(column, product, [&](int a, int b, int target) {
    Mat6<double>& block = lower_[at(target)];
    if constexpr (n > 0) {
      block.noalias() -= columns_[at(a - begin)].template leftCols<n>() *
                         columns_[at(b - begin)].template leftCols<n>().transpose();
    }
    if (pattern_.row(b) == parent) block += times_carried(link, lower_[at(a)]);
    if (pattern_.row(a) == parent) block += times_carried(link, lower_[at(b)]).transpose();
  });
  if constexpr (n > 0) {
    A.template topLeftCorner<n, n>() = D.template topLeftCorner<n, n>();
    for (int b = begin; b < end; ++b)
      lower_[at(b)].template leftCols<n>() = columns_[at(b - begin)].template leftCols<n>();
  }
  return true;
}

void BlockCholesky::solve_lower_in_place(GrowableVector& x) const {
  const auto part = [&](int position) { return x.segment<6>(6 * pattern_.block(position)); };
  for (int k = 0; k < pattern_.blocks(); ++k) {
    const LinkMotion* const link = pattern_.link(k);
    if (link != nullptr) force_to_rates(*link, x);
    auto x_k = part(k);
    solve_lower(diagonal_[at(k)], x_k, link == nullptr ? 6 : link->rates);
    for (int b = pattern_.begin(k); b < pattern_.end(k); ++b)
      part(pattern_.row(b)).noalias() -= lower_[at(b)] * x_k;
  }
}

void BlockCholesky::solve_in_place(GrowableVector& x) const {
  const auto part = [&](int position) { return x.segment<6>(6 * pattern_.block(position)); };
  solve_lower_in_place(x);
  for (int k = pattern_.blocks(); k-- > 0;) {
    const LinkMotion* const link = pattern_.link(k);
    auto x_k = part(k);
    for (int b = pattern_.begin(k); b < pattern_.end(k); ++b)
      x_k.noalias() -= lower_[at(b)].transpose() * part(pattern_.row(b));
    solve_lower_transposed(diagonal_[at(k)], x_k, link == nullptr ? 6 : link->rates);
    if (link != nullptr) rates_to_twist(*link, x);
  }
}

double BlockCholesky::inverse_norm_in_place(GrowableVector& x) const {
  solve_lower_in_place(x);
  return x.norm();
}

void BlockCholesky::multiply(const GrowableVector& x, GrowableVector& out) const {
  out.resize(x.size());
  const auto part = [&](auto& of, int position) {
    return of.template segment<6>(6 * pattern_.block(position));
  };
  for (int k = 0; k < pattern_.blocks(); ++k)
    part(out, k) = whole_diagonal_[at(k)].selfadjointView<Eigen::Lower>() * part(x, k);
  for (int k = 0; k < pattern_.blocks(); ++k) {
    for (int b = pattern_.begin(k); b < pattern_.end(k); ++b) {
      part(out, pattern_.row(b)).noalias() += whole_lower_[at(b)] * part(x, k);
      part(out, k).noalias() += whole_lower_[at(b)].transpose() * part(x, pattern_.row(b));
    }
  }
}

}  // namespace abut
