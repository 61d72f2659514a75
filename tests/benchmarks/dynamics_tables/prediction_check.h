/// A gradient's prediction compared with a simulation: does the linear model hold for a change of 1 %?
///
/// The adjoint alone tells how much a loss changes, not how far that is true. One more rollout does: from initial twists
/// changed along the gradient, by the part p of their natural scales,
///     dV_b = p S_b^2 g_b / |S g|,    g_b = dL/dV_b,    S_b = diag(s_b/size_b, s_b),    s_b = max(|v_b|, sqrt(g size_b)).
/// The gradient predicts that the loss changes by sum g_b . dV_b = p |S g|; simulated is
///     sum over k of dL/dx_k . (x'_k - x_k),
/// dL/dx_k being what the loss itself adds at state k, so that it is the motion that is checked, and not how curved the
/// loss is. It costs a rollout without records.
#pragma once

#include "dynamics/rollout/adjoint.h"

namespace abut::tables {

struct PredictionCheck {
  double predicted = 0.0;  ///< change of the loss, >= 0
  double simulated = 0.0;  ///< NaN: the rollout failed
  /// That of states which differ by 10^-5 of their natural scales where the loss acts.
  double negligible = 0.0;

  /// |predicted - simulated| over the largest of the three, in [0, 2]; 0 if all are 0, 1 if the rollout failed.
  [[nodiscard]] double error() const;
};

/// Changes of the initial twists by this part of their natural scales.
inline constexpr double k_predicted_part = 0.01;

/// Checks the gradient of a rollout whose wrenches do not depend on the states.
///
/// @param trajectory  that ended well
/// @param gradient    adjoint() of the loss over it
[[nodiscard]] PredictionCheck check_prediction(const Stepper& stepper, const Trajectory& trajectory,
                                               const LossGradient& loss, const Gradient& gradient,
                                               double part = k_predicted_part);

}  // namespace abut::tables
