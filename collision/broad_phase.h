/// Broad phase: pairs of bodies with overlapping bounding boxes, sorted.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/types.h"

namespace abut {

/// An axis-aligned box in W; unbounded bodies have infinite corners.
using WorldBox = Eigen::AlignedBox3d;

/// Pairs (i, j), i < j, of overlapping boxes, in ascending order (so that everything after is deterministic).
///
/// Boxes that touch overlap; a box with a NaN overlaps none. Searches a bounding volume tree, which is built
/// anew for each set of boxes by splits at the median of their centres along the axis of largest spread: O(n
/// log n) in any layout and order of bodies, plus what overlaps. Allocates only while it grows.
class BroadPhase {
 public:
  const std::vector<std::pair<int, int>>& overlapping_pairs(const std::vector<WorldBox>& boxes);

 private:
  struct Leaf {
    Vec3<double> centre;  // [m]
    int body;
  };
  /// Nodes are in preorder: the children of a node follow it, the first one immediately.
  struct Node {
    WorldBox box;
    int begin, end;  // of its leaves
    int next;        // the first node after its subtree
  };

  void test_all(const std::vector<WorldBox>& boxes);
  void build(const std::vector<WorldBox>& boxes, int begin, int end);
  void search_tree();
  [[nodiscard]] WorldBox centre_bounds(int begin, int end) const;
  void add_pair(int i, int j) { pairs_.emplace_back(std::min(i, j), std::max(i, j)); }

  std::vector<int> order_;  // of bodies: that of the last tree
  std::vector<Leaf> leaves_;
  std::vector<WorldBox> leaf_boxes_;
  std::vector<Node> nodes_;
  std::vector<int> unbounded_;
  std::vector<std::pair<int, int>> pairs_;
};

}  // namespace abut
