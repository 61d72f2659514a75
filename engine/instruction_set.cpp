#include "engine/instruction_set.h"

#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "engine/pack.h"

#define ABUT_TEXT_OF(name) #name
#define ABUT_TEXT(name) ABUT_TEXT_OF(name)

namespace abut {

std::span<const std::string_view> available_instruction_sets() {
  static const std::vector<std::string_view> sets = [] {
    std::vector<std::string_view> list{ABUT_TEXT(ABUT_SIMD)};  // what the whole library is compiled for
#ifdef ABUT_MANY_INSTRUCTION_SETS
    if (list.front() == "sse2" && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      list.push_back("avx2");
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
      list.push_back("avx512");
    }
#endif
    return list;
  }();
  return sets;
}

std::string_view instruction_set() {
  static const std::string_view chosen = [] {
    const std::span<const std::string_view> available = available_instruction_sets();
    const char* wanted = std::getenv("ABUT_INSTRUCTION_SET");
    if (wanted == nullptr || *wanted == '\0') return available.back();
    for (const std::string_view set : available) {
      if (set == wanted) return set;
    }
    throw std::invalid_argument(fmt::format(
        "the environment variable ABUT_INSTRUCTION_SET is '{}', allowed with this machine and this "
        "build: {}",
        wanted, fmt::join(available, ", ")));
  }();
  return chosen;
}

}  // namespace abut
