#include "dynamics/block_matrix/block_pattern.h"

#include <catch2/catch.hpp>

#include <set>
#include <vector>

#include "engine/random.h"
#include "engine/types.h"

using namespace abut;

namespace {

/// Blocks in the order of least degree, of these the lowest first, by definition.
std::vector<int> order_of_least_degree(int blocks, const std::vector<BlockCoupling>& couplings) {
  std::vector<std::set<int>> neighbours(at(blocks));
  for (const BlockCoupling& c : couplings) {
    neighbours[at(c.first)].insert(c.second);
    neighbours[at(c.second)].insert(c.first);
  }
  std::set<int> left;
  for (int b = 0; b < blocks; ++b) left.insert(b);
  std::vector<int> order;
  while (!left.empty()) {
    int least = *left.begin();
    for (const int b : left) {
      if (neighbours[at(b)].size() < neighbours[at(least)].size()) least = b;
    }
    for (const int i : neighbours[at(least)]) {
      neighbours[at(i)].insert(neighbours[at(least)].begin(), neighbours[at(least)].end());
      neighbours[at(i)].erase(i);
      neighbours[at(i)].erase(least);
    }
    order.push_back(least);
    left.erase(least);
  }
  return order;
}

}  // namespace

TEST_CASE("BlockPattern: eliminates blocks in the order of least degree", "[dynamics][property]") {
  Random random(7);
  BlockPattern pattern;  // one for all: nothing is left over
  for (int i = 0; i < 300; ++i) {
    const int blocks = 1 + static_cast<int>(random.integer(40));
    std::vector<BlockCoupling> couplings;
    for (std::uint64_t k = random.integer(static_cast<std::uint64_t>(3 * blocks)); k > 0; --k) {
      const int a = static_cast<int>(random.integer(static_cast<std::uint64_t>(blocks))),
                b = static_cast<int>(random.integer(static_cast<std::uint64_t>(blocks)));
      if (a != b) couplings.push_back({a, b});
    }
    pattern.update(blocks, couplings);
    const std::vector<int> expected = order_of_least_degree(blocks, couplings);
    CAPTURE(i, blocks, couplings.size());
    REQUIRE(pattern.blocks() == blocks);
    for (int k = 0; k < blocks; ++k) {
      REQUIRE(pattern.block(k) == expected[at(k)]);
      REQUIRE(pattern.position(expected[at(k)]) == at(k));
    }
  }
}
