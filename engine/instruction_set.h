/// The instruction sets that kernels are compiled for; which one runs is decided when the program starts.
#pragma once

#include <span>
#include <string_view>

namespace abut {

/// Those that this machine can run, by name ("sse2", "avx2", "avx512"), the widest last.
[[nodiscard]] std::span<const std::string_view> available_instruction_sets();

/// Those that the build left kernels out for (ABUT_KERNEL_SETS in cmake/AbutTargets.cmake).
[[nodiscard]] std::span<const std::string_view> left_out_instruction_sets();

/// The widest available one, or what the environment variable ABUT_INSTRUCTION_SET asks for. Throws
/// std::invalid_argument if it asks for one that this machine or this build does not have.
[[nodiscard]] std::string_view instruction_set();

/// The kernels for one of available_instruction_sets(). `Kernels` is a table of pointers to functions that
/// are compiled for each instruction set (abut_add_kernels() in cmake/AbutTargets.cmake). Its static members
/// base(), avx2() and avx512() return the tables; each is defined in the file compiled for it, as
/// `ABUT_COMPILATION`.
template <typename Kernels>
[[nodiscard]] Kernels kernels_for([[maybe_unused]] std::string_view set) {
#ifdef ABUT_KERNELS_AVX2
  if (set == "avx2") return Kernels::avx2();
#endif
#ifdef ABUT_KERNELS_AVX512
  if (set == "avx512") return Kernels::avx512();
#endif
  return Kernels::base();
}

/// The kernels for instruction_set().
template <typename Kernels>
[[nodiscard]] const Kernels& chosen_kernels() {
  static const Kernels chosen = kernels_for<Kernels>(instruction_set());
  return chosen;
}

}  // namespace abut
