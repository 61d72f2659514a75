/// Dear ImGui as the viewer uses it: its context, style, font and OpenGL backend.
#pragma once

#include <functional>

struct ImDrawList;
struct ImGuiContext;

namespace abut::viewer {

/// There may be one at a time. Needs a current OpenGL 3.3 context as long as it lives.
class Interface {
 public:
  /// @param scale  of text and widgets
  explicit Interface(float scale);
  ~Interface();
  Interface(const Interface&) = delete;
  Interface& operator=(const Interface&) = delete;

  /// Begins a picture of ImGuiIO::DisplaySize.
  void begin();
  /// Ends it and draws it into a framebuffer.
  void end(unsigned framebuffer);
  /// Draws over a picture that has ended: what the user is to see and no file is to have.
  void draw_over(unsigned framebuffer, const std::function<void(ImDrawList&)>& draw);
  /// Ends it without drawing.
  void discard();

 private:
  ImGuiContext* context_;
};

}  // namespace abut::viewer
