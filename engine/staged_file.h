/// Files that a function writes by path, and that get their names together.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <unistd.h>

#include <spdlog/fmt/fmt.h>

#include "engine/atomic_file.h"
#include "engine/input_error.h"

namespace abut {

/// A file that is written whole under temporary(), a name in the folder of its own, which commit() gives it
/// by a rename alone. Without a commit the destructor removes it, and what stood under that name before stays
/// as it was. Of several files, all can so be complete before the first gets its name.
///
/// Throws InputError with the path and the reason where nothing can be written there.
class StagedFile {
 public:
  explicit StagedFile(std::filesystem::path path) : path_(std::move(path)) {
    { const AtomicFile attempt(path_); }
    std::error_code ignored;
    // What a symbolic link points to is replaced, not the link.
    if (std::filesystem::is_symlink(path_, ignored) && std::filesystem::exists(path_, ignored))
      path_ = std::filesystem::canonical(path_);
    static std::atomic<unsigned> counter{0};
    // Short, so that a name that is allowed is not too long with what write_file() adds to it.
    temporary_ = path_.parent_path() / fmt::format(".{}.{}.tmp", ::getpid(), counter++);
  }
  ~StagedFile() {
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);  // not there after a commit
  }
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;

  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }

  void commit() {
    std::error_code error;
    std::filesystem::rename(temporary_, path_, error);
    if (error)
      throw InputError(path_.string(), 0, fmt::format("cannot be given its name: {}", error.message()));
  }

 private:
  std::filesystem::path path_, temporary_;
};

}  // namespace abut
