/// Loop over independent pieces of work, on threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/check.h"
#include "engine/types.h"

namespace abut {

/// Calls work(chunk) for each chunk in 0 ... count - 1, on `threads` threads (0: as many as the machine has).
///
/// Threads take the next chunk when they are free. A result depends on the number of threads only if chunks
/// share what they write. The first exception of a chunk ends the loop and is thrown again here.
template <typename Work>
void for_each_chunk(int count, int threads, const Work& work) {
  require(threads >= 0, "the number of threads must be >= 0");
  std::atomic<int> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto run = [&] {
    try {
      for (int chunk = next++; chunk < count; chunk = next++) work(chunk);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  const int wanted =
      threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<std::thread> helpers;
  for (int i = 1; i < std::min(wanted, count); ++i) helpers.emplace_back(run);
  run();
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace abut
