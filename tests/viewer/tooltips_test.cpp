/// Everything that a user can set says what it does.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "apps/viewer/panels/setting_help.h"
#include "engine/config_fields.h"
#include "tests/viewer/panel_desk.h"

namespace abut::viewer {
namespace {

bool is_sentence(std::string_view text) {
  return text.size() > 10 && text.back() == '.' && text.find("..") == std::string_view::npos;
}

bool shows_tooltip() {
  const ImVector<ImGuiWindow*>& windows = ImGui::GetCurrentContext()->Windows;
  return std::any_of(windows.begin(), windows.end(), [](const ImGuiWindow* window) {
    return window->Active && (window->Flags & ImGuiWindowFlags_Tooltip) != 0;
  });
}

/// What needs no explanation: headers that fold, what ImGui adds to a window, buttons that drop a message.
std::set<ImGuiID> ids_without_help(Desk& desk, Panel& panel) {
  std::set<ImGuiID> ids;
  desk.draw(panel, [&] {
    for (const char* name :
         {"Time step and contact law", "Bodies", "Gravity", "What counts as a contact", "Motors",
          "Mesh and SDF of a body", "Primitives one by one", "Slice", "Dismiss", "#SCROLLY"}) {
      ids.insert(ImGui::GetID(name));
      if (std::string_view(name) != "Dismiss") ImGui::GetStateStorage()->SetInt(ImGui::GetID(name), 1);
    }
  });
  return ids;
}

/// Places of items without a tooltip, as "x y".
std::set<std::string> places_without_tooltip(Desk& desk, Panel& panel) {
  const std::set<ImGuiID> without = ids_without_help(desk, panel);
  for (int i = 0; i < 3; ++i) desk.draw(panel);  // what has been unfolded
  std::set<ImGuiID> seen;
  std::set<std::string> places;
  for (float y = 30.0f; y < desk.content_height; y += 7.0f) {
    for (const float x : {20.0f, 90.0f, 170.0f, 230.0f, 300.0f}) {
      const ImGuiID id = desk.item_at(panel, x, y);
      if (id == 0 || without.contains(id) || !seen.insert(id).second) continue;
      if (!shows_tooltip()) places.insert(fmt::format("{} {}", x, y));
    }
  }
  CHECK(seen.size() > 5);
  return places;
}

}  // namespace

TEST_CASE("settings: each of the step and of contacts has a sentence, with the formula where there is one",
          "[viewer][value]") {
  std::set<std::string_view> explained;
  for (const StepSetting& setting : k_step_settings) {
    CAPTURE(setting.key);
    CHECK(is_sentence(setting.help));
    CHECK(explained.insert(setting.key).second);
  }
  // Those that the panel explains itself.
  explained.insert({"push_out", "solref", "solimp"});
  for (const StepConfigField& field : step_config_fields()) {
    CAPTURE(field.key);
    CHECK(explained.contains(field.key));
  }
  for (const std::string_view key :
       {"near_rigid_factor", "dissipation_steps", "stiction_factor", "normal_smoothing_factor",
        "push_out_factor", "impact_speed", "penalty_stiction_factor", "tangential_factor", "impratio",
        "complementarity_factor"}) {
    CAPTURE(key);
    const auto* const setting = std::find_if(std::begin(k_step_settings), std::end(k_step_settings),
                                             [&](const StepSetting& s) { return s.key == key; });
    REQUIRE(setting != std::end(k_step_settings));
    CHECK(std::string_view(setting->help).find(" = ") != std::string_view::npos);
  }
  for (const ContactField& field : contact_fields()) {
    const std::string_view key = std::visit([](const auto& f) { return std::string_view(f.key); }, field);
    CAPTURE(key);
    const auto* const help = std::find_if(std::begin(k_contact_help), std::end(k_contact_help),
                                          [&](const ContactHelp& h) { return h.key == key; });
    REQUIRE(help != std::end(k_contact_help));
    CHECK(is_sentence(help->help));
  }
}

TEST_CASE("tooltips: every slider, button, list and field of the panels has one", "[viewer][value]") {
  const int key = GENERATE(GLFW_KEY_F2, GLFW_KEY_F3, GLFW_KEY_F4, GLFW_KEY_F5, GLFW_KEY_F7, GLFW_KEY_F9);
  Desk desk(scene_file("gripper"));
  run_steps(desk, 5);
  desk.selection.body = 1;
  desk.display.slice.shown = true;
  desk.display.primitive_body = 1;
  desk.display.primitive = 0;
  desk.recording.message = "written to picture.png";
  desk.simulation.call([](SimulationCore& core) {
    core.edit([](Scene& scene) { scene.config.step.adaptive_substeps = true; });
  });
  Panel& panel = desk.panel(key);
  CAPTURE(panel.title());
  CHECK(places_without_tooltip(desk, panel) == std::set<std::string>());
}

}  // namespace abut::viewer
