/// Files that appear whole or not at all.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace abut {

/// A file written under a temporary name in its own folder and given its own name by commit(). Without a
/// commit the destructor removes it, and what stood under that name before stays as it was. Something that is
/// neither a file nor a folder (a terminal, a pipe) is written to directly.
///
/// Every failure throws InputError with the path and the reason: no such folder, no permission, disk full.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  [[noreturn]] void fail(std::string_view what, int error);
  void discard() noexcept;

  std::filesystem::path path_, temporary_;  // temporary_ is empty where path_ is written to directly
  std::FILE* file_ = nullptr;
};

/// An AtomicFile opened, filled and committed.
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// The whole of a regular file. Throws InputError if it is missing, no regular file, or unreadable.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

}  // namespace abut
