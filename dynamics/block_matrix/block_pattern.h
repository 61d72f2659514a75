/// Where the 6 x 6 blocks of a factorized matrix lie that has one block row for each moving body, and is
/// symmetric in its pattern.
///
/// Blocks are eliminated in the order of least degree (Tinney and Walker 1967, scheme 2), so that bodies in a
/// chain, a stack or far apart cost linear time; links of trees after those that hang from them. Pattern and order
/// are kept until couplings or links change.
#pragma once

#include <compare>
#include <span>
#include <vector>

#include "dynamics/motion/link_motion.h"

namespace abut {

/// Two bodies (slots) whose velocities meet in a row: a pair of off-diagonal blocks.
struct BlockCoupling {
  int first = -1, second = -1;
  bool operator==(const BlockCoupling&) const = default;
};

/// Everything counts in positions of the order of elimination, unless it says otherwise.
class BlockPattern {
 public:
  /// A coupling may stand there twice, in either order. Links are coupled to their parents.
  void update(int blocks, std::span<const BlockCoupling> couplings, const LinkMotions& links = {});

  [[nodiscard]] int blocks() const { return static_cast<int>(order_.size()); }
  /// Off-diagonal blocks of a triangular factor, column by column.
  [[nodiscard]] std::size_t off_diagonal_blocks() const { return row_.size(); }
  [[nodiscard]] std::size_t position(int block) const {
    return static_cast<std::size_t>(position_[block_index(block)]);
  }
  [[nodiscard]] int block(int position) const { return order_[block_index(position)]; }
  [[nodiscard]] bool has_links() const { return !links_.empty(); }
  /// The link whose block it is, or null.
  [[nodiscard]] const LinkMotion* link(int position) const {
    if (links_.empty()) return nullptr;
    const int link = link_of_block_[block_index(block(position))];
    return link < 0 ? nullptr : &links_[block_index(link)];
  }
  [[nodiscard]] int begin(int column) const { return column_begin_[block_index(column)]; }
  [[nodiscard]] int end(int column) const { return column_begin_[block_index(column) + 1]; }
  [[nodiscard]] int row(int place) const { return row_[block_index(place)]; }
  /// Of the k-th coupling, among the off-diagonal blocks below the diagonal.
  [[nodiscard]] std::size_t place(std::size_t k) const {
    return static_cast<std::size_t>(coupling_place_[k]);
  }
  /// True if there its second body is the row, its first one the column.
  [[nodiscard]] bool second_is_row(std::size_t k) const { return second_is_row_[k]; }

  /// f(a, b, target) for all products of blocks a and b > diagonal of a column, a below b: each is
  /// subtracted from the block `target`.
  template <typename F>
  void each_product(int column, std::size_t& next, const F& f) const {
    for (int b = begin(column); b < end(column); ++b) {
      for (int a = b + 1; a < end(column); ++a) f(a, b, update_target_[next++]);
    }
  }

 private:
  struct Candidate {
    std::size_t degree;
    int block;
    auto operator<=>(const Candidate&) const = default;
  };
  static std::size_t block_index(int i) { return static_cast<std::size_t>(i); }
  void choose_order();
  void place_couplings();
  [[nodiscard]] int place_of(int row, int column) const;

  LinkMotions links_;
  std::vector<int> link_of_block_;   // as given; -1: it is none
  std::vector<BlockCoupling> couplings_;  // as given, then those of links
  std::vector<BlockCoupling> next_couplings_;
  std::size_t link_begin_ = 0;               // of couplings_
  std::vector<int> parent_, children_left_;  // of a block as given; children are those not yet eliminated
  std::vector<int> position_;                // of a block as given
  std::vector<int> order_;                   // block as given, of a position
  std::vector<int> column_begin_, row_;
  std::vector<int> coupling_place_;
  std::vector<bool> second_is_row_;
  std::vector<int> update_target_;            // of each product, i > j
  std::vector<std::vector<int>> neighbours_;  // of a block as given, not yet eliminated
  std::vector<Candidate> candidates_;         // a heap; also former degrees of blocks
};

}  // namespace abut
