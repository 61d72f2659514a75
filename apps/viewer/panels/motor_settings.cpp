/// Settings of the motors of joints, couplings and actuators.
#include <algorithm>
#include <cmath>

#include <imgui.h>

#include "apps/viewer/panels/setting_editor.h"
#include "engine/control.h"

namespace abut::viewer {

bool has_motors(const Model& model) { return motor_count(model) > 0; }

void draw_motor_settings(SettingEditor& editor, const Frame& frame) {
  static constexpr const char* k_hints[] = {
      "", "Speed that the motor drives to.", "Coordinate that the motor drives to.",
      "Torque or force of the motor.", "What its gain makes a torque or force of."};
  const Model& model = frame.model->scene->model;
  const std::vector<MotorPlace> places = motors_of(model);
  for (std::size_t m = 0; m < places.size(); ++m) {
    const MotorPlace& place = places[m];
    const Motor &motor = motor_at(model, place), &original = motor_at(frame.model->as_read->model, place);
    const bool is_angle = turns(model, place);
    const auto set = [place](double Motor::*number) {
      return [place, number](Scene& scene, double value) {
        if (place.joint < static_cast<int>(scene.model.joints.size()) &&
            place.coupling < static_cast<int>(scene.model.couplings.size()))
          motor_at(scene.model, place).*number = value;
      };
    };
    ImGui::PushID(static_cast<int>(m));
    show_text(name_of(model, place));
    const double range = std::max(is_angle ? 3.2 : 0.2, 3.0 * std::abs(original.target));
    const double lowest = std::isfinite(motor.lowest) ? motor.lowest : -range,
                 highest = std::isfinite(motor.highest) ? motor.highest : range;
    editor.number("target", motor.target,
                  {target_unit(is_angle, motor.kind), lowest, highest, false, original.target,
                   k_hints[static_cast<std::size_t>(motor.kind)]},
                  set(&Motor::target));
    if (std::isfinite(motor.limit)) {
      editor.number("limit", motor.limit,
                    {is_angle ? "N m" : "N", 1e-2 * original.limit, 1e2 * original.limit, true,
                     original.limit, "Of its torque or force."},
                    set(&Motor::limit));
    }
    ImGui::PopID();
  }
}

}  // namespace abut::viewer
