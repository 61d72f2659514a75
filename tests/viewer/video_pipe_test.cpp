#include "apps/viewer/video_pipe.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "engine/atomic_file.h"
#include "engine/input_error.h"
#include "tests/support/temporary_folder.h"

namespace abut::viewer {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using test::TemporaryFolder;

/// A PATH in which `ffmpeg` is a script, or nothing, as long as it lives.
class WithFfmpeg {
 public:
  explicit WithFfmpeg(const std::string& script) {
    if (!script.empty())
      fs::permissions(folder_.write("ffmpeg", "#!/bin/sh\n" + script), fs::perms::owner_all);
    const char* path = std::getenv("PATH");
    path_ = path ? path : "";
    // The programs that scripts here need lie in /bin; a real ffmpeg would not.
    ::setenv("PATH", script.empty() ? folder_.path().c_str() : (folder_.path().string() + ":/bin").c_str(),
             1);
  }
  ~WithFfmpeg() { ::setenv("PATH", path_.c_str(), 1); }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

// The last argument is the file that ffmpeg is to write.
const std::string k_copies = "for last; do :; done\ncat > \"$last\"\n";

Image picture(std::uint8_t level) {
  Image image;
  image.width = 6;
  image.height = 4;
  image.pixels.assign(3u * 6u * 4u, level);
  return image;
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("PictureSeries: numbered files without ffmpeg, as often as their times ask for",
          "[viewer][value]") {
  const WithFfmpeg none("");
  const TemporaryFolder folder;
  const std::unique_ptr<VideoFile> video = make_video_file(folder.path() / "new" / "drop.png", 6, 4, 10);
  video->add(picture(1), 0.0);
  video->add(picture(2), 0.05);
  video->add(picture(3), 0.25);
  video->finish();
  CHECK(video->pictures() == 3);
  CHECK(files_in(folder.path() / "new") == 3);
  CHECK(fs::exists(folder.path() / "new" / "drop_00003.png"));
  Image other = picture(1);
  other.height = 3;
  CHECK_THROWS_WITH(video->add(other, 1.0), Contains("size"));
}

TEST_CASE("VideoPipe: pictures arrive as often as their times ask for, the file when it is finished",
          "[viewer][value]") {
  const WithFfmpeg ffmpeg(k_copies);
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "new" / "video.mp4";
  REQUIRE(has_ffmpeg());
  VideoPipe video(file, 6, 4, 10);
  video.add(picture(1), 0.0);
  video.add(picture(2), 0.05);  // too early for another
  video.add(picture(3), 0.35);  // three at once
  CHECK(video.pictures() == 4);
  CHECK_FALSE(fs::exists(file));
  video.finish();
  const std::string bytes = read_file(file);
  REQUIRE(bytes.size() == 4u * 72u);
  CHECK(bytes[0] == 1);
  CHECK(bytes[72] == 3);
  CHECK(bytes[3 * 72] == 3);
  CHECK(files_in(file.parent_path()) == 1);
}

TEST_CASE("VideoPipe: what goes wrong is said, and leaves no file behind", "[viewer][value]") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "video.mp4";
  {
    const WithFfmpeg none("");
    CHECK_FALSE(has_ffmpeg());
    CHECK_THROWS_WITH(VideoPipe(file, 6, 4, 30), Contains("video.mp4") && Contains("no ffmpeg"));
  }
  const WithFfmpeg ffmpeg(k_copies);
  CHECK_THROWS_WITH(VideoPipe(folder.path() / "video.gif", 6, 4, 30), Contains(".mp4"));
  CHECK_THROWS_AS(VideoPipe("/proc/no/video.mp4", 6, 4, 30), InputError);
  {
    VideoPipe video(file, 6, 4, 30);
    video.add(picture(0), 0.0);
    Image other = picture(0);
    other.width = 8;
    CHECK_THROWS_WITH(video.add(other, 0.1), Contains("size"));
  }  // not finished
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("VideoPipe: an ffmpeg that gives up is an error, at once or in the end", "[viewer][value]") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "video.mp4";
  {
    const WithFfmpeg ffmpeg("exit 3\n");
    VideoPipe video(file, 640, 480, 30);
    Image large;
    large.width = 640;
    large.height = 480;
    large.pixels.assign(3u * 640u * 480u, 0);
    const auto record = [&] {
      for (int i = 0; i < 100; ++i) video.add(large, 0.1 * i);
      video.finish();
    };
    CHECK_THROWS_WITH(record(), Contains("given up"));
  }
  {
    const WithFfmpeg ffmpeg(k_copies + "exit 1\n");
    VideoPipe video(file, 6, 4, 30);
    video.add(picture(0), 0.0);
    CHECK_THROWS_WITH(video.finish(), Contains("given up"));
  }
  {
    const WithFfmpeg ffmpeg("exec sleep 600\n");  // takes nothing, and does not end
    Image large;
    large.width = large.height = 400;
    large.pixels.assign(3u * 400u * 400u, 0);
    VideoPipe video(file, 400, 400, 30);
    CHECK_THROWS_WITH(video.add(large, 0.0), Contains("no more"));
    CHECK_THROWS_WITH(video.finish(), Contains("not come to an end"));
  }
  CHECK(files_in(folder.path()) == 0);
}

}  // namespace abut::viewer
