#include "dynamics/block_cholesky.h"

#include <algorithm>
#include <cmath>

#include "dynamics/kernel/row_kernels.h"
#include "engine/instruction_set.h"

namespace abut {
namespace {

void insert_sorted(std::vector<int>& list, int value) {
  const auto place = std::lower_bound(list.begin(), list.end(), value);
  if (place == list.end() || *place != value) list.insert(place, value);
}

void erase_sorted(std::vector<int>& list, int value) {
  const auto place = std::lower_bound(list.begin(), list.end(), value);
  if (place != list.end() && *place == value) list.erase(place);
}

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
  const bool same = static_cast<int>(order_.size()) == blocks &&
                    std::equal(couplings.begin(), couplings.end(), couplings_.begin(), couplings_.end());
  if (!same) {
    couplings_.assign(couplings.begin(), couplings.end());
    order_.resize(at(blocks));
    choose_order();
    place_couplings();
  }
  diagonal_.assign(at(blocks), Mat6<double>::Zero());
  lower_.assign(row_.size(), Mat6<double>::Zero());
}

void BlockCholesky::choose_order() {
  const int n = static_cast<int>(order_.size());
  if (neighbours_.size() < order_.size()) neighbours_.resize(order_.size());
  for (int b = 0; b < n; ++b) neighbours_[at(b)].clear();
  for (const Coupling& c : couplings_) {
    insert_sorted(neighbours_[at(c.first)], c.second);
    insert_sorted(neighbours_[at(c.second)], c.first);
  }
  position_.assign(at(n), -1);
  column_begin_.assign(1, 0);
  row_.clear();
  for (int k = 0; k < n; ++k) {
    int next = -1;
    for (int b = 0; b < n; ++b) {
      if (position_[at(b)] < 0 && (next < 0 || neighbours_[at(b)].size() < neighbours_[at(next)].size())) {
        next = b;
      }
    }
    position_[at(next)] = k;
    order_[at(k)] = next;
    const std::vector<int>& around = neighbours_[at(next)];
    for (const int i : around) {
      erase_sorted(neighbours_[at(i)], next);
      for (const int j : around) {
        if (i != j) insert_sorted(neighbours_[at(i)], j);
      }
    }
    row_.insert(row_.end(), around.begin(), around.end());
    column_begin_.push_back(static_cast<int>(row_.size()));
  }
  for (int& row : row_) row = position_[at(row)];
  for (int k = 0; k < n; ++k)
    std::sort(row_.begin() + column_begin_[at(k)], row_.begin() + column_begin_[at(k + 1)]);
}

int BlockCholesky::place_of(int row, int column) const {
  const auto begin = row_.begin() + column_begin_[at(column)],
             end = row_.begin() + column_begin_[at(column + 1)];
  return static_cast<int>(std::lower_bound(begin, end, row) - row_.begin());
}

void BlockCholesky::place_couplings() {
  coupling_place_.clear();
  coupling_is_transposed_.clear();
  for (const Coupling& c : couplings_) {
    const int column = position_[at(c.first)], row = position_[at(c.second)];
    coupling_is_transposed_.push_back(row < column);
    coupling_place_.push_back(place_of(std::max(row, column), std::min(row, column)));
  }
  update_target_.clear();
  for (std::size_t k = 0; k < order_.size(); ++k) {
    for (int b = column_begin_[k]; b < column_begin_[k + 1]; ++b) {
      for (int a = b + 1; a < column_begin_[k + 1]; ++a)
        update_target_.push_back(place_of(row_[at(a)], row_[at(b)]));
    }
  }
}

bool BlockCholesky::factorize() {
  const RowKernels& kernels = chosen_kernels<RowKernels>();
  std::size_t update = 0;
  for (std::size_t k = 0; k < order_.size(); ++k) {
    Mat6<double>& L_kk = diagonal_[k];
    if (!factorize_block(L_kk)) return false;
    const int begin = column_begin_[k], end = column_begin_[k + 1];
    for (int b = begin; b < end; ++b) kernels.solve_block_transposed(L_kk.data(), lower_[at(b)].data());
    for (int b = begin; b < end; ++b) {
      const Mat6<double>& L_b = lower_[at(b)];
      kernels.subtract_block_product(L_b.data(), L_b.data(), diagonal_[at(row_[at(b)])].data());
      for (int a = b + 1; a < end; ++a) {
        kernels.subtract_block_product(lower_[at(a)].data(), L_b.data(),
                                       lower_[at(update_target_[update++])].data());
      }
    }
  }
  return true;
}

void BlockCholesky::solve_in_place(Eigen::VectorXd& x) const {
  permuted_.resize(x.size());
  const auto part = [&](int position) { return permuted_.segment<6>(6 * position); };
  const int n = static_cast<int>(order_.size());
  for (int k = 0; k < n; ++k) part(k) = x.segment<6>(6 * order_[at(k)]);
  for (int k = 0; k < n; ++k) {
    auto x_k = part(k);
    solve_lower(diagonal_[at(k)], x_k);
    for (int b = column_begin_[at(k)]; b < column_begin_[at(k + 1)]; ++b)
      part(row_[at(b)]).noalias() -= lower_[at(b)] * x_k;
  }
  for (int k = n; k-- > 0;) {
    auto x_k = part(k);
    for (int b = column_begin_[at(k)]; b < column_begin_[at(k + 1)]; ++b)
      x_k.noalias() -= lower_[at(b)].transpose() * part(row_[at(b)]);
    solve_lower_transposed(diagonal_[at(k)], x_k);
    x.segment<6>(6 * order_[at(k)]) = x_k;
  }
}

}  // namespace abut
