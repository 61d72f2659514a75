/// The mouse in the window, and the camera that it moves.
#include <catch2/catch.hpp>

#include <algorithm>
#include <utility>

#include "apps/viewer/picking.h"
#include "tests/viewer/headless_viewer.h"

namespace abut::viewer {

TEST_CASE("Viewer: a flying camera moves by held keys and looks around from where it is", "[viewer][value]") {
  HeadlessViewer user(scene_file("sphere_bounce"));
  OrbitCamera& camera = user.viewer.camera;
  const auto displacement = [&](int key, KeyModifier modifier = KeyModifier::none) -> Vec3<double> {
    const OrbitCamera before = camera;
    user.press(key, modifier);
    CHECK(camera.azimuth == before.azimuth);
    const Vec3<double> way = (camera.position() - before.position()) / before.distance;
    return {way.dot(before.right()), way.dot(before.up()), way.dot(before.forward())};
  };
  const DisplayOptions display = user.viewer.display;
  CHECK(displacement(GLFW_KEY_W).norm() < 1e-12);  // it does what it does: a wireframe
  CHECK(user.viewer.display.wireframe != display.wireframe);
  user.press(GLFW_KEY_W);
  camera.orthographic = true;
  user.press(GLFW_KEY_J, KeyModifier::shift);
  REQUIRE(user.viewer.camera_state.flies);
  CHECK_FALSE(camera.orthographic);

  const double length = displacement(GLFW_KEY_W).z();
  CHECK(length > 0.0);
  const std::pair<int, Vec3<double>> keys[] = {{GLFW_KEY_W, {0, 0, 1}}, {GLFW_KEY_S, {0, 0, -1}},
                                               {GLFW_KEY_D, {1, 0, 0}}, {GLFW_KEY_A, {-1, 0, 0}},
                                               {GLFW_KEY_E, {0, 1, 0}}, {GLFW_KEY_Q, {0, -1, 0}}};
  for (const auto& [key, way] : keys) {
    CAPTURE(key);
    CHECK((displacement(key) - length * way).norm() < 1e-9);
    CHECK((displacement(key, KeyModifier::shift) - 4.0 * length * way).norm() < 1e-9);
  }
  CHECK(user.viewer.display.wireframe == display.wireframe);
  CHECK(user.viewer.display.slice.shown == display.slice.shown);
  CHECK(user.viewer.display.contacts.edge_edge == display.contacts.edge_edge);
  CHECK_FALSE(user.viewer.gradients.job.busy());

  const OrbitCamera before = camera;
  user.drag(0, 100.0f, 100.0f, 140.0f, 80.0f);
  CHECK((camera.position() - before.position()).norm() < 1e-9);
  CHECK(camera.forward().dot(before.right()) > 0.05);
  CHECK(camera.forward().z() > before.forward().z());
  user.mouse_to(100.0f, 100.0f);
  const OrbitCamera slow = camera;
  ImGui::GetIO().MouseWheel = 2.0f;
  user.draw();
  ImGui::GetIO().MouseWheel = 0.0f;
  CHECK(camera.distance > 1.2 * slow.distance);  // which it flies in the same time
  CHECK((camera.position() - slow.position()).norm() < 1e-9);

  user.viewer.selection.body = 1;
  user.press(GLFW_KEY_ESCAPE);
  CHECK_FALSE(user.viewer.camera_state.flies);
  CHECK(user.viewer.selection.body == 1);
  CHECK(displacement(GLFW_KEY_D).norm() < 1e-12);
}

TEST_CASE(
    "Viewer: where the pointer can be captured, a flying camera looks around by every motion of the mouse",
    "[viewer][value]") {
  HeadlessViewer user(scene_file("sphere_bounce"), 1280, 720);
  Viewer& viewer = user.viewer;
  OrbitCamera& camera = viewer.camera;
  viewer.display.panels = true;
  viewer.can_capture_pointer = true;
  user.draw(2);
  CHECK_FALSE(viewer.wants_pointer());
  user.press(GLFW_KEY_J, KeyModifier::shift);
  REQUIRE(viewer.wants_pointer());
  const float pane_x = 40.0f, scene_x = viewer.scene().x + 0.5f * viewer.scene().width;
  for (const float x : {pane_x, scene_x}) {  // there is no pointer that could be over a pane
    CAPTURE(x);
    user.mouse_to(x, 300.0f);
    user.draw();
    const OrbitCamera before = camera;
    user.mouse_to(x + 60.0f, 270.0f);
    user.draw();
    CHECK((camera.position() - before.position()).norm() < 1e-9);
    CHECK(camera.forward().dot(before.right()) > 0.05);
    CHECK(camera.forward().z() > before.forward().z());
    user.draw();  // the mouse rests
    CHECK(camera.forward().dot(before.right()) < 0.5);
    user.click(x, 300.0f);
    CHECK(viewer.selection.body == -1);
  }
  const OrbitCamera slow = camera;
  ImGui::GetIO().MouseWheel = 2.0f;
  user.draw();
  ImGui::GetIO().MouseWheel = 0.0f;
  CHECK(camera.distance > 1.2 * slow.distance);
  user.press(GLFW_KEY_O, KeyModifier::control);  // a dialog needs the pointer
  CHECK(viewer.has_popup());
  CHECK_FALSE(viewer.wants_pointer());
  user.press(GLFW_KEY_ESCAPE);
  CHECK(viewer.wants_pointer());
  user.press(GLFW_KEY_ESCAPE);
  CHECK_FALSE(viewer.camera_state.flies);
  CHECK_FALSE(viewer.wants_pointer());
  const OrbitCamera after = camera;
  user.mouse_to(scene_x, 300.0f);
  user.draw();
  user.mouse_to(scene_x + 60.0f, 270.0f);
  user.draw();
  CHECK(camera.azimuth == after.azimuth);
}

TEST_CASE("Viewer: a click beside the panes means the body that is seen there", "[viewer][value]") {
  HeadlessViewer user(scene_file("sphere_bounce"), 1280, 720);
  user.viewer.display.panels = true;
  for (const auto& panel : user.viewer.panels()) panel->set_open(panel->key() != GLFW_KEY_F1);
  user.draw(3);
  user.viewer.act(Action::show_all);
  user.draw();
  const Rectangle area = user.viewer.scene();
  CHECK((area.x > 100.0f && area.width < 1000.0f && area.height < 600.0f));
  const Vec3<double> p =
      user.viewer.camera.project(user.frame().state.X_WB[1].p, static_cast<double>(area.width / area.height));
  user.click(area.x + static_cast<float>(0.5 * (1.0 + p.x())) * area.width,
             area.y + static_cast<float>(0.5 * (1.0 - p.y())) * area.height);
  CHECK(user.viewer.selection.body == 1);
}

TEST_CASE("Viewer: the mouse turns, moves and zooms the camera, selects bodies and pins contacts",
          "[viewer][value]") {
  HeadlessViewer user(scene_file("drill_mustard"), 640, 400);
  at_rest(user, 300);
  const OrbitCamera camera = user.viewer.camera;
  user.drag(0, 20, 380, 120, 300);
  CHECK(user.viewer.camera.azimuth != camera.azimuth);
  CHECK(user.viewer.camera.target == camera.target);
  user.drag(1, 20, 380, 120, 300);
  CHECK((user.viewer.camera.target - camera.target).norm() > 1e-3);
  ImGui::GetIO().MouseWheel = 1.0f;
  user.mouse_to(20, 380);
  user.draw();
  ImGui::GetIO().MouseWheel = 0.0f;
  CHECK(user.viewer.camera.distance < camera.distance);
  user.viewer.camera = camera;

  user.viewer.display.contacts.points = user.viewer.display.contacts.normals = false;
  for (int body = 1; body < 3; ++body) {
    const auto [x, y] = user.on_screen(user.frame().state.X_WB[static_cast<std::size_t>(body)].p);
    user.viewer.selection.body = -1;
    user.click(x, y);
    CAPTURE(body, x, y);
    CHECK(user.viewer.selection.body >= 1);  // itself, or what lies before it
  }
  user.click(5, 395);
  CHECK(user.viewer.selection.body == -1);

  user.viewer.display.contacts.points = true;
  user.draw();
  const auto& contacts = user.frame().contacts;
  const auto strongest = std::max_element(contacts.begin(), contacts.end(), [](const auto& a, const auto& b) {
    return a.contact.activity < b.contact.activity;
  });
  REQUIRE(strongest != contacts.end());
  const auto [x, y] = user.on_screen(strongest->contact.point_W);
  user.click(x, y);
  REQUIRE(user.viewer.selection.pinned.size() == 1);
  user.click(x, y);
  CHECK(user.viewer.selection.pinned.empty());
}

TEST_CASE("Viewer: a body is pulled while it runs, and moved by hand and by handles while it does not",
          "[viewer][value]") {
  HeadlessViewer user(scene_file("sphere_bounce"), 640, 400);
  const auto [x, y] = user.on_screen(user.frame().state.X_WB[1].p);
  const Vec3<double> start = user.frame().state.X_WB[1].p;

  // By hand: as far as the mouse.
  const Ray ray = user.viewer.camera.ray(2.0 * x / 640.0 - 1.0, 1.0 - 2.0 * y / 400.0, 1.6);
  BodySurfaces surfaces;
  const auto hit = pick_body(user.frame().model->model(), user.frame().state.X_WB, surfaces, ray);
  REQUIRE(hit);
  user.drag(1, x, y, x + 60, y, KeyModifier::control);
  CHECK(user.viewer.selection.body == 1);
  const auto [mx, my] = user.on_screen(hit->point_W + user.frame().state.X_WB[1].p - start);
  CHECK(mx == Approx(x + 60).margin(2.0));
  CHECK(my == Approx(y).margin(2.0));

  // By the handle along z: only that changes.
  const Vec3<double> p = user.frame().state.X_WB[1].p;
  const double length = 90.0 * user.viewer.camera.pixel_size(user.viewer.camera.project(p, 1.6).z(), 400);
  const auto [hx, hy] = user.on_screen(p + 0.9 * length * Vec3<double>::UnitZ());
  const auto [tx, ty] = user.on_screen(p + 1.5 * length * Vec3<double>::UnitZ());
  user.drag(0, hx, hy, tx, ty);
  const Vec3<double> lifted = user.frame().state.X_WB[1].p;
  CHECK(lifted.z() - p.z() == Approx(0.6 * length).epsilon(0.05));
  CHECK((lifted - p).head<2>().norm() < 1e-9);

  // By a spring: towards the mouse, and no more once it is let go.
  user.press(GLFW_KEY_BACKSPACE);
  user.viewer.selection = {};
  user.viewer.act(Action::run_or_pause);
  user.set_modifiers(KeyModifier::control);
  user.mouse_to(x, y);
  user.draw();
  ImGui::GetIO().MouseDown[0] = true;
  user.draw();
  user.mouse_to(x + 100, y - 30);
  user.draw(60);
  CHECK(user.frame().pull.body == 1);
  const auto [px, py] = user.on_screen(user.frame().state.X_WB[1].p);
  CHECK(px > x + 60);
  ImGui::GetIO().MouseDown[0] = false;
  user.set_modifiers(KeyModifier::none);
  user.draw(2);
  CHECK(user.frame().pull.body == -1);
  CHECK((user.frame().state.X_WB[1].p - start).norm() > 0.01);
}

}  // namespace abut::viewer
