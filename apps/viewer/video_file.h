/// Pictures that follow each other in time, on their way to a video or to files of their own.
#pragma once

#include <filesystem>
#include <memory>
#include <utility>

#include "apps/picture/image.h"

namespace abut::viewer {

class VideoFile {
 public:
  VideoFile(std::filesystem::path file, int pictures_per_second)
      : file_(std::move(file)), rate_(pictures_per_second) {}
  virtual ~VideoFile() = default;
  VideoFile(const VideoFile&) = delete;
  VideoFile& operator=(const VideoFile&) = delete;

  /// Adds the picture as often as the time since the first one asks for. Throws InputError if it cannot be
  /// written, or is of another size than the first.
  void add(const Image& picture, double seconds);
  /// Throws InputError if the file did not come to be.
  virtual void finish() = 0;
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  [[nodiscard]] int pictures() const { return written_; }

 protected:
  virtual void write(const Image& picture) = 0;

 private:
  std::filesystem::path file_;
  int rate_, width_ = 0, height_ = 0, written_ = 0;
};

/// NAME_00001.png, NAME_00002.png and so on for NAME.png.
class PictureSeries : public VideoFile {
 public:
  /// Throws InputError if files of that name cannot be written.
  PictureSeries(std::filesystem::path file, int pictures_per_second);
  void finish() override {}

 private:
  void write(const Image& picture) override;
};

/// A series of pictures for a name that ends in .png, else a VideoPipe. Throws InputError as these do.
[[nodiscard]] std::unique_ptr<VideoFile> make_video_file(const std::filesystem::path& file, int width,
                                                         int height, int pictures_per_second);

}  // namespace abut::viewer
