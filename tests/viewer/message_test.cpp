/// Messages over the picture.
#include <catch2/catch.hpp>

#include "apps/viewer/label_layout.h"
#include "tests/viewer/headless_viewer.h"

namespace abut::viewer {

TEST_CASE("Viewer: a message covers no legend, whatever their sizes", "[viewer][property]") {
  HeadlessViewer user(scene_file("box_stack"), 900, 500);
  Viewer& viewer = user.viewer;
  user.steps(100);
  ContactDisplay& contacts = viewer.display.contacts;
  for (const bool many : {false, true}) {
    contacts.points = contacts.normals = true;
    contacts.forces = contacts.friction_cones = contacts.friction_discs = contacts.pressure =
        contacts.witness_points = contacts.candidates = many;
    for (const bool is_error : {false, true}) {
      for (const std::string& words : {std::string("written"), std::string(600, 'a') + " of many words"}) {
        CAPTURE(many, is_error, words.size());
        viewer.recording.message = is_error ? "" : words;
        user.simulation.call([&](SimulationCore& core) { core.set_message(is_error ? words : ""); });
        user.draw(2);
        REQUIRE(viewer.message_place());
        const Rectangle &message = *viewer.message_place(), &legend = viewer.legend_place();
        CHECK(legend.height > 0.0f);
        CHECK_FALSE(intersect(message, legend));
        CHECK(message.y >= viewer.scene().y);
        CHECK(message.y + message.height <= viewer.scene().y + viewer.scene().height);
      }
    }
  }
  viewer.recording.message.clear();
  user.simulation.call([](SimulationCore& core) { core.dismiss_message(); });
  user.draw(2);
  CHECK_FALSE(viewer.message_place());
}

}  // namespace abut::viewer
