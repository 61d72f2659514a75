#include "engine/control.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

namespace abut {
namespace {

bool has_motor(const CoordinateForces& forces) { return forces.motor.kind != MotorKind::none; }

const Joint& joint_at(const Model& model, const MotorPlace& place) {
  return model.joints[static_cast<std::size_t>(place.joint)];
}
const Coupling& coupling_at(const Model& model, const MotorPlace& place) {
  return model.couplings[static_cast<std::size_t>(place.coupling)];
}

}  // namespace

std::vector<MotorPlace> motors_of(const Model& model) {
  std::vector<MotorPlace> places;
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    if (has_motor(model.joints[j])) places.push_back({static_cast<int>(j), -1});
  }
  for (std::size_t c = 0; c < model.couplings.size(); ++c) {
    if (has_motor(model.couplings[c])) places.push_back({-1, static_cast<int>(c)});
  }
  return places;
}

std::size_t motor_count(const Model& model) {
  return static_cast<std::size_t>(std::count_if(model.joints.begin(), model.joints.end(), has_motor) +
                                  std::count_if(model.couplings.begin(), model.couplings.end(), has_motor));
}

const Motor& motor_at(const Model& model, const MotorPlace& place) {
  return place.joint >= 0 ? joint_at(model, place).motor : coupling_at(model, place).motor;
}

Motor& motor_at(Model& model, const MotorPlace& place) {
  return const_cast<Motor&>(motor_at(static_cast<const Model&>(model), place));
}

const std::string& name_of(const Model& model, const MotorPlace& place) {
  return place.joint >= 0 ? joint_at(model, place).name : coupling_at(model, place).name;
}

bool turns(const Model& model, const MotorPlace& place) {
  return place.joint >= 0 ? joint_at(model, place).kind == JointKind::hinge
                          : turns(model, coupling_at(model, place));
}

std::vector<std::string> motor_names(const Model& model) {
  std::vector<std::string> names;
  for (const MotorPlace& place : motors_of(model)) names.push_back(name_of(model, place));
  return names;
}

void write_motor_forces(const State& state, std::size_t motors, double* to) {
  const std::size_t given = std::min(motors, state.motor_forces.size());
  std::fill_n(std::copy_n(state.motor_forces.begin(), given, to), motors - given, 0.0);
}

Control zero_control(const Model& model) {
  return {std::vector<Vec6<double>>(model.bodies.size(), Vec6<double>::Zero()),
          std::vector<double>(motor_count(model))};
}

void require_control(const Model& model, const Control& control, std::string_view owner, std::size_t index) {
  const auto check = [&](std::size_t given, const char* what, std::size_t expected, const char* of) {
    if (given == 0 || given == expected) return;
    throw std::invalid_argument(
        fmt::format("control of {} {}: {} {} for {} {}", owner, index, given, what, expected, of));
  };
  check(control.wrenches.size(), "wrenches", model.bodies.size(), "bodies");
  check(control.commands.size(), "commands", motor_count(model), "motors");
  for (std::size_t m = 0; m < control.commands.size(); ++m) {
    if (std::isfinite(control.commands[m])) continue;
    throw std::invalid_argument(
        fmt::format("control of {} {}: command of '{}' = {}, allowed: any finite number", owner, index,
                    motor_names(model)[m], control.commands[m]));
  }
}

}  // namespace abut
