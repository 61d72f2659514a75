/// The rollouts of a batch that have finished, in a file that grows with each: what is left after the program
/// was stopped, by a user or by a crash.
///
/// A line says what the file is, a 64-bit key follows that tells of which inputs; then records: the length of
/// the contents (32 bits), a checksum of them (64 bits, FNV-1a), the contents. All little endian. What
/// follows the last whole record, half a record say, counts for nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string_view>

#include "dynamics/batch_rollout.h"

namespace abut {

class BatchJournal {
 public:
  /// Opens the file, or makes it. What it holds already becomes `finished` if `resume`, and is refused
  /// otherwise. Throws InputError: it cannot be written, is in use by another program, no journal, or one
  /// with another key.
  BatchJournal(std::filesystem::path path, std::uint64_t key, bool resume);
  ~BatchJournal();
  BatchJournal(const BatchJournal&) = delete;
  BatchJournal& operator=(const BatchJournal&) = delete;

  /// What the file held when it was opened.
  [[nodiscard]] std::map<int, BatchResult>& finished() { return finished_; }

  /// Once it returns, the record survives the end of the program. Throws InputError.
  void add(int rollout, const BatchResult& result);

  /// Deletes the file: what it held has been written elsewhere.
  void remove();

 private:
  [[noreturn]] void fail(std::string_view what) const;
  /// Reads all whole records and returns where they end.
  std::size_t read(std::string_view bytes, std::uint64_t key, bool resume);
  void write(std::string_view bytes);

  std::filesystem::path path_;
  int file_ = -1;
  std::map<int, BatchResult> finished_;
};

}  // namespace abut
