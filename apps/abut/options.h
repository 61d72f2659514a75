/// What the options of several verbs have in common.
#pragma once

#include <cstdint>
#include <limits>

#include <CLI/CLI.hpp>

namespace abut {

/// Accepts a decimal number in (0, inf); neither inf nor nan.
[[nodiscard]] CLI::Validator finite_positive();

/// Accepts a decimal number in [lower, upper], never nan; by default any finite one.
[[nodiscard]] CLI::Validator number_between(double lower = std::numeric_limits<double>::lowest(),
                                            double upper = std::numeric_limits<double>::max());

/// Accepts decimal digits alone, of a number in [lower, upper].
[[nodiscard]] CLI::Validator whole_number(std::uint64_t lower,
                                          std::uint64_t upper = std::numeric_limits<int>::max());

/// Makes every option of the program or verb refuse an empty value, such as --out "".
void refuse_empty_values(CLI::App& app);

}  // namespace abut
