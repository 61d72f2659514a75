#include "tests/benchmarks/paper000/soft_sort.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "tests/support/close.h"

namespace abut {
namespace {

using test::close;

TEST_CASE("paper_top_k: rows add up to 1, and narrow ones pick the K least in order", "[collision][value]") {
  const std::vector<double> metrics{0.3, -0.2, 0.1, 0.7, -0.5};
  std::vector<double> sorted(5), weights(15);
  paper_top_k<double>(metrics, 3, 1e-3, sorted, weights);
  const int expected[3] = {4, 1, 2};
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t i = 0; i < 5; ++i)
      CHECK(close(weights[5 * k + i], static_cast<int>(i) == expected[k] ? 1.0 : 0.0, 0, 1e-12));
  }
  paper_top_k<double>(metrics, 3, 0.5, sorted, weights);
  for (std::size_t k = 0; k < 3; ++k) {
    const double sum = std::accumulate(weights.begin() + std::ptrdiff_t(5 * k),
                                       weights.begin() + std::ptrdiff_t(5 * k + 5), 0.0);
    CHECK(close(sum, 1.0, 1e-14, 0));
    for (std::size_t i = 0; i < 5; ++i) {
      const double of_least = std::exp(-std::abs(sorted[k] - metrics[i]) / 0.5);
      const double of_chosen = std::exp(-std::abs(sorted[k] - metrics[4]) / 0.5);
      CHECK(close(weights[5 * k + i] / weights[5 * k + 4], of_least / of_chosen, 1e-12, 0));
    }
  }
}

}  // namespace
}  // namespace abut
