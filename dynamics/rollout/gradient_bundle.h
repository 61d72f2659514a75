/// Gradients of a loss that is averaged over random changes of the initial state and the controls: a
/// cross-check of the adjoint, and a smoother landscape.
///
/// For L_s(x) = E[L(x + s z)], z normal,
///     first order    E[grad L(x + s z)]                          from adjoints
///     zeroth order   E[(L(x + s z) - L(x)) z / s]                from losses alone
/// agree where L is continuous. Where it jumps, the first one is biased, the other is not; the first one is
/// far less noisy.
/// @see  Suh et al. (2022), "Do differentiable simulators give better policy gradients?", ICML.
#pragma once

#include <cstdint>

#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/loss.h"

namespace abut {

struct BundleConfig {
  int samples = 100;               ///< >= 2
  double rotation = 1e-2;          ///< standard deviations of the initial state: [rad] ...
  double translation = 1e-3;       ///< ... [m]
  double angular_velocity = 1e-2;  ///< [rad/s]
  double velocity = 1e-2;          ///< [m/s]; 0 leaves a part of the state alone
  std::uint64_t seed = 1;
};

/// Throws std::invalid_argument naming every bad field and its value.
void validate(const BundleConfig& config);

/// A mean over samples, coordinate by coordinate, with its standard error.
struct BundleEstimate {
  StateTangent mean, standard_error;
};

struct GradientBundle {
  BundleEstimate first_order, zeroth_order;
  BundleEstimate combined;  ///< both, weighted by the inverse of their variances
  double mean_loss = 0;
  int failed = 0;  ///< samples whose rollout failed: left out
  /// Largest difference of the two means in standard errors of it, over all coordinates that are varied.
  double largest_disagreement = 0;
};

/// By the initial state. The samples depend on the arguments alone. Throws std::logic_error if fewer than two
/// rollouts end well.
[[nodiscard]] GradientBundle gradient_bundle(const Stepper& stepper, const State& initial, int steps,
                                             const Controls& controls, const RolloutLoss& loss,
                                             const BundleConfig& config);

}  // namespace abut
