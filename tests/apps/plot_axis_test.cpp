#include "apps/abut/plot_axis.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace abut::test {

TEST_CASE("axis_ticks: round numbers within the bounds, never too many, whatever the bounds",
          "[apps][property]") {
  CHECK(axis_ticks(0.0, 1.0, 5) == std::vector<double>{0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0});
  CHECK(axis_ticks(-0.3, 2.1, 3) == std::vector<double>{0.0, 1.0, 2.0});
  CHECK(axis_ticks(0.01, 1000.0, 10, true).size() == 6);
  CHECK(axis_ticks(1.0, 1.0, 5).empty());
  CHECK(axis_ticks(0.0, std::numeric_limits<double>::infinity(), 5).empty());
  CHECK(axis_ticks(std::nan(""), 1.0, 5).empty());
  CHECK(axis_ticks(-1.0, 1.0, 5, true).empty());
  CHECK(axis_ticks(1.0, std::nextafter(1.0, 2.0), 5).size() <= 2);
  for (const double size : {1e-9, 1e-3, 1.0, 37.0, 1e6}) {
    for (const double offset : {0.0, 0.3, -0.7, 100.0}) {
      for (const int most : {2, 4, 7}) {
        const double low = offset * size, high = low + size;
        CAPTURE(low, high, most);
        const auto ticks = axis_ticks(low, high, most);
        CHECK(ticks.size() >= 1);
        CHECK(ticks.size() <= static_cast<std::size_t>(most) + 1);
        for (const double tick : ticks) {
          CHECK(tick >= low - 1e-8 * size);
          CHECK(tick <= high + 1e-8 * size);
        }
        if (ticks.size() < 2) continue;
        const double spacing = ticks[1] - ticks[0],
                     leading = spacing / std::pow(10.0, std::floor(std::log10(spacing) + 1e-6));
        CHECK((std::abs(leading - 1.0) < 1e-5 || std::abs(leading - 2.0) < 1e-5 ||
               std::abs(leading - 5.0) < 1e-5));
        std::set<std::string> texts;
        for (const double tick : ticks) texts.insert(tick_text(tick, spacing));
        CHECK(texts.size() == ticks.size());  // told apart
      }
    }
  }
}

TEST_CASE("tick_text: as short as tells ticks apart", "[apps][value]") {
  CHECK(tick_text(0.6000000000000001, 0.2) == "0.6");
  CHECK(tick_text(0.0, 0.2) == "0");
  CHECK(tick_text(-20.0, 10.0) == "-20");
  CHECK(tick_text(1.25, 0.05) == "1.25");
  CHECK(tick_text(1e-6, 1e-6) == "1e-06");
  CHECK(tick_text(200000.0, 100000.0) == "2e+05");
  CHECK(tick_text(0.001, 0.0) == "0.001");
}

TEST_CASE("visible_samples: keep peaks, ends and gaps of a curve, and no more than a plot can show",
          "[apps][property]") {
  constexpr std::size_t k_count = 10000;
  std::vector<float> y(k_count);
  for (std::size_t i = 0; i < k_count; ++i) y[i] = std::sin(0.001f * static_cast<float>(i));
  y[4321] = 50.0f;
  y[7654] = -50.0f;
  y[6000] = std::numeric_limits<float>::quiet_NaN();
  const auto chosen = visible_samples(y, 300);
  CHECK(chosen.size() <= 3 * 300 + 2);
  CHECK(chosen.size() > 300);
  CHECK(std::is_sorted(chosen.begin(), chosen.end()));
  CHECK(std::adjacent_find(chosen.begin(), chosen.end()) == chosen.end());
  for (const std::size_t i :
       {std::size_t{0}, std::size_t{4321}, std::size_t{6000}, std::size_t{7654}, k_count - 1})
    CHECK(std::find(chosen.begin(), chosen.end(), i) != chosen.end());
  CHECK(visible_samples(std::vector<double>(y.begin(), y.end()), 300) == chosen);
  CHECK(visible_samples(std::vector<float>{}, 300).empty());
  const std::vector<float> few{1.0f, 2.0f};
  CHECK(visible_samples(few, 300) == std::vector<std::size_t>{0, 1});
  std::vector<float> nothing(k_count, std::numeric_limits<float>::quiet_NaN());
  CHECK_FALSE(visible_samples(nothing, 10).empty());
}

}  // namespace abut::test
