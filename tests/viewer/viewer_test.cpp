#include "apps/viewer/viewer.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "apps/viewer/contact_description.h"
#include "apps/viewer/picking.h"
#include "engine/body_builder.h"
#include "tests/support/temporary_folder.h"
#include "tests/viewer/headless_viewer.h"

namespace abut::viewer {
namespace {

using Catch::Contains;
using test::TemporaryFolder;

/// Of a scene of the test with the contacts of a rest.
HeadlessViewer& at_rest(HeadlessViewer& user, int steps) {
  user.steps(steps);
  user.draw();
  return user;
}

}  // namespace

TEST_CASE("Viewer: every scene that comes with Abut is drawn, with as many glyphs as it has contacts",
          "[viewer][value]") {
  int scenes = 0, with_contacts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ABUT_SOURCE_DIR "/assets/scenes")) {
    if (entry.path().extension() != ".toml") continue;
    ++scenes;
    CAPTURE(entry.path().string());
    HeadlessViewer user(entry.path().string());
    user.viewer.display.contacts.least = 0.0;
    at_rest(user, 150);
    const Image image = user.image();
    const SharedFrame frame = user.viewer.frame();
    const ContactManifold manifold = frame->model->simulator.contacts(frame->state);
    CHECK(user.viewer.glyph_counts().points == static_cast<int>(manifold.contacts.size()));
    CHECK(user.viewer.glyph_counts().normals == static_cast<int>(manifold.contacts.size()));
    with_contacts += !manifold.contacts.empty();
    // Every moving body is where the camera looks, in its own colour.
    user.viewer.display.contacts.points = user.viewer.display.contacts.normals = false;
    user.draw();
    const Image bodies = user.image();
    user.viewer.display.surface = BodySurface::none;
    user.draw();
    CHECK(difference(bodies, user.image()) > 150);
    CHECK(difference(image, user.image()) >= difference(bodies, user.image()));
  }
  CHECK(scenes >= 10);
  CHECK(with_contacts >= 6);
}

TEST_CASE("Viewer: a ball is orange where the camera sees it, and the floor is not", "[viewer][value]") {
  HeadlessViewer user(scene_file("sphere_bounce"));
  const auto [x, y] = user.on_screen(user.frame().state.X_WB[1].p);
  const auto ball = pixel(user.image(), static_cast<int>(x), static_cast<int>(y));
  const auto floor = pixel(user.image(), 40, 190);
  CAPTURE(x, y, ball[0], ball[1], ball[2]);
  const Colour colour = body_colour(1);  // sky blue
  CHECK((ball[2] > ball[0] + 30) == (colour[2] > colour[0]));
  CHECK(std::abs(floor[0] - floor[2]) < 40);
}

bool keeps_more(const CameraState& now, const CameraState& before) {
  for (std::size_t i = 0; i < k_bookmarks; ++i) {
    if (now.bookmarks[i] && !before.bookmarks[i]) return true;
  }
  return false;
}

TEST_CASE("Viewer: every key does something that is to be seen or known", "[viewer][value]") {
  const TemporaryFolder folder;
  for (const KeyBinding& binding : key_table()) {
    CAPTURE(binding.what);
    const bool is_of_edges =
        binding.action == Action::edge_edge_contacts || binding.action == Action::edge_sdf_contacts;
    HeadlessViewer user(scene_file(is_of_edges ? "armadillo_armadillo" : "drill_mustard"));
    at_rest(user, is_of_edges ? 1 : 200);
    user.simulation.call([&](SimulationCore& core) { core.seek(is_of_edges ? 0 : 150); });
    user.viewer.recording.screenshot = folder.path() / "key.png";
    user.viewer.recording.trajectory = folder.path() / "key.npz";
    user.viewer.recording.video = folder.path() / "key.mp4";
    user.viewer.display.contacts.size = 3.0;
    user.viewer.selection.body = 1;
    if (binding.action == Action::edge_sdf_contacts) {
      user.simulation.call([](SimulationCore& core) {
        core.edit([](Scene& scene) { scene.config.step.contact.edge_sdf = true; });
      });
    }
    if (binding.action == Action::candidates) {
      user.simulation.call([](SimulationCore& core) {
        core.edit([](Scene& scene) {
          for (Body& body : scene.model.bodies) {
            if (body.fixed) continue;
            set_selected_vertices(body, 10);
            set_selected_edges(body, 10);
          }
        });
      });
    }
    if (binding.action == Action::faster || binding.action == Action::real_time)
      user.simulation.call([](SimulationCore& core) { core.set_speed(0.5); });
    if (binding.action == Action::gradient_arrows) user.viewer.compute_gradient_now(false);
    for (auto& bookmark : user.viewer.camera_state.bookmarks) {
      bookmark = user.viewer.camera;
      bookmark->azimuth += 0.5;
    }
    if (binding.action == Action::keep_view_1 || binding.action == Action::keep_view_2 ||
        binding.action == Action::keep_view_3) {
      user.viewer.camera_state = {};
    }
    if (binding.action == Action::show_all || binding.action == Action::show_motion)
      user.viewer.camera.distance *= 3.0;
    user.draw(2);
    const Image before = user.image();
    const SharedFrame frame = user.viewer.frame();
    const std::string message = user.viewer.recording.message;
    const CameraState camera_state = user.viewer.camera_state;
    const bool had_result = user.viewer.gradients.result.has_value();
    user.press(binding.key, binding.modifier);
    while (user.viewer.gradients.job.busy()) user.draw();
    user.draw(2);
    const SharedFrame after = user.viewer.frame();
    const bool is_seen = difference(before, user.image()) > 5;
    const bool is_known =
        after->running != frame->running || after->number != frame->number || after->last != frame->last ||
        after->speed != frame->speed || after->loops != frame->loops || after->model != frame->model ||
        user.viewer.camera_state.follows != camera_state.follows ||
        user.viewer.camera_state.flies != camera_state.flies ||
        keeps_more(user.viewer.camera_state, camera_state) || user.viewer.recording.message != message ||
        user.viewer.wants_to_close() || user.viewer.gradients.result.has_value() != had_result;
    CHECK((is_seen || is_known));
  }
  CHECK(std::filesystem::file_size(folder.path() / "key.png") > 1000);
  CHECK(std::filesystem::file_size(folder.path() / "key.npz") > 1000);
}

TEST_CASE("Viewer: a slice has its arrows, and a legend of its colours as long as it is shown",
          "[viewer][value]") {
  HeadlessViewer user(scene_file("sphere_bounce"));
  const auto entry = [&]() -> const LegendEntry* {
    for (const LegendEntry& one : user.viewer.notes().legend.entries) {
      if (one.text.find("signed distance") != std::string::npos) return &one;
    }
    return nullptr;
  };
  CHECK(entry() == nullptr);
  user.press(GLFW_KEY_S);
  REQUIRE(entry() != nullptr);
  CHECK(entry()->mark == LegendMark::scale);
  const double band = round_down(user.viewer.display.slice.size / 18.0);
  CHECK_THAT(entry()->text, Contains("a line each " + three_digits(band, "m")));
  CHECK(entry()->high == three_digits(12.0 * band, "m"));
  CHECK(entry()->low == "-" + entry()->high);
  for (const double x : {0.0, 0.25, 0.6, 1.0})
    CHECK(entry()->colour_at(x) == slice_colour(12.0 * (2.0 * x - 1.0)));
  const Image without = user.image();
  user.viewer.display.slice.arrows = 12;
  user.draw();
  CHECK(difference(without, user.image()) > 200);
  user.press(GLFW_KEY_S);
  CHECK(entry() == nullptr);
}

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

TEST_CASE("Viewer: keys that are typed into a text field do nothing else", "[viewer][value]") {
  HeadlessViewer user(scene_file("sphere_bounce"));
  ImGui::GetIO().WantTextInput = true;  // as of the picture before, which is when it is asked
  user.set_modifiers(KeyModifier::none);
  user.viewer.display.panels = true;
  user.draw();
  CHECK_FALSE(user.frame().running);
  user.press(GLFW_KEY_SPACE);
  CHECK(user.frame().running);
}

TEST_CASE("Viewer: every panel opens by its key, alone and with all others, in large and in small",
          "[viewer][value]") {
  HeadlessViewer user(scene_file("drill_mustard"), 1280, 720);
  at_rest(user, 200);
  user.viewer.display.panels = true;
  for (const auto& panel : user.viewer.panels()) panel->set_open(false);
  user.draw(3);
  const Image without = user.image();
  std::set<int> keys;
  for (const auto& panel : user.viewer.panels()) {
    CAPTURE(panel->title());
    CHECK(keys.insert(panel->key()).second);
    user.press(panel->key());
    CHECK(panel->open());
    user.draw(3);
    CHECK(difference(without, user.image()) > 5000);
    user.press(panel->key());
    CHECK_FALSE(panel->open());
  }
  for (const auto& panel : user.viewer.panels()) panel->set_open(true);
  user.draw(3);
  for (const auto& [width, height] :
       {std::pair(400, 300), std::pair(60, 40), std::pair(1, 1), std::pair(1920, 1080)}) {
    user.context.resize(width, height);
    user.draw(2);
    CHECK(user.image().pixels.size() == 3u * static_cast<unsigned>(width * height));
  }
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

TEST_CASE("Viewer: nothing of an earlier picture shines through panes", "[viewer][value]") {
  HeadlessViewer user(scene_file("sphere_bounce"), 1280, 720);
  const auto show = [&](bool panels) {
    user.viewer.display.panels = panels;
    user.draw(3);
    return user.image();
  };
  const Rectangle whole = user.viewer.scene();
  const Image bright = show(false);
  user.viewer.display.panels = true;
  user.draw();  // sizes of windows settle
  show(false);
  user.viewer.display.panels = true;
  user.draw();
  const Image first = user.image();
  user.draw(5);
  const Image later = user.image();
  const Rectangle area = user.viewer.scene();
  CHECK(area.width < whole.width);
  const int x = static_cast<int>(area.x) - 20, y = 600;
  CHECK(pixel(bright, x, y) != pixel(later, x, y));
  CHECK(pixel(first, x, y) == pixel(later, x, y));
}

TEST_CASE("Viewer: a window that is minimised draws nothing, and all is there again afterwards",
          "[viewer][value]") {
  HeadlessViewer user(scene_file("spot_on_pole"));
  const Image before = user.image();
  for (int i = 0; i < 5; ++i) {
    ImGui::GetIO().DisplaySize = {0.0f, 0.0f};
    ImGui::GetIO().DeltaTime = HeadlessViewer::k_seconds;
    user.viewer.draw(user.context.framebuffer());
    require_no_gl_error("a minimised window");
  }
  user.draw(2);
  CHECK(difference(before, user.image()) < 20);
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

TEST_CASE("Viewer: opens what is dropped onto it, and says so if that is nothing", "[viewer][value]") {
  const TemporaryFolder folder;
  HeadlessViewer user(scene_file("drill_mustard"));
  user.steps(30);
  const std::string trajectory = folder.path() / "drill.npz";
  user.simulation.call([&](SimulationCore& core) { core.save_trajectory(trajectory); });
  user.viewer.selection.body = 2;
  user.viewer.open(scene_file("sphere_bounce"));
  user.draw(2);
  CHECK(user.frame().model->scene->name == "sphere_bounce");
  CHECK(user.viewer.selection.body == -1);
  user.viewer.open(trajectory);
  user.draw(2);
  CHECK(user.frame().model->scene->name == "drill_mustard");
  CHECK(user.frame().is_replay);
  CHECK(user.frame().last == 30);
  for (const std::string file : {"none.toml", "none.npz"}) {
    user.viewer.open(folder.path() / file);
    user.draw(2);
    CHECK_THAT(user.frame().message, Contains(file));
    CHECK(user.frame().last == 30);
  }
}

TEST_CASE("Viewer: a scene that changes under its user's hands takes nothing with it", "[viewer][value]") {
  HeadlessViewer user(scene_file("box_stack"), 640, 400);
  const int top = user.frame().model->model().body_count() - 1;
  // A body is being pulled, and a gradient on its way, when a scene with fewer bodies comes.
  user.viewer.act(Action::run_or_pause);
  const auto [x, y] = user.on_screen(user.frame().state.X_WB[static_cast<std::size_t>(top)].p);
  user.set_modifiers(KeyModifier::control);
  user.mouse_to(x, y);
  user.draw();
  ImGui::GetIO().MouseDown[0] = true;
  user.draw();
  user.mouse_to(x + 30, y);
  user.draw(2);
  CHECK(user.frame().pull.body > 1);
  user.viewer.gradients.loss.body = top;
  user.viewer.act(Action::compute_gradient);
  user.viewer.open(scene_file("sphere_bounce"));
  for (int i = 0; i < 20 || user.viewer.gradients.job.busy(); ++i) {
    user.mouse_to(x + static_cast<float>(i % 50), y);
    user.draw();
  }
  CHECK(user.frame().model->scene->name == "sphere_bounce");
  CHECK(user.frame().pull.body == -1);
  CHECK_FALSE(user.viewer.gradients.result);
  ImGui::GetIO().MouseDown[0] = false;
  user.set_modifiers(KeyModifier::none);
  user.draw();
}

TEST_CASE("Viewer: side by side shows contacts with and without those of edges", "[viewer][value]") {
  HeadlessViewer user(scene_file("box_on_box"), 640, 300);
  at_rest(user, 200);
  user.press(GLFW_KEY_X);
  user.draw(2);
  CHECK(user.viewer.display.side_by_side);
  CHECK(user.frame().without_edges.size() < user.frame().contacts.size());
  const Image image = user.image();
  int different = 0;
  for (int y = 40; y < 260; ++y) {
    for (int x = 0; x < 318; ++x) different += pixel(image, x, y) != pixel(image, x + 320, y);
  }
  CHECK(different > 100);
  user.press(GLFW_KEY_X);
  user.draw();
  CHECK(user.frame().without_edges.empty());
}

}  // namespace abut::viewer
