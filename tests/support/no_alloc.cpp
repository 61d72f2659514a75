#include "tests/support/no_alloc.h"

namespace {
thread_local std::size_t allocations = 0;
}

namespace abut::test {
std::size_t allocation_count() { return allocations; }
}  // namespace abut::test

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" {
// glibc's own, behind the name that is taken over here
void* __libc_malloc(std::size_t size);  // NOLINT(bugprone-reserved-identifier)

void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
}
#endif
