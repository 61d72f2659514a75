#include <catch2/catch.hpp>

#include <algorithm>

#include "apps/viewer/contact_description.h"
#include "tests/viewer/headless_viewer.h"

namespace abut::viewer {
namespace {

GlyphScale scale_of(const HeadlessViewer& user) { return {user.viewer.camera, user.context.height()}; }

}  // namespace

TEST_CASE("Lens: it shows the contacts of one pair, larger, and the wheel over it enlarges them more",
          "[viewer][value]") {
  HeadlessViewer user(scene_file("box_stack"), 640, 400);
  user.steps(100);
  user.draw();
  const Image without = user.image();
  user.press(GLFW_KEY_U);
  REQUIRE(user.viewer.display.lens);
  REQUIRE(user.viewer.lens());
  const Lens lens = *user.viewer.lens();
  const Rectangle area = lens_area(user.viewer.scene(), 1.0f);
  CHECK(magnification(lens, scale_of(user), area.height) > 2.9);
  REQUIRE_FALSE(lens.contacts.empty());
  for (const ContactView& view : lens.contacts) {
    CHECK(view.contact.feature.body_A == lens.body_A);
    CHECK(view.contact.feature.body_B == lens.body_B);
  }
  // The largest force of a stack is that on the floor.
  double largest = 0.0, here = 0.0;
  ContactDisplay pairs;
  pairs.force_sum = ForceSum::pair;
  for (const ForceArrow& arrow :
       force_arrows(user.frame().model->model(), contacts_of(user.frame()), pairs)) {
    largest = std::max(largest, arrow.force_W.norm());
    if (arrow.body == lens.body_B && arrow.from == lens.body_A) here = arrow.force_W.norm();
  }
  CHECK(here == Approx(largest));

  const Image with = user.image();
  int changed = 0, pixels = 0;
  for (int y = static_cast<int>(area.y) + 4; y < static_cast<int>(area.y + area.height) - 4; ++y) {
    for (int x = static_cast<int>(area.x) + 4; x < static_cast<int>(area.x + area.width) - 4; ++x, ++pixels)
      changed += pixel(with, x, y) != pixel(without, x, y);
  }
  CHECK(changed > pixels / 2);

  const double distance = user.viewer.camera.distance;
  user.mouse_to(area.x + 0.5f * area.width, area.y + 0.5f * area.height);
  user.draw();
  ImGui::GetIO().MouseWheel = 2.0f;
  user.draw();
  user.draw();
  REQUIRE(user.viewer.lens());
  CHECK(user.viewer.lens()->radius < 0.8 * lens.radius);
  CHECK(user.viewer.camera.distance == distance);
}

TEST_CASE(
    "Lens: it is on the contact that is pinned, else on the pair or a pair of the body that is selected",
    "[viewer][value]") {
  HeadlessViewer user(scene_file("box_stack"), 640, 400);
  user.steps(100);
  user.draw();
  const Frame& frame = user.frame();
  const GlyphScale scale = scale_of(user);
  Selection selection;
  selection.body = frame.model->model().body_count() - 1;
  std::optional<Lens> lens = lens_on(frame, contacts_of(frame), {}, selection, scale, 200.0, 1.0);
  REQUIRE(lens);
  CHECK((lens->body_A == selection.body || lens->body_B == selection.body));
  for (const ContactView& view : frame.contacts) {
    if (!is_shown(view, {})) continue;
    const BodyPair pair = body_pair(view.contact.feature.body_A, view.contact.feature.body_B);
    selection.pinned.clear();
    selection.select_pair(pair);
    lens = lens_on(frame, contacts_of(frame), {}, selection, scale, 200.0, 1.0);
    REQUIRE(lens);
    CHECK(BodyPair(lens->body_A, lens->body_B) == pair);
    selection.pinned.clear();
    selection.toggle_pin(view.contact.feature);
    lens = lens_on(frame, contacts_of(frame), {}, selection, scale, 200.0, 1.0);
    REQUIRE(lens);
    CHECK(lens->camera.target == view.contact.point_W);
    CHECK(lens->body_A == view.contact.feature.body_A);
    const std::optional<Lens> larger = lens_on(frame, contacts_of(frame), {}, selection, scale, 200.0, 4.0);
    CHECK(larger->radius == Approx(0.25 * lens->radius));
  }
  Frame apart = frame;
  apart.contacts.clear();
  CHECK_FALSE(lens_on(apart, contacts_of(apart), {}, {}, scale, 200.0, 1.0));
}

TEST_CASE("Lens: it keeps to the scene's corner and to less than half of it", "[viewer][value]") {
  for (const Rectangle& scene :
       {Rectangle{260, 20, 720, 510}, Rectangle{0, 0, 90, 300}, Rectangle{0, 0, 1, 1}}) {
    const Rectangle area = lens_area(scene, 1.5f);
    CAPTURE(scene.width, area.x, area.width);
    CHECK(area.x >= scene.x);
    CHECK(area.x + area.width <= scene.x + scene.width);
    CHECK(area.height <= 0.5f * scene.height);
  }
}

}  // namespace abut::viewer
