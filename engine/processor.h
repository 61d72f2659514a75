/// Instructions of the processor that the kernels for a set of them need. The build reads this, too
/// (cmake/has_instruction_set.cpp).
#pragma once

namespace abut {

#if defined(__x86_64__)
inline bool processor_has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

inline bool processor_has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#else
inline bool processor_has_avx2() { return false; }
inline bool processor_has_avx512() { return false; }
#endif

}  // namespace abut
