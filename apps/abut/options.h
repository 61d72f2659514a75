/// What the options of several verbs have in common.
#pragma once

#include <cstdint>
#include <limits>

#include <CLI/CLI.hpp>

namespace abut {

/// Accepts a decimal number in (0, inf); neither inf nor nan.
[[nodiscard]] CLI::Validator finite_positive();

/// Accepts decimal digits alone, of a number in [lower, upper].
[[nodiscard]] CLI::Validator whole_number(std::uint64_t lower,
                                          std::uint64_t upper = std::numeric_limits<int>::max());

}  // namespace abut
