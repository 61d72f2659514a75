#include "collision/broad_phase.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/random.h"
#include "tests/support/cases.h"
#include "tests/support/no_alloc.h"

namespace {

using namespace abut;

using Pairs = std::vector<std::pair<int, int>>;

Pairs brute_force(const std::vector<WorldBox>& boxes) {
  Pairs pairs;
  for (int i = 0; i < static_cast<int>(boxes.size()); ++i) {
    for (int j = i + 1; j < static_cast<int>(boxes.size()); ++j) {
      const WorldBox &a = boxes[static_cast<std::size_t>(i)], &b = boxes[static_cast<std::size_t>(j)];
      if ((a.min().array() <= b.max().array()).all() && (b.min().array() <= a.max().array()).all())
        pairs.emplace_back(i, j);
    }
  }
  return pairs;
}

/// Boxes among which some are unbounded, some equal, and some touch at a face exactly.
std::vector<WorldBox> random_boxes(Random& random, int count, double size) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<WorldBox> boxes;
  for (int i = 0; i < count; ++i) {
    const Vec3<double> corner = test::random_vector(random),
                       extent = size * (test::random_vector(random).array() + 1.0).matrix();
    WorldBox box(corner, corner + extent);
    const double kind = random.uniform();
    if (kind < 0.02) box = WorldBox(Vec3<double>::Constant(-infinity), Vec3<double>::Constant(infinity));
    if (kind > 0.9 && !boxes.empty()) box = boxes[random.integer(boxes.size())];
    if (kind > 0.8 && kind < 0.9 && !boxes.empty()) {
      const WorldBox& other = boxes[random.integer(boxes.size())];
      box.min().x() = other.max().x();
      box.max().x() = box.min().x() + size;
    }
    boxes.push_back(box);
  }
  return boxes;
}

/// Cubes of side `size` whose centres are 1 apart.
std::vector<WorldBox> aligned_boxes(int columns, int rows, int layers, double size,
                                    const Vec3<double>& origin) {
  std::vector<WorldBox> boxes;
  for (int k = 0; k < layers; ++k) {
    for (int j = 0; j < rows; ++j) {
      for (int i = 0; i < columns; ++i) {
        const Vec3<double> centre = origin + Vec3<double>(i, j, k), half = Vec3<double>::Constant(0.5 * size);
        boxes.emplace_back(centre - half, centre + half);
      }
    }
  }
  return boxes;
}

/// Puts boxes into a random order. Returns the new index of each.
std::vector<int> shuffle(Random& random, std::vector<WorldBox>& boxes) {
  std::vector<int> old_index(boxes.size()), new_index(boxes.size());
  std::iota(old_index.begin(), old_index.end(), 0);
  for (std::size_t i = boxes.size(); i-- > 1;) {
    const std::size_t k = random.integer(i + 1);
    std::swap(boxes[i], boxes[k]);
    std::swap(old_index[i], old_index[k]);
  }
  for (std::size_t i = 0; i < boxes.size(); ++i) new_index[at(old_index[i])] = static_cast<int>(i);
  return new_index;
}

Pairs renumbered(Pairs pairs, const std::vector<int>& index) {
  for (auto& [i, j] : pairs) std::tie(i, j) = std::minmax({index[at(i)], index[at(j)]});
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

}  // namespace

TEST_CASE("BroadPhase: finds the pairs that brute force finds, in ascending order", "[collision][property]") {
  Random random(1);
  BroadPhase broad_phase;  // one for all: what it remembers must not matter
  std::size_t found = 0;
  for (int i = 0; i < 300; ++i) {
    const auto boxes = random_boxes(random, static_cast<int>(random.integer(200)),
                                    std::pow(10.0, random.uniform(-2.0, 0.0)));
    const Pairs& pairs = broad_phase.overlapping_pairs(boxes);
    CAPTURE(i, boxes.size());
    REQUIRE(pairs == brute_force(boxes));
    REQUIRE(std::is_sorted(pairs.begin(), pairs.end()));
    found += pairs.size();
  }
  CHECK(found > 1000);
}

TEST_CASE("BroadPhase: finds all pairs of aligned boxes, wherever they are and in any order",
          "[collision][property]") {
  const auto [columns, rows, layers] =
      GENERATE(std::tuple(150, 1, 1), std::tuple(1, 150, 1), std::tuple(1, 1, 150), std::tuple(13, 12, 1),
               std::tuple(1, 13, 12), std::tuple(5, 6, 5));
  // Apart, touching exactly, overlapping with the next but one.
  const double size = GENERATE(0.9, 1.0, 2.5);
  const Vec3<double> origin =
      GENERATE(Vec3<double>(0, 0, 0), Vec3<double>(1e6, -1e6, 1e6), Vec3<double>(0, 1e12, 0));
  CAPTURE(columns, rows, layers, size, origin.transpose());
  Random random(1);
  BroadPhase broad_phase;
  std::vector<WorldBox> boxes = aligned_boxes(columns, rows, layers, size, origin);
  SECTION("as they are") {}
  SECTION("with one among them that holds all") {
    boxes[random.integer(boxes.size())] =
        WorldBox(origin - Vec3<double>::Constant(1e3), origin + Vec3<double>::Constant(1e3));
  }
  SECTION("with one far away") {
    boxes[random.integer(boxes.size())] =
        WorldBox(Vec3<double>(-1e300, 1e300, 0), Vec3<double>(-0.9e300, 1.1e300, 1));
  }
  SECTION("with large and small ones") {
    for (WorldBox& box : boxes) {
      const Vec3<double> half = std::pow(10.0, random.uniform(-3.0, 1.5)) *
                                test::random_vector(random).cwiseAbs(),
                         centre = box.center();
      box = WorldBox(centre - half, centre + half);
    }
  }
  SECTION("with half of them in one place") {
    for (std::size_t i = 0; i < boxes.size(); i += 2) boxes[i] = boxes[0];
  }
  const Pairs expected = brute_force(boxes);
  REQUIRE(broad_phase.overlapping_pairs(boxes) == expected);
  for (int k = 0; k < 3; ++k) {
    std::vector<WorldBox> shuffled = boxes;
    const std::vector<int> index = shuffle(random, shuffled);
    REQUIRE(broad_phase.overlapping_pairs(shuffled) == renumbered(expected, index));
  }
}

TEST_CASE("BroadPhase: takes boxes that are empty, inverted, unbounded, or not a number",
          "[collision][value]") {
  constexpr double infinity = std::numeric_limits<double>::infinity(),
                   largest = std::numeric_limits<double>::max(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  const auto all = [](double x) { return Vec3<double>(Vec3<double>::Constant(x)); };
  const int count = GENERATE(10, 100);  // few boxes, and a tree
  std::vector<WorldBox> boxes = aligned_boxes(count, 1, 1, 1.5, {0, 0, 0});
  const auto first = static_cast<int>(boxes.size());
  boxes.emplace_back(all(-infinity), all(infinity));                            // all that is not NaN
  boxes.emplace_back();                                                         // what is unbounded
  boxes.emplace_back(Vec3<double>(2.0, -1, -1), Vec3<double>(infinity, 1, 1));  // all from 2 on
  boxes.emplace_back(all(-largest), all(largest));
  boxes.emplace_back(Vec3<double>(3.2, -1, -1), Vec3<double>(2.8, 1, 1));  // what reaches from 2.8 to 3.2
  boxes.emplace_back(Vec3<double>(nan, 0, 0), Vec3<double>(1, 1, 1));
  boxes.emplace_back(Vec3<double>(0, 0, 0), Vec3<double>(1, 1, nan));
  boxes.emplace_back(all(nan), all(nan));
  boxes.emplace_back(all(infinity), all(infinity));
  BroadPhase broad_phase;
  const Pairs pairs = broad_phase.overlapping_pairs(boxes);
  CHECK(pairs == brute_force(boxes));
  const auto found = [&](int i, int j) {
    return std::binary_search(pairs.begin(), pairs.end(), std::pair(i, j));
  };
  CHECK(found(0, first));
  CHECK(found(first, first + 1));
  CHECK_FALSE(found(0, first + 1));
  CHECK_FALSE(found(0, first + 2));
  CHECK(found(count - 1, first + 2));
  CHECK(found(3, first + 4));
  CHECK(std::none_of(pairs.begin(), pairs.end(),
                     [&](const auto& pair) { return pair.second >= first + 5 && pair.second < first + 8; }));
  CHECK(found(first, first + 8));
  Random random(2);
  for (int k = 0; k < 20; ++k) {
    std::vector<WorldBox> shuffled = boxes;
    const std::vector<int> index = shuffle(random, shuffled);
    REQUIRE(broad_phase.overlapping_pairs(shuffled) == renumbered(pairs, index));
  }
}

TEST_CASE("BroadPhase: allocates nothing once it has grown", "[collision][property]") {
  if (!test::k_counts_allocations) return;
  Random random(3);
  BroadPhase broad_phase;
  std::vector<WorldBox> boxes = random_boxes(random, 500, 0.2);
  const std::size_t most = broad_phase.overlapping_pairs(boxes).size();
  std::size_t found = 0;
  const test::NoAlloc guard;
  for (int k = 0; k < 10; ++k) {
    for (WorldBox& box : boxes)  // elsewhere, on average farther apart
      box.translate(Vec3<double>(random.uniform(), random.uniform(), random.uniform()));
    found += broad_phase.overlapping_pairs(boxes).size();
  }
  const std::size_t count = guard.allocations();
  CHECK(most > 1000);
  CHECK(found > 1000);
  CHECK(count == 0);
}

TEST_CASE("BroadPhase: boxes that only touch overlap, apart by one bit they do not", "[collision][value]") {
  BroadPhase broad_phase;
  const WorldBox a(Vec3<double>(0, 0, 0), Vec3<double>(1, 1, 1));
  const double beyond = std::nextafter(1.0, 2.0);
  for (int axis = 0; axis < 3; ++axis) {
    WorldBox b(a.min(), a.max());
    b.min()[axis] = 1.0;
    b.max()[axis] = 2.0;
    CHECK(broad_phase.overlapping_pairs({a, b}).size() == 1);
    b.min()[axis] = beyond;
    CHECK(broad_phase.overlapping_pairs({a, b}).empty());
    CHECK(broad_phase.overlapping_pairs({b, a}).empty());
  }
  CHECK(broad_phase.overlapping_pairs({}).empty());
  CHECK(broad_phase.overlapping_pairs({a}).empty());
}
