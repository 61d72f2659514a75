#include "dynamics/gradient_sample.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/check.h"

namespace abut {

DifferenceEstimate best_difference(const Differences& differences) {
  constexpr std::size_t k_orders = 4;  // of extrapolation, plus one: beyond that rounding wins
  constexpr double k_nan = std::numeric_limits<double>::quiet_NaN(),
                   k_infinity = std::numeric_limits<double>::infinity();
  const auto& [steps, forward, backward] = differences;
  require(forward.size() == steps.size() && backward.size() == steps.size(),
          "best_difference: as many differences as steps");
  DifferenceEstimate best{k_nan, 0.0, k_infinity, k_infinity};
  std::vector<std::array<double, k_orders>> table(steps.size());
  const auto half_bend = [&](std::size_t i) { return 0.5 * (forward[i] - backward[i]); };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    table[i].fill(k_nan);
    table[i][0] = 0.5 * (forward[i] + backward[i]);
    const auto consider = [&](double value, double error) {
      if (!std::isfinite(value) || !(error < best.error)) return;
      const double ratio = steps[i - 1] / steps[i];
      best = {value, steps[i], error, std::abs((ratio * half_bend(i) - half_bend(i - 1)) / (ratio - 1.0))};
    };
    if (i > 0) consider(table[i][0], std::abs(table[i][0] - table[i - 1][0]));
    for (std::size_t j = 1; j <= std::min(i, k_orders - 1); ++j) {
      const double ratio = steps[i - j] / steps[i], coarse = table[i - 1][j - 1], fine = table[i][j - 1];
      table[i][j] = fine + (fine - coarse) / (ratio * ratio - 1.0);
      consider(table[i][j], std::max(std::abs(table[i][j] - fine), std::abs(table[i][j] - coarse)));
    }
  }
  return best;
}

double relative_error(double a, double b, double adjoint, double largest) {
  constexpr double k_tiny = 1e-300;
  return std::abs(a - b) / (std::abs(adjoint) + 1e-3 * largest + k_tiny);
}

double self_disagreement(const DifferenceEstimate& estimate, double largest) {
  return std::max(estimate.error, estimate.kink) /
         (std::abs(estimate.value) + 1e-3 * std::min(largest, 1.0) + 1e-300);
}

void score_by_differences(const std::function<double(double h)>& loss_at, GradientSample& sample) {
  constexpr double k_first_step = 1e-3, k_ratio = 0.25, k_good = 1e-7, k_fair = 1e-3, k_other = 1e-2;
  constexpr int k_steps = 9, k_fine = 5;  // 1e-3 ... 1.5e-8, from 1e-6 on
  const auto step = [](int i) { return k_first_step * std::pow(k_ratio, i); };
  const auto add = [&](double h, Differences& to) {
    to.steps.push_back(h);
    to.forward.push_back(loss_at(h) / h);
    to.backward.push_back(-loss_at(-h) / h);
  };
  Differences differences;
  DifferenceEstimate estimate{};
  for (int i = 0; i < k_steps; ++i) {
    add(step(i), differences);
    estimate = best_difference(differences);
    // Smaller steps only lose digits once three of them have brought nothing.
    if (self_disagreement(estimate, sample.largest) < k_good && estimate.step > 20.0 * step(i)) break;
  }
  // Steps that agree may all be too large to see what happens near 0: the derivative is that of the small
  // ones, as long as rounding leaves them something to say.
  Differences fine;
  add(step(k_fine), fine);
  DifferenceEstimate other = estimate;
  other.value = 0.5 * (fine.forward[0] + fine.backward[0]);
  other.error = std::abs(other.value - estimate.value);
  if (estimate.step > step(k_fine) && self_disagreement(other, sample.largest) > k_other) {
    for (int i = k_fine + 1; i < k_steps; ++i) add(step(i), fine);
    other = best_difference(fine);
    if (self_disagreement(other, sample.largest) < k_fair) estimate = other;
  }
  sample.difference = estimate.value;
  sample.step = estimate.step;
  sample.relative_error = relative_error(sample.adjoint, estimate.value, sample.adjoint, sample.largest);
  sample.self_disagreement = self_disagreement(estimate, sample.largest);
  sample.non_finite = sample.non_finite || !std::isfinite(sample.relative_error);
  if (!std::isfinite(sample.relative_error)) sample.relative_error = std::numeric_limits<double>::infinity();
  sample.unresolved = !(sample.self_disagreement <= k_unresolved_limit);
}

GradientCheckSummary summarize(std::span<const GradientSample> samples) {
  GradientCheckSummary summary;
  summary.samples = static_cast<int>(samples.size());
  std::vector<double> errors;
  for (const GradientSample& sample : samples) {
    errors.push_back(std::isnan(sample.relative_error) ? std::numeric_limits<double>::infinity()
                                                       : sample.relative_error);
    summary.non_finite += sample.non_finite ? 1 : 0;
    summary.unresolved += sample.unresolved ? 1 : 0;
  }
  if (errors.empty()) return summary;
  std::sort(errors.begin(), errors.end());
  const std::size_t n = errors.size();
  summary.median_relative_error = 0.5 * (errors[(n - 1) / 2] + errors[n / 2]);
  summary.p99_relative_error = errors[(99 * n + 99) / 100 - 1];
  summary.max_relative_error = errors.back();
  return summary;
}

}  // namespace abut
