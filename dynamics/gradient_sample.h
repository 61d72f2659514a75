/// One derivative of a loss by the adjoint and by differences, and how the two are compared.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace abut {

/// Differences that disagree among themselves by more than this cannot judge an adjoint.
inline constexpr double k_unresolved_limit = 1e-4;

/// Directional derivative of a sample's loss, twice.
struct GradientSample {
  std::string group;
  double adjoint = 0, difference = 0;
  double largest = 0;            ///< |adjoint| of the most sensitive group, for the same loss
  double step = 0;               ///< smallest step of the differences that `difference` was made of
  double relative_error = 0;     ///< see relative_error(); infinite where something is not finite
  double self_disagreement = 0;  ///< of the differences: see self_disagreement()
  bool unresolved = false;       ///< self_disagreement > k_unresolved_limit: counted, never dropped
  bool non_finite = false;       ///< the adjoint, the difference, or a state on the way
};

/// Over all samples, unresolved ones included.
struct GradientCheckSummary {
  int samples = 0;
  double median_relative_error = 0, p99_relative_error = 0, max_relative_error = 0;
  int non_finite = 0, unresolved = 0;
};

/// Differences of a function f with falling steps h > 0.
struct Differences {
  std::vector<double> steps;
  std::vector<double> forward, backward;  ///< (f(h) - f(0))/h and (f(0) - f(-h))/h
};

/// A derivative from differences.
struct DifferenceEstimate {
  double value;  ///< NaN if no two neighbouring steps are finite
  double step;   ///< smallest step it was made of
  double error;  ///< how far its own neighbours are from it
  double kink;   ///< half of what forward and backward slopes differ by, for h -> 0: 0 where f is smooth
};

/// The estimate where neighbouring steps agree best, among the central differences D(h_i) and their
/// extrapolations to h = 0,
///   T_0i = D(h_i),   T_ji = T_{j-1,i} + (T_{j-1,i} - T_{j-1,i-1})/((h_{i-j}/h_i)^2 - 1).
/// A step whose differences are not finite is passed over.
/// @see  Ridders (1982), "Accurate computation of F'(x) and F'(x)F''(x)", Adv. Eng. Software 4(2).
[[nodiscard]] DifferenceEstimate best_difference(const Differences& differences);

/// |a - b| / (|adjoint| + 1e-3 largest): a derivative that is a thousandth of the largest is as good as zero.
[[nodiscard]] double relative_error(double a, double b, double adjoint, double largest);

/// max(error, kink) / (|value| + 1e-3 min(largest, 1)). Directions and losses are scaled so that derivatives
/// are of order 1; the cap keeps an adjoint that grew without bound from hiding that differences do not
/// converge.
[[nodiscard]] double self_disagreement(const DifferenceEstimate& estimate, double largest);

/// Fills in all that a sample whose `adjoint` and `largest` are known has of differences: `loss_at(h)` is the
/// loss along the sample's direction, less that at h = 0.
void score_by_differences(const std::function<double(double h)>& loss_at, GradientSample& sample);

/// Median, 99th percentile (nearest rank) and maximum of the relative errors.
[[nodiscard]] GradientCheckSummary summarize(std::span<const GradientSample> samples);

}  // namespace abut
