#include "apps/viewer/viewer.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/viewer/contact_description.h"
#include "tests/viewer/headless_viewer.h"

namespace abut::viewer {
namespace {

using Catch::Contains;

/// Hides contacts, then bodies: pixels that differ by the latter.
int difference_by_hiding_bodies(HeadlessViewer& user) {
  user.viewer.display.contacts.points = user.viewer.display.contacts.normals = false;
  user.draw();
  const Image bodies = user.image();
  user.viewer.display.surface = BodySurface::none;
  user.draw();
  return difference(bodies, user.image());
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
    const int of_bodies = difference_by_hiding_bodies(user);
    CHECK(of_bodies > 150);
    CHECK(difference(image, user.image()) >= of_bodies);
  }
  CHECK(scenes >= 10);
  CHECK(with_contacts >= 6);
}

TEST_CASE("Viewer: every scene that comes with Abut is in the picture from its first step to its last",
          "[viewer][value]") {
  constexpr int k_parts = 5;
  for (const auto& entry : std::filesystem::directory_iterator(ABUT_SOURCE_DIR "/assets/scenes")) {
    if (entry.path().extension() != ".toml") continue;
    CAPTURE(entry.path().string());
    HeadlessViewer user(entry.path().string());
    for (int part = 0; part <= k_parts; ++part) {
      if (part > 0) at_rest(user, user.frame().model->scene->config.steps / k_parts);
      CAPTURE(user.frame().number);
      const std::vector<Body>& bodies = user.frame().model->model().bodies;
      for (std::size_t b = 0; b < bodies.size(); ++b) {
        if (!std::isfinite(bodies[b].size)) continue;
        const Vec3<double> place = user.viewer.camera.project(user.frame().state.X_WB[b].p, 320.0 / 200.0);
        CAPTURE(bodies[b].name, place.x(), place.y());
        CHECK(place.z() > 0.0);
        CHECK(place.head<2>().cwiseAbs().maxCoeff() < 1.0);
      }
    }
    CHECK(user.frame().number == user.frame().end);
    CHECK(difference_by_hiding_bodies(user) > 150);
  }
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
