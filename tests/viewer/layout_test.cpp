#include "apps/viewer/layout.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "engine/random.h"

namespace abut::viewer {
namespace {

bool overlap(const Rectangle& a, const Rectangle& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

float size_of(const Rectangle& a) { return a.width * a.height; }

}  // namespace

TEST_CASE("Layout: panes and scene are disjoint and fill the window, wherever borders are dragged",
          "[viewer][property]") {
  Random random(5);
  for (int i = 0; i < 500; ++i) {
    CAPTURE(i);
    const auto width = static_cast<float>(1 + random.integer(4000)),
               height = static_cast<float>(1 + random.integer(2200));
    const auto scale = static_cast<float>(random.uniform(0.25, 8.0));
    const float menu = 20.0f * scale;
    Layout layout;
    layout.left_open = random.uniform() < 0.7;
    layout.right_open = random.uniform() < 0.7;
    layout.bottom_open = random.uniform() < 0.7;
    for (int k = 0; k < 5; ++k) {
      const LayoutAreas areas = layout.areas(width, height, menu, scale);
      const Rectangle all[] = {areas.scene, areas.left, areas.right, areas.bottom, areas.timeline};
      float covered = 0.0f;
      for (const Rectangle& a : all) {
        CHECK((a.width >= 0.0f && a.height >= 0.0f));
        CHECK((a.x >= 0.0f && a.x + a.width <= width && a.y + a.height <= height));
        covered += size_of(a);
        for (const Rectangle& b : all) CHECK((&a == &b || !overlap(a, b)));
      }
      const float below_menu = height - areas.scene.y;
      CHECK(covered == Approx(width * below_menu).margin(1e-3));
      CHECK(areas.scene.width >= 0.4f * width - 1e-3f);
      CHECK(areas.scene.height >= std::min(0.4f * height, below_menu) - 1e-3f);
      constexpr Pane k_panes[] = {Pane::left, Pane::right, Pane::bottom};
      layout.drag(k_panes[random.integer(3)], static_cast<float>(random.uniform(-600.0, 600.0)), width,
                  height, menu, scale);
    }
  }
}

TEST_CASE("Layout: a border follows the mouse", "[viewer][value]") {
  Layout layout;
  const LayoutAreas before = layout.areas(1280, 720, 20, 1);
  layout.drag(Pane::right, 30, 1280, 720, 20, 1);
  layout.drag(Pane::bottom, -40, 1280, 720, 20, 1);
  const LayoutAreas after = layout.areas(1280, 720, 20, 1);
  CHECK(after.right.width == before.right.width + 30);
  CHECK(after.bottom.height == before.bottom.height - 40);
  CHECK(after.left.width == before.left.width);
}

}  // namespace abut::viewer
