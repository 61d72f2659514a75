/// What is to be found out: measured motions of a scene, and the numbers of the scene that are to explain
/// them.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/abut/scene_parameter.h"
#include "apps/identification/measurement.h"
#include "engine/scene_io.h"

namespace abut {

/// A number that is to be found.
struct Unknown {
  SceneParameter parameter;
  double initial = 0;                                       ///< guess, within the bounds
  double lower = -std::numeric_limits<double>::infinity();  ///< bounds, part of what is allowed
  double upper = std::numeric_limits<double>::infinity();
  struct Prior {
    double mean = 0, deviation = 1;
  };
  std::optional<Prior> prior;   ///< what was known before: normally distributed
  bool in_each_motion = false;  ///< a value of its own for every motion, not one for all
};

/// A motion that was measured once.
struct MeasuredMotion {
  std::string name;                                         ///< of its file
  std::vector<Measurement> measurements;                    ///< in the order of their times
  std::vector<std::pair<SceneParameter, double>> settings;  ///< in which it differs from the scene
};

struct Experiment {
  Scene scene;
  std::vector<Unknown> unknowns;
  std::vector<MeasuredMotion> motions;
};

/// Throws std::invalid_argument naming the unknown or the motion that makes no sense: bounds beyond what is
/// allowed, a guess outside of them, something that is not differentiable or asked for twice, an override of
/// a pair that the scene has not, no unknown, no motion.
void validate(const Experiment& experiment);

}  // namespace abut
