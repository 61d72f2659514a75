/// The settings of a step as a list: what their keys in a file are and what is allowed. Checks, scene files
/// and command lines all go through this list, so a new setting is one line in config.cpp.
#pragma once

#include <span>
#include <string_view>
#include <variant>

#include "engine/config.h"

namespace abut {

struct StepConfigField {
  std::string_view key;  ///< its name in a scene file, and in error messages
  std::variant<double& (*)(StepConfig&), int& (*)(StepConfig&)> get;
  double lower = 0.0;                   ///< numbers must be > lower, counts >= lower
  bool negative_means_default = false;  ///< in the structure; a file leaves the key out instead
};

/// Every number in StepConfig, its ContactConfig included; `law` is the one setting that is not a number.
[[nodiscard]] std::span<const StepConfigField> step_config_fields();

}  // namespace abut
