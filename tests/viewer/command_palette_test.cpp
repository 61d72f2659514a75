#include "apps/viewer/command_palette.h"

#include <catch2/catch.hpp>

#include <string>

#include "apps/viewer/panels/fuzzy_match.h"
#include "tests/viewer/headless_viewer.h"

namespace abut::viewer {
namespace {

void open_palette(HeadlessViewer& user, const std::string& query) {
  user.press(GLFW_KEY_P, KeyModifier::control);
  REQUIRE(user.viewer.has_popup());
  user.type(query);
}

}  // namespace

TEST_CASE("fuzzy_score: letters in their order, in a row and at beginnings of words rather than scattered",
          "[viewer][value]") {
  CHECK(fuzzy_score("", "anything") == 0.0);
  CHECK(fuzzy_score("wire", "Geometry wireframe"));
  CHECK(fuzzy_score("WIRE", "Geometry wireframe") == fuzzy_score("wire", "Geometry wireframe"));
  CHECK(fuzzy_score("wfr", "Geometry wireframe"));
  CHECK(fuzzy_score("frame geo", "Geometry wireframe"));  // words in any order
  CHECK_FALSE(fuzzy_score("erw", "wire"));
  CHECK_FALSE(fuzzy_score("wiree", "wire"));
  CHECK_FALSE(fuzzy_score("wire xyz", "Geometry wireframe"));
  CHECK_FALSE(fuzzy_score("a", ""));
  CHECK(*fuzzy_score("step", "one step forward") > *fuzzy_score("step", "save the picture"));
  CHECK(*fuzzy_score("sf", "step forward") > *fuzzy_score("sf", "as fast"));
  CHECK(*fuzzy_score("forward", "fast forward") > *fuzzy_score("forward", "f orward"));  // the best of places
}

TEST_CASE("palette: every action can be found by its name", "[viewer][value]") {
  for (const KeyBinding& binding : key_table()) {
    if (binding.action == Action::palette) continue;
    CAPTURE(binding.what);
    const std::string category = k_key_category_names[static_cast<std::size_t>(binding.category)];
    const auto rows = matching_actions(category + " " + binding.what);
    REQUIRE_FALSE(rows.empty());
    CHECK(rows.front()->action == binding.action);
  }
  CHECK(matching_actions("").size() == key_table().size() - 1);
  CHECK(matching_actions("no such command").empty());
}

TEST_CASE("palette: what is typed filters, Enter does it, and no key does anything else meanwhile",
          "[viewer][value]") {
  HeadlessViewer user(scene_file("sphere_bounce"), 800, 600);
  REQUIRE_FALSE(user.viewer.display.wireframe);
  open_palette(user, "wirefr");
  CHECK_FALSE(user.viewer.display.wireframe);  // W, typed
  user.press(GLFW_KEY_ENTER);
  CHECK(user.viewer.display.wireframe);
  CHECK_FALSE(user.viewer.has_popup());

  open_palette(user, "simulation step");
  const auto rows = matching_actions("simulation step");
  REQUIRE(rows.size() > 2);
  user.press(GLFW_KEY_DOWN);
  user.press(GLFW_KEY_DOWN);
  user.press(GLFW_KEY_UP);
  const std::int64_t before = user.frame().number;
  user.press(GLFW_KEY_ENTER);
  user.draw(2);
  CHECK((rows[1]->action == Action::step_back || user.frame().number > before));

  open_palette(user, "quit");
  user.press(GLFW_KEY_ESCAPE);
  user.draw();
  CHECK_FALSE(user.viewer.has_popup());
  CHECK_FALSE(user.viewer.wants_to_close());
  open_palette(user, "nothing like this");
  user.press(GLFW_KEY_ENTER);
  CHECK(user.viewer.has_popup());
  user.drag(0, 20.0f, 580.0f, 20.0f, 580.0f);  // beside it
  CHECK_FALSE(user.viewer.has_popup());
  open_palette(user, "quit");
  user.press(GLFW_KEY_ENTER);
  CHECK(user.viewer.wants_to_close());
}

TEST_CASE("palette: it leads to the dialog and back", "[viewer][value]") {
  HeadlessViewer user(scene_file("sphere_bounce"), 800, 600);
  open_palette(user, "open scene");
  user.press(GLFW_KEY_ENTER);
  user.draw(2);
  CHECK(user.viewer.open_dialog().open());
  user.press(GLFW_KEY_ESCAPE);
  CHECK_FALSE(user.viewer.has_popup());
}

}  // namespace abut::viewer
