#include "dynamics/gradient_check/gradient_sample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/types.h"

namespace abut {

const char* to_string(DifferenceSide side) {
  switch (side) {
    case DifferenceSide::both:
      return "both";
    case DifferenceSide::forward:
      return "forward";
    case DifferenceSide::backward:
      return "backward";
  }
  return "unknown";
}

DifferenceEstimate best_difference(const Differences& differences) {
  // Extrapolations, plus one: beyond that rounding wins. Each takes h^2 off central differences, h off
  // others.
  constexpr std::size_t k_central_orders = 4, k_one_sided_orders = 6;
  constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double>&steps = differences.steps, &forward = differences.forward,
        &backward = differences.backward;
  const auto is_right = [&](const std::vector<double>& slopes, const std::vector<double>& others) {
    return slopes.size() == steps.size() || (slopes.empty() && !others.empty());
  };
  require(is_right(forward, backward) && is_right(backward, forward),
          "best_difference: as many differences as steps");
  const bool is_central = forward.size() == backward.size();
  const std::size_t orders = is_central ? k_central_orders : k_one_sided_orders;
  const auto slope = [&](std::size_t i) {
    return is_central ? 0.5 * (forward[i] + backward[i]) : (backward.empty() ? forward[i] : backward[i]);
  };
  const auto half_bend = [&](std::size_t i) { return is_central ? 0.5 * (forward[i] - backward[i]) : 0.0; };

  DifferenceEstimate best{k_nan, 0.0, k_infinity, k_infinity};
  std::vector<std::array<double, k_one_sided_orders>> table(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    table[i].fill(k_nan);
    table[i][0] = slope(i);
    // Two small steps may agree by chance, to the last bit where a loss changes by a few roundings: an error
    // is no smaller than that of the step before makes it.
    const double before = i > 1 ? std::abs(table[i - 1][0] - table[i - 2][0]) : 0.0;
    const auto consider = [&](double value, double found, std::size_t extrapolations) {
      const double ratio = steps[i - 1] / steps[i],
                   shrinks = std::pow(is_central ? ratio * ratio : ratio, extrapolations + 1.0);
      const double error = std::max(found, before / shrinks);
      if (!std::isfinite(value) || !(error < best.error)) return;
      best = {value, steps[i], error, std::abs((ratio * half_bend(i) - half_bend(i - 1)) / (ratio - 1.0))};
    };
    if (i > 0) consider(table[i][0], std::abs(table[i][0] - table[i - 1][0]), 0);
    for (std::size_t j = 1; j <= std::min(i, orders - 1); ++j) {
      const double ratio = steps[i - j] / steps[i], coarse = table[i - 1][j - 1], fine = table[i][j - 1];
      table[i][j] = fine + (fine - coarse) / ((is_central ? ratio * ratio : ratio) - 1.0);
      consider(table[i][j], std::max(std::abs(table[i][j] - fine), std::abs(table[i][j] - coarse)), j);
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

namespace {

/// The derivative at 0 by differences on one side or both.
DifferenceEstimate difference_at_zero(const std::function<double(double h)>& loss_at, DifferenceSide side,
                                      double largest) {
  constexpr double k_good = 1e-7, k_fair = 1e-3, k_other = 1e-2;
  constexpr int k_fine = 5;  // from 1e-6 on
  const auto step = [](int i) { return k_largest_difference_step * std::pow(k_difference_step_ratio, i); };
  const auto add = [&](double h, Differences& to) {
    to.steps.push_back(h);
    if (side != DifferenceSide::backward) to.forward.push_back(loss_at(h) / h);
    if (side != DifferenceSide::forward) to.backward.push_back(-loss_at(-h) / h);
  };
  Differences differences;
  DifferenceEstimate estimate{};
  for (int i = 0; i < k_difference_steps; ++i) {
    add(step(i), differences);
    estimate = best_difference(differences);
    // Smaller steps only lose digits once three of them have brought nothing.
    if (self_disagreement(estimate, largest) < k_good && estimate.step > 20.0 * step(i)) break;
  }
  // Steps that agree may all be too large to see what happens near 0: the derivative is that of the small
  // ones, as long as rounding leaves them something to say.
  if (!(estimate.step > step(k_fine))) return estimate;
  Differences fine;
  add(step(k_fine), fine);
  const auto mean = [](const std::vector<double>& a, const std::vector<double>& b) {
    return a.empty() ? b[0] : b.empty() ? a[0] : 0.5 * (a[0] + b[0]);
  };
  DifferenceEstimate other = estimate;
  other.value = mean(fine.forward, fine.backward);
  other.error = std::abs(other.value - estimate.value);
  if (self_disagreement(other, largest) > k_other) {
    for (int i = k_fine + 1; i < k_difference_steps; ++i) add(step(i), fine);
    other = best_difference(fine);
    if (self_disagreement(other, largest) < k_fair) estimate = other;
  }
  return estimate;
}

}  // namespace

void score_by_differences(const std::function<double(double h)>& loss_at, GradientSample& sample,
                          double tolerance) {
  DifferenceEstimate estimate = difference_at_zero(loss_at, sample.side, sample.largest);
  for (const DifferenceSide side : {DifferenceSide::forward, DifferenceSide::backward}) {
    if (sample.side != DifferenceSide::both || std::isfinite(estimate.value)) break;
    const DifferenceEstimate one_sided = difference_at_zero(loss_at, side, sample.largest);
    if (!std::isfinite(one_sided.value)) continue;
    estimate = one_sided;
    sample.side = side;
  }
  sample.difference = estimate.value;
  sample.step = estimate.step;
  sample.relative_error = relative_error(sample.adjoint, estimate.value, sample.adjoint, sample.largest);
  sample.self_disagreement = self_disagreement(estimate, sample.largest);
  sample.non_finite = sample.non_finite || !std::isfinite(sample.relative_error);
  if (!std::isfinite(sample.relative_error)) sample.relative_error = std::numeric_limits<double>::infinity();
  sample.unresolved = !(sample.self_disagreement <= tolerance);
}

GradientCheckSummary summarize(std::span<const GradientSample> samples, double tolerance) {
  GradientCheckSummary summary;
  summary.samples = static_cast<int>(samples.size());
  std::vector<double> errors;
  for (const GradientSample& sample : samples) {
    const double error =
        std::isnan(sample.relative_error) ? std::numeric_limits<double>::infinity() : sample.relative_error;
    summary.non_finite += sample.non_finite ? 1 : 0;
    summary.unresolved += sample.unresolved ? 1 : 0;
    summary.at_bound += sample.at_bound ? 1 : 0;
    if (sample.at_bound) continue;
    errors.push_back(error);
    summary.one_sided += sample.side != DifferenceSide::both ? 1 : 0;
    if (sample.unresolved || sample.non_finite) continue;
    summary.off += error > tolerance ? 1 : 0;
    summary.max_resolved_error = std::max(summary.max_resolved_error, error);
  }
  if (errors.empty()) return summary;
  std::sort(errors.begin(), errors.end());
  const std::size_t n = errors.size();
  summary.median_relative_error = 0.5 * (errors[(n - 1) / 2] + errors[n / 2]);
  summary.p99_relative_error = errors[(99 * n + 99) / 100 - 1];
  summary.max_relative_error = errors.back();
  return summary;
}

GradientVerdict verdict_of(const GradientCheckSummary& summary, double tolerance) {
  constexpr double k_most_unresolved = 0.1;  // of the samples
  std::vector<std::string> reasons;
  if (summary.off > 0) {
    reasons.push_back(fmt::format("{} off by more than {:.3g}, at most by {:.3g}", summary.off, tolerance,
                                  summary.max_resolved_error));
  }
  if (summary.non_finite > 0) reasons.push_back(fmt::format("{} not finite", summary.non_finite));
  if (summary.unresolved > k_most_unresolved * summary.samples)
    reasons.push_back(fmt::format("{} unresolved, more than a tenth", summary.unresolved));
  if (reasons.empty()) return {};
  return {false, fmt::format("of {} samples {}", summary.samples, fmt::join(reasons, "; "))};
}

}  // namespace abut
