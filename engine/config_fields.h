/// The settings of a step and of its contacts as lists: what their keys in a file are and what is allowed.
/// Checks, scene files and command lines all go through these lists, so a new setting is one line in
/// config.cpp.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "engine/config.h"
#include "engine/number_range.h"

namespace abut {

struct StepConfigField {
  std::string_view key;  ///< its name in a scene file, and in error messages
  std::variant<double& (*)(StepConfig&), int& (*)(StepConfig&), bool& (*)(StepConfig&)> get;
  double lower = 0.0;                   ///< numbers must be > lower, counts >= lower
  bool negative_means_default = false;  ///< in the structure; a file leaves the key out instead

  /// Of the numbers that a file may give.
  [[nodiscard]] NumberRange range() const {
    const bool is_number = std::holds_alternative<double& (*)(StepConfig&)>(get);
    return {lower, k_infinity, is_number};
  }
};

/// Every number and switch in StepConfig; `law` is the one setting that is neither, and `contact` has a list
/// of its own.
[[nodiscard]] std::span<const StepConfigField> step_config_fields();

/// A setting of the type T: in the whole scene, and in place of that for a pair.
template <typename T>
struct ContactSetting {
  std::string_view key;  ///< its name in [simulation.contact] and [pair.contact], and in error messages
  T ContactConfig::*value;
  std::optional<T> ContactOverrides::*override_value;
};

struct ContactNumber : ContactSetting<double> {
  double lower = 0.0;                                      ///< must be > lower ...
  double upper = std::numeric_limits<double>::infinity();  ///< ... and < upper
};

struct ContactCount : ContactSetting<int> {
  int lower = 1;                                ///< must be >= lower ...
  int upper = std::numeric_limits<int>::max();  ///< ... and <= upper
};

struct ContactSwitch : ContactSetting<bool> {};

template <typename Enum>
struct ContactChoice : ContactSetting<Enum> {
  std::span<const std::pair<std::string_view, Enum>> words;
};

using ContactField =
    std::variant<ContactNumber, ContactCount, ContactSwitch, ContactChoice<VertexContacts>,
                 ContactChoice<Reduction>, ContactChoice<DetectorKind>, ContactChoice<WitnessDerivative>>;

/// Every setting in ContactConfig.
[[nodiscard]] std::span<const ContactField> contact_fields();

}  // namespace abut
