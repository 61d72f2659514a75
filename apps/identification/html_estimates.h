/// What was found, as a table of a page: each number with its 95 % interval, drawn on one scale.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/identification/identification_report.h"

namespace abut {

/// A unit of SI with its powers set high: "kg m^2", "m s^-1".
[[nodiscard]] std::string unit_html(std::string_view unit);

/// A number of at most so many digits; far from 1 with a power of ten set high. "–" for NaN.
[[nodiscard]] std::string number_html(double value, int digits = 4);

/// A number with half of its 95 % interval and its unit: "0.412 ± 0.013 kg"; "0.412 +0.015 −0.011 kg" where
/// the interval is not symmetric, the number alone where there is none.
[[nodiscard]] std::string estimate_html(const EstimateRow& row);

/// A row for each number: its name, what was known before, what was found, and where all of this lies
/// relative to the estimate, in standard deviations (linear near 0, logarithmic far away).
[[nodiscard]] std::string estimate_table_html(const std::vector<EstimateRow>& rows);

}  // namespace abut
