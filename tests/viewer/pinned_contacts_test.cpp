/// Contacts that are pinned, and what is kept of them.
#include <catch2/catch.hpp>

#include "tests/viewer/panel_desk.h"

namespace abut::viewer {

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

}  // namespace abut::viewer
