#include <catch2/catch.hpp>

#include "engine/law_settings.h"
#include "tests/viewer/panel_desk.h"

namespace abut::viewer {
namespace {

using Catch::Contains;

}  // namespace

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

TEST_CASE(
    "settings panel: a slider that is dragged changes what is simulated, and its button brings the file's "
    "back",
    "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  desk.selection.body = 1;
  desk.frame = desk.simulation.frame();
  const auto friction = [&] { return desk.frame->model->scene.model.bodies[1].material.friction; };
  const double before = friction();
  Panel& panel = desk.panel(GLFW_KEY_F3);
  const auto of_body = [](const char* inner) {
    return [inner] {
      ImGui::PushID(1);
      const ImGuiID id = id_in("friction", inner);
      ImGui::PopID();
      return id;
    };
  };
  const auto slider = desk.find(panel, of_body("##value"));
  REQUIRE(slider);
  ImGuiIO& io = ImGui::GetIO();
  io.MousePos = *slider;
  desk.turn(panel);
  io.MouseDown[0] = true;
  desk.turn(panel);
  io.MousePos.x += 30.0f;
  desk.turn(panel);
  desk.turn(panel);
  const double dragged = friction();
  CHECK(dragged > 0.5);
  CHECK(dragged != before);
  CHECK(dragged < 2.0);
  CHECK(std::abs(dragged * 1000.0 - std::round(dragged * 1000.0)) < 1e-9);  // of a hand, not of a pixel
  io.MouseDown[0] = false;
  desk.turn(panel);
  CHECK(friction() == dragged);
  CHECK(desk.frame->model->as_read.model.bodies[1].material.friction == before);

  const auto button = desk.find(panel, of_body("###standard"));
  REQUIRE(button);
  desk.click(panel, *button);
  CHECK(friction() == before);

  desk.click(panel, *slider);
  CHECK(friction() != before);
  desk.click(panel, *slider, 1);
  CHECK(friction() == before);
}

TEST_CASE("settings panel: reset to the file undoes every edit", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  desk.simulation.call([](SimulationCore& core) {
    core.edit([](Scene& scene) {
      scene.config.step.h = 1e-3;
      scene.model.gravity.z() = -1.6;
      scene.model.bodies[1].mass *= 3.0;
    });
  });
  Panel& panel = desk.panel(GLFW_KEY_F3);
  const auto button = desk.find(panel, [] { return ImGui::GetID("Reset to the file"); });
  REQUIRE(button);
  desk.click(panel, *button);
  const Scene &now = desk.frame->model->scene, &file = desk.frame->model->as_read;
  CHECK(now.config.step.h == file.config.step.h);
  CHECK(now.model.gravity == file.model.gravity);
  CHECK(now.model.bodies[1].mass == file.model.bodies[1].mass);
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

// Values on their way ---------------------------------------------------------------------------------------

TEST_CASE(
    "PendingEdits: what was set is shown until the simulation has it, and one edit is on its way at a time",
    "[viewer][value]") {
  SimulationThread simulation(Desk::options(scene_file("box_slide")), Threading::none);
  PendingEdits edits;
  int posted = 0;
  const PendingEdits::Edit set_gravity = [&posted](SimulationCore& core, double value) {
    ++posted;
    core.edit([&](Scene& scene) { scene.model.gravity.z() = value; });
  };
  const auto simulated = [&] { return simulation.frame()->model->scene.model.gravity.z(); };
  const double before = simulated();
  CHECK(edits.shown(1, before, 0.0) == before);
  edits.change(1, -1.0, set_gravity);
  edits.post(simulation, 0.0);
  CHECK(edits.shown(1, simulated(), 5.0) == -1.0);  // the simulation has not got to it, however long it takes
  edits.change(1, -2.0, set_gravity);
  edits.change(1, -3.0, set_gravity);
  edits.post(simulation, 0.1);
  CHECK(edits.shown(1, simulated(), 0.1) == -3.0);
  simulation.update(0.0);
  CHECK(posted == 1);
  CHECK(simulated() == -1.0);
  CHECK(edits.shown(1, simulated(), 0.2) == -3.0);
  edits.post(simulation, 0.2);
  simulation.update(0.0);
  CHECK(posted == 2);  // -2 was never asked for
  CHECK(edits.shown(1, simulated(), 0.3) == -3.0);
  CHECK(simulated() == -3.0);
  // It has arrived: from now on the simulation says what there is.
  CHECK(edits.shown(1, -9.0, 0.3) == -9.0);
}

TEST_CASE("PendingEdits: what is refused is shown no longer, and the simulation says why",
          "[viewer][value]") {
  SimulationThread simulation(Desk::options(scene_file("box_slide")), Threading::none);
  PendingEdits edits;
  const double before = simulation.frame()->model->scene.config.step.h;
  edits.change(7, -1.0, [](SimulationCore& core, double value) {
    core.edit([&](Scene& scene) { scene.config.step.h = value; });
  });
  edits.post(simulation, 0.0);
  simulation.update(0.0);
  edits.post(simulation, 0.1);
  CHECK(edits.shown(7, before, 0.11) == -1.0);
  CHECK(edits.shown(7, before, 1.0) == before);
  CHECK_THAT(simulation.frame()->message, Contains("time_step"));
  CHECK(simulation.frame()->model->scene.config.step.h == before);
}

// Pinned contacts -------------------------------------------------------------------------------------------

TEST_CASE(
    "pinned contacts: samples are as many for each curve, at most 2,000, and begin anew when time goes back",
    "[viewer][value]") {
  Desk desk(scene_file("box_stack"));
  run_steps(desk, 10);
  REQUIRE_FALSE(desk.frame->contacts.empty());
  pin_contacts(desk, 2);
  Selection& selection = desk.selection;
  const auto require_equal_lengths = [&](std::size_t length) {
    for (const Selection::Pinned& pinned : selection.pinned) {
      CHECK(pinned.time.size() == length);
      CHECK(pinned.distance.size() == length);
      CHECK(pinned.force.size() == length);
      CHECK(pinned.activity.size() == length);
    }
  };
  sample_pinned(*desk.frame, selection);
  sample_pinned(*desk.frame, selection);  // the same moment
  require_equal_lengths(1);
  const ContactView& first = desk.frame->contacts[0];
  CHECK(selection.pinned[0].distance[0] == static_cast<float>(first.contact.signed_distance));
  CHECK(selection.pinned[0].activity[0] == static_cast<float>(first.contact.activity));
  REQUIRE(first.has_force);
  CHECK(selection.pinned[0].force[0] == static_cast<float>(first.force.normal_force()));

  // Frames of a made-up clock, with and without the contact.
  Frame frame = *desk.frame;
  for (int i = 1; i < 3000; ++i) {
    frame.state.time = desk.frame->state.time + 0.01 * i;
    if (i == 2000) frame.contacts.clear();
    sample_pinned(frame, selection);
    if (i == 500) require_equal_lengths(501);
  }
  require_equal_lengths(k_most_samples);
  CHECK(std::isnan(selection.pinned[0].distance.back()));
  CHECK(selection.pinned[0].activity.back() == 0.0f);
  CHECK(selection.pinned[0].force.back() == 0.0f);
  CHECK(selection.pinned[0].time.back() == static_cast<float>(frame.state.time));
  CHECK(selection.pinned[0].time.front() > selection.pinned[0].time.back() - 21.0f);
  CHECK(std::is_sorted(selection.pinned[0].time.begin(), selection.pinned[0].time.end()));
  desk.draw(desk.panel(GLFW_KEY_F6));  // back at its own time
  require_equal_lengths(1);
}

TEST_CASE("Selection: contacts are told apart by everything that they come from", "[viewer][value]") {
  const ContactFeature feature{ContactKind::edge_edge, 1, 2, 3, 4};
  Selection selection;
  selection.toggle_pin(feature);
  CHECK(selection.is_pinned(feature));
  for (int change = 0; change < 5; ++change) {
    ContactFeature other = feature;
    if (change == 0) other.kind = ContactKind::edge_sdf;
    if (change == 1) other.body_A = 0;
    if (change == 2) other.body_B = 3;
    if (change == 3) other.feature_A = 5;
    if (change == 4) other.feature_B = 5;
    CAPTURE(change);
    CHECK_FALSE(selection.is_pinned(other));
  }
  selection.toggle_pin(feature);
  CHECK(selection.pinned.empty());
  ContactDisplay display;
  display.edge_sdf = false;
  CHECK(display.shows(ContactKind::edge_edge));
  CHECK_FALSE(display.shows(ContactKind::edge_sdf));
}

// Gradients -------------------------------------------------------------------------------------------------

TEST_CASE("gradient panel: shows gradients of the future and the past, their check, and determinism",
          "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  Panel& panel = desk.panel(GLFW_KEY_F7);
  desk.gradients.steps = 20;
  desk.gradients.from_past = GENERATE(false, true);
  const bool from_past = desk.gradients.from_past;
  CAPTURE(from_past);
  const auto wait = [&] {
    for (int i = 0; i < 2000 && (is_busy(desk.gradients) || desk.gradients.determinism_on_its_way.valid());
         ++i) {
      desk.turn(panel);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  };
  desk.frame = desk.simulation.frame();
  PanelContext context = desk.context();
  if (from_past) {
    ask_for_gradient(context, false);
    wait();
    CHECK_FALSE(desk.gradients.result);
    CHECK_THAT(desk.gradients.message, Contains("step forward first"));
    desk.draw(panel);
  }
  run_steps(desk, 12);
  const auto button = desk.find(panel, [] { return ImGui::GetID("With a check"); });
  REQUIRE(button);
  desk.click(panel, *button);
  CHECK(is_busy(desk.gradients));
  wait();
  REQUIRE(desk.gradients.result);
  const GradientResult& result = *desk.gradients.result;
  CAPTURE(result.error);
  CHECK(result.error.empty());
  CHECK(result.request.number == (from_past ? 0 : 12));
  CHECK(result.request.steps == (from_past ? 12 : 20));
  CHECK(result.request.controls.empty());  // nobody pulled
  CHECK_FALSE(result.check.empty());
  CHECK(desk.gradients.message.empty());
  for (int i = 0; i < 3; ++i) desk.draw(panel);
  CHECK(desk.beyond_the_edge == 0.0f);

  const auto repeat = desk.find(panel, [] { return ImGui::GetID("Check determinism"); });
  REQUIRE(repeat);
  desk.click(panel, *repeat);
  wait();
  REQUIRE(desk.gradients.determinism);
  CHECK(desk.gradients.determinism->error.empty());
  CHECK(desk.gradients.determinism->steps == 12);
  CHECK(desk.gradients.determinism->first_difference == -1);
  for (int i = 0; i < 3; ++i) desk.draw(panel);
  CHECK(desk.beyond_the_edge == 0.0f);

  // Verdicts of every kind, and of a job that failed.
  GradientSample sample;
  sample.group = "initial angular velocity";
  sample.adjoint = -1.23456e-12;
  sample.difference = 1.23456e+12;
  desk.gradients.result->check.assign(5, sample);
  desk.gradients.result->check[1].unresolved = true;
  desk.gradients.result->check[2].non_finite = true;
  desk.gradients.result->check[2].relative_error = std::numeric_limits<double>::infinity();
  desk.gradients.result->check[3].relative_error = 0.5;
  desk.gradients.result->check[4].relative_error = 5e-3;
  desk.gradients.result->gradient.health.warnings.assign(9, {GradientWarning::Kind::kinks, 3, 1, 0.5});
  for (int i = 0; i < 3; ++i) desk.draw(panel);
  CHECK(desk.beyond_the_edge == 0.0f);
  desk.gradients.result->error = "a step failed";
  for (int i = 0; i < 3; ++i) desk.draw(panel);
}

TEST_CASE("gradient of the past: has the forces of whoever pulled in each step", "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  run_steps(desk, 5);
  desk.simulation.call([](SimulationCore& core) {
    Pull pull;
    pull.body = 1;
    pull.target_W = core.state().X_WB[1].p + Vec3<double>(0.0, 0.0, 0.1);
    core.set_pull(pull);
    for (int i = 0; i < 3; ++i) core.step_forward();
    core.set_pull({});
  });
  desk.frame = desk.simulation.frame();
  desk.gradients.from_past = true;
  desk.gradients.steps = 6;
  PanelContext context = desk.context();
  ask_for_gradient(context, false);
  desk.simulation.update(0.0);
  for (int i = 0; i < 2000 && is_busy(desk.gradients); ++i) {
    poll_gradients(desk.gradients);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  REQUIRE(desk.gradients.result);
  const GradientResult& result = *desk.gradients.result;
  CHECK(result.error.empty());
  CHECK(result.request.number == 2);
  REQUIRE(result.request.controls.size() == 6);
  for (std::size_t k = 0; k < 6; ++k) {
    REQUIRE(result.request.controls[k].size() == 2);
    CHECK((result.request.controls[k][1].norm() > 0.0) == (k >= 3));
    CHECK(result.request.controls[k][0].norm() == 0.0);
  }
}

}  // namespace abut::viewer
