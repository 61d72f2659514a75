/// Pictures on their way to ffmpeg, which makes a video of them.
#pragma once

#include <filesystem>

#include <sys/types.h>

#include "apps/viewer/video_file.h"

namespace abut::viewer {

/// Whether there is an ffmpeg in PATH.
[[nodiscard]] bool has_ffmpeg();

/// Writes to a temporary name in the folder of the file, which gets its own when finish() is called.
class VideoPipe : public VideoFile {
 public:
  /// Throws InputError if the file cannot be written, or there is no ffmpeg.
  VideoPipe(std::filesystem::path file, int width, int height, int pictures_per_second);
  ~VideoPipe() override;  ///< what is not finished is removed

  /// Throws InputError if ffmpeg did not succeed.
  void finish() override;

 private:
  void write(const Image& picture) override;  ///< throws InputError if ffmpeg has given up
  void close_pipe();

  std::filesystem::path temporary_;
  int pipe_ = -1;
  pid_t process_ = -1;
};

}  // namespace abut::viewer
