#include "apps/viewer/legend.h"

#include <algorithm>
#include <cmath>

namespace abut::viewer {

void Legend::add(LegendEntry entry) {
  const bool is_there = std::any_of(entries.begin(), entries.end(),
                                    [&](const LegendEntry& other) { return other.text == entry.text; });
  if (!is_there) entries.push_back(std::move(entry));
}

double round_down(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  const double digit = value / power;
  return power * (digit >= 5.0 ? 5.0 : digit >= 2.0 ? 2.0 : 1.0);
}

double round_up(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  const double digit = value / power;
  return power * (digit > 5.0 ? 10.0 : digit > 2.0 ? 5.0 : digit > 1.0 ? 2.0 : 1.0);
}

}  // namespace abut::viewer
