/// Sort and sweep: which bodies are near enough to be asked for contacts.
#pragma once

#include <utility>
#include <vector>

#include "engine/types.h"

namespace abut {

/// An axis-aligned box in W; unbounded bodies have infinite corners.
using WorldBox = Eigen::AlignedBox3d;

/// Pairs (i, j), i < j, of overlapping boxes, in ascending order (so that everything after is deterministic).
class BroadPhase {
 public:
  const std::vector<std::pair<int, int>>& overlapping_pairs(const std::vector<WorldBox>& boxes);

 private:
  std::vector<int> order_;
  std::vector<std::pair<int, int>> pairs_;
};

}  // namespace abut
