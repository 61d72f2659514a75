#include <catch2/catch.hpp>

#include <random>

#include "apps/viewer/label_layout.h"

namespace abut::viewer {
namespace {

constexpr Rectangle k_bounds{100.0f, 50.0f, 640.0f, 400.0f};

bool is_inside(const Rectangle& r) {
  return r.x >= k_bounds.x && r.y >= k_bounds.y && r.x + r.width <= k_bounds.x + k_bounds.width &&
         r.y + r.height <= k_bounds.y + k_bounds.height;
}

}  // namespace

TEST_CASE("Labels: no two overlap, all are in the picture, and the more important have places",
          "[viewer][value]") {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> x(100.0, 740.0), y(50.0, 450.0), value(0.0, 1.0);
  const std::vector<Rectangle> taken{{110.0f, 330.0f, 200.0f, 110.0f}};
  for (const int count : {5, 60, 400}) {
    CAPTURE(count);
    std::vector<LabelRequest> requests;
    for (int i = 0; i < count; ++i)
      requests.push_back(
          {{x(random), y(random)}, {value(random), value(random)}, 60.0f, 16.0f, value(random)});
    const auto places = place_labels(requests, k_bounds, taken, {});
    REQUIRE(places.size() == requests.size());
    int placed = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (!places[i]) continue;
      ++placed;
      CHECK(places[i]->width == 60.0f);
      CHECK(is_inside(*places[i]));
      CHECK_FALSE(intersect(*places[i], taken.front()));
      for (std::size_t j = 0; j < i; ++j) CHECK_FALSE((places[j] && intersect(*places[i], *places[j])));
    }
    if (count == 5) CHECK(placed == count);
    CHECK(placed >= std::min(count, 40));
    const auto most = std::max_element(requests.begin(), requests.end(),
                                       [](const auto& a, const auto& b) { return a.priority < b.priority; });
    CHECK(places[static_cast<std::size_t>(most - requests.begin())].has_value());
  }
}

TEST_CASE("Labels: alone one lies where it is wanted, and a line makes it give way", "[viewer][value]") {
  const LabelRequest request{{400.0, 200.0}, {0.0, -1.0}, 50.0f, 16.0f, 1.0};
  const auto alone = place_labels(std::vector{request}, k_bounds, {}, {});
  REQUIRE(alone[0]);
  CHECK(alone[0]->y + alone[0]->height <= 200.0f);  // above
  CHECK(alone[0]->x + 0.5f * alone[0]->width == Approx(400.0f).margin(0.01));
  const std::vector<ScreenSegment> lines{{{400.0, 200.0}, {400.0, 60.0}}};
  const auto beside = place_labels(std::vector{request}, k_bounds, {}, lines);
  REQUIRE(beside[0]);
  CHECK((beside[0]->x > 400.0f || beside[0]->x + beside[0]->width < 400.0f));
}

TEST_CASE("Labels: an arrow that leaves the picture has its label where it does", "[viewer][value]") {
  const auto end = [](Vec2<double> from, Vec2<double> to) { return visible_end({from, to}, k_bounds); };
  REQUIRE(end({200, 100}, {300, 200}));
  CHECK(*end({200, 100}, {300, 200}) == Vec2<double>(300, 200));
  REQUIRE(end({400, 150}, {400, -150}));
  CHECK((*end({400, 150}, {400, -150}) - Vec2<double>(400, 50)).norm() < 1e-9);
  CHECK_FALSE(end({0, 0}, {50, 400}));
  CHECK_FALSE(end({400, 20}, {400, 30}));
  CHECK(end({400, 100}, {400, 100}));  // a point
}

TEST_CASE("Labels: of two for one place the larger has it, and none is where there is no room",
          "[viewer][value]") {
  const Rectangle narrow{0.0f, 0.0f, 62.0f, 40.0f};
  const std::vector<LabelRequest> requests{{{30.0, 5.0}, {0.0, 1.0}, 60.0f, 20.0f, 1.0},
                                           {{30.0, 5.0}, {0.0, 1.0}, 60.0f, 20.0f, 2.0},
                                           {{30.0, 5.0}, {0.0, 1.0}, 70.0f, 20.0f, 3.0}};
  const auto places = place_labels(requests, narrow, {}, {});
  CHECK_FALSE(places[0]);
  CHECK(places[1]);
  CHECK_FALSE(places[2]);  // wider than the picture
}

}  // namespace abut::viewer
