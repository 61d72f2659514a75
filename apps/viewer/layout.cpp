#include "apps/viewer/layout.h"

#include <algorithm>
#include <cmath>

namespace abut::viewer {
namespace {

constexpr float k_scene_share = 0.4f, k_smallest_pane = 80.0f;  // [-], [points at a scale of 1]

}  // namespace

LayoutAreas Layout::areas(float width, float height, float menu_height, float scale) const {
  const float top = std::min(std::ceil(menu_height), height), available = height - top;
  float l = left_open ? left * scale : 0.0f, r = right_open ? right * scale : 0.0f;
  const float widest = (1.0f - k_scene_share) * width;
  if (l + r > widest) {
    const float shrink = widest / (l + r);
    l *= shrink;
    r *= shrink;
  }
  l = std::floor(l);
  r = std::floor(r);
  const float highest = std::max(0.0f, available - k_scene_share * height);
  const float t = std::floor(std::min(k_timeline * scale, highest));
  const float b = bottom_open ? std::floor(std::min(bottom * scale, highest - t)) : 0.0f;
  const float above = available - t - b;
  return {{l, top, width - l - r, above},
          {0.0f, top, l, above},
          {width - r, top, r, available},
          {0.0f, top + above + t, width - r, b},
          {0.0f, top + above, width - r, t}};
}

void Layout::drag(Pane pane, float by, float width, float height, float menu_height, float scale) {
  const LayoutAreas now = areas(width, height, menu_height, scale);
  const float room_x = now.scene.width - k_scene_share * width,
              room_y = now.scene.height - k_scene_share * height;
  // From the size that is seen, which may be less than the one that is kept.
  const auto move = [&](float& size, float seen, float room) {
    size = std::max(k_smallest_pane, (seen + std::min(by, std::max(0.0f, room))) / scale);
  };
  if (pane == Pane::left) move(left, now.left.width, room_x);
  if (pane == Pane::right) move(right, now.right.width, room_x);
  if (pane == Pane::bottom) move(bottom, now.bottom.height, room_y);
}

}  // namespace abut::viewer
