/// The dialog that opens scenes and trajectories: a path with completions, recent files, and pictures of the
/// scenes that come with the program.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/viewer/layout.h"
#include "apps/viewer/thumbnails.h"

namespace abut::viewer {

class OpenDialog {
 public:
  /// @param scenes  that are shown as pictures
  /// @param path    that stands in the field already
  void show(std::vector<std::filesystem::path> scenes, const std::filesystem::path& path);
  void close() { open_ = false; }
  [[nodiscard]] bool open() const { return open_; }
  void set_error(std::string error) { error_ = std::move(error); }
  [[nodiscard]] const std::string& error() const { return error_; }
  /// @param loses  what opening another file drops, in words; may be empty
  /// @return the file that was chosen in this picture; the dialog stays open until close()
  [[nodiscard]] std::optional<std::filesystem::path> draw(const Rectangle& area, float scale,
                                                          std::span<const std::filesystem::path> recent,
                                                          const std::string& loses, Thumbnails& thumbnails);

 private:
  /// These return whether a file was chosen, as `path_`.
  bool draw_path();
  bool draw_completions();
  bool draw_recent(std::span<const std::filesystem::path> recent);
  bool draw_scenes(float scale, Thumbnails& thumbnails);
  void set_path(std::string path);

  bool open_ = false, appears_ = false;
  std::string path_, error_;
  std::vector<std::string> completions_;  // of path_
  std::vector<std::filesystem::path> scenes_;
  std::map<std::filesystem::path, std::string> descriptions_;
};

}  // namespace abut::viewer
