#include "engine/atomic_file.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <spdlog/fmt/fmt.h>

#include "engine/input_error.h"

namespace abut {
namespace fs = std::filesystem;

namespace {

/// A name that no other thread or process uses, in the folder of `path`: rename() works within one file
/// system only.
fs::path temporary_name(const fs::path& path) {
  static std::atomic<unsigned> counter{0};
  return path.parent_path() / fmt::format(".{}.{}.{}.tmp", path.filename().string(), ::getpid(), counter++);
}

}  // namespace

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  if (!path_.has_filename()) throw InputError(path_.string(), 0, "cannot be written: not the name of a file");
  std::error_code ignored;
  const fs::file_status status = fs::status(path_, ignored);
  if (fs::is_directory(status)) throw InputError(path_.string(), 0, "cannot be written: it is a folder");
  const fs::path folder = path_.has_parent_path() ? path_.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ignored)) {
    throw InputError(path_.string(), 0,
                     fmt::format("cannot be written: there is no folder '{}'", folder.string()));
  }
  const bool is_device = fs::exists(status) && !fs::is_regular_file(status);
  // What a symbolic link points to is replaced, not the link.
  if (fs::is_regular_file(status) && fs::is_symlink(fs::symlink_status(path_, ignored))) {
    path_ = fs::canonical(path_);
  }
  int descriptor = -1;
  if (is_device) {
    descriptor = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    temporary_ = temporary_name(path_);
    descriptor = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  if (descriptor < 0) {
    const int error = errno;
    temporary_.clear();  // not ours to remove
    fail("cannot be written", error);
  }
  file_ = ::fdopen(descriptor, "wb");
  if (file_ == nullptr) {
    const int error = errno;
    ::close(descriptor);
    fail("cannot be written", error);
  }
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail("cannot be written", errno);
}

void AtomicFile::commit() {
  std::FILE* const file = std::exchange(file_, nullptr);
  const bool flushed = std::fflush(file) == 0;
  const int flush_error = errno;
  const bool closed = std::fclose(file) == 0;
  if (!flushed) fail("cannot be written", flush_error);
  if (!closed) fail("cannot be written", errno);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be given its name", errno);
  temporary_.clear();
}

void AtomicFile::fail(std::string_view what, int error) {
  discard();
  throw InputError(path_.string(), 0, fmt::format("{}: {}", what, std::strerror(error)));
}

void AtomicFile::discard() noexcept {
  if (file_ != nullptr) std::fclose(std::exchange(file_, nullptr));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void write_file(const fs::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

std::string read_file(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    throw InputError(path.string(), 0,
                     status.type() == fs::file_type::not_found
                         ? "no such file"
                         : fmt::format("cannot be read: {}", error.message()));
  }
  if (fs::is_directory(status)) throw InputError(path.string(), 0, "is a folder, not a file");
  if (!fs::is_regular_file(status)) throw InputError(path.string(), 0, "is not a regular file");

  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr)
    throw InputError(path.string(), 0, fmt::format("cannot be read: {}", std::strerror(errno)));
  std::string bytes;
  char buffer[1 << 16];
  std::size_t count = 0;
  while ((count = std::fread(buffer, 1, sizeof(buffer), file)) > 0) bytes.append(buffer, count);
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  if (failed) throw InputError(path.string(), 0, "cannot be read: the medium reports an error");
  return bytes;
}

}  // namespace abut
