#include "collision/broad_phase.h"

#include <algorithm>
#include <numeric>

namespace abut {

const std::vector<std::pair<int, int>>& BroadPhase::overlapping_pairs(const std::vector<WorldBox>& boxes) {
  pairs_.clear();
  order_.resize(boxes.size());
  std::iota(order_.begin(), order_.end(), 0);
  const auto lower = [&](int i) { return boxes[static_cast<std::size_t>(i)].min().x(); };
  const auto upper = [&](int i) { return boxes[static_cast<std::size_t>(i)].max().x(); };
  std::sort(order_.begin(), order_.end(),
            [&](int i, int j) { return lower(i) != lower(j) ? lower(i) < lower(j) : i < j; });
  for (std::size_t a = 0; a < order_.size(); ++a) {
    const int i = order_[a];
    for (std::size_t b = a + 1; b < order_.size() && lower(order_[b]) <= upper(i); ++b) {
      const int j = order_[b];
      if (boxes[static_cast<std::size_t>(i)].intersects(boxes[static_cast<std::size_t>(j)])) {
        pairs_.emplace_back(std::min(i, j), std::max(i, j));
      }
    }
  }
  std::sort(pairs_.begin(), pairs_.end());
  return pairs_;
}

}  // namespace abut
