/// Counts heap allocations: `NoAlloc guard; work(); const auto n = guard.allocations(); CHECK(n == 0);`.
///
/// no_alloc.cpp stands in for malloc in every test program, so operator new and Eigen are counted alike. Not
/// under the sanitizers, which do so themselves: then nothing is counted and k_counts_allocations is false.
#pragma once

#include <cstddef>

namespace abut::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool k_counts_allocations = false;
#else
inline constexpr bool k_counts_allocations = true;
#endif

/// Calls of malloc on this thread since it started.
[[nodiscard]] std::size_t allocation_count();

class NoAlloc {
 public:
  NoAlloc() : start_(allocation_count()) {}
  [[nodiscard]] std::size_t allocations() const { return allocation_count() - start_; }

 private:
  std::size_t start_;
};

}  // namespace abut::test
