/// The plain numbers of bodies and pairs: their keys, ranges and places. For scene_parameter.cpp and
/// scene_parameter_values.cpp.
#pragma once

#include <array>
#include <string_view>

#include "apps/abut/scene_parameter.h"

namespace abut {

struct BodyNumber {
  std::string_view key;
  SceneParameter::Kind kind;
  double& (*get)(Body&);
  NumberRange range;
};

struct PairNumber {
  std::string_view key;
  SceneParameter::Kind kind;
  double PairOverride::*value;
  NumberRange range;
};

[[nodiscard]] const std::array<BodyNumber, 6>& body_numbers();
[[nodiscard]] const std::array<PairNumber, 4>& pair_numbers();

}  // namespace abut
