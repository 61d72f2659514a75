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
#include "dynamics/gradient_sample.h"
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

}  // namespace abut
