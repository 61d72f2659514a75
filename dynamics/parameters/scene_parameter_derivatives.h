/// Derivatives of rollouts by named numbers of their scene, from those by everything
/// (dynamics/step/gradient.h, dynamics/step/rollout_direction.h).
#pragma once

#include <span>

#include "dynamics/parameters/scene_parameter.h"
#include "dynamics/rollout/adjoint.h"
#include "dynamics/step/rollout_direction.h"

namespace abut {

/// Settings of the time step have no derivatives.
[[nodiscard]] bool is_differentiable(const SceneParameter& parameter);
/// Whether derivative_by() has a value at the scene's value of the parameter; see vanishes_at_zero().
[[nodiscard]] bool is_differentiable_at(const Scene& scene, const SceneParameter& parameter);
/// Whether rollout_direction_of() knows it: not those of pairs, shapes and joints, and no centre of mass.
[[nodiscard]] bool has_direction(const SceneParameter& parameter);

/// dL/d(a parameter of a shape), from the gradient of its primitive.
[[nodiscard]] double derivative_by_shape(const Body& body, const SceneParameter& parameter,
                                         const PrimitiveGradient& gradient);

/// dL/d(parameter) of a rollout of the scene, per unit of the parameter; smoothing scales that default to
/// |gravity| are held fixed; contact points follow a shape as from this scene's on (shape_change.h). That of
/// a stiffness that is infinite is 0. Throws std::invalid_argument for one that is not differentiable, there or at
/// all, or if the gradient has no place for it (a pair without an override).
[[nodiscard]] double derivative_by(const Scene& scene, const SceneParameter& parameter,
                                   const Gradient& gradient);

/// The direction in which inputs of a rollout of the scene move per unit of the parameter. Throws
/// std::invalid_argument for those without one.
[[nodiscard]] RolloutDirection rollout_direction_of(const Scene& scene, const SceneParameter& parameter);

/// Throws std::invalid_argument naming two of the parameters whose derivatives are not known where both change: a
/// coordinate or rate of a joint at the start, and the pose or velocity of a body in the same mechanism, with which the
/// joint moves what is beyond it.
void require_known_derivatives(const Scene& scene, std::span<const SceneParameter> parameters);

}  // namespace abut
