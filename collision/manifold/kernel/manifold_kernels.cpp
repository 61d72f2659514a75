#include "collision/manifold/kernel/manifold_kernels.h"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

namespace abut {

// Each in a file of its own, compiled for its instruction set.
ManifoldKernels manifold_kernels_base();
#ifdef ABUT_MANY_INSTRUCTION_SETS
ManifoldKernels manifold_kernels_avx2();
ManifoldKernels manifold_kernels_avx512();
#endif

std::span<const ManifoldKernels> available_manifold_kernels() {
  static const std::vector<ManifoldKernels> kernels = [] {
    std::vector<ManifoldKernels> list{manifold_kernels_base()};
#ifdef ABUT_MANY_INSTRUCTION_SETS
    const bool has_avx2 = list.front().instruction_set != "sse2";  // the whole library is compiled for it
    if (!has_avx2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      list.push_back(manifold_kernels_avx2());
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
      list.push_back(manifold_kernels_avx512());
    }
#endif
    return list;
  }();
  return kernels;
}

const ManifoldKernels& manifold_kernels() {
  static const ManifoldKernels& chosen = []() -> const ManifoldKernels& {
    const std::span<const ManifoldKernels> available = available_manifold_kernels();
    const char* wanted = std::getenv("ABUT_INSTRUCTION_SET");
    if (wanted == nullptr || *wanted == '\0') return available.back();
    std::string names;
    for (const ManifoldKernels& kernels : available) {
      if (kernels.instruction_set == wanted) return kernels;
      names += fmt::format("{}{}", names.empty() ? "" : ", ", kernels.instruction_set);
    }
    throw std::runtime_error(
        fmt::format("ABUT_INSTRUCTION_SET is '{}'; this machine and this build have: {}", wanted, names));
  }();
  return chosen;
}

}  // namespace abut
