#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <variant>

#include <imgui.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "apps/viewer/panels/panel.h"
#include "apps/viewer/panels/pending_edits.h"
#include "apps/viewer/panels/setting_help.h"
#include "apps/viewer/panels/widgets.h"
#include "engine/config_fields.h"
#include "engine/law_settings.h"

namespace abut::viewer {
namespace {

std::string spaced(std::string_view key) {
  std::string text(key);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

// Values as numbers
// ---------------------------------------------------------------------------------------------------

double get(const StepConfigField& field, const StepConfig& config) {
  StepConfig copy = config;
  return std::visit([&](auto of) { return static_cast<double>(of(copy)); }, field.get);
}

void set(const StepConfigField& field, StepConfig& config, double value) {
  std::visit(
      [&](auto of) {
        using Value = std::remove_reference_t<decltype(of(config))>;
        of(config) = static_cast<Value>(value);
      },
      field.get);
}

const StepConfigField* step_field(std::string_view key) {
  for (const StepConfigField& field : step_config_fields()) {
    if (field.key == key) return &field;
  }
  return nullptr;
}

// The panel
// -----------------------------------------------------------------------------------------------------------

class SettingsPanel : public Panel {
 public:
  SettingsPanel() : Panel("Settings", GLFW_KEY_F3, Pane::right, false) {}

  void draw(PanelContext& context) override {
    const Frame& frame = context.frame;
    if (file_ != frame.model->file || bodies_ != frame.model->model().body_count()) {
      edits_.forget();
      file_ = frame.model->file;
      bodies_ = frame.model->model().body_count();
    }
    if (!frame.message.empty()) show_text(k_bad_colour, frame.message);

    if (wide_button("Reset to the file")) reset(context);
    tooltip("All settings, masses and materials as the scene's file has them.");
    show_note("Orange marks and the buttons at the right: the default.");

    if (ImGui::CollapsingHeader("Time step and contact law", ImGuiTreeNodeFlags_DefaultOpen))
      draw_step(frame);
    if (ImGui::CollapsingHeader("Bodies", ImGuiTreeNodeFlags_DefaultOpen)) draw_body(context);
    if (ImGui::CollapsingHeader("Gravity")) draw_gravity(frame);
    if (ImGui::CollapsingHeader("What counts as a contact")) draw_contact(frame);
    if (has_motors(frame.model->scene.model) && ImGui::CollapsingHeader("Motors of joints"))
      draw_motors(frame);
    edits_.post(context.simulation, ImGui::GetTime());
  }

 private:
  using SceneEdit = std::function<void(Scene&, double)>;

  [[nodiscard]] static PendingEdits::Edit edit_of(SceneEdit edit) {
    return [edit = std::move(edit)](SimulationCore& core, double value) {
      core.edit([&](Scene& scene) { edit(scene, value); });
    };
  }

  /// A slider of what is simulated.
  void number(const char* label, double simulated, const SliderOptions& options, SceneEdit edit) {
    const ImGuiID id = ImGui::GetID(options.id ? options.id : label);
    double value = edits_.shown(id, simulated, ImGui::GetTime());
    const bool is_changed =
        options.whole ? [&] {
          int whole = static_cast<int>(value);
          const bool changed = slider(label, whole, options);
          value = whole;
          return changed;
        }()
                      : slider(label, value, options);
    if (is_changed) edits_.change(id, value, edit_of(std::move(edit)));
  }

  void on_off(const char* label, bool simulated, bool standard, const std::string& help, SceneEdit edit) {
    const ImGuiID id = ImGui::GetID(label);
    bool value = edits_.shown(id, simulated ? 1.0 : 0.0, ImGui::GetTime()) != 0.0;
    if (checkbox(label, value, standard, help))
      edits_.change(id, value ? 1.0 : 0.0, edit_of(std::move(edit)));
  }

  void choice(const char* label, int simulated, std::span<const char* const> names, int standard,
              const std::string& help, SceneEdit edit) {
    const ImGuiID id = ImGui::GetID(label);
    int value = static_cast<int>(edits_.shown(id, simulated, ImGui::GetTime()));
    if (combo(label, value, names, standard, help)) edits_.change(id, value, edit_of(std::move(edit)));
  }

  static void reset(PanelContext& context) {
    context.simulation.post([](SimulationCore& core) {
      const Scene original = core.model()->as_read;
      core.edit([&](Scene& scene) { scene = original; });
    });
  }

  /// Whether the law of the scene honours the setting: it refuses a value of one that it ignores.
  [[nodiscard]] static bool is_shown(std::string_view key, const Frame& frame) {
    const Scene& scene = frame.model->scene;
    return is_honoured(setting_use(key, scene.config.step.law), !scene.model.joints.empty());
  }

  void draw_step(const Frame& frame) {
    const StepConfig& config = frame.model->scene.config.step;
    const StepConfig standard;
    std::vector<std::string> words;
    std::vector<const char*> names;
    for (const auto& [word, law] : contact_laws()) words.emplace_back(word);
    for (const std::string& word : words) names.push_back(word.c_str());
    const auto place_of = [](ContactLaw law) {
      const auto laws = contact_laws();
      return static_cast<int>(
          std::find_if(laws.begin(), laws.end(), [&](const auto& l) { return l.second == law; }) -
          laws.begin());
    };
    choice("law", place_of(config.law), names, place_of(standard.law),
           "smooth_coulomb: friction bounded by the normal impulse of the same step, smooth in everything.\n"
           "penalty: explicit springs.\n"
           "convex_cone, impedance: a convex problem (as Drake's SAP, MuJoCo).\n"
           "lcp, relaxed_complementarity: interior point, the exact friction.",
           [](Scene& scene, double value) {
             StepConfig& step = scene.config.step;
             step.law = contact_laws()[static_cast<std::size_t>(value)].second;
             reset_ignored(!scene.model.joints.empty(), step);  // which the law would refuse
           });

    for (const StepSetting& setting : k_step_settings) {
      if (!is_shown(setting.key, frame)) continue;
      if (setting.key == "penetration_growth" && !config.adaptive_substeps) continue;
      if (setting.key == "acceleration_scale") {
        draw_acceleration_scale(frame, setting);
        continue;
      }
      const StepConfigField* const field = step_field(setting.key);
      if (!field) continue;
      const double simulated = get(*field, config), usual = get(*field, standard);
      const std::string label = spaced(setting.key);
      const SceneEdit edit = [field](Scene& scene, double value) { set(*field, scene.config.step, value); };
      if (std::holds_alternative<bool& (*)(StepConfig&)>(field->get)) {
        on_off(label.c_str(), simulated != 0.0, usual != 0.0, setting.help, edit);
        continue;
      }
      SliderOptions options{setting.unit,        setting.lowest, setting.highest,
                            setting.logarithmic, usual,          setting.help};
      options.whole = std::holds_alternative<int& (*)(StepConfig&)>(field->get);
      number(label.c_str(), simulated, options, edit);
    }
    if (is_shown("push_out", frame)) {
      static constexpr const char* k_push_out[] = {"bias", "split"};
      choice("push out", static_cast<int>(config.push_out), k_push_out, static_cast<int>(standard.push_out),
             "bias: overlapping bodies part with a velocity. split: they are displaced and keep their "
             "velocities, so "
             "that no kinetic energy comes of it.",
             [](Scene& scene, double value) {
               scene.config.step.push_out = static_cast<PushOut>(static_cast<int>(value));
             });
    }
    if (is_shown("solref", frame)) draw_impedance(config);
  }

  void draw_acceleration_scale(const Frame& frame, const StepSetting& setting) {
    const StepConfig& config = frame.model->scene.config.step;
    const double in_use = frame.model->simulator.stepper().acceleration_scale();
    const bool is_automatic = config.acceleration_scale < 0.0;
    on_off("acceleration scale from gravity", is_automatic, true,
           "g of all factors that are over g h is |gravity|, or 9.81 m/s² without it.",
           [in_use](Scene& scene, double value) {
             scene.config.step.acceleration_scale = value != 0.0 ? -1.0 : in_use;
           });
    if (is_automatic) return;
    number("acceleration scale", config.acceleration_scale,
           {setting.unit, setting.lowest, setting.highest, true, std::nullopt, setting.help},
           [](Scene& scene, double value) { scene.config.step.acceleration_scale = value; });
  }

  void draw_impedance(const StepConfig& config) {
    const ImpedanceConfig standard;
    const auto element = [&](const char* label, double (*get_it)(const ImpedanceConfig&),
                             void (*set_it)(ImpedanceConfig&, double), SliderOptions options) {
      options.standard = get_it(standard);
      number(label, get_it(config.impedance), options,
             [set_it](Scene& scene, double value) { set_it(scene.config.step.impedance, value); });
    };
    element(
        "solref: time", [](const ImpedanceConfig& c) { return c.solref[0]; },
        [](ImpedanceConfig& c, double x) { c.solref[0] = x; },
        {"s", 1e-4, 1.0, true, {}, "Time constant of the way back to the surface; at least 2 h is taken."});
    element(
        "solref: damping", [](const ImpedanceConfig& c) { return c.solref[1]; },
        [](ImpedanceConfig& c, double x) { c.solref[1] = x; },
        {"", 0.01, 10.0, true, {}, "Damping ratio of the way back to the surface."});
    element(
        "solimp: d0", [](const ImpedanceConfig& c) { return c.solimp[0]; },
        [](ImpedanceConfig& c, double x) { c.solimp[0] = x; },
        {"", 0.0, 1.0, false, {}, "Impedance at the surface; above 0 forces jump when bodies touch."});
    element(
        "solimp: dw", [](const ImpedanceConfig& c) { return c.solimp[1]; },
        [](ImpedanceConfig& c, double x) { c.solimp[1] = x; },
        {"", 0.01, 1.0, false, {}, "Impedance from the width on."});
    element(
        "solimp: width", [](const ImpedanceConfig& c) { return c.solimp[2]; },
        [](ImpedanceConfig& c, double x) { c.solimp[2] = x; },
        {"m", 1e-5, 0.1, true, {}, "Depth at which the impedance is dw."});
    element(
        "solimp: midpoint", [](const ImpedanceConfig& c) { return c.solimp[3]; },
        [](ImpedanceConfig& c, double x) { c.solimp[3] = x; },
        {"", 0.01, 0.99, false, {}, "Where between 0 and the width the curve turns."});
    element(
        "solimp: power", [](const ImpedanceConfig& c) { return c.solimp[4]; },
        [](ImpedanceConfig& c, double x) { c.solimp[4] = x; },
        {"", 1.0, 10.0, false, {}, "Of the curve between d0 and dw."});
  }

  void draw_body(PanelContext& context) {
    const Frame& frame = context.frame;
    const Scene& scene = frame.model->scene;
    if (context.selection.body >= 0 && context.selection.body != selected_) body_ = context.selection.body;
    selected_ = context.selection.body;
    body_ = std::clamp(body_, 0, scene.model.body_count() - 1);
    if (body_combo("Body", scene.model, body_, nullptr, "Follows what is selected in the picture.")) {
      selected_ = body_;
      context.selection.select_body(body_);
    }
    const auto b = static_cast<std::size_t>(body_);
    const Body& body = scene.model.bodies[b];
    const Body& original = frame.model->as_read.model.bodies[b];
    ImGui::PushID(body_);
    const auto change = [b](void (*set_it)(Body&, double)) -> SceneEdit {
      return [=](Scene& changed, double value) {
        if (b < changed.model.bodies.size()) set_it(changed.model.bodies[b], value);
      };
    };
    number("friction", body.material.friction,
           {"", 0.0, 2.0, false, original.material.friction,
            "Coulomb coefficient mu. A pair has the harmonic mean of its two bodies'."},
           change([](Body& x, double value) { x.material.friction = value; }));

    if (is_shown("stiffness", frame)) {
      const bool is_rigid = std::isinf(body.material.stiffness);
      on_off("rigid", is_rigid, std::isinf(original.material.stiffness),
             "Without a stiffness of its own: contacts are as stiff as the time step allows.",
             change([](Body& x, double value) {
               x.material.stiffness = value != 0.0 ? std::numeric_limits<double>::infinity() : 1e5;
             }));
      if (!is_rigid) {
        number("stiffness", body.material.stiffness,
               {"N/m", 100.0, 1e9, true,
                std::isinf(original.material.stiffness) ? std::nullopt
                                                        : std::optional(original.material.stiffness),
                "Of the whole contact of a pair. The compliances of its two bodies add up."},
               change([](Body& x, double value) { x.material.stiffness = value; }));
      }
    }

    if (is_shown("dissipation_time", frame)) {
      const double usual_dissipation = frame.model->simulator.stepper().default_dissipation_time();
      const bool is_usual = body.material.dissipation_time < 0.0;
      on_off("default dissipation", is_usual, original.material.dissipation_time < 0.0,
             fmt::format("The dissipation time of the contact law: {}.", with_prefix(usual_dissipation, "s")),
             [b, usual_dissipation](Scene& changed, double value) {
               if (b < changed.model.bodies.size())
                 changed.model.bodies[b].material.dissipation_time = value != 0.0 ? -1.0 : usual_dissipation;
             });
      if (!is_usual) {
        number("dissipation time", body.material.dissipation_time,
               {"s", 0.0, 0.2, false,
                original.material.dissipation_time < 0.0 ? std::nullopt
                                                         : std::optional(original.material.dissipation_time),
                "tau_d: over which a spring's overlap goes. A pair has the mean of its two bodies'."},
               change([](Body& x, double value) { x.material.dissipation_time = value; }));
      }
    }
    if (is_shown("restitution", frame)) {
      number("restitution", body.material.restitution,
             {"", 0.0, 1.0, false, original.material.restitution,
              "Share of the approach velocity that an impact gives back. A pair has the mean of its two "
              "bodies'."},
             change([](Body& x, double value) { x.material.restitution = value; }));
    }
    if (body.fixed) {
      show_note("Fixed: of infinite mass.");
    } else {
      number("mass", body.mass,
             {"kg", 1e-3 * original.mass, 1e3 * original.mass, true, original.mass,
              "The inertia changes in proportion."},
             [b, mass = original.mass, inertia = original.inertia](Scene& changed, double value) {
               if (b >= changed.model.bodies.size()) return;
               // From that of the file, so that back there every bit is as it was.
               changed.model.bodies[b].mass = value;
               changed.model.bodies[b].inertia = inertia * (value / mass);
             });
      number("linear damping", body.linear_damping,
             {"1/s", 0.0, 10.0, false, original.linear_damping, "c_v: dv/dt = -c_v v."},
             change([](Body& x, double value) { x.linear_damping = value; }));
      number("angular damping", body.angular_damping,
             {"1/s", 0.0, 10.0, false, original.angular_damping, "c_w: dL/dt = -c_w L."},
             change([](Body& x, double value) { x.angular_damping = value; }));
    }
    if (std::any_of(scene.model.pair_overrides.begin(), scene.model.pair_overrides.end(),
                    [&](const PairOverride& pair) {
                      return (pair.body_A == body_ || pair.body_B == body_) &&
                             !(std::isnan(pair.friction) && std::isnan(pair.stiffness) &&
                               std::isnan(pair.dissipation_time) && std::isnan(pair.restitution));
                    }))
      show_note("The scene gives pairs of this body materials of their own, which count instead.");
    ImGui::PopID();
  }

  void draw_gravity(const Frame& frame) {
    const Vec3<double>&g = frame.model->scene.model.gravity, &original = frame.model->as_read.model.gravity;
    static constexpr const char* k_components[] = {"gravity x", "gravity y", "gravity z"};
    for (int i = 0; i < 3; ++i) {
      number(k_components[i], g[i],
             {"m/s²", -20.0, 20.0, false, original[i], "Acceleration of free fall, in the world."},
             [i](Scene& scene, double value) { scene.model.gravity[i] = value; });
    }
  }

  void draw_contact(const Frame& frame) {
    show_note(
        "Of all pairs without settings of their own. Lengths are relative to the size of the smaller body.");
    const ContactConfig& config = frame.model->scene.config.step.contact;
    const ContactConfig standard;
    for (const ContactField& field : contact_fields())
      std::visit([&](const auto& f) { draw_contact_field(f, config, standard); }, field);
  }

  static const ContactHelp& contact_help(std::string_view key) {
    static constexpr ContactHelp k_none{"", 1e-4, 1.0, ""};
    for (const ContactHelp& help : k_contact_help) {
      if (help.key == key) return help;
    }
    return k_none;
  }

  template <typename Field>
  void draw_contact_field(const Field& field, const ContactConfig& config, const ContactConfig& standard) {
    const ContactHelp& help = contact_help(field.key);
    const std::string label = spaced(field.key);
    const auto member = field.value;
    using Value = std::remove_cvref_t<decltype(config.*member)>;
    const SceneEdit edit = [member](Scene& scene, double value) {
      if constexpr (std::is_same_v<Value, double>) {
        scene.config.step.contact.*member = value;
      } else {
        scene.config.step.contact.*member = static_cast<Value>(static_cast<int>(value));
      }
    };
    if constexpr (std::is_same_v<Value, bool>) {
      on_off(label.c_str(), config.*member, standard.*member, help.help, edit);
    } else if constexpr (std::is_enum_v<Value>) {
      std::vector<std::string> words;
      std::vector<const char*> names;
      for (const auto& [word, value] : field.words) words.emplace_back(word);
      for (const std::string& word : words) names.push_back(word.c_str());
      // The words stand in the order of their values.
      choice(label.c_str(), static_cast<int>(config.*member), names, static_cast<int>(standard.*member),
             help.help, edit);
    } else {
      SliderOptions options{
          "", help.lowest, help.highest, help.lowest > 0.0, static_cast<double>(standard.*member), help.help};
      if constexpr (std::is_same_v<Value, int>) {
        options.whole = true;
        options.logarithmic = false;
      }
      number(label.c_str(), static_cast<double>(config.*member), options, edit);
    }
  }

  static bool has_motors(const Model& model) {
    return std::any_of(model.joints.begin(), model.joints.end(),
                       [](const Joint& joint) { return joint.motor.kind != MotorKind::none; });
  }

  void draw_motors(const Frame& frame) {
    const Model& model = frame.model->scene.model;
    for (std::size_t j = 0; j < model.joints.size(); ++j) {
      const Joint &joint = model.joints[j], &original = frame.model->as_read.model.joints[j];
      if (joint.motor.kind == MotorKind::none) continue;
      const bool turns = joint.kind == JointKind::hinge, is_speed = joint.motor.kind == MotorKind::velocity;
      ImGui::PushID(static_cast<int>(j));
      show_text(joint.name);
      const double range = std::max(turns ? 3.2 : 0.2, 3.0 * std::abs(original.motor.target));
      number("target", joint.motor.target,
             {turns      ? is_speed ? "rad/s" : "rad"
              : is_speed ? "m/s"
                         : "m",
              -range, range, false, original.motor.target,
              is_speed ? "Speed that the motor drives to." : "Coordinate that the motor drives to."},
             [j](Scene& scene, double value) {
               if (j < scene.model.joints.size()) scene.model.joints[j].motor.target = value;
             });
      if (std::isfinite(joint.motor.limit)) {
        number("limit", joint.motor.limit,
               {turns ? "N m" : "N", 1e-2 * original.motor.limit, 1e2 * original.motor.limit, true,
                original.motor.limit, "Of its torque or force."},
               [j](Scene& scene, double value) {
                 if (j < scene.model.joints.size()) scene.model.joints[j].motor.limit = value;
               });
      }
      ImGui::PopID();
    }
  }

  PendingEdits edits_;
  std::filesystem::path file_;
  int body_ = 1, bodies_ = 0, selected_ = -1;
};

}  // namespace

std::unique_ptr<Panel> make_settings_panel() { return std::make_unique<SettingsPanel>(); }

}  // namespace abut::viewer
