/// The soft choice of the K least as it is published; what Abut does in its place: soft_selection.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "engine/smooth.h"

namespace abut {

/// Row k of the weights (K, n) is softmax_i(-|m_(k) - m_i|/tau), m_(k) the k-th
/// least metric. Rows add up to 1; a tie gives equal rows.
///
/// @param sorted   (n) scratch, overwritten with the metrics in rising order
/// @param weights  (K, n), row by row
/// @see  Beker et al., "Smoothly differentiable and efficiently vectorizable contact manifold generation",
///       III, after Prillo, Eisenschlos (2020), "SoftSort".
template <typename T>
void paper_top_k(std::span<const T> metrics, int count, T tau, std::span<T> sorted, std::span<T> weights) {
  const std::size_t n = metrics.size();
  std::copy(metrics.begin(), metrics.end(), sorted.begin());
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
    std::span<T> row = weights.subspan(k * n, n);
    for (std::size_t i = 0; i < n; ++i) row[i] = std::abs(sorted[k] - metrics[i]);
    softargmin(row, tau, row);
  }
}

}  // namespace abut
