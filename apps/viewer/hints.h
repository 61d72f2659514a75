/// Five hints over the scene for whoever starts the viewer for the first time.
#pragma once

#include "apps/viewer/layout.h"

namespace abut::viewer {

struct Hint {
  const char *title, *text;
};
inline constexpr Hint k_hints[] = {
    {"Time", "Space runs and pauses; Right and Left go one step forward and back."},
    {"Camera", "Drag with the left button to turn, with the right one to move; the wheel goes nearer."},
    {"Why they touch", "Click a body to select it, a contact to see all its numbers."},
    {"Your own forces", "While it runs, Ctrl and a drag pull a body by a spring."},
    {"Everything else",
     "Ctrl + P finds every command by its name, Ctrl + O opens scenes, F1 lists all keys."},
};

class Hints {
 public:
  void show() { open_ = appears_ = true; }
  void close() { open_ = false; }
  [[nodiscard]] bool open() const { return open_; }
  /// Between the begin and the end of a picture. Any click and Esc close them.
  void draw(const Rectangle& area, float scale);

 private:
  bool open_ = false, appears_ = false;
};

}  // namespace abut::viewer
