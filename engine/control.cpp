#include "engine/control.h"

#include <cmath>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

namespace abut {

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
    throw std::invalid_argument(fmt::format(
        "control of {} {}: command of joint '{}' = {}, allowed: any finite number", owner, index,
        model.joints[static_cast<std::size_t>(joints_with_motor(model)[m])].name, control.commands[m]));
  }
}

}  // namespace abut
