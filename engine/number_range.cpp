#include "engine/number_range.h"

#include <cmath>

#include <spdlog/fmt/fmt.h>

namespace abut {

bool NumberRange::contains(double x) const {
  if (std::isnan(x) || (std::isinf(x) && !infinity_allowed)) return false;
  return (lower_excluded ? x > lower : x >= lower) && (upper_excluded ? x < upper : x <= upper);
}

std::string NumberRange::text() const {
  const bool has_lower = lower > -k_infinity, has_upper = upper < k_infinity;
  if (has_lower && has_upper) {
    return fmt::format("{}{}, {}{}", lower_excluded ? "(" : "[", lower, upper, upper_excluded ? ")" : "]");
  }
  if (!has_lower && !has_upper) return "any finite number";
  if (has_upper) return fmt::format("<= {}", upper);
  return fmt::format("{} {}, {}", lower_excluded ? ">" : ">=", lower, infinity_allowed ? "or inf" : "finite");
}

}  // namespace abut
