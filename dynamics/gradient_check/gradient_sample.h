/// One derivative of a loss by the adjoint and by differences, and how the two are compared.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace abut {

/// Largest relative error of an adjoint that passes, unless a caller asks for another; and differences that
/// disagree among themselves by more than this cannot judge it.
inline constexpr double k_unresolved_limit = 1e-4;

/// Steps of differences: 1e-3, then a quarter each, nine in all (down to 1.5e-8).
inline constexpr double k_largest_difference_step = 1e-3, k_difference_step_ratio = 0.25;
inline constexpr int k_difference_steps = 9;

/// On which side of the nominal inputs differences are taken: central ones on both.
enum class DifferenceSide { both, forward, backward };

/// "both", "forward" or "backward".
[[nodiscard]] const char* to_string(DifferenceSide side);

/// Directional derivative of a sample's loss, twice.
struct GradientSample {
  std::string group;
  std::string component;  ///< of one that is along a single number: which; else empty
  double adjoint = 0, difference = 0;
  double largest = 0;            ///< |adjoint| of the most sensitive group, for the same loss
  double step = 0;               ///< smallest step of the differences that `difference` was made of
  double relative_error = 0;     ///< see relative_error(); infinite where something is not finite
  double self_disagreement = 0;  ///< of the differences: see self_disagreement()
  bool unresolved = false;       ///< self_disagreement > the tolerance: counted, never dropped
  bool non_finite = false;       ///< the adjoint, the difference, or a state on the way
  DifferenceSide side = DifferenceSide::both;
  /// No judgement: inputs lie at a bound, and differences on the side within it do not converge; or contacts
  /// lie at kinks, which the gradient's health counts, and the adjoint is right beside these.
  bool at_bound = false;
  std::string
      reason;  ///< why differences are one-sided or there are none; empty where there is nothing to say
};

/// Over all samples, unresolved ones included. Errors are over all but those at a bound.
struct GradientCheckSummary {
  int samples = 0;
  double median_relative_error = 0, p99_relative_error = 0, max_relative_error = 0;
  int non_finite = 0, unresolved = 0;
  int one_sided = 0;              ///< compared with differences on one side
  int at_bound = 0;               ///< could not be compared, see GradientSample::at_bound
  int off = 0;                    ///< resolved, and the relative error is above the tolerance
  double max_resolved_error = 0;  ///< largest relative error of the resolved samples
};

/// Differences of a function f with falling steps h > 0.
struct Differences {
  std::vector<double> steps;
  /// (f(h) - f(0))/h and (f(0) - f(-h))/h; one of the two is empty where differences are one-sided.
  std::vector<double> forward, backward;
};

/// A derivative from differences.
struct DifferenceEstimate {
  double value;  ///< NaN if no two neighbouring steps are finite
  double step;   ///< smallest step it was made of
  double error;  ///< how far its own neighbours are from it
  double kink;   ///< half of what forward and backward slopes differ by, for h -> 0: 0 where f is smooth, and
                 ///< of one-sided differences
};

/// The estimate where neighbouring steps agree best, among the differences D(h_i) and their extrapolations to
/// h = 0,
///   T_0i = D(h_i),   T_ji = T_{j-1,i} + (T_{j-1,i} - T_{j-1,i-1})/((h_{i-j}/h_i)^p - 1),
/// p = 2 for central differences, whose error is a series in h^2, and p = 1 for one-sided ones.
/// A step whose differences are not finite is passed over.
/// @see  Ridders (1982), "Accurate computation of F'(x) and F'(x)F''(x)", Adv. Eng. Software 4(2).
[[nodiscard]] DifferenceEstimate best_difference(const Differences& differences);

/// |a - b| / (|adjoint| + 1e-3 largest): a derivative that is a thousandth of the largest is as good as zero.
[[nodiscard]] double relative_error(double a, double b, double adjoint, double largest);

/// max(error, kink) / (|value| + 1e-3 min(largest, 1)). Directions and losses are scaled so that derivatives
/// are of order 1; the cap keeps an adjoint that grew without bound from hiding that differences do not
/// converge.
[[nodiscard]] double self_disagreement(const DifferenceEstimate& estimate, double largest);

/// Fills in all that a sample whose `adjoint`, `largest` and `side` are known has of differences:
/// `loss_at(h)` is the loss along the sample's direction, less that at h = 0; NaN where there is none. If it
/// has a value on one side only, so have the differences, and `side` says so.
///
/// @param tolerance  differences that disagree among themselves by more leave the sample unresolved
void score_by_differences(const std::function<double(double h)>& loss_at, GradientSample& sample,
                          double tolerance = k_unresolved_limit);

/// Median, 99th percentile (nearest rank) and maximum of the relative errors, and counts.
[[nodiscard]] GradientCheckSummary summarize(std::span<const GradientSample> samples,
                                             double tolerance = k_unresolved_limit);

/// Whether samples speak for the adjoint.
struct GradientVerdict {
  bool passed = true;
  std::string reason;  ///< one line that says why not
};

/// Failed if a resolved sample is off by more than the tolerance, if anything is not finite, or if more than
/// a tenth of the samples are unresolved.
[[nodiscard]] GradientVerdict verdict_of(const GradientCheckSummary& summary,
                                         double tolerance = k_unresolved_limit);

}  // namespace abut
