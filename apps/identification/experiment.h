/// What is to be found out: motions of a scene with what was measured (or is wanted) of them, and the
/// unknowns that are to explain (or to reach) it.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/identification/measurement.h"
#include "dynamics/parameters/scene_parameter.h"
#include "engine/scene_io.h"

namespace abut {

/// Something that is to be found.
///   number       of the scene, see SceneParameter
///   orientation  of a body at the start: a quaternion, moved by rotations [rad]
///   control      a component of the wrench on a body, or the command of a motor, while `from` <= time < `until`,
///                constant in each of `pieces` parts of that time
struct Unknown {
  enum class Kind { number, orientation, control };
  Kind kind = Kind::number;
  std::string name;
  SceneParameter parameter;    ///< of a number; of a command the motor's target
  bool logarithmic = false;    ///< of a number > 0: the search is for its logarithm
  int body = -1;               ///< of an orientation or a control
  int component = 0;           ///< of a control: of [torque; force]
  int motor = -1;              ///< of a command, in the order of motors_of(); -1: of a wrench
  double from = 0, until = 0;  ///< of a control [s]
  int pieces = 1;              ///< of a control

  double initial = 0;                                    ///< guess, within the bounds
  Quat<double> initial_orientation{1.0, 0.0, 0.0, 0.0};  ///< of an orientation, unit length
  std::optional<Quat<double>> true_orientation;
  double lower = -std::numeric_limits<double>::infinity();  ///< bounds, part of what is allowed
  double upper = std::numeric_limits<double>::infinity();
  std::optional<double> truth;  ///< where it is known, of made-up data
  struct Prior {
    double mean = 0, deviation = 1;
  };
  std::optional<Prior> prior;   ///< what was known before: normally distributed; not of orientations
  bool in_each_motion = false;  ///< a value of its own for every motion, not one for all
};

/// The number of a control, or of derivatives by one, that an unknown adds to.
template <typename OfControl>
[[nodiscard]] auto& number_in(OfControl& control, const Unknown& unknown) {
  if (unknown.motor >= 0) return control.commands[static_cast<std::size_t>(unknown.motor)];
  return control.wrenches[static_cast<std::size_t>(unknown.body)][unknown.component];
}

/// A motion of the scene.
struct MeasuredMotion {
  std::string name;                                         ///< of its file
  std::vector<Measurement> measurements;                    ///< in the order of their times
  std::vector<std::pair<SceneParameter, double>> settings;  ///< in which it differs from the scene
};

/// Cuts motions into segments whose states at the start are unknown as well ("multiple shooting"): a poor
/// guess of the rest then spoils no more than a segment. That segments meet counts as measured this well.
struct MultipleShooting {
  int segments = 1;
  double position_noise = 1e-3, rotation_noise = 1e-2, linear_noise = 1e-2, angular_noise = 1e-1;
};

struct Experiment {
  std::string name;
  Scene scene;
  std::vector<Unknown> unknowns;
  std::vector<MeasuredMotion> motions;
  MultipleShooting shooting;
};

/// Throws std::invalid_argument naming the unknown or the motion that makes no sense: bounds beyond what is
/// allowed, a guess outside of them, something that is not differentiable or asked for twice, an override of
/// a pair that the scene has not, no unknown, no motion.
void validate(const Experiment& experiment);

/// How many steps lead past the last measurement of a motion; 0 if all are of the start. Throws
/// std::invalid_argument if they are more than a rollout can have.
[[nodiscard]] int step_count(const Experiment& experiment, const MeasuredMotion& motion);

}  // namespace abut
