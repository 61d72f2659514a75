/// Which of some indices belong together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace abut {

/// A forest with one tree a set; its root is the lowest index of the set. Keeps its memory.
class DisjointSets {
 public:
  /// Each index by itself.
  void reset(int count) {
    parent_.resize(static_cast<std::size_t>(count));
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  [[nodiscard]] int root(int i) {
    while (parent(i) != i) i = parent(i) = parent(parent(i));
    return i;
  }
  /// Of two slots, where both move.
  void tie(int slot_A, int slot_B) {
    if (slot_A < 0 || slot_B < 0) return;
    const int a = root(slot_A), b = root(slot_B);
    parent(std::max(a, b)) = std::min(a, b);
  }
  /// Of all those that move.
  void tie(std::span<const int> slots) {
    for (const int slot : slots) tie(*std::max_element(slots.begin(), slots.end()), slot);
  }

 private:
  [[nodiscard]] int& parent(int i) { return parent_[static_cast<std::size_t>(i)]; }

  std::vector<int> parent_;
};

}  // namespace abut
