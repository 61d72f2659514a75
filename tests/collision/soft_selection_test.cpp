#include "collision/manifold/soft_selection.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/random.h"
#include "engine/types.h"
#include "tests/support/close.h"
#include "tests/support/gradient_check.h"
#include "tests/support/no_alloc.h"

namespace abut {
namespace {

using test::close;

constexpr double k_band = 0.016, k_largest = 0.032;

template <typename T>
std::vector<T> weights_of(const std::vector<T>& metrics, int count, T band = T(k_band),
                          T largest = T(k_largest)) {
  const SoftSelection<T> selection = soft_selection<T>(metrics, count, band, largest);
  std::vector<T> weights;
  for (const T m : metrics) weights.push_back(selection.weight(m));
  return weights;
}

/// n metrics, about `near` of them below k_largest, some equal, the rest clamped to it.
std::vector<double> random_metrics(Random& random, int n, double near) {
  std::vector<double> metrics;
  for (int i = 0; i < n; ++i) {
    const bool is_far = random.uniform() * n > near;
    metrics.push_back(is_far ? k_largest : random.uniform(-0.03, k_largest));
    if (i > 0 && random.uniform() < 0.05) metrics.back() = metrics[static_cast<std::size_t>(i - 1)];
  }
  return metrics;
}

/// A number of near metrics for every regime: fewer than K, about K, many more.
double random_near(Random& random) { return std::pow(10.0, random.uniform(0.0, 2.5)); }

TEST_CASE("soft_selection: the weights and the phantom add up to K", "[collision][value]") {
  Random random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const int n = 20 + static_cast<int>(random.integer(300)),
              count = 1 + static_cast<int>(random.integer(19));
    const std::vector<double> metrics = random_metrics(random, n, random_near(random));
    const SoftSelection<double> selection = soft_selection<double>(metrics, count, k_band, k_largest);
    double sum = count * smoothstep5((selection.threshold - k_largest + k_band) / k_band);
    for (const double m : metrics) {
      const double w = selection.weight(m);
      sum += w;
      REQUIRE((w >= 0.0 && w <= 1.0));
      if (m == k_largest) REQUIRE(w == 0.0);
      if (m >= selection.threshold) REQUIRE(w == 0.0);
      if (m <= selection.threshold - k_band) REQUIRE(w >= 1.0 - 1e-15);
    }
    CAPTURE(n, count, selection.threshold);
    REQUIRE(selection.threshold <= k_largest);
    REQUIRE(close(sum, count, 1e-12, 0));
  }
}

TEST_CASE("soft_selection: a wide gap after the K-th gives weights of exactly 1 and 0",
          "[collision][value]") {
  std::vector<double> metrics;
  for (int i = 0; i < 50; ++i) metrics.push_back(i < 18 ? -0.05 + 1e-4 * i : 0.02 + 1e-4 * i);
  const std::vector<double> weights = weights_of(metrics, 18);
  for (std::size_t i = 0; i < 50; ++i) CHECK(close(weights[i], i < 18 ? 1.0 : 0.0, 0, 1e-13));
}

TEST_CASE("soft_selection: with K at least the count all weights are exactly 1 and constant",
          "[collision][value]") {
  const std::vector<double> metrics{-0.01, 0.0, 0.031, k_largest};
  for (const int count : {4, 5, 100}) {
    const SoftSelection<double> selection = soft_selection<double>(metrics, count, k_band, k_largest);
    std::vector<double> bar(4, 1.0), out(4, 7.0);
    soft_selection_vjp<double>(metrics, selection, bar, out);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(selection.weight(metrics[i]) == 1.0);
      CHECK(out[i] == 0.0);
    }
  }
  CHECK(soft_selection<double>(std::vector<double>{}, 1, k_band, k_largest).all);
}

TEST_CASE("soft_selection: ties share, far metrics alone get nothing", "[collision][value]") {
  for (const double w : weights_of(std::vector<double>(10, -0.02), 4)) CHECK(close(w, 0.4, 1e-12, 0));
  for (const double w : weights_of(std::vector<double>(10, k_largest), 4)) CHECK(w == 0.0);
}

TEST_CASE("soft_selection: does not depend on the order of the metrics", "[collision][property]") {
  Random random(2);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> metrics = random_metrics(random, 100, random_near(random));
    const std::vector<double> before = weights_of(metrics, 12);
    std::reverse(metrics.begin(), metrics.end());
    std::vector<double> after = weights_of(metrics, 12);
    std::reverse(after.begin(), after.end());
    for (std::size_t i = 0; i < before.size(); ++i) REQUIRE(close(before[i], after[i], 1e-10, 1e-12));
  }
}

TEST_CASE("soft_selection: float32 agrees with float64", "[collision][value]") {
  Random random(3);
  for (int trial = 0; trial < 500; ++trial) {
    const std::vector<double> metrics = random_metrics(random, 200, random_near(random));
    const std::vector<float> single(metrics.begin(), metrics.end());
    const std::vector<double> expected = weights_of(metrics, 18);
    const std::vector<float> weights = weights_of<float>(single, 18, float(k_band), float(k_largest));
    for (std::size_t i = 0; i < metrics.size(); ++i) REQUIRE(close(weights[i], expected[i], 0, 2e-4));
  }
}

TEST_CASE("soft_selection: JVP and VJP are those of differences", "[collision][derivative]") {
  Random random(4);
  std::vector<double> errors;
  double largest = 0.0;
  for (int trial = 0; trial < 10000; ++trial) {
    const int n = 20 + static_cast<int>(random.integer(30)), count = 1 + static_cast<int>(random.integer(15));
    std::vector<double> metrics = random_metrics(random, n, random_near(random));
    for (double& m : metrics) m = std::min(m, k_largest - 1e-6);
    std::vector<double> direction, bar;
    for (int i = 0; i < n; ++i) {
      direction.push_back(random.uniform(-1.0, 1.0));
      bar.push_back(random.uniform(-1.0, 1.0));
    }
    const SoftSelection<double> selection = soft_selection<double>(metrics, count, k_band, k_largest);
    std::vector<double> weights_dot(metrics.size()), metrics_bar(metrics.size());
    soft_selection_jvp<double>(metrics, selection, direction, weights_dot);
    soft_selection_vjp<double>(metrics, selection, bar, metrics_bar);
    const double forward = std::inner_product(bar.begin(), bar.end(), weights_dot.begin(), 0.0);
    const double backward = std::inner_product(direction.begin(), direction.end(), metrics_bar.begin(), 0.0);
    REQUIRE(close(forward, backward, 1e-10, 1e-10));
    const auto loss = [&](double h) {
      std::vector<double> moved = metrics;
      for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += h * direction[i];
      const std::vector<double> w = weights_of(moved, count);
      return std::inner_product(w.begin(), w.end(), bar.begin(), 0.0);
    };
    const double fd = test::fd_derivative(loss, 0.0, 3e-8);
    errors.push_back(std::abs(fd - backward) / std::max(100.0, std::abs(backward)));
    largest = std::max(largest, std::abs(backward));
  }
  std::sort(errors.begin(), errors.end());
  CAPTURE(errors[5000], errors[9900], errors.back());
  CHECK(largest > 100.0);
  CHECK(errors[5000] < 1e-8);
  CHECK(errors[9900] < 1e-5);
}

TEST_CASE("soft_selection: a swap at rank K changes neither weights nor slopes abruptly",
          "[collision][property]") {
  // One metric moves through all others; weights and their derivative along the way change by little per
  // step.
  std::vector<double> metrics;
  for (int i = 0; i < 40; ++i) metrics.push_back(-0.03 + 0.0015 * i);
  for (double& m : metrics) m = std::min(m, k_largest);
  std::vector<double> direction(40, 0.0), before(40), slope_before(40);
  direction[20] = 1.0;
  double worst_value = 0.0, worst_slope = 0.0;
  constexpr double h = 1e-6;
  for (int step = 0; step <= 60000; ++step) {
    metrics[20] = -0.03 + h * step;
    const SoftSelection<double> selection = soft_selection<double>(metrics, 18, k_band, k_largest);
    std::vector<double> slope(40);
    soft_selection_jvp<double>(metrics, selection, direction, slope);
    for (std::size_t i = 0; i < 40; ++i) {
      const double w = selection.weight(metrics[i]);
      if (step > 0) {
        worst_value = std::max(worst_value, std::abs(w - before[i]));
        worst_slope = std::max(worst_slope, std::abs(slope[i] - slope_before[i]));
      }
      before[i] = w;
      slope_before[i] = slope[i];
    }
  }
  CHECK(worst_value <= 1.875 / k_band * h * 1.01);                  // S' <= 1.875
  CHECK(worst_slope <= 2.0 * 5.78 / (k_band * k_band) * h * 1.01);  // S'' <= 5.78
  CHECK(worst_slope > 0.0);
}

TEST_CASE("soft_selection: allocates nothing", "[collision][property]") {
  Random random(5);
  const std::vector<double> metrics = random_metrics(random, 300, 40.0);
  std::vector<double> bar(300, 1.0), out(300);
  const test::NoAlloc guard;
  const SoftSelection<double> selection = soft_selection<double>(metrics, 18, k_band, k_largest);
  soft_selection_vjp<double>(metrics, selection, bar, out);
  const std::size_t n = guard.allocations();
  CHECK(n == 0);
}

TEST_CASE("clamped_metric: is the metric below, constant above, and smooth between", "[collision][value]") {
  const double largest = 0.032, width = 0.004;
  CHECK(clamped_metric(-0.1, largest, width) == -0.1);
  CHECK(clamped_metric(0.0279, largest, width) == 0.0279);
  CHECK(close(clamped_metric(0.036, largest, width), largest, 1e-15, 0));
  CHECK(clamped_metric(0.0361, largest, width) == largest);
  CHECK(clamped_metric(1e6, largest, width) == largest);
  for (int i = 0; i <= 200; ++i) {
    const double x = 0.02 + 1e-4 * i;
    const auto f = [&](auto y) { return clamped_metric(y, decltype(y)(largest), decltype(y)(width)); };
    CHECK(f(x) <= std::min(x, largest) + 1e-17);
    CHECK(close(clamped_metric_dx(x, largest, width), test::jet_derivative(f, x), 1e-12, 1e-12));
    CHECK(close(clamped_metric_dx(x, largest, width), test::fd_derivative(f, x, 1e-6), 1e-6, 1e-6));
  }
}

}  // namespace
}  // namespace abut
