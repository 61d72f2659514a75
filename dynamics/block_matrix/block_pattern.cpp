#include "dynamics/block_matrix/block_pattern.h"

#include <algorithm>
#include <functional>

#include "engine/types.h"

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

}  // namespace

void BlockPattern::update(int blocks, std::span<const BlockCoupling> couplings, const LinkMotions& links) {
  links_ = links;
  link_of_block_.assign(links.empty() ? 0 : at(blocks), -1);
  for (std::size_t k = 0; k < links.size(); ++k) link_of_block_[at(links[k].slot)] = static_cast<int>(k);
  next_couplings_.assign(couplings.begin(), couplings.end());
  for (const LinkMotion& link : links) {
    if (link.parent >= 0) next_couplings_.push_back({link.parent, link.slot});
  }
  if (this->blocks() == blocks && link_begin_ == couplings.size() && next_couplings_ == couplings_) return;
  couplings_ = next_couplings_;
  link_begin_ = couplings.size();
  order_.resize(at(blocks));
  choose_order();
  place_couplings();
}

void BlockPattern::choose_order() {
  const int n = static_cast<int>(order_.size());
  if (neighbours_.size() < order_.size()) neighbours_.resize(order_.size());
  for (int b = 0; b < n; ++b) neighbours_[at(b)].clear();
  for (const BlockCoupling& c : couplings_) {
    insert_sorted(neighbours_[at(c.first)], c.second);
    insert_sorted(neighbours_[at(c.second)], c.first);
  }
  parent_.assign(at(n), -1);
  children_left_.assign(at(n), 0);
  for (std::size_t k = link_begin_; k < couplings_.size(); ++k) {
    parent_[at(couplings_[k].second)] = couplings_[k].first;
    ++children_left_[at(couplings_[k].first)];
  }
  position_.assign(at(n), -1);
  column_begin_.assign(1, 0);
  row_.clear();
  // The block of least degree, of these the one of lowest index. A block is there again for each degree it
  // gets.
  candidates_.clear();
  for (int b = 0; b < n; ++b) candidates_.push_back({neighbours_[at(b)].size(), b});
  std::make_heap(candidates_.begin(), candidates_.end(), std::greater<>());
  for (int k = 0; k < n; ++k) {
    Candidate least{};
    do {
      std::pop_heap(candidates_.begin(), candidates_.end(), std::greater<>());
      least = candidates_.back();
      candidates_.pop_back();
    } while (position_[at(least.block)] >= 0 || children_left_[at(least.block)] > 0 ||
             least.degree != neighbours_[at(least.block)].size());
    const int next = least.block;
    position_[at(next)] = k;
    order_[at(k)] = next;
    if (parent_[at(next)] >= 0)
      --children_left_[at(parent_[at(next)])];  // which is a neighbour: a candidate again
    const std::vector<int>& around = neighbours_[at(next)];
    for (const int i : around) {
      erase_sorted(neighbours_[at(i)], next);
      for (const int j : around) {
        if (i != j) insert_sorted(neighbours_[at(i)], j);
      }
      candidates_.push_back({neighbours_[at(i)].size(), i});
      std::push_heap(candidates_.begin(), candidates_.end(), std::greater<>());
    }
    row_.insert(row_.end(), around.begin(), around.end());
    column_begin_.push_back(static_cast<int>(row_.size()));
  }
  for (int& row : row_) row = position_[at(row)];
  for (int k = 0; k < n; ++k)
    std::sort(row_.begin() + column_begin_[at(k)], row_.begin() + column_begin_[at(k + 1)]);
}

int BlockPattern::place_of(int row, int column) const {
  const auto begin = row_.begin() + column_begin_[at(column)],
             end = row_.begin() + column_begin_[at(column + 1)];
  return static_cast<int>(std::lower_bound(begin, end, row) - row_.begin());
}

void BlockPattern::place_couplings() {
  coupling_place_.clear();
  second_is_row_.clear();
  for (const BlockCoupling& c : couplings_) {
    const int column = position_[at(c.first)], row = position_[at(c.second)];
    second_is_row_.push_back(row > column);
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

}  // namespace abut
