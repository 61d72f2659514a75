/// That laws act on what the table of engine/law_settings.h says they honour, and steppers refuse the rest.
#include "engine/law_settings.h"

#include <cmath>
#include <string>
#include <variant>

#include <catch2/catch.hpp>

#include "dynamics/rollout/rollout.h"
#include "dynamics/simulator.h"
#include "engine/config_fields.h"
#include "tests/support/scenes.h"

using namespace abut;
using test::TestScene;

namespace {

/// What a run came to: everything that a setting can change.
struct Outcome {
  std::uint64_t hash;
  StepStatus status;
  int iterations;
  bool operator==(const Outcome&) const = default;
};

Outcome outcome_of(const TestScene& scene, const StepConfig& config) {
  State end;
  int iterations = 0;
  const StepReport report = simulate(Stepper(scene.model, config), scene.state, 60, {}, end,
                                     [&](int, const State&, const StepReport& step) {
                                       iterations += step.iterations;
                                       return true;
                                     });
  return {state_hash(end), report.status, iterations};
}

/// On a floor, a box that slides, one that starts 5 cm deep in it, and a ball that falls onto it.
TestScene busy_scene(bool has_joint) {
  TestScene scene = test::floor_scene(0.4);
  scene.add(test::box_of_mass({0.1, 0.08, 0.05}, 1.0, 1), test::pose_at({0, 0, 0.05}),
            test::moving_at({1.0, 0.3, 0}));
  scene.add(test::box_of_mass({0.1, 0.1, 0.1}, 1.0, 1), test::pose_at({2.0, 0, 0.05}));
  scene.add(test::sphere_of_mass(0.1, 1.0), test::pose_at({-2.0, 0, 0.15}), test::moving_at({0.5, 0, -2.0}));
  if (!has_joint) return scene;
  Joint joint;
  joint.name = "stop";
  joint.kind = JointKind::hinge;
  joint.body_B = 1;
  joint.X_AJ = test::pose_at({0.3, 0, 0.05});
  joint.X_BJ = test::pose_at({0.3, 0, 0});
  joint.lower = 0.2;  // beyond which it starts
  joint.upper = 0.4;
  scene.model.joints.push_back(joint);
  return scene;
}

/// Sets a setting to a value other than its default, of a material to one that is not too far from it.
void change(const LawSetting& setting, TestScene& scene, StepConfig& config) {
  if (setting.is_of_material) {
    const double value = setting.key == "friction"           ? 0.7
                         : setting.key == "stiffness"        ? 2e3
                         : setting.key == "dissipation_time" ? 0.03
                                                             : 0.6;
    for (Body& body : scene.model.bodies) body.material.*setting.of_body = value;
    return;
  }
  if (setting.key == "push_out") config.push_out = PushOut::split;
  if (setting.key == "solref") config.impedance.solref = {0.05, 0.7};
  if (setting.key == "solimp") config.impedance.solimp = {0.1, 0.9, 2e-3, 0.4, 3.0};
  if (setting.key == "push_out_factor") config.push_out_factor = 5.0;
  if (setting.key == "impact_speed") config.impact_speed = 10.0;
  if (setting.key == "max_iterations") config.max_iterations = 1;
  if (setting.key == "tolerance") config.tolerance = 1e-2;
  if (setting.key == "speed_limit") config.speed_limit = 1.0;
  if (setting.key == "penetration_limit") config.penetration_limit = 0.1;
  if (setting.key == "penetration_growth") config.penetration_growth = 1e-9;
  if (!setting.is_default(config)) return;
  for (const StepConfigField& field : step_config_fields()) {
    if (field.key != setting.key) continue;
    std::visit(
        [&](auto of) {
          auto& value = of(config);
          if constexpr (std::is_same_v<decltype(of), bool& (*)(StepConfig&)>) {
            value = !value;
          } else {
            value = value < 0.0 ? decltype(value + value)(5) : value + value;
          }
        },
        field.get);
  }
}

}  // namespace

TEST_CASE("law_settings: every law acts on what it honours, and refuses what it ignores",
          "[dynamics][value]") {
  for (const auto& [word, law] : contact_laws()) {
    for (const LawSetting& setting : law_settings()) {
      const SettingUse use = setting_use(setting.key, law);
      for (const bool has_joint : {false, true}) {
        TestScene scene = busy_scene(has_joint);
        StepConfig config;
        config.law = law;
        // A setting may need another to matter.
        const bool divides = setting.key == "adaptive_substeps" || setting.key == "penetration_growth";
        if (divides) scene.X_WB(2).p.z() = 0.1;  // what is deep from the start hides what grows
        if (setting.key == "adaptive_substeps") config.penetration_growth = 1e-9;
        if (setting.key == "penetration_growth") config.adaptive_substeps = true;
        const bool bounces = setting.key == "impact_speed";
        if (bounces && is_honoured(use, has_joint)) scene.body(3).material.restitution = 1.0;
        if (setting.key == "passive_impacts" &&
            is_honoured(use, has_joint)) {  // a box that would gain energy
          for (Body& body : scene.model.bodies) body.material.restitution = 1.0;
          scene.X_WB(2) = test::pose_at({2.0, 0, 0.25}, {0.8, 0.6, -0.2});
          scene.state.V_WB[2] = stack<double>(Vec3<double>(-14.3, 10.2, -0.7), Vec3<double>(3, 0, -2));
        }
        TestScene changed = scene;
        StepConfig changed_config = config;
        change(setting, changed, changed_config);
        CAPTURE(word, setting.key, has_joint);
        if (!is_honoured(use, has_joint)) {
          CHECK_THROWS_WITH(Stepper(changed.model, changed_config),
                            Catch::Contains(std::string(setting.key)) &&
                                Catch::Contains("ignored by the law '" + std::string(word) + "'"));
          continue;
        }
        const bool is_vacuous = law == ContactLaw::penalty && !has_joint &&
                                (setting.key == "tolerance" || setting.key == "max_iterations");
        if (!is_vacuous) CHECK_FALSE(outcome_of(changed, changed_config) == outcome_of(scene, config));
      }
    }
  }
}

TEST_CASE("law_settings: the refusal of a stepper names the body or the pair", "[dynamics][value]") {
  TestScene scene = busy_scene(false);
  scene.body(3).name = "ball";
  scene.body(0).name = "floor";
  StepConfig config;
  config.law = ContactLaw::penalty;
  CHECK_NOTHROW(Stepper(scene.model, config));
  TestScene of_body = scene, of_pair = scene;
  of_body.body(3).material.restitution = 0.5;
  CHECK_THROWS_WITH(Simulator(of_body.model, config),
                    Catch::Contains("body 'ball': restitution = 0.5: ignored"));
  of_pair.model.pair_overrides.push_back({.body_A = 0, .body_B = 3, .restitution = 0.25});
  CHECK_THROWS_WITH(Simulator(of_pair.model, config),
                    Catch::Contains("pair 'floor', 'ball': restitution = 0.25: ignored"));
}
