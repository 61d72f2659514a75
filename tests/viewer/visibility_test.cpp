#include "apps/viewer/visibility.h"

#include <catch2/catch.hpp>

#include "apps/viewer/picking.h"
#include "tests/viewer/headless_viewer.h"

namespace abut::viewer {

TEST_CASE("Visibility: contacts of a hidden body are hidden with it, those of a hidden pair alone",
          "[viewer][value]") {
  Visibility visibility;
  CHECK(visibility.shows_all());
  visibility.toggle_body(2);
  CHECK_FALSE(visibility.shows_all());
  CHECK(visibility.shows_body(1));
  CHECK_FALSE(visibility.shows_body(2));
  CHECK_FALSE(visibility.shows_pair({0, 2}));
  CHECK(visibility.shows_pair({0, 1}));
  visibility.toggle_pair({0, 1});
  CHECK_FALSE(visibility.shows_pair({0, 1}));
  CHECK(visibility.shows_body(0));
  visibility.toggle_pair({0, 2});  // its bodies come back with it
  CHECK(visibility.shows_pair({0, 2}));
  CHECK(visibility.shows_body(2));
  CHECK_FALSE(visibility.shows_pair({0, 1}));
  visibility.show_all();
  CHECK(visibility.shows_pair({0, 1}));

  visibility.toggle_only(1, 4);
  for (int body = 0; body < 4; ++body) CHECK(visibility.shows_body(body) == (body == 1));
  visibility.toggle_only(2, 4);
  for (int body = 0; body < 4; ++body) CHECK(visibility.shows_body(body) == (body == 2));
  visibility.toggle_only(2, 4);
  CHECK(visibility.shows_all());
}

TEST_CASE("Viewer: what is hidden is neither drawn nor picked, and contacts go with bodies and pairs",
          "[viewer][value]") {
  HeadlessViewer user(scene_file("box_stack"), 640, 400);
  user.steps(60);
  user.viewer.display.contacts.least = 0.0;
  user.draw(2);
  const int all = user.viewer.glyph_counts().points;
  REQUIRE(all > 4);
  const int top = user.frame().model->model().body_count() - 1;
  const auto [x, y] = user.on_screen(user.frame().state.X_WB[static_cast<std::size_t>(top)].p);
  user.viewer.display.contacts.points = user.viewer.display.contacts.normals = false;
  user.click(x, y);
  REQUIRE(user.viewer.selection.body == top);
  user.viewer.selection.clear();
  user.draw();
  const Image before = user.image();

  user.viewer.display.visibility.toggle_body(top);
  user.draw(2);
  CHECK(difference(before, user.image()) > 300);
  user.click(x, y);
  CHECK(user.viewer.selection.body != top);

  int of_others = 0;
  for (const ContactView& view : user.viewer.frame()->contacts)
    of_others += view.contact.feature.body_A != top && view.contact.feature.body_B != top;
  user.viewer.display.contacts.points = true;
  user.draw();
  CHECK(of_others < all);
  CHECK(user.viewer.glyph_counts().points == of_others);

  user.viewer.display.visibility.show_all();
  user.viewer.display.visibility.toggle_pair({0, 1});
  user.draw(2);
  int of_pair = 0;
  const ContactManifold manifold =
      user.frame().model->simulator.contacts(user.frame().state);  // whatever is hidden
  for (const Contact& contact : manifold.contacts)
    of_pair += body_pair(contact.feature.body_A, contact.feature.body_B) == BodyPair{0, 1};
  CHECK(of_pair > 0);
  CHECK(user.viewer.glyph_counts().points == all - of_pair);

  // Another scene begins with everything.
  user.viewer.open(scene_file("sphere_bounce"));
  user.draw(2);
  CHECK(user.viewer.display.visibility.shows_all());
}

TEST_CASE("VisibleContacts: nothing is copied as long as nothing is hidden, and once where something is",
          "[viewer][value]") {
  SimulationThread simulation(options_of(scene_file("box_stack")), Threading::none);
  simulation.call([](SimulationCore& core) {
    for (int i = 0; i < 60; ++i) core.step_forward();
  });
  const SharedFrame frame = simulation.frame();
  Visibility visibility;
  REQUIRE_FALSE(frame->contacts.empty());
  VisibleContacts visible;
  visible.update(frame, visibility);
  CHECK(visible.set().contacts.data() == frame->contacts.data());
  CHECK(visible.set().contacts.size() == frame->contacts.size());
  visibility.toggle_body(frame->model->model().body_count() - 1);
  visible.update(frame, visibility);
  const ContactView* const copied = visible.set().contacts.data();
  CHECK(copied != frame->contacts.data());
  CHECK(visible.set().contacts.size() < frame->contacts.size());
  const long owners = frame.use_count();
  const_cast<ContactView*>(copied)->contact.signed_distance = 17.0;  // stays, if it is not copied again
  visible.update(frame, visibility);
  CHECK(visible.set().contacts.data() == copied);
  CHECK(visible.set().contacts[0].contact.signed_distance == 17.0);
  CHECK(frame.use_count() == owners);
  visibility.toggle_only(-1, frame->model->model().body_count());
  visible.update(frame, visibility);
  CHECK(visible.set().contacts.empty());
  CHECK(visible.set().other_forces.empty());
  visibility.show_all();
  visible.update(frame, visibility);
  CHECK(visible.set().contacts.data() == frame->contacts.data());
}

TEST_CASE("Viewer: hiding a body copies no frame", "[viewer][value]") {
  HeadlessViewer user(scene_file("box_stack"));
  user.steps(60);
  user.draw();
  const SharedFrame frame = user.viewer.frame();
  user.viewer.display.visibility.toggle_body(1);
  user.draw();
  CHECK(user.viewer.frame() == frame);
  CHECK(user.simulation.frame() == frame);
}

}  // namespace abut::viewer
