/// Disjoint sets of the numbers 0 ... n - 1.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/types.h"

namespace abut {

/// Union by least member, with path halving: the name of a set is its least member, in whatever order its
/// parts were united.
class DisjointSets {
 public:
  explicit DisjointSets(int count) : parent_(at(count)) { std::iota(parent_.begin(), parent_.end(), 0); }

  /// The least member of the set that i is in.
  int find(int i) {
    while (parent_[at(i)] != i) {
      parent_[at(i)] = parent_[at(parent_[at(i)])];
      i = parent_[at(i)];
    }
    return i;
  }
  void unite(int i, int j) {
    i = find(i);
    j = find(j);
    parent_[at(std::max(i, j))] = std::min(i, j);
  }

 private:
  std::vector<int> parent_;
};

}  // namespace abut
