#include "apps/viewer/video_file.h"

#include <spdlog/fmt/fmt.h>

#include "apps/abut/trajectory_file.h"
#include "apps/viewer/video_pipe.h"
#include "engine/input_error.h"

namespace abut::viewer {

void VideoFile::add(const Image& picture, double seconds) {
  if (written_ == 0) {
    width_ = picture.width;
    height_ = picture.height;
  }
  if (picture.width != width_ || picture.height != height_)
    throw InputError(file_.string(), 0, "the window has changed its size: the video ends");
  const int wanted = 1 + static_cast<int>(seconds * rate_);
  for (; written_ < wanted; ++written_) write(picture);
}

PictureSeries::PictureSeries(std::filesystem::path file, int pictures_per_second)
    : VideoFile(std::move(file), pictures_per_second) {
  require_output_path(this->file(), {".png"});
  make_folder_of(this->file());
}

void PictureSeries::write(const Image& picture) {
  std::filesystem::path numbered = file();
  numbered.replace_filename(fmt::format("{}_{:05}.png", file().stem().string(), pictures() + 1));
  write_png(numbered, picture);
}

std::unique_ptr<VideoFile> make_video_file(const std::filesystem::path& file, int width, int height,
                                           int pictures_per_second) {
  if (file.extension() == ".png") return std::make_unique<PictureSeries>(file, pictures_per_second);
  return std::make_unique<VideoPipe>(file, width, height, pictures_per_second);
}

}  // namespace abut::viewer
