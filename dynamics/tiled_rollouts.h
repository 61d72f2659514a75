/// Rollouts of a scene in many worlds at once, from arrays to arrays, and their gradients.
///
/// Worlds differ in the values of named parameters, in their initial states, wrenches and commands. Each is
/// computed by one thread from its own inputs alone: results are the same to the last bit for any number of
/// threads and of other worlds. States are written to the arrays once, by the thread that computes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "dynamics/parameterized_scene.h"
#include "dynamics/step/run_warnings.h"
#include "engine/shared_array.h"
#include "engine/state_arrays.h"

namespace abut {

/// Numbers of each world, or one row of them that all worlds share.
struct TiledRows {
  std::span<const double> numbers{};
  std::size_t rows = 0;  ///< as many as worlds, or 1; 0: nothing is given

  [[nodiscard]] bool are_given() const { return rows > 0; }
  [[nodiscard]] std::span<const double> of_world(std::size_t world) const {
    const std::size_t width = numbers.size() / rows;
    return numbers.subspan(rows == 1 ? 0 : world * width, width);
  }
};

/// Throws std::invalid_argument naming the rows unless there are none, one, or one for each world, of `width`
/// numbers.
void require_rows(const TiledRows& rows, std::string_view name, int worlds, std::size_t width);

/// Inputs of rollouts in many worlds. n bodies, P parameters, G parameters of a policy.
struct TiledInputs {
  int worlds = 1, steps = 1;
  TiledRows values;       ///< (P) of each world; not given: those of the scene
  TiledRows controls;     ///< (control_steps, n, 6) of each: [torque; force], added to the scene's pushes
  int control_steps = 0;  ///< as many as steps, or 1: the same in all of them
  TiledRows commands;     ///< (command_steps, u) of each, of the u motors, added to those of the scene
  int command_steps = 0;  ///< as control_steps
  /// The initial state, arrays as in state_arrays.h, a row per world. The scene has what is not given.
  TiledRows position, orientation_wxyz, linear_velocity, angular_velocity, joint_coordinate, joint_rate;

  /// Feedback on the state, which is added to what is above; null: none. It must outlive the rollouts.
  const Policy* policy = nullptr;
  TiledRows policy_parameters;  ///< (G) of each world

  [[nodiscard]] bool has_initial() const {
    return position.are_given() || orientation_wxyz.are_given() || linear_velocity.are_given() ||
           angular_velocity.are_given() || joint_coordinate.are_given() || joint_rate.are_given();
  }
};

/// Rollouts in W worlds of T steps with n bodies.
struct TiledRollouts {
  int worlds = 0, steps = 0;
  StateArrays states;                  ///< (W, T + 1, n, 3 or 4), (W, T + 1, m); NaN after a failure
  SharedArray<double> time;            ///< (W, T + 1) [s]
  SharedArray<double> energy;          ///< (W, T + 1), kinetic and potential [J]; NaN after a failure
  SharedArray<std::int64_t> contacts;  ///< (W, T + 1), of the step that ended then; 0 at the start
  SharedArray<double> motor_force;     ///< (W, T + 1, u), likewise [N m or N]; NaN after a failure

  /// One world, with what its gradient needs.
  struct World {
    std::shared_ptr<const Simulator> simulator;
    std::vector<double> values;       ///< of the parameters
    std::vector<double> orientation;  ///< (n, 4) that was given, empty if none was
    std::vector<double> policy_parameters;
    Trajectory trajectory;  ///< without records unless they were asked for
    int steps = 0;          ///< that ended well
    StepReport report;      ///< of the last step
    RunWarnings warnings;   ///< of the steps that ended well

    [[nodiscard]] bool ok() const { return report.status == StepStatus::ok; }
  };
  std::vector<World> world;
  bool is_recorded = false;
  const Policy* policy = nullptr;

  /// The first world that failed, -1 if none did.
  [[nodiscard]] int first_failed() const;
};

struct TiledOptions {
  int threads = 0;     ///< >= 1, or 0: as many as the machine runs at a time
  bool record = true;  ///< for gradients, which need about 19 doubles a body and step
  /// Memory of each world for full records, as that of rollout() [bytes]: gradients are faster, and differ by
  /// rounding alone.
  std::size_t tape_bytes = 0;
};

/// Throws std::invalid_argument naming the input, and the world where one is meant, for arrays of the wrong
/// size, values that are not allowed, and an initial state beside parameters of one. `scene` must be
/// prepared.
[[nodiscard]] TiledRollouts tiled_rollouts(const ParameterizedScene& scene, const TiledInputs& inputs,
                                           const TiledOptions& options = {});

/// Gradients of a loss of the states of each world.
struct TiledGradients {
  SharedArray<double> values;             ///< (W, P): dL/d(parameter); NaN of one without derivatives
  SharedArray<double> policy_parameters;  ///< (W, G): dL/d(parameter of the policy)
  SharedArray<double> controls;        ///< (W, T, n, 6): dL/d(wrench), through the policy where there is one
  SharedArray<double> commands;        ///< (W, T, u): dL/d(command), likewise
  StateArrays initial;                 ///< (W, n, 3 or 4), (W, m): dL/d(initial state)
  std::vector<GradientHealth> health;  ///< of each world; as of no step where it failed
};

/// From dL/d(states), arrays of the shapes of TiledRollouts::states or null for zero, to dL/d(inputs). That
/// of a world that failed is NaN, unless all of its dL/d(states) are 0: then it is 0. Throws std::logic_error
/// if the rollouts were not recorded, std::invalid_argument for parameters of shapes where a pair has a
/// detector without derivatives by them.
[[nodiscard]] TiledGradients tiled_gradients(const ParameterizedScene& scene, const TiledRollouts& rollouts,
                                             const StateNumbers<const double>& states_bar, int threads = 0);

}  // namespace abut
