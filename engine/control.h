/// Motors of a model, and controls that fit it (Control in state.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model.h"
#include "engine/state.h"

namespace abut {

/// What has a motor: a joint or a coupling, the other being -1.
struct MotorPlace {
  int joint = -1, coupling = -1;
};

/// The motors of a model, those of joints first, in their order: that of commands.
[[nodiscard]] std::vector<MotorPlace> motors_of(const Model& model);
[[nodiscard]] std::size_t motor_count(const Model& model);

/// Of a place of motors_of(): the motor, the name of the joint or coupling, and whether that counts an angle.
[[nodiscard]] const Motor& motor_at(const Model& model, const MotorPlace& place);
[[nodiscard]] Motor& motor_at(Model& model, const MotorPlace& place);
[[nodiscard]] const std::string& name_of(const Model& model, const MotorPlace& place);
[[nodiscard]] bool turns(const Model& model, const MotorPlace& place);

/// Names of the motors, as commands go by them.
[[nodiscard]] std::vector<std::string> motor_names(const Model& model);

/// Writes what each of so many motors gave in the step that led to a state; 0 where there was none.
void write_motor_forces(const State& state, std::size_t motors, double* to);

/// A wrench for each body and a command for each motor, all 0.
[[nodiscard]] Control zero_control(const Model& model);

/// Throws std::invalid_argument, "control of {owner} {index}: ...", unless there is a wrench for each body or none, and
/// a finite command for each motor or none.
void require_control(const Model& model, const Control& control, std::string_view owner, std::size_t index);

}  // namespace abut
