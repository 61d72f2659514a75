/// Controls that fit a model (Control in state.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "engine/model.h"
#include "engine/state.h"

namespace abut {

/// The joints that have a motor, in their order: that of commands.
[[nodiscard]] inline std::vector<int> joints_with_motor(const Model& model) {
  std::vector<int> joints;
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    if (model.joints[j].motor.kind != MotorKind::none) joints.push_back(static_cast<int>(j));
  }
  return joints;
}

[[nodiscard]] inline std::size_t motor_count(const Model& model) {
  return static_cast<std::size_t>(
      std::count_if(model.joints.begin(), model.joints.end(),
                    [](const Joint& joint) { return joint.motor.kind != MotorKind::none; }));
}

/// A wrench for each body and a command for each motor, all 0.
[[nodiscard]] Control zero_control(const Model& model);

/// Throws std::invalid_argument, "control of {owner} {index}: ...", unless there is a wrench for each body or none, and
/// a finite command for each motor or none.
void require_control(const Model& model, const Control& control, std::string_view owner, std::size_t index);

}  // namespace abut
