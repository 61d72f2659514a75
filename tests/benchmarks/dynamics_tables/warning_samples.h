/// What a gradient predicts of a change by 1 %, and what a simulation of the change gives, for the table of the warnings
/// of gradients.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/benchmarks/dynamics_tables/warning_scenes.h"

namespace abut::tables {

struct WarningSample {
  std::string family, parameter;
  double predicted = 0.0;  ///< change of the loss for +1 % of the parameter
  double ahead = 0.0,
         behind = 0.0;      ///< changes that are simulated, for +1 % and, with its sign reversed, for -1 %
  double negligible = 0.0;  ///< change of the loss that is none
  std::vector<std::pair<std::string, double>> indicators;  ///< that may tell right from wrong, by name

  /// Whether a prediction is off by more than half of it, on either side.
  [[nodiscard]] bool is_wrong() const;
};

/// A loss and a parameter of a scene, drawn at random. None if the scene is refused or its simulation fails.
[[nodiscard]] std::optional<WarningSample> warning_sample(int index, std::uint64_t seed);

}  // namespace abut::tables
