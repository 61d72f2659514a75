#include "collision/broad_phase.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace abut {
namespace {

// Up to so many boxes, testing each with each takes no more time than a tree.
constexpr std::size_t k_few_boxes = 24;

// Boxes in a node without children, at most.
constexpr int k_boxes_of_leaf = 4;

bool has_finite_corners(const WorldBox& box) { return box.min().allFinite() && box.max().allFinite(); }

/// As AlignedBox::intersects(), without a branch per coordinate: which of them separates boxes is hard to
/// predict.
bool boxes_overlap(const WorldBox& a, const WorldBox& b) {
  const auto starts_before_end = [](const WorldBox& one, const WorldBox& other) {
    const Vec3<double>&x = one.min(), &y = other.max();
    return static_cast<unsigned>(x[0] <= y[0]) & static_cast<unsigned>(x[1] <= y[1]) &
           static_cast<unsigned>(x[2] <= y[2]);
  };
  return (starts_before_end(a, b) & starts_before_end(b, a)) != 0;
}

/// The box around two others. Empty ones, whose corners are inverted, add nothing to it.
WorldBox joined(const WorldBox& a, const WorldBox& b) {
  return {a.min().cwiseMin(b.min()), a.max().cwiseMax(b.max())};
}

}  // namespace

const std::vector<std::pair<int, int>>& BroadPhase::overlapping_pairs(const std::vector<WorldBox>& boxes) {
  pairs_.clear();
  if (boxes.size() <= k_few_boxes) {
    test_all(boxes);
    return pairs_;
  }
  // In the order of the last tree: where bodies have moved little, most of its splits are still right.
  if (order_.size() != boxes.size()) {
    order_.resize(boxes.size());
    std::iota(order_.begin(), order_.end(), 0);
  }
  leaves_.clear();
  unbounded_.clear();
  for (const int i : order_) {
    const WorldBox& box = boxes[at(i)];
    if (has_finite_corners(box)) {
      leaves_.push_back({0.5 * box.min() + 0.5 * box.max(), i});  // overflows nowhere
    } else {
      unbounded_.push_back(i);
    }
  }
  nodes_.clear();
  leaf_boxes_.resize(leaves_.size());
  if (!leaves_.empty()) build(boxes, 0, static_cast<int>(leaves_.size()));
  search_tree();
  std::copy(unbounded_.begin(), unbounded_.end(),
            std::transform(leaves_.begin(), leaves_.end(), order_.begin(),
                           [](const Leaf& leaf) { return leaf.body; }));
  for (std::size_t k = 0; k < unbounded_.size(); ++k) {
    const int i = unbounded_[k];
    for (std::size_t m = k + 1; m < unbounded_.size(); ++m) {
      if (boxes_overlap(boxes[at(i)], boxes[at(unbounded_[m])])) add_pair(i, unbounded_[m]);
    }
    for (std::size_t m = 0; m < leaves_.size(); ++m) {
      if (boxes_overlap(boxes[at(i)], leaf_boxes_[m])) add_pair(i, leaves_[m].body);
    }
  }
  std::sort(pairs_.begin(), pairs_.end());
  return pairs_;
}

void BroadPhase::test_all(const std::vector<WorldBox>& boxes) {
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t j = i + 1; j < boxes.size(); ++j) {
      if (boxes_overlap(boxes[i], boxes[j])) pairs_.emplace_back(static_cast<int>(i), static_cast<int>(j));
    }
  }
}

WorldBox BroadPhase::centre_bounds(int begin, int end) const {
  WorldBox bounds;
  for (int k = begin; k < end; ++k) bounds.extend(leaves_[at(k)].centre);
  return bounds;
}

/// Appends the subtree of some leaves, and puts these in its order. The depth is log2 of their number.
void BroadPhase::build(const std::vector<WorldBox>& boxes, int begin, int end) {
  const std::size_t index = nodes_.size();
  nodes_.push_back({{}, begin, end, 0});
  WorldBox box;
  if (end - begin <= k_boxes_of_leaf) {
    for (int k = begin; k < end; ++k) {
      leaf_boxes_[at(k)] = boxes[at(leaves_[at(k)].body)];
      box = joined(box, leaf_boxes_[at(k)]);
    }
  } else {
    // A multiple of the leaf size, so that all nodes without children but the last are full.
    const int half = (end - begin) / 2,
              middle = begin + (half + k_boxes_of_leaf - 1) / k_boxes_of_leaf * k_boxes_of_leaf;
    const WorldBox low = centre_bounds(begin, middle), high = centre_bounds(middle, end);
    int axis = 0;
    low.merged(high).sizes().maxCoeff(&axis);
    if (low.max()[axis] > high.min()[axis]) {
      const auto leaf = [&](int k) { return leaves_.begin() + k; };
      std::nth_element(leaf(begin), leaf(middle), leaf(end),
                       [axis](const Leaf& a, const Leaf& b) { return a.centre[axis] < b.centre[axis]; });
    }
    build(boxes, begin, middle);
    const std::size_t second = nodes_.size();
    build(boxes, middle, end);
    box = joined(nodes_[index + 1].box, nodes_[second].box);
  }
  nodes_[index].box = box;
  nodes_[index].next = static_cast<int>(nodes_.size());
}

/// Adds the pairs of leaves. Each leaf is tested with those behind it alone, in its own node and in those
/// after that in preorder, so that each pair is found once.
void BroadPhase::search_tree() {
  const auto test = [&](int k, int m) {
    if (boxes_overlap(leaf_boxes_[at(k)], leaf_boxes_[at(m)]))
      add_pair(leaves_[at(k)].body, leaves_[at(m)].body);
  };
  const int node_count = static_cast<int>(nodes_.size());
  for (int n = 0; n < node_count; ++n) {
    const Node& node = nodes_[at(n)];
    if (node.next != n + 1) continue;  // it has children
    for (int k = node.begin; k < node.end; ++k) {
      for (int m = k + 1; m < node.end; ++m) test(k, m);
    }
    for (int other = n + 1; other < node_count;) {
      const Node& there = nodes_[at(other)];
      const bool overlaps = boxes_overlap(node.box, there.box);
      if (overlaps && there.next == other + 1) {
        for (int k = node.begin; k < node.end; ++k) {
          for (int m = there.begin; m < there.end; ++m) test(k, m);
        }
      }
      other = overlaps ? other + 1 : there.next;
    }
  }
}

}  // namespace abut
