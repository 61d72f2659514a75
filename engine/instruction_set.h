/// The instruction sets that kernels are compiled for; which one runs is decided when the program starts.
#pragma once

#include <span>
#include <string_view>

namespace abut {

/// Those that this machine can run, by name ("sse2", "avx2", "avx512"), the widest last.
[[nodiscard]] std::span<const std::string_view> available_instruction_sets();

/// The widest of these, or what the environment variable ABUT_INSTRUCTION_SET asks for. Throws
/// std::runtime_error if it asks for one that this machine or this build does not have.
[[nodiscard]] std::string_view instruction_set();

}  // namespace abut
