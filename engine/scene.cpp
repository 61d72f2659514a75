#include "engine/scene.h"

#include <algorithm>
#include <cstddef>

#include "engine/check.h"
#include "engine/control.h"

namespace abut {
namespace {

/// A middle that lies at an end of a push, or at a time of a table, belongs to the same side however `time` was summed
/// up.
constexpr double k_same_time = 1e-3;  // [steps]

std::vector<Vec6<double>> wrenches_at(const Scene& scene, double time, double h) {
  if (scene.pushes.empty()) return {};
  std::vector<Vec6<double>> wrenches(scene.model.bodies.size(), Vec6<double>::Zero());
  const double middle = time + (0.5 + k_same_time) * h;
  for (const Push& push : scene.pushes) {
    if (push.from <= middle && middle < push.until)
      wrenches[static_cast<std::size_t>(push.body)] += push.wrench;
  }
  return wrenches;
}

/// The number of a table for a step of h seconds from `time` on.
double command_of(const CommandTable& table, double time, double h) {
  const std::vector<double>&times = table.times, &values = table.values;
  const double middle = time + 0.5 * h;
  // Only the held number jumps at the times of the table.
  const double sought = table.is_linear ? middle : middle + k_same_time * h;
  const auto next =
      static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), sought) - times.begin());
  if (next == 0) return values.front();
  if (next == times.size() || !table.is_linear) return values[next - 1];
  const double s = (middle - times[next - 1]) / (times[next] - times[next - 1]);
  return (1.0 - s) * values[next - 1] + s * values[next];
}

std::vector<double> commands_at(const Scene& scene, double time, double h) {
  if (scene.commands.empty()) return {};
  std::vector<double> commands(motor_count(scene.model), 0.0);
  for (const CommandTable& table : scene.commands) {
    ABUT_ASSERT(table.motor >= 0 && static_cast<std::size_t>(table.motor) < commands.size());
    commands[static_cast<std::size_t>(table.motor)] += command_of(table, time, h);
  }
  return commands;
}

}  // namespace

Control control_at(const Scene& scene, double time, double h) {
  return {wrenches_at(scene, time, h), commands_at(scene, time, h)};
}

std::vector<Control> controls_of(const Scene& scene, int steps) {
  std::vector<Control> controls;
  if (scene.pushes.empty() && scene.commands.empty()) return controls;
  const double h = scene.config.step.h;
  for (int k = 0; k < steps; ++k) controls.push_back(control_at(scene, scene.initial.time + k * h, h));
  return controls;
}

}  // namespace abut
