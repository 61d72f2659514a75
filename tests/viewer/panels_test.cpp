#include <catch2/catch.hpp>

#include "engine/law_settings.h"
#include "tests/viewer/panel_desk.h"

namespace abut::viewer {

// Panels ----------------------------------------------------------------------------------------------------

TEST_CASE("panels: all draw in 340 pixels, whatever the scene, the selection and what is switched on",
          "[viewer][value]") {
  const std::string scene =
      GENERATE(as<std::string>(), "box_stack", "gripper", "sphere_bounce", "drill_mustard", "hanging_chain");
  CAPTURE(scene);
  Desk desk(scene_file(scene));
  require_all_draw(desk);  // nothing selected, one moment, perhaps no contact

  run_steps(desk, 40);
  desk.selection.body = desk.frame->model->model().body_count() - 1;
  pin_contacts(desk, 3);
  desk.display.contacts.forces = desk.display.contacts.friction_discs = true;
  desk.display.slice.shown = desk.display.discrepancy = true;
  desk.display.primitive_body = desk.selection.body;
  desk.display.primitive = 0;
  desk.recording.message = "picture.png is written";
  require_all_draw(desk);

  PanelContext context = desk.context();
  set_side_by_side(context, true);
  desk.simulation.call([](SimulationCore& core) {
    core.step_back();
    core.set_message("the 3rd step % failed: ## of body 'box' at contact {}");
  });
  require_all_draw(desk);
  desk.simulation.call([](SimulationCore& core) {  // a body of another number of contacts, all in the air
    core.set_pose(core.model()->model().body_count() - 1,
                  {Quat<double>::Identity(), Vec3<double>(0.0, 0.0, 50.0)});
    core.set_running(true);
  });
  require_all_draw(desk);
}

TEST_CASE("panels: all draw for every contact law, and without any contact", "[viewer][value]") {
  Desk desk(scene_file("sphere_bounce"));
  for (std::size_t law = 0; law < contact_laws().size(); ++law) {
    desk.simulation.call([law](SimulationCore& core) {
      core.edit([law](Scene& scene) {
        scene.config.step.law = contact_laws()[law].second;
        scene.config.step.adaptive_substeps = true;
        scene.config.step.acceleration_scale = 5.0;
        reset_ignored(false, scene.config.step);  // the scene has a penalty_stiffness
        const bool has_springs = setting_use("stiffness", scene.config.step.law) == SettingUse::honoured;
        scene.model.bodies[1].material = {};
        if (!has_springs) return;
        scene.model.bodies[1].material.stiffness = 1e4;
        scene.model.bodies[1].material.dissipation_time = 0.01;
      });
    });
    desk.frame = desk.simulation.frame();
    CAPTURE(to_string(contact_laws()[law].second), desk.frame->message);
    CHECK(desk.frame->message.empty());
    CHECK(desk.frame->contacts.empty());
    require_all_draw(desk);
  }
}

TEST_CASE("panels: all draw for a scene of one body", "[viewer][value]") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const std::filesystem::path file = folder / "abut_panels_test_one_body.toml";
  {
    std::ofstream out(file);
    out << "[[body]]\nname = \"50 % ## ball\"\ndensity = 1000\n[[body.primitive]]\nkind = \"sphere\"\nradius "
           "= 0.1\n";
  }
  Desk desk(file);
  require_all_draw(desk);
  desk.selection.body = 0;
  run_steps(desk, 5);
  require_all_draw(desk);
  std::filesystem::remove(file);
}

TEST_CASE("panels: no ImGui id is used twice", "[viewer][value]") {
  Desk desk(scene_file("gripper"));
  run_steps(desk, 60);
  REQUIRE_FALSE(desk.frame->contacts.empty());
  desk.selection.body = 1;
  pin_contacts(desk, 2);
  desk.display.primitive_body = 1;
  desk.display.slice.shown = true;
  for (const auto& panel : desk.panels) {
    CAPTURE(panel->title());
    for (int i = 0; i < 3; ++i) desk.draw(*panel);
    // Items have a gap between them, so the places where an item is under the mouse hang together.
    constexpr float k_x_step = 14.0f, k_y_step = 3.0f;
    const int columns = static_cast<int>(k_width / k_x_step),
              rows = static_cast<int>(desk.content_height / k_y_step);
    std::vector<ImGuiID> ids(static_cast<std::size_t>(columns * rows));
    const auto at = [&](int r, int c) -> ImGuiID& { return ids[static_cast<std::size_t>(r * columns + c)]; };
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c)
        at(r, c) =
            desk.item_at(*panel, (static_cast<float>(c) + 0.5f) * k_x_step, static_cast<float>(r) * k_y_step);
    }
    std::map<ImGuiID, int> pieces;
    std::vector<bool> seen(ids.size());
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        const ImGuiID id = at(r, c);
        if (id == 0 || seen[static_cast<std::size_t>(r * columns + c)]) continue;
        ++pieces[id];
        std::vector<std::pair<int, int>> todo{{r, c}};
        while (!todo.empty()) {
          const auto [i, j] = todo.back();
          todo.pop_back();
          if (i < 0 || j < 0 || i >= rows || j >= columns || at(i, j) != id) continue;
          if (seen[static_cast<std::size_t>(i * columns + j)]) continue;
          seen[static_cast<std::size_t>(i * columns + j)] = true;
          todo.insert(todo.end(), {{i + 1, j}, {i - 1, j}, {i, j + 1}, {i, j - 1}, {i, j + 2}, {i, j - 2}});
        }
      }
    }
    if (panel->key() != GLFW_KEY_F1) CHECK(pieces.size() > 3);  // help has nothing to press
    for (const auto& [id, count] : pieces) {
      CAPTURE(id);
      CHECK(count == 1);
    }
  }
}

// What is pressed -------------------------------------------------------------------------------------------

TEST_CASE("simulation panel: a branch forgets what came later", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  run_steps(desk, 10);
  desk.simulation.call([](SimulationCore& core) { core.seek(4); });
  Panel& panel = desk.panel(GLFW_KEY_F2);
  const auto branch = desk.find(panel, [] { return ImGui::GetID("###branch"); });
  REQUIRE(branch);
  desk.click(panel, *branch);
  CHECK(desk.frame->last == 4);
}

TEST_CASE("simulation panel: a message is shown until it is dismissed", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  Panel& panel = desk.panel(GLFW_KEY_F2);
  const auto dismiss = [] { return ImGui::GetID("Dismiss"); };
  CHECK_FALSE(desk.find(panel, dismiss));
  desk.simulation.call([](SimulationCore& core) { core.set_message("it failed"); });
  const auto button = desk.find(panel, dismiss);
  REQUIRE(button);
  desk.click(panel, *button);
  CHECK(desk.frame->message.empty());
}

TEST_CASE("contacts panel: a click on a row pins its contact, and another one lets it go",
          "[viewer][value]") {
  Desk desk(scene_file("box_stack"));
  run_steps(desk, 20);
  REQUIRE(desk.frame->contacts.size() > 3);
  Panel& panel = desk.panel(GLFW_KEY_F6);
  for (int i = 0; i < 3; ++i) desk.draw(panel);
  // The first item below the header of the table.
  float y = 0.0f;
  for (float below = 60.0f; below < 400.0f; below += 4.0f) {
    desk.click(panel, {60.0f, below});
    if (desk.selection.pinned.empty()) continue;
    y = below;
    break;
  }
  REQUIRE(y > 0.0f);
  CHECK(desk.selection.pinned.size() == 1);
  CHECK(desk.selection.is_pinned(desk.selection.pinned[0].feature));
  desk.click(panel, {60.0f, y});
  CHECK(desk.selection.pinned.empty());
}

TEST_CASE("plots panel: a press in a plot shows that moment", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  run_steps(desk, 100);
  Panel& panel = desk.panel(GLFW_KEY_F8);
  const auto curve = desk.find(panel, [] {
    ImGui::PushOverrideID(ImGui::GetID("plots"));  // a table
    const ImGuiID id = id_in("plot", "Energy");
    ImGui::PopID();
    return id;
  });
  REQUIRE(curve);
  desk.click(panel, *curve);
  CHECK(desk.frame->number > 35);  // the axis takes its part of the left half
  CHECK(desk.frame->number < 50);
}

}  // namespace abut::viewer
