/// A window on the desktop, with OpenGL and the input of its user.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace abut::viewer {

/// Its OpenGL 3.3 context is current in this thread. There may be one at a time.
class Window {
 public:
  /// Throws std::runtime_error saying why there is none: no display, no OpenGL 3.3.
  Window(int width, int height, const std::string& title);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// Sends its input to Dear ImGui, of which a context must be current; before the first begin_picture().
  void connect_input();
  void disconnect_input();
  /// Takes in what the user did since the last picture; waits for it where nothing is to be seen.
  void begin_picture();
  void end_picture();  ///< shows it, with the screen's own rate
  /// Hides the pointer and lets its position run on without bounds, until it is let go.
  void capture_pointer(bool captured);

  [[nodiscard]] bool close_requested() const;
  [[nodiscard]] double content_scale() const;  ///< of text, as the desktop asks for it
  /// Files dropped onto it since the last call.
  [[nodiscard]] std::vector<std::filesystem::path> take_dropped_files();
  void set_title(const std::string& title);

 private:
  struct Resources;
  std::unique_ptr<Resources> resources_;
};

}  // namespace abut::viewer
