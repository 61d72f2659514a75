/// Settings of one body: its material, mass and damping.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <imgui.h>
#include <spdlog/fmt/fmt.h>

#include "apps/viewer/panels/setting_editor.h"

namespace abut::viewer {

void draw_body_settings(SettingEditor& editor, const Frame& frame, int body_index) {
  const Scene& scene = *frame.model->scene;
  const auto b = static_cast<std::size_t>(body_index);
  const Body& body = scene.model.bodies[b];
  const Body& original = frame.model->as_read->model.bodies[b];
  ImGui::PushID(body_index);
  const auto change = [b](void (*set_it)(Body&, double)) -> SettingEditor::SceneEdit {
    return [=](Scene& changed, double value) {
      if (b < changed.model.bodies.size()) set_it(changed.model.bodies[b], value);
    };
  };
  editor.number("friction", body.material.friction,
                {"", 0.0, 2.0, false, original.material.friction,
                 "Coulomb coefficient mu. A pair has the harmonic mean of its two bodies'."},
                change([](Body& x, double value) { x.material.friction = value; }));

  if (is_setting_shown("stiffness", frame)) {
    const bool is_rigid = std::isinf(body.material.stiffness);
    editor.on_off("rigid", is_rigid, std::isinf(original.material.stiffness),
                  "Without a stiffness of its own: contacts are as stiff as the time step allows.",
                  change([](Body& x, double value) {
                    x.material.stiffness = value != 0.0 ? std::numeric_limits<double>::infinity() : 1e5;
                  }));
    if (!is_rigid) {
      editor.number("stiffness", body.material.stiffness,
                    {"N/m", 100.0, 1e9, true,
                     std::isinf(original.material.stiffness) ? std::nullopt
                                                             : std::optional(original.material.stiffness),
                     "Of the whole contact of a pair. The compliances of its two bodies add up."},
                    change([](Body& x, double value) { x.material.stiffness = value; }));
    }
  }

  if (is_setting_shown("dissipation_time", frame)) {
    const double usual_dissipation = frame.model->simulator.stepper().default_dissipation_time();
    const bool is_usual = body.material.dissipation_time < 0.0;
    editor.on_off(
        "default dissipation", is_usual, original.material.dissipation_time < 0.0,
        fmt::format("The dissipation time of the contact law: {}.", with_prefix(usual_dissipation, "s")),
        [b, usual_dissipation](Scene& changed, double value) {
          if (b < changed.model.bodies.size())
            changed.model.bodies[b].material.dissipation_time = value != 0.0 ? -1.0 : usual_dissipation;
        });
    if (!is_usual) {
      editor.number(
          "dissipation time", body.material.dissipation_time,
          {"s", 0.0, 0.2, false,
           original.material.dissipation_time < 0.0 ? std::nullopt
                                                    : std::optional(original.material.dissipation_time),
           "tau_d: over which a spring's overlap goes. A pair has the mean of its two bodies'."},
          change([](Body& x, double value) { x.material.dissipation_time = value; }));
    }
  }
  if (is_setting_shown("restitution", frame)) {
    editor.number("restitution", body.material.restitution,
                  {"", 0.0, 1.0, false, original.material.restitution,
                   "Share of the approach velocity that an impact gives back. A pair has the mean of its two "
                   "bodies'."},
                  change([](Body& x, double value) { x.material.restitution = value; }));
  }
  if (body.fixed) {
    show_note("Fixed: of infinite mass.");
  } else {
    editor.number("mass", body.mass,
                  {"kg", 1e-3 * original.mass, 1e3 * original.mass, true, original.mass,
                   "The inertia changes in proportion."},
                  [b, mass = original.mass, inertia = original.inertia](Scene& changed, double value) {
                    if (b >= changed.model.bodies.size()) return;
                    // From that of the file, so that back there every bit is as it was.
                    changed.model.bodies[b].mass = value;
                    changed.model.bodies[b].inertia = inertia * (value / mass);
                  });
    editor.number("linear damping", body.linear_damping,
                  {"1/s", 0.0, 10.0, false, original.linear_damping, "c_v: dv/dt = -c_v v."},
                  change([](Body& x, double value) { x.linear_damping = value; }));
    editor.number("angular damping", body.angular_damping,
                  {"1/s", 0.0, 10.0, false, original.angular_damping, "c_w: dL/dt = -c_w L."},
                  change([](Body& x, double value) { x.angular_damping = value; }));
  }
  if (std::any_of(scene.model.pair_overrides.begin(), scene.model.pair_overrides.end(),
                  [&](const PairOverride& pair) {
                    return (pair.body_A == body_index || pair.body_B == body_index) &&
                           !(std::isnan(pair.friction) && std::isnan(pair.stiffness) &&
                             std::isnan(pair.dissipation_time) && std::isnan(pair.restitution));
                  }))
    show_note("The scene gives pairs of this body materials of their own, which count instead.");
  ImGui::PopID();
}

}  // namespace abut::viewer
