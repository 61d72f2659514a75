/// The forward derivative of a rollout, and products of the Gauss-Newton matrix of losses over one.
///
/// The JVP carries a tangent through the recorded steps: d(state k) = A_k d(state k - 1) + B_k d(inputs).
/// With the adjoint, which multiplies by the transpose, it gives J^T W J d without any matrix.
///
/// Directions are those of RolloutDirection: initial poses and twists, controls, gravity, and of each body
/// mass, inertia, friction, compliance, dissipation time, restitution, damping and constant wrench. Known for
/// every law, all kinds of contacts, reductions, joints, and steps of several
/// substeps whose lengths are constants (adaptive_substeps); not with push-out of kind "split".
#pragma once

#include <functional>
#include <vector>

#include "dynamics/rollout/adjoint.h"
#include "dynamics/rollout/rollout.h"
#include "dynamics/step/rollout_direction.h"

namespace abut {

/// Tangents of the states 0 ... N.
using StateTangents = std::vector<StateTangent>;

/// How the states of a recorded rollout change along a direction of its inputs.
///
/// Throws std::logic_error if the trajectory failed; std::invalid_argument for a direction of other sizes
/// than the rollout's and for push-out of kind "split".
[[nodiscard]] StateTangents rollout_jvp(const Stepper& stepper, const Trajectory& trajectory,
                                        const RolloutDirection& direction);

/// Adds W_k x to `product`, W_k being symmetric positive semidefinite and x a tangent of state k. For a loss
/// 1/2 sum |r_k(state k)|^2 it is R_k^T R_k x, R_k = dr_k/d(state k).
using StateWeight =
    std::function<void(int k, const State& state, const StateTangent& x, StateTangent& product)>;

/// J^T W J d for J = d(all states)/d(all inputs), by one JVP and one adjoint: the inputs' part that is
/// wanted is read from the gradient. Throws as rollout_jvp().
[[nodiscard]] Gradient gauss_newton_product(const Stepper& stepper, const Trajectory& trajectory,
                                            const StateWeight& weight, const RolloutDirection& direction);

}  // namespace abut
