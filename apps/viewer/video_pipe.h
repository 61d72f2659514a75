/// Pictures on their way to ffmpeg, which makes a video of them.
#pragma once

#include <filesystem>

#include <sys/types.h>

#include "apps/picture/image.h"

namespace abut::viewer {

/// Whether there is an ffmpeg in PATH.
[[nodiscard]] bool has_ffmpeg();

/// Writes to a temporary name in the folder of the file, which gets its own when finish() is called.
class VideoPipe {
 public:
  /// Throws InputError if the file cannot be written, or there is no ffmpeg.
  VideoPipe(std::filesystem::path file, int width, int height, int pictures_per_second);
  ~VideoPipe();  ///< what is not finished is removed
  VideoPipe(const VideoPipe&) = delete;
  VideoPipe& operator=(const VideoPipe&) = delete;

  /// Adds the picture as often as the time since the first one asks for. Throws InputError if ffmpeg has
  /// given up, or the picture is of another size.
  void add(const Image& picture, double seconds);
  /// Throws InputError if ffmpeg did not succeed.
  void finish();
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  [[nodiscard]] int pictures() const { return written_; }

 private:
  void close_pipe();

  std::filesystem::path file_, temporary_;
  int width_, height_, rate_, pipe_ = -1;
  int written_ = 0;
  pid_t process_ = -1;
};

}  // namespace abut::viewer
