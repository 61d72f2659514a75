#include "engine/instruction_set.h"

#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "engine/pack.h"
#include "engine/processor.h"

#define ABUT_TEXT_OF(name) #name
#define ABUT_TEXT(name) ABUT_TEXT_OF(name)

namespace abut {

std::span<const std::string_view> available_instruction_sets() {
  static const std::vector<std::string_view> sets = [] {
    std::vector<std::string_view> list{ABUT_TEXT(ABUT_SIMD)};  // what the whole library is compiled for
#ifdef ABUT_KERNELS_AVX2
    if (list.front() == "sse2" && processor_has_avx2()) list.push_back("avx2");
#endif
#ifdef ABUT_KERNELS_AVX512
    if (processor_has_avx512()) list.push_back("avx512");
#endif
    return list;
  }();
  return sets;
}

std::span<const std::string_view> left_out_instruction_sets() {
  static const std::vector<std::string_view> sets{
#ifndef ABUT_KERNELS_AVX2
      "avx2",
#endif
#ifndef ABUT_KERNELS_AVX512
      "avx512",
#endif
  };
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
