#include "apps/viewer/video_pipe.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/trajectory_file.h"
#include "engine/input_error.h"

extern char** environ;

namespace abut::viewer {
namespace fs = std::filesystem;
namespace {

constexpr int k_patience = 5000, k_glance = 5;  // with ffmpeg [ms]

}  // namespace

bool has_ffmpeg() {
  const char* path = std::getenv("PATH");
  if (path == nullptr) return false;
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((fs::path(folder) / "ffmpeg").c_str(), X_OK) == 0) return true;
  }
  return false;
}

VideoPipe::VideoPipe(fs::path path, int width, int height, int pictures_per_second)
    : VideoFile(std::move(path), pictures_per_second) {
  require_output_path(file(), {".mp4", ".mkv", ".webm"});
  if (!has_ffmpeg()) throw InputError(file().string(), 0, "cannot be written: there is no ffmpeg in PATH");
  make_folder_of(file());
  temporary_ = file();
  temporary_.replace_filename(
      fmt::format(".{}.{}{}", file().stem().string(), ::getpid(), file().extension().string()));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw InputError(file().string(), 0, fmt::format("cannot be written: {}", std::strerror(errno)));
  std::vector<std::string> words{"ffmpeg",
                                 "-y",
                                 "-loglevel",
                                 "error",
                                 "-f",
                                 "rawvideo",
                                 "-pix_fmt",
                                 "rgb24",
                                 "-s",
                                 fmt::format("{}x{}", width, height),
                                 "-r",
                                 std::to_string(pictures_per_second),
                                 "-i",
                                 "-",
                                 "-vf",
                                 "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                                 "-pix_fmt",
                                 "yuv420p",
                                 temporary_.string()};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  const int error = ::posix_spawnp(&process_, "ffmpeg", &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[0]);
  pipe_ = ends[1];
  ::fcntl(pipe_, F_SETFL, O_NONBLOCK);
  if (error != 0) {
    process_ = -1;
    close_pipe();
    throw InputError(file().string(), 0, fmt::format("cannot start ffmpeg: {}", std::strerror(error)));
  }
  std::signal(SIGPIPE, SIG_IGN);  // an ffmpeg that has given up is an error of write()
}

VideoPipe::~VideoPipe() {
  close_pipe();
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

void VideoPipe::close_pipe() {
  if (pipe_ >= 0) ::close(pipe_);
  pipe_ = -1;
}

void VideoPipe::write(const Image& picture) {
  std::size_t done = 0;
  while (done < picture.pixels.size()) {
    const ssize_t n = ::write(pipe_, picture.pixels.data() + done, picture.pixels.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      pollfd room{pipe_, POLLOUT, 0};
      if (::poll(&room, 1, k_patience) > 0) continue;
      throw InputError(file().string(), 0, "ffmpeg takes no more pictures: the video ends");
    }
    if (n <= 0) throw InputError(file().string(), 0, "ffmpeg has given up; the terminal has its reasons");
    done += static_cast<std::size_t>(n);
  }
}

void VideoPipe::finish() {
  close_pipe();
  int status = 0;
  pid_t ended = 0;
  for (int waited = 0; process_ > 0 && ended == 0 && waited < k_patience; waited += k_glance) {
    ended = ::waitpid(process_, &status, WNOHANG);
    if (ended == 0) std::this_thread::sleep_for(std::chrono::milliseconds(k_glance));
  }
  if (ended == 0) throw InputError(file().string(), 0, "ffmpeg does not come to an end");
  process_ = -1;
  if (ended < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw InputError(file().string(), 0, "ffmpeg has given up; the terminal has its reasons");
  std::error_code error;
  fs::rename(temporary_, file(), error);
  if (error) throw InputError(file().string(), 0, fmt::format("cannot be written: {}", error.message()));
}

}  // namespace abut::viewer
