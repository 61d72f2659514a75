/// Ghosts of files in the viewer: how long they stay.
#include <catch2/catch.hpp>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "tests/viewer/headless_viewer.h"

namespace abut::viewer {

TEST_CASE("Viewer: ghosts of a file stay when the scene is read again, and go with it", "[viewer][value]") {
  HeadlessViewer user(scene_file("sphere_bounce"));
  const auto wait = [&] {
    user.viewer.wait_for_ghosts([] { return true; });
    user.draw(2);
  };
  const auto read_again = [&] {
    const std::uint64_t before = user.frame().model->geometry_version;
    user.press(GLFW_KEY_L, KeyModifier::control);
    wait();
    REQUIRE(user.frame().model->geometry_version != before);
  };
  user.viewer.show_ghosts(scene_file("sphere_bounce"));
  wait();
  const std::size_t ghosts = user.frame().ghosts.size();
  const std::string name = user.frame().ghosts_name;
  REQUIRE(ghosts > 0);
  for (int i = 0; i < 2; ++i) {
    read_again();
    CHECK(user.frame().ghosts.size() == ghosts);
    CHECK(user.frame().ghosts_name == name);
    CHECK(user.frame().message.empty());
  }
  user.viewer.open(scene_file("none"));  // which is no file: all stays
  user.draw(2);
  CHECK(user.frame().ghosts.size() == ghosts);
  read_again();
  CHECK(user.frame().ghosts.size() == ghosts);
  user.viewer.open(scene_file("sphere_bounce"));  // chosen anew, the same file is another scene
  user.draw(2);
  wait();
  CHECK(user.frame().ghosts.empty());
  read_again();
  CHECK(user.frame().ghosts.empty());
}

}  // namespace abut::viewer
