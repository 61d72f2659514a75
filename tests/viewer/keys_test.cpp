#include <catch2/catch.hpp>

#include "tests/viewer/panel_desk.h"

namespace abut::viewer {
namespace {

using Catch::Contains;

}  // namespace

TEST_CASE("key table: no key means two things, and no row is without words", "[viewer][value]") {
  std::set<std::pair<int, int>> keys;
  std::set<Action> actions;
  for (const KeyBinding& binding : key_table()) {
    CAPTURE(key_text(binding), binding.what);
    CHECK(keys.emplace(binding.key, static_cast<int>(binding.modifier)).second);
    CHECK(actions.insert(binding.action).second);
    CHECK(std::string(binding.what).size() > 3);
    CHECK_THAT(key_text(binding), !Contains("key "));  // each has a name
    const auto found = find_key(binding.key, binding.modifier);
    REQUIRE(found);
    CHECK(found->action == binding.action);
  }
  CHECK(actions.size() == static_cast<std::size_t>(Action::quit) + 1);  // every action has a key
  CHECK_FALSE(find_key(GLFW_KEY_F25, KeyModifier::none));
  CHECK(find_key(GLFW_KEY_KP_ADD, KeyModifier::none)->action == Action::faster);
  CHECK(find_key(GLFW_KEY_EQUAL, KeyModifier::shift)->action == Action::faster);  // '+'
  CHECK(find_key(GLFW_KEY_RIGHT, KeyModifier::shift)->action == Action::ten_steps_forward);
  CHECK_FALSE(find_key(GLFW_KEY_SPACE, KeyModifier::control));
}

TEST_CASE("key table: keys that MuJoCo's simulate has mean the same here", "[viewer][value]") {
  CHECK(key_text(Action::run_or_pause) == "Space");
  CHECK(key_text(Action::step_forward) == "Right");
  CHECK(key_text(Action::step_back) == "Left");
  CHECK(key_text(Action::reset) == "Backspace");
  CHECK(key_text(Action::contact_points) == "C");
  CHECK(key_text(Action::contact_forces) == "F");
  CHECK(key_text(Action::collision_mesh) == "H");
  CHECK(key_text(Action::help_panel) == "F1");
  CHECK(key_text(Action::reload) == "Ctrl + L");
}

TEST_CASE("key table: the key of every panel opens and closes it, in place of others of its pane",
          "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  desk.frame = desk.simulation.frame();
  REQUIRE(desk.panels.size() == 11);
  std::set<int> panel_keys;
  for (const auto& panel : desk.panels) panel_keys.insert(panel->key());
  CHECK(panel_keys.size() == 11);
  CHECK(*panel_keys.begin() == GLFW_KEY_F1);
  CHECK(*panel_keys.rbegin() == GLFW_KEY_F11);
  for (std::size_t i = 0; i < desk.panels.size(); ++i) {
    const auto binding = find_key(desk.panels[i]->key(), KeyModifier::none);
    REQUIRE(binding);
    CHECK(binding->category == KeyCategory::panels);
    std::vector<bool> expected;
    const bool was_open = desk.panels[i]->open();
    for (const auto& panel : desk.panels)
      expected.push_back(panel->open() && panel->pane() != desk.panels[i]->pane());
    expected[i] = !was_open;
    PanelContext context = desk.context();
    CHECK(perform(binding->action, context, desk.panels));
    for (std::size_t j = 0; j < desk.panels.size(); ++j) CHECK(desk.panels[j]->open() == expected[j]);
  }
}

TEST_CASE("keys: each that shows something switches that, once on and once off", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  desk.frame = desk.simulation.frame();
  ContactDisplay& contacts = desk.display.contacts;
  const std::pair<Action, bool*> switches[] = {{Action::contact_points, &contacts.points},
                                               {Action::contact_normals, &contacts.normals},
                                               {Action::contact_forces, &contacts.forces},
                                               {Action::friction_discs, &contacts.friction_discs},
                                               {Action::witness_points, &contacts.witness_points},
                                               {Action::candidates, &contacts.candidates},
                                               {Action::vertex_sdf_contacts, &contacts.vertex_sdf},
                                               {Action::edge_edge_contacts, &contacts.edge_edge},
                                               {Action::edge_sdf_contacts, &contacts.edge_sdf},
                                               {Action::scale_by_indicator, &contacts.scale_by_indicator},
                                               {Action::side_by_side, &desk.display.side_by_side},
                                               {Action::wireframe, &desk.display.wireframe},
                                               {Action::translucent, &desk.display.translucent},
                                               {Action::discrepancy, &desk.display.discrepancy},
                                               {Action::slice, &desk.display.slice.shown},
                                               {Action::gradient_arrows, &desk.display.gradient_arrows},
                                               {Action::all_panels, &desk.display.panels},
                                               {Action::screenshot, nullptr}};
  for (const auto& [action, value] : switches) {
    CAPTURE(key_text(action));
    PanelContext context = desk.context();
    std::vector<bool> before, after;
    for (const auto& [other, flag] : switches) before.push_back(flag && *flag);
    CHECK(perform(action, context, desk.panels));
    for (const auto& [other, flag] : switches) after.push_back(flag && *flag);
    for (std::size_t i = 0; i < before.size(); ++i)
      CHECK((before[i] != after[i]) == (switches[i].first == action && value != nullptr));
    if (!value) continue;
    CHECK(perform(action, context, desk.panels));
    CHECK(*value == before[static_cast<std::size_t>(
                        &*std::find_if(std::begin(switches), std::end(switches),
                                       [&, a = action](const auto& s) { return s.first == a; }) -
                        std::begin(switches))]);
  }
  PanelContext context = desk.context();
  CHECK(desk.recording.take_screenshot);
  perform(Action::collision_mesh, context, desk.panels);
  CHECK(desk.display.surface == BodySurface::mesh);
  perform(Action::collision_mesh, context, desk.panels);
  CHECK(desk.display.surface == BodySurface::visual);
  for (std::size_t i = 0; i < std::size(k_indicator_names); ++i) {
    CHECK(contacts.indicator == static_cast<Indicator>(i));
    perform(Action::next_indicator, context, desk.panels);
  }
  CHECK(contacts.indicator == Indicator::activity);
  desk.selection.body = 1;
  perform(Action::clear_selection, context, desk.panels);
  CHECK(desk.selection.body == -1);
  perform(Action::video, context, desk.panels);
  CHECK(desk.recording.recording_video);
  perform(Action::save_trajectory, context, desk.panels);
  CHECK(desk.recording.save_trajectory);
  CHECK_FALSE(perform(Action::quit, context, desk.panels));
}

TEST_CASE("keys: those of the simulation do what they say", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  const auto press = [&](Action action) {
    desk.frame = desk.simulation.frame();
    PanelContext context = desk.context();
    CHECK(perform(action, context, desk.panels));
    desk.simulation.update(0.0);
    desk.frame = desk.simulation.frame();
  };
  press(Action::step_forward);
  CHECK(desk.frame->number == 1);
  press(Action::ten_steps_forward);
  CHECK(desk.frame->number == 11);
  press(Action::step_back);
  CHECK(desk.frame->number == 10);
  CHECK(desk.frame->last == 11);
  press(Action::ten_steps_back);
  CHECK(desk.frame->number == 0);
  press(Action::last_moment);
  CHECK(desk.frame->number == 11);
  press(Action::first_moment);
  CHECK(desk.frame->number == 0);
  press(Action::step_forward);
  press(Action::branch);
  CHECK(desk.frame->last == 1);
  press(Action::run_or_pause);
  CHECK(desk.frame->running);
  press(Action::run_or_pause);
  CHECK_FALSE(desk.frame->running);
  press(Action::faster);
  CHECK(desk.frame->speed == 2.0);
  for (int i = 0; i < 9; ++i) press(Action::slower);
  CHECK(desk.frame->speed == 1.0 / 16.0);
  press(Action::real_time);
  CHECK(desk.frame->speed == 1.0);
  press(Action::reset);
  CHECK(desk.frame->last == 0);
  const SharedModel before = desk.frame->model;
  press(Action::reload);
  CHECK(desk.frame->model != before);
  press(Action::loop);
  CHECK(desk.frame->loops);
  press(Action::show_all);
  CHECK(desk.camera.target.allFinite());
}

TEST_CASE("is_on: a key that turns something on and off flips it, and no other key does", "[viewer][value]") {
  Desk desk(scene_file("drill_mustard"));
  desk.frame = desk.simulation.frame();
  int flips = 0;
  for (const KeyBinding& binding : key_table()) {
    if (binding.category == KeyCategory::files || binding.action == Action::reload) continue;
    CAPTURE(binding.what);
    const auto states = [&] {
      const PanelContext context = desk.context();
      std::vector<bool> on;
      for (const KeyBinding& other : key_table()) on.push_back(is_on(other.action, context));
      return on;
    };
    const auto press = [&] {
      PanelContext context = desk.context();
      REQUIRE(perform(binding.action, context, desk.panels));
      desk.simulation.call([](SimulationCore&) {});
      desk.frame = desk.simulation.frame();
    };
    const std::vector<bool> before = states();
    press();
    const std::vector<bool> after = states();
    const auto row = static_cast<std::size_t>(&binding - key_table().data());
    if (after[row] == before[row]) continue;
    ++flips;
    press();
    CHECK(states()[row] == before[row]);
  }
  CHECK(flips == 26);
}

TEST_CASE("keys of the camera: directions, parallel rays, views that are kept", "[viewer][value]") {
  Desk desk(scene_file("sphere_bounce"));
  desk.frame = desk.simulation.frame();
  const auto press = [&](Action action) {
    PanelContext context = desk.context();
    REQUIRE(perform(action, context, desk.panels));
  };
  const std::pair<Action, Vec3<double>> views[] = {
      {Action::view_front, {0, 1, 0}}, {Action::view_back, {0, -1, 0}}, {Action::view_right, {-1, 0, 0}},
      {Action::view_left, {1, 0, 0}},  {Action::view_top, {0, 0, -1}},  {Action::view_bottom, {0, 0, 1}}};
  for (const auto& [action, forward] : views) {
    press(action);
    CHECK((desk.camera.forward() - forward).norm() < 1e-12);
  }
  press(Action::view_front);
  press(Action::keep_view_2);
  press(Action::view_top);
  press(Action::return_to_view_1);  // none is kept there
  CHECK(desk.camera.forward().z() < -0.99);
  press(Action::return_to_view_2);
  CHECK(desk.camera.forward().y() > 0.99);
  press(Action::orthographic);
  CHECK(desk.camera.orthographic);

  // The ball falls and flies on: all of that is in the picture, from the first moment to the last.
  press(Action::show_motion);
  const double aspect = ImGui::GetIO().DisplaySize.x / ImGui::GetIO().DisplaySize.y;
  for (int i = 0; i < 100; ++i) {
    const Vec3<double> place = desk.camera.project(desk.frame->state.X_WB[1].p, aspect);
    CHECK(place.head<2>().cwiseAbs().maxCoeff() < 1.0);
    desk.simulation.call([](SimulationCore& core) {
      for (int n = 0; n < 10; ++n) core.step_forward();
    });
    desk.frame = desk.simulation.frame();
  }

  press(Action::follow_body);
  const Vec3<double> before = desk.camera.target;
  desk.camera_state.follow(1, {0, 0, 1}, desk.camera);
  desk.camera_state.follow(1, {0, 2, 1}, desk.camera);
  CHECK((desk.camera.target - before - Vec3<double>(0, 2, 0)).norm() < 1e-12);
  desk.camera_state.follow(0, {5, 5, 5}, desk.camera);  // another body: nothing jumps
  CHECK((desk.camera.target - before - Vec3<double>(0, 2, 0)).norm() < 1e-12);
}

TEST_CASE("next primitive: goes through all of a body, and of all bodies where none is selected",
          "[viewer][value]") {
  Desk desk(scene_file("drill_mustard"));
  desk.frame = desk.simulation.frame();
  const Model& model = desk.frame->model->model();
  PanelContext context = desk.context();
  std::size_t total = 0, seen = 0;
  for (const Body& body : model.bodies) total += body.shape.primitives.size();
  std::set<std::pair<int, int>> places;
  do {
    next_primitive(context);
    if (desk.display.primitive_body < 0) break;
    places.emplace(desk.display.primitive_body, desk.display.primitive);
  } while (++seen < 2 * total);
  CHECK(places.size() == total);
  CHECK(seen == total);
  desk.selection.body = 1;
  const auto of_body = static_cast<int>(model.bodies[1].shape.primitives.size());
  for (int i = 0; i < of_body + 1; ++i) next_primitive(context);
  CHECK(desk.display.primitive_body == 1);
  CHECK(desk.display.primitive == 0);
}

}  // namespace abut::viewer
