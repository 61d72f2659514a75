/// The adjoint of a whole rollout against central differences of the same rollout.
///
/// A sample is a random loss (a weighted sum of poses and twists of the moving bodies at three times) and a
/// random direction in one group of inputs: initial poses, initial twists, controls, mass, inertia, density,
/// friction, compliance, dissipation time, restitution, damping, external wrench, gravity, shape parameters,
/// shape poses, overrides of pairs, frames and numbers of joints and motors. The groups take turns; one
/// without an input in the model is left out. Directions are scaled so that 1 is a large change: lengths by
/// body size, speeds by sqrt(g size), wrenches by m g, positive parameters by their own value.
///
/// Settings that default to a function of the model (acceleration scale, dissipation times) are made explicit
/// first, so that they stay as they are while gravity changes; the adjoint holds them fixed, too.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "dynamics/adjoint.h"
#include "dynamics/rollout.h"

namespace abut {

struct GradientCheckConfig {
  int steps = 100;   ///< of the rollout, >= 1
  int samples = 24;  ///< >= 1
  std::uint64_t seed = 1;
};

/// Throws std::invalid_argument naming every bad field and its value.
void validate(const GradientCheckConfig& config);

/// StepConfig::tolerance of the rollouts is at most this: noise of the solver is noise of the differences.
inline constexpr double k_gradient_check_tolerance = 1e-12;

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

struct GradientCheck {
  std::vector<GradientSample> samples;  ///< none if the rollout itself failed
  GradientCheckSummary summary;
  int failed_step = -1;  ///< the first step that did not end well, -1 if all did
  StepReport failure;    ///< of that step
};

/// Called with the number of samples done; from one thread at a time.
using GradientCheckProgress = std::function<void(int done, int samples)>;

/// What is checked: adjoint(), or what a test puts in its place.
using GradientFunction = std::function<Gradient(const Stepper&, const Trajectory&, const LossGradient&)>;

[[nodiscard]] inline Gradient default_gradient(const Stepper& stepper, const Trajectory& trajectory,
                                               const LossGradient& loss) {
  return adjoint(stepper, trajectory, loss);
}

/// The samples depend on the arguments alone, not on the machine's number of threads.
/// Throws std::invalid_argument for a bad config or model.
[[nodiscard]] GradientCheck check_gradient(const Model& model, const StepConfig& step_config,
                                           const State& initial, const GradientCheckConfig& config,
                                           const GradientCheckProgress& progress = {},
                                           const GradientFunction& gradient = default_gradient);

// How a sample is scored ------------------------------------------------------------------------------------

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

/// Median, 99th percentile (nearest rank) and maximum of the relative errors.
[[nodiscard]] GradientCheckSummary summarize(std::span<const GradientSample> samples);

}  // namespace abut
