/// The adjoint of a whole rollout against central differences of the same rollout.
///
/// A sample is a random loss (a weighted sum of poses and twists of the moving bodies at three times) and a
/// random direction in one group of inputs (gradient_inputs.h). The groups take turns. In a random direction
/// all inputs of a group are mixed, and an error of one of them is diluted; so others follow along single
/// components of the initial state: one of the twelve numbers of one moving body.
///
/// Where an input lies at a bound (an exponent of 1.9, a friction or restitution of 0, two joint limits that
/// nearly meet), the direction leads inwards and differences are one-sided. Where these do not converge
/// either, because the model is another one at the bound (a restitution of 0 has no impacts), the sample is
/// counted as at a bound. So is one with contacts at kinks, if the gradient's health counts these and the
/// same sample is right for a state nearby: differences see the mean of the sides of kinks, the adjoint takes
/// one side of each. No input makes the check itself fail.
///
/// Settings that default to a function of the model (acceleration scale, dissipation times) are made explicit
/// first, so that they stay as they are while gravity changes; the adjoint holds them fixed, too.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "dynamics/gradient_check/gradient_sample.h"
#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"

namespace abut {

struct GradientCheckConfig {
  int steps = 100;   ///< of the rollout, >= 1
  int samples = 24;  ///< >= 1
  std::uint64_t seed = 1;
  double tolerance = k_unresolved_limit;  ///< relative error of a sample that is not off, > 0
  int components = 0;  ///< samples along one component of the initial state, >= 0: all of them, or as many of
                       ///< them as this, chosen at random
  Controls controls{};  ///< of the rollout, one per step or none
};

/// Throws std::invalid_argument naming every bad field and its value.
void validate(const GradientCheckConfig& config);

/// StepConfig::tolerance of the rollouts, where the law reaches it: noise of the solver is noise of the
/// differences.
inline constexpr double k_gradient_check_tolerance = 1e-12;

/// The tightest tolerance for differences with which a rollout converges: k_gradient_check_tolerance, or up
/// to that of the config where the law does not reach it.
[[nodiscard]] double reachable_tolerance(const Model& model, const StepConfig& config, const State& initial,
                                         int steps, const Controls& controls = {});

struct GradientCheck {
  /// Along random directions, then along components; none if the rollout itself failed.
  std::vector<GradientSample> samples;
  GradientCheckSummary summary;
  GradientVerdict verdict;
  double solver_tolerance = 0;  ///< of the rollouts: see reachable_tolerance()
  int failed_step = -1;         ///< the first step that did not end well, -1 if all did
  StepReport failure;           ///< of that step
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
/// Throws std::invalid_argument for a bad config or model, never for one that a sample changed.
[[nodiscard]] GradientCheck check_gradient(const Model& model, const StepConfig& step_config,
                                           const State& initial, const GradientCheckConfig& config,
                                           const GradientCheckProgress& progress = {},
                                           const GradientFunction& gradient = default_gradient);

}  // namespace abut
