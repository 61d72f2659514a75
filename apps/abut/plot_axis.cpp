#include "apps/abut/plot_axis.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <spdlog/fmt/fmt.h>

namespace abut {
namespace {

template <typename Number>
std::vector<std::size_t> visible_of(std::span<const Number> y, int pixels) {
  const std::size_t n = y.size();
  std::vector<std::size_t> chosen;
  if (n == 0) return chosen;
  const auto columns = static_cast<std::size_t>(std::max(pixels, 1));
  if (n <= 2 * columns) {
    for (std::size_t i = 0; i < n; ++i) chosen.push_back(i);
    return chosen;
  }
  const auto add = [&](std::size_t i) {
    if (chosen.empty() || i > chosen.back()) chosen.push_back(i);
  };
  add(0);
  for (std::size_t c = 0; c < columns; ++c) {
    const std::size_t begin = c * n / columns, end = (c + 1) * n / columns;
    std::size_t least = begin, most = begin;
    bool is_broken = false;
    std::size_t gap = begin;
    for (std::size_t i = begin; i < end; ++i) {
      if (!std::isfinite(y[i])) {
        is_broken = true;
        gap = i;
        continue;
      }
      if (!std::isfinite(y[least]) || y[i] < y[least]) least = i;
      if (!std::isfinite(y[most]) || y[i] > y[most]) most = i;
    }
    std::size_t places[] = {least, most, is_broken ? gap : most};
    std::sort(std::begin(places), std::end(places));
    for (const std::size_t i : places) add(i);
  }
  add(n - 1);
  return chosen;
}

}  // namespace

std::vector<double> axis_ticks(double lowest, double highest, int most, bool logarithmic) {
  std::vector<double> ticks;
  if (!std::isfinite(lowest) || !std::isfinite(highest) || !(lowest < highest) || most < 1) return ticks;
  if (logarithmic) {
    if (!(lowest > 0.0)) return ticks;
    const int first = static_cast<int>(std::ceil(std::log10(lowest) - 1e-9)),
              last = static_cast<int>(std::floor(std::log10(highest) + 1e-9));
    const int stride = std::max(1, (last - first + most) / most);
    for (int power = first; power <= last; power += stride) ticks.push_back(std::pow(10.0, power));
    return ticks;
  }
  const double least_spacing = (highest - lowest) / most;
  const double decade = std::pow(10.0, std::floor(std::log10(least_spacing)));
  double spacing = 10.0 * decade;
  for (const double step : {1.0, 2.0, 5.0}) {
    if (step * decade >= least_spacing * (1.0 - 1e-9)) {
      spacing = step * decade;
      break;
    }
  }
  const double first = std::ceil(lowest / spacing - 1e-9), last = std::floor(highest / spacing + 1e-9);
  if (!(last - first < 1000.0)) return ticks;
  for (double i = first; i <= last; i += 1.0) {
    const double tick = i * spacing;
    // Beyond the digits of a double the next one is the same.
    if (!ticks.empty() && tick <= ticks.back()) return {};
    ticks.push_back(tick == 0.0 ? 0.0 : tick);
  }
  return ticks;
}

std::string tick_text(double tick, double spacing) {
  const double size = std::abs(tick);
  if (tick == 0.0) return "0";
  if (!(spacing > 0.0)) return fmt::format("{:.4g}", tick);
  if (size >= 1e5 || size < 1e-3 || spacing < 1e-4) {
    const int digits = std::clamp(static_cast<int>(std::ceil(std::log10(size / spacing) - 1e-9)) + 1, 1, 12);
    return fmt::format("{:.{}g}", tick, digits);
  }
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(spacing) - 1e-9)));
  return fmt::format("{:.{}f}", tick, decimals);
}

std::vector<std::size_t> visible_samples(std::span<const float> y, int pixels) {
  return visible_of(y, pixels);
}

std::vector<std::size_t> visible_samples(std::span<const double> y, int pixels) {
  return visible_of(y, pixels);
}

}  // namespace abut
