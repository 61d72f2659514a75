#include "engine/control.h"

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
}

}  // namespace abut
