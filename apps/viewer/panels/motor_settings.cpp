/// Settings of the motors of joints.
#include <algorithm>
#include <cmath>

#include <imgui.h>

#include "apps/viewer/panels/setting_editor.h"

namespace abut::viewer {

bool has_motors(const Model& model) {
  return std::any_of(model.joints.begin(), model.joints.end(),
                     [](const Joint& joint) { return joint.motor.kind != MotorKind::none; });
}

void draw_motor_settings(SettingEditor& editor, const Frame& frame) {
  static constexpr const char* k_hints[] = {"", "Speed that the motor drives to.",
                                            "Coordinate that the motor drives to.",
                                            "Torque or force of the motor."};
  const Model& model = frame.model->scene->model;
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint &joint = model.joints[j], &original = frame.model->as_read->model.joints[j];
    if (joint.motor.kind == MotorKind::none) continue;
    const bool turns = joint.kind == JointKind::hinge;
    ImGui::PushID(static_cast<int>(j));
    show_text(joint.name);
    const double range = std::max(turns ? 3.2 : 0.2, 3.0 * std::abs(original.motor.target));
    editor.number("target", joint.motor.target,
                  {target_unit(joint.kind, joint.motor.kind), -range, range, false, original.motor.target,
                   k_hints[static_cast<std::size_t>(joint.motor.kind)]},
                  [j](Scene& scene, double value) {
                    if (j < scene.model.joints.size()) scene.model.joints[j].motor.target = value;
                  });
    if (std::isfinite(joint.motor.limit)) {
      editor.number("limit", joint.motor.limit,
                    {turns ? "N m" : "N", 1e-2 * original.motor.limit, 1e2 * original.motor.limit, true,
                     original.motor.limit, "Of its torque or force."},
                    [j](Scene& scene, double value) {
                      if (j < scene.model.joints.size()) scene.model.joints[j].motor.limit = value;
                    });
    }
    ImGui::PopID();
  }
}

}  // namespace abut::viewer
