#include "apps/identification/number_text.h"

#include <algorithm>
#include <cmath>

#include <spdlog/fmt/fmt.h>

namespace abut {

std::string number_text(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  return fmt::format("{:.{}g}", value == 0.0 ? 0.0 : value, digits);  // no "-0"
}

std::string rounded_text(double value, double uncertainty) {
  constexpr double k_smallest = 1e-4, k_largest = 1e6;  // that are written without a power of ten
  constexpr int k_digits = 12;
  if (!std::isfinite(value) || !std::isfinite(uncertainty) || !(uncertainty > 0.0)) return number_text(value);
  const double size = std::max(std::abs(value), uncertainty);
  const int decimals = 1 - static_cast<int>(std::floor(std::log10(uncertainty)));
  const int exponent = static_cast<int>(std::floor(std::log10(size)));
  if (exponent + decimals > k_digits) return number_text(value, k_digits);
  if (size < k_smallest || size >= k_largest)
    return fmt::format("{:.{}e}", value == 0.0 ? 0.0 : value, std::max(exponent + decimals, 0));
  const double unit = std::pow(10.0, -decimals), rounded = std::round(value / unit) * unit;
  return fmt::format("{:.{}f}", rounded == 0.0 ? 0.0 : rounded, std::max(decimals, 0));
}

}  // namespace abut
