/// Products of the Hessian of a rollout loss with a direction of initial states.
#pragma once

#include "dynamics/rollout/adjoint.h"

namespace abut {

/// The product, and how far its own differences are from it.
struct HessianProduct {
  StateTangent product;
  double relative_error = 0;  ///< of the differences among themselves; nothing to rely on where it is large
};

/// H d for the Hessian H of the loss by the initial poses and twists, in exponential coordinates
/// X = Exp(a) X_0 about the initial state (so that H is symmetric), by central differences of the adjoint at
/// two steps and their extrapolation. One product costs four rollouts with their gradients.
///
/// @param step  the larger step along d, in its units; tangents of size 1 are large changes [rad, m, m/s]
/// Throws std::logic_error if a rollout fails.
[[nodiscard]] HessianProduct hessian_product(const Stepper& stepper, const State& initial, int steps,
                                             const Controls& controls, const LossGradient& loss,
                                             const StateTangent& direction, double step = 1e-4);

}  // namespace abut
