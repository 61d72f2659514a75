/// The settings panel, and values on their way to the simulation.
#include <catch2/catch.hpp>

#include "tests/viewer/panel_desk.h"

namespace abut::viewer {
namespace {

using Catch::Contains;

}  // namespace

TEST_CASE(
    "settings panel: a slider that is dragged changes what is simulated, and its button brings the file's "
    "back",
    "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  desk.selection.body = 1;
  desk.frame = desk.simulation.frame();
  const auto friction = [&] { return desk.frame->model->scene->model.bodies[1].material.friction; };
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
  CHECK(desk.frame->model->as_read->model.bodies[1].material.friction == before);

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
  const Scene &now = *desk.frame->model->scene, &file = *desk.frame->model->as_read;
  CHECK(now.config.step.h == file.config.step.h);
  CHECK(now.model.gravity == file.model.gravity);
  CHECK(now.model.bodies[1].mass == file.model.bodies[1].mass);
}

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
  const auto simulated = [&] { return simulation.frame()->model->scene->model.gravity.z(); };
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
  const double before = simulation.frame()->model->scene->config.step.h;
  edits.change(7, -1.0, [](SimulationCore& core, double value) {
    core.edit([&](Scene& scene) { scene.config.step.h = value; });
  });
  edits.post(simulation, 0.0);
  simulation.update(0.0);
  edits.post(simulation, 0.1);
  CHECK(edits.shown(7, before, 0.11) == -1.0);
  CHECK(edits.shown(7, before, 1.0) == before);
  CHECK_THAT(simulation.frame()->message, Contains("time_step"));
  CHECK(simulation.frame()->model->scene->config.step.h == before);
}

}  // namespace abut::viewer
