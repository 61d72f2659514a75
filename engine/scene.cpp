#include "engine/scene.h"

namespace abut {

Control control_at(const Scene& scene, double time, double h) {
  if (scene.pushes.empty()) return {};
  Control control(scene.model.bodies.size(), Vec6<double>::Zero());
  // A middle that lies at an end of a push belongs to the same side however `time` was summed up.
  constexpr double k_same_time = 1e-3;  // [steps]
  const double middle = time + (0.5 + k_same_time) * h;
  for (const Push& push : scene.pushes) {
    if (push.from <= middle && middle < push.until)
      control[static_cast<std::size_t>(push.body)] += push.wrench;
  }
  return control;
}

std::vector<Control> controls_of(const Scene& scene, int steps) {
  std::vector<Control> controls;
  if (scene.pushes.empty()) return controls;
  const double h = scene.config.step.h;
  for (int k = 0; k < steps; ++k) controls.push_back(control_at(scene, scene.initial.time + k * h, h));
  return controls;
}

}  // namespace abut
