/// Division of the window into the scene and the panes around it.
#pragma once

#include "apps/viewer/panels/panel.h"

namespace abut::viewer {

/// A part of the window [points], its origin at the upper left.
struct Rectangle {
  float x = 0, y = 0, width = 0, height = 0;
};

/// Of whole points. Disjoint, and with the menu's bar they fill the window; a closed pane has no size.
struct LayoutAreas {
  Rectangle scene, left, right, bottom, timeline;
};

/// Sizes of the panes [points at a scale of 1] and which of them are open.
struct Layout {
  static constexpr float k_timeline = 66;  ///< height of the timeline, above the pane at the bottom
  float left = 250, right = 340, bottom = 220;
  bool left_open = true, right_open = true, bottom_open = true;

  /// The scene keeps at least 40 % of the window's width and height, as far as the menu leaves that.
  [[nodiscard]] LayoutAreas areas(float width, float height, float menu_height, float scale) const;
  friend bool operator==(const Layout&, const Layout&) = default;
  /// Moves the border between a pane and the scene by so much [points of the window], away from the window's
  /// edge if positive.
  void drag(Pane pane, float by, float width, float height, float menu_height, float scale);
};

}  // namespace abut::viewer
