/// Inputs of a rollout in groups, for comparing derivatives along random directions with differences.
///
/// A group has one kind of number: initial poses, initial twists, controls, commands, mass, inertia, density, friction,
/// compliance, dissipation time, restitution, damping, external wrench, gravity, shape parameters, shape
/// poses, overrides of pairs, frames and numbers of joints and motors. A group without an input in the model
/// is left out. Directions are scaled so that 1 is a large change: lengths by body size, speeds by
/// sqrt(g size), wrenches by m g, positive parameters by their own value.
///
/// Which values are admissible is decided by the validation that a model must pass anyway. A direction that
/// it refuses on one side points inwards, into what it accepts.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "dynamics/gradient_check/gradient_sample.h"
#include "dynamics/rollout/adjoint.h"
#include "dynamics/step/stepper.h"

namespace abut {

/// Everything a rollout depends on.
struct RolloutInputs {
  Model model;
  State initial;
  Controls controls;
};

/// A group of inputs, as offsets x from the nominal ones; x = scale o d for a direction d of order 1.
struct InputGroup {
  std::string name;
  std::vector<double> scale;
  /// Throws std::invalid_argument if there is no such body.
  std::function<void(RolloutInputs& inputs, std::span<const double> x)> move;
  std::function<double(const Gradient& gradient, std::span<const double> x)> derivative;  ///< dL along x
  /// Throws std::invalid_argument if an offset leaves what the model's validation accepts; empty where no
  /// offset can.
  std::function<void(std::span<const double> x)> require_valid;
};

/// One number of the initial state: entry `entry` of the group with index `group`.
struct StateComponent {
  std::size_t group, entry;
  std::string name;  ///< "box 3, rotation about z"
};

/// The groups of a model, and the sizes of its bodies that make offsets and losses comparable.
struct InputGroups {
  std::vector<InputGroup> groups;
  std::vector<std::size_t> moving;      ///< bodies
  std::vector<double> lengths, speeds;  ///< of each body [m, m/s]
};

/// `nominal` must outlive the result; its dissipation times are explicit.
[[nodiscard]] InputGroups input_groups(const RolloutInputs& nominal, const Stepper& stepper, int steps);

/// The twelve of each moving body, one body after the other.
[[nodiscard]] std::vector<StateComponent> state_components(const Model& model, const InputGroups& inputs);

/// A direction in a group that differences can follow.
struct BoundedDirection {
  std::vector<double> x;                       ///< offset for a step of 1
  DifferenceSide side = DifferenceSide::both;  ///< forward: only steps h > 0 stay within the bounds
  std::string bound;                           ///< what refuses steps h < 0; empty if none does
};

/// The direction x itself if both sides of it have room for differences; else its entries that can go one way
/// only point that way, so that steps h > 0 lead inwards, and no further than there is room.
[[nodiscard]] BoundedDirection within_bounds(const InputGroup& group, std::vector<double> x);

}  // namespace abut
