/// Ranges of numbers that a key of a file, or a parameter, may have.
#pragma once

#include <string>

#include "engine/types.h"

namespace abut {

/// An interval. NaN is in none.
struct NumberRange {
  double lower, upper;
  bool lower_excluded = false;
  bool infinity_allowed = false;
  bool upper_excluded = false;

  [[nodiscard]] bool contains(double x) const;
  [[nodiscard]] std::string text() const;  ///< "> 0, finite", "[0.02, 1.9]"
};

[[nodiscard]] constexpr NumberRange any_number() { return {-k_infinity, k_infinity}; }
[[nodiscard]] constexpr NumberRange positive() { return {0.0, k_infinity, true}; }
[[nodiscard]] constexpr NumberRange positive_or_infinite() { return {0.0, k_infinity, true, true}; }
[[nodiscard]] constexpr NumberRange at_least(double lower) { return {lower, k_infinity}; }
[[nodiscard]] constexpr NumberRange between(double lower, double upper) { return {lower, upper}; }
[[nodiscard]] constexpr NumberRange strictly_between(double lower, double upper) {
  return {lower, upper, true, false, true};
}

}  // namespace abut
