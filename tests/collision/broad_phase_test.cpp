#include "collision/broad_phase.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "engine/random.h"
#include "tests/support/cases.h"

namespace {

using namespace abut;

using Pairs = std::vector<std::pair<int, int>>;

Pairs brute_force(const std::vector<WorldBox>& boxes) {
  Pairs pairs;
  for (int i = 0; i < static_cast<int>(boxes.size()); ++i) {
    for (int j = i + 1; j < static_cast<int>(boxes.size()); ++j) {
      const WorldBox &a = boxes[static_cast<std::size_t>(i)], &b = boxes[static_cast<std::size_t>(j)];
      const bool apart =
          (a.max().array() < b.min().array()).any() || (b.max().array() < a.min().array()).any();
      if (!apart) pairs.emplace_back(i, j);
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

}  // namespace

TEST_CASE("BroadPhase: finds the pairs that brute force finds, in ascending order", "[collision][property]") {
  Random random(1);
  BroadPhase broad_phase;  // one for all: what it remembers must not matter
  std::size_t found = 0;
  for (int i = 0; i < 300; ++i) {
    const auto boxes =
        random_boxes(random, static_cast<int>(random.integer(60)), std::pow(10.0, random.uniform(-2.0, 0.0)));
    const Pairs& pairs = broad_phase.overlapping_pairs(boxes);
    CAPTURE(i, boxes.size());
    REQUIRE(pairs == brute_force(boxes));
    REQUIRE(std::is_sorted(pairs.begin(), pairs.end()));
    found += pairs.size();
  }
  CHECK(found > 1000);
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
